import { queryOptions } from '@tanstack/react-query'
import type { FileChoice } from '../../../../src/dashboard/contract.ts'
import { get } from '../../api.ts'

export const filesQuery = queryOptions({
  queryKey: ['files'],
  queryFn: ({ signal }) => get<FileChoice[]>('/files', signal),
})
