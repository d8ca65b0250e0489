import { type UseMutationResult, useMutation, useQueryClient } from '@tanstack/react-query'
import type { SheetSettingsView, SheetView } from '../../../../src/dashboard/contract.ts'
import { send } from '../../api.ts'
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

const changeSheet = ({ slug, settings }: AskedChange) => send<SheetView>('PATCH', `/sheets/${slug}`, settings)

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
      queryClient.setQueryData(['sheets', slug], view)
      void queryClient.invalidateQueries({ queryKey: ['sheets'], exact: true })
      onSaved?.()
      toast(said, undo)
    },
    onError: (error) => onFailed?.(error),
  })
}
