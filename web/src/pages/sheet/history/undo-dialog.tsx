import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type { SheetView } from '../../../../../src/dashboard/contract.ts'
import { Refused } from '../../../api.ts'
import { sheetQuery, undoPreviewQuery } from '../../../queries.ts'
import { Button } from '../../../ui/button.tsx'
import { Dialog } from '../../../ui/dialog.tsx'
import { FormError } from '../../../ui/field.tsx'
import { ErrorState, Skeleton } from '../../../ui/states.tsx'
import { useToast } from '../../../ui/toast.tsx'
import { ChangedCells } from './changed-cells.tsx'
import { inShort, type PastWrite, whoOf } from './past-writes.ts'
import { undoWrite } from './undo-requests.ts'

const shownRows = 50
const takeBack = (asked: { sheet: SheetView; operation: string }) => undoWrite(asked)

/** What would be done, asked of the sheet as it is right now; then it is done, as a whole or not at all. */
export function UndoDialog({
  sheet,
  write,
  onClose,
}: {
  sheet: SheetView
  write: PastWrite | null
  onClose(): void
}) {
  return (
    <Dialog title="Undo this write" isOpen={write !== null} isSide onClose={onClose}>
      {write?.operation && (
        <Undoing sheet={sheet} write={write} operation={write.operation} onClose={onClose} />
      )}
    </Dialog>
  )
}

function Undoing({
  sheet,
  write,
  operation,
  onClose,
}: {
  sheet: SheetView
  write: PastWrite
  operation: string
  onClose(): void
}) {
  const toast = useToast()
  const queryClient = useQueryClient()
  const preview = useQuery(undoPreviewQuery(sheet, operation))
  const undo = useMutation({
    mutationFn: takeBack,
    onSuccess: ({ changes }) => {
      void queryClient.invalidateQueries({ queryKey: sheetQuery(sheet.slug).queryKey })
      toast(`Undone: ${inShort(changes)}.`)
      onClose()
    },
  })
  const changes = preview.data?.changes ?? []
  return (
    <>
      <p className="mb-4 text-sm text-soft">
        {whoOf(write)}: {inShort(write.changes)}. All of it is taken back, or nothing.
      </p>
      {preview.isPending && <Skeleton lines={6} label="Looking at the rows as they are now" />}
      {preview.error && <Conflict error={preview.error} onRetry={() => void preview.refetch()} />}
      {preview.data && (
        <>
          <h3 className="mb-2 text-sm font-medium">What happens: {inShort(changes)}</h3>
          {preview.data.warnings?.map((warning) => (
            <p key={warning} className="mb-3 rounded-md bg-warn-wash px-3 py-2 text-caption text-warn">
              {warning}
            </p>
          ))}
          <ul className="divide-y divide-line rounded-xl border border-line">
            {changes.slice(0, shownRows).map((change) => (
              <ChangedCells key={`${change.kind} ${change.row}`} of={change} />
            ))}
          </ul>
          {changes.length > shownRows && (
            <p className="mt-2 text-caption text-soft">And {changes.length - shownRows} more rows.</p>
          )}
        </>
      )}
      <FormError>{undo.error?.message}</FormError>
      <div className="mt-5 flex justify-end gap-2">
        <Button disabled={undo.isPending} onClick={onClose}>
          {preview.error ? 'Close' : 'Cancel'}
        </Button>
        {preview.data && (
          <Button look="primary" isBusy={undo.isPending} onClick={() => undo.mutate({ sheet, operation })}>
            Undo
          </Button>
        )}
      </div>
    </>
  )
}

function Conflict({ error, onRetry }: { error: Error; onRetry(): void }) {
  if (!(error instanceof Refused) || error.status !== 409)
    return <ErrorState error={error} onRetry={onRetry} />
  return (
    <div role="alert" className="rounded-xl border border-warn/40 bg-warn-wash px-5 py-4 text-sm">
      <p className="font-medium text-warn">It can no longer be undone</p>
      <p className="mt-1 wrap-anywhere">{error.message}</p>
      <Button className="mt-3" onClick={onRetry}>
        Check again
      </Button>
    </div>
  )
}
