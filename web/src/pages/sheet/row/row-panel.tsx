import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import type { SheetView } from '../../../../../src/dashboard/contract.ts'
import { rowQuery, sheetQuery } from '../../../queries.ts'
import { useSession } from '../../../session.ts'
import { Button } from '../../../ui/button.tsx'
import { CopyButton, useCopying } from '../../../ui/copy.tsx'
import { Dialog } from '../../../ui/dialog.tsx'
import { FormError } from '../../../ui/field.tsx'
import { ErrorState, Skeleton } from '../../../ui/states.tsx'
import { useToast } from '../../../ui/toast.tsx'
import { RowFields } from './row-fields.tsx'
import { addRow, deleteRow, type OpenRow, type RowChange, readRow, updateRow } from './row-requests.ts'
import { asCell, asCsv, asTyped, type Row } from './row-values.ts'

const saveRow = (asked: RowChange & { changed: Row }) => updateRow(asked)
const removeRow = (asked: RowChange) => deleteRow(asked)
const putRowBack = (asked: { sheet: SheetView; row: Row }) => addRow(asked)
/** As it is by now: what others changed since is not overwritten without looking. */
const restoreRow = async ({ sheet, row, changed }: { sheet: SheetView; row: number; changed: Row }) => {
  const now = await readRow(sheet, row)
  await updateRow({ sheet, row, etag: now.etag, changed })
}

/** The whole row at the side: to read, to take away, to change. */
export function RowPanel({ sheet, row, onClose }: { sheet: SheetView; row: number | null; onClose(): void }) {
  const opened = useQuery({ ...rowQuery(sheet, row ?? 0), enabled: row !== null })
  return (
    <Dialog title={`Row ${row}`} isOpen={row !== null} isSide onClose={onClose}>
      {opened.isPending && <Skeleton lines={8} label="Loading the row" />}
      {opened.error && <ErrorState error={opened.error} onRetry={() => opened.refetch()} />}
      {opened.data && !opened.error && row !== null && (
        <Opened
          key={opened.data.etag}
          sheet={sheet}
          number={row}
          opened={opened.data}
          onReload={() => void opened.refetch()}
          onClose={onClose}
        />
      )}
      <div className="mt-5 flex justify-end">
        <Button onClick={onClose}>Close</Button>
      </div>
    </Dialog>
  )
}

function Opened({
  sheet,
  number,
  opened: { row, etag },
  onReload,
  onClose,
}: {
  sheet: SheetView
  number: number
  opened: OpenRow
  onReload(): void
  onClose(): void
}) {
  const { account } = useSession()
  const [mode, setMode] = useState<'read' | 'edit' | 'delete'>('read')
  const asJson = useCopying(JSON.stringify(row, null, 2))
  const csv = useCopying(asCsv(row, sheet.columns))
  const canWrite = account.plan.writeApi
  return (
    <>
      {mode === 'edit' ? (
        <EditRow
          sheet={sheet}
          number={number}
          opened={{ row, etag }}
          onReload={onReload}
          onDone={() => setMode('read')}
        />
      ) : (
        <dl className="space-y-3">
          {Object.entries(row).map(([name, value]) => (
            <div key={name}>
              <dt className="text-caption wrap-anywhere text-soft">{name}</dt>
              <dd className="text-sm wrap-anywhere whitespace-pre-wrap">
                {value === null ? <span className="text-soft">empty</span> : String(value)}
              </dd>
            </div>
          ))}
        </dl>
      )}
      {mode === 'delete' && (
        <DeleteRow
          sheet={sheet}
          number={number}
          opened={{ row, etag }}
          onCancel={() => setMode('read')}
          onDone={onClose}
        />
      )}
      {mode === 'read' && (
        <div className="mt-5 flex flex-wrap gap-2 border-t border-line pt-4">
          <CopyButton copying={asJson} label="Copy as JSON" />
          <CopyButton copying={csv} label="Copy as CSV" />
          <Link
            to="/sheets/$slug/history"
            params={{ slug: sheet.slug }}
            search={historyOf(sheet, number, row)}
            className="inline-flex h-7 items-center rounded-md border border-line-strong bg-raised px-2.5 text-caption font-medium hover:bg-sunken"
          >
            History
          </Link>
          <Button className="h-7! px-2.5! text-caption!" disabled={!canWrite} onClick={() => setMode('edit')}>
            Edit
          </Button>
          <Button
            className="h-7! px-2.5! text-caption! text-bad!"
            disabled={!canWrite}
            onClick={() => setMode('delete')}
          >
            Delete
          </Button>
          {!canWrite && <p className="text-caption text-soft">Your plan is read-only.</p>}
        </div>
      )}
    </>
  )
}

