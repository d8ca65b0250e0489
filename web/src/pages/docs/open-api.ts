import type { ApiDescription, DescribedParameter } from '../../../../src/dashboard/contract.ts'

export interface Operation {
  method: string
  path: string
  summary: string
  description: string
  parameters: DescribedParameter[]
  requestExample: unknown
  responses: { status: string; description: string; example: unknown }[]
}

const methods = ['get', 'post', 'put', 'patch', 'delete']

export function operationsOf({ paths }: ApiDescription): Operation[] {
  return Object.entries(paths).flatMap(([path, item]) =>
    methods.flatMap((method) => {
      const operation = item[method]
      if (!operation) return []
      return [
        {
          method: method.toUpperCase(),
          path,
          summary: operation.summary ?? '',
          description: operation.description ?? '',
          parameters: operation.parameters?.filter(({ name }) => name !== undefined) ?? [],
          requestExample: firstExample(operation.requestBody?.content),
          responses: Object.entries(operation.responses ?? {}).map(([status, response]) => ({
            status,
            description: response.description ?? '',
            example: firstExample(response.content),
          })),
        },
      ]
    }),
  )
}

function firstExample(content: Record<string, { example?: unknown }> | undefined): unknown {
  return Object.values(content ?? {}).find(({ example }) => example !== undefined)?.example
}
