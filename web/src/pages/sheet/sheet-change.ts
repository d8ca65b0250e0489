import { type UseMutationResult, useMutation, useQueryClient } from '@tanstack/react-query'
import type { SheetChangeInput, SheetView } from '../../../../src/dashboard/contract.ts'
import { send } from '../../api.ts'
import { sheetQuery, sheetsQuery } from '../../queries.ts'
import { type ToastAction, useToast } from '../../ui/toast.tsx'

interface AskedChange {
  slug: string
  settings: SheetChangeInput
}

interface Telling {
  said?: string
  undo?: ToastAction
  onSaved?(view: SheetView): void
  onFailed?(error: Error): void
}

const changeSheet = ({ slug, settings }: AskedChange) =>
  send('PATCH /sheets/{slug}', { names: { slug }, input: settings })

/**
 * One for each part of the page, which then tells what became of its own change. The page shows a setting as it was chosen
 * from the click on, and as it was before if the server would not have it.
 */
export function useSheetChange({
  said = 'Saved.',
  undo,
  onSaved,
  onFailed,
}: Telling = {}): UseMutationResult<SheetView, Error, AskedChange, SheetView | undefined> {
  const queryClient = useQueryClient()
  const toast = useToast()
  return useMutation({
    mutationFn: changeSheet,
    onMutate: async ({ slug, settings: { slug: newSlug, ...chosen } }) => {
      const { queryKey } = sheetQuery(slug)
      // What was asked before the click would show the former setting once more.
      await queryClient.cancelQueries({ queryKey, exact: true })
      const former = queryClient.getQueryData(queryKey)
      if (former)
        queryClient.setQueryData(queryKey, { ...former, settings: { ...former.settings, ...chosen } })
      return former
    },
    onSuccess: (view) => {
      queryClient.setQueryData(sheetQuery(view.slug).queryKey, view)
      void queryClient.invalidateQueries({ queryKey: sheetsQuery.queryKey, exact: true })
      onSaved?.(view)
      toast(said, undo)
    },
    onError: (error, { slug }, former) => {
      if (former) queryClient.setQueryData(sheetQuery(slug).queryKey, former)
      onFailed?.(error)
    },
  })
}