/** By its key, where it has one: numbers change. */
function historyOf({ settings }: SheetView, number: number, row: Row): { key: string } | { row: number } {
  const key = settings.keyColumn === null ? null : (row[settings.keyColumn] ?? null)
  return key === null ? { row: number } : { key: JSON.stringify(key) }
}

/** After any change of a row: what the page shows of the sheet is asked for again. */
function useRowsChanged(sheet: SheetView): () => void {
  const queryClient = useQueryClient()
  return () => void queryClient.invalidateQueries({ queryKey: sheetQuery(sheet.slug).queryKey })
}

function EditRow({
  sheet,
  number,
  opened: { row, etag },
  onReload,
  onDone,
}: {
  sheet: SheetView
  number: number
  opened: OpenRow
  onReload(): void
  onDone(): void
}) {
  const toast = useToast()
  const rowsChanged = useRowsChanged(sheet)
  const [typed, setTyped] = useState<Record<string, string>>({})
  const shown = Object.fromEntries(
    sheet.columns.map(({ name }) => [name, typed[name] ?? asTyped(row[name])] as const),
  )
  const changed: Row = Object.fromEntries(
    sheet.columns
      .filter(({ name }) => typed[name] !== undefined && typed[name] !== asTyped(row[name]))
      .map(({ name, type }) => [name, asCell(typed[name] ?? '', type)]),
  )
  const takeBack = useMutation({
    mutationFn: restoreRow,
    onSuccess: () => {
      rowsChanged()
      toast(`Row ${number} is as it was.`)
    },
    onError: ({ message }) => toast(message),
  })
  const save = useMutation({
    mutationFn: saveRow,
    onSuccess: (_nothing, asked) => {
      rowsChanged()
      const former = Object.fromEntries(Object.keys(asked.changed).map((name) => [name, row[name] ?? null]))
      toast(`Row ${number} saved.`, {
        label: 'Undo',
        act: () => takeBack.mutate({ sheet, row: number, changed: former }),
      })
      onDone()
    },
  })
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        save.mutate({ sheet, row: number, etag, changed })
      }}
    >
      <RowFields
        columns={sheet.columns}
        values={shown}
        onChange={(name, value) => setTyped({ ...typed, [name]: value })}
      />
      <FormError>{save.error?.message}</FormError>
      <div className="flex flex-wrap gap-2">
        <Button
          type="submit"
          look="primary"
          isBusy={save.isPending}
          disabled={Object.keys(changed).length === 0}
        >
          Save row
        </Button>
        <Button onClick={onDone}>Cancel</Button>
        {save.error && <Button onClick={onReload}>Reload row</Button>}
      </div>
    </form>
  )
}

function DeleteRow({
  sheet,
  number,
  opened: { row, etag },
  onCancel,
  onDone,
}: {
  sheet: SheetView
  number: number
  opened: OpenRow
  onCancel(): void
  onDone(): void
}) {
  const toast = useToast()
  const rowsChanged = useRowsChanged(sheet)
  const putBack = useMutation({
    mutationFn: putRowBack,
    onSuccess: () => {
      rowsChanged()
      toast('The row is back, at the end of the sheet.')
    },
    onError: ({ message }) => toast(message),
  })
  const remove = useMutation({
    mutationFn: removeRow,
    onSuccess: () => {
      rowsChanged()
      toast(`Row ${number} deleted.`, { label: 'Undo', act: () => putBack.mutate({ sheet, row }) })
      onDone()
    },
  })
  const { reset } = remove
  useEffect(() => reset, [reset])
  return (
    <div className="mt-5 border-t border-line pt-4">
      <p role="alert" className="mb-3 text-sm">
        Delete row {number} from your live spreadsheet? Undo adds it back at the end.
      </p>
      <FormError>{remove.error?.message}</FormError>
      <div className="flex gap-2">
        <Button
          look="danger"
          isBusy={remove.isPending}
          onClick={() => remove.mutate({ sheet, row: number, etag })}
        >
          Delete row {number}
        </Button>
        <Button autoFocus onClick={onCancel}>
          Cancel
        </Button>
      </div>
    </div>
  )
}
