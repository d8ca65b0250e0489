import { type UseMutationResult, useMutation, useQueryClient } from '@tanstack/react-query'
import type { SheetSettingsView, SheetView } from '../../../../src/dashboard/contract.ts'
import { send } from '../../api.ts'
import { sheetQuery, sheetsQuery } from '../../queries.ts'
import { type ToastAction, useToast } from '../../ui/toast.tsx'

interface AskedChange {
  slug: string
  settings: Partial<SheetSettingsView>
}

interface Telling {
  said?: string
  undo?: ToastAction
  onSaved?(): void
  onFailed?(error: Error): void
}

const changeSheet = ({ slug, settings }: AskedChange) =>
  send('PATCH /sheets/{slug}', { names: { slug }, input: settings })

/** One for each part of the page, which then tells what became of its own change. */
export function useSheetChange({
  said = 'Saved. It holds from the next request on.',
  undo,
  onSaved,
  onFailed,
}: Telling = {}): UseMutationResult<SheetView, Error, AskedChange> {
  const queryClient = useQueryClient()
  const toast = useToast()
  return useMutation({
    mutationFn: changeSheet,
    onSuccess: (view, { slug }) => {
      queryClient.setQueryData(sheetQuery(slug).queryKey, view)
      void queryClient.invalidateQueries({ queryKey: sheetsQuery.queryKey, exact: true })
      onSaved?.()
      toast(said, undo)
    },
    onError: (error) => onFailed?.(error),
  })
}
