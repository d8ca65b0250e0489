import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import type { PastChangeView, SheetView } from '../../../../../src/dashboard/contract.ts'
import { historyQuery } from '../../../queries.ts'
import { useSession } from '../../../session.ts'
import { Button, ButtonLink } from '../../../ui/button.tsx'
import { EmptyState, ErrorState, Skeleton } from '../../../ui/states.tsx'
import { Ago } from '../../../ui/time.tsx'
import { useSheet } from '../sheet-query.ts'
import { ChangedCells, type ChangedRow } from './changed-cells.tsx'
import type { HistorySearch } from './history-search.ts'
import { inShort, type PastWrite, pastWrites, whoOf } from './past-writes.ts'
import { UndoDialog } from './undo-dialog.tsx'

const shownAtFirst = 5

/** Who changed which rows and when, the newest first, and the way back. */
export function History() {
  const sheet = useSheet()
  const search = useSearch({ from: '/owners/sheets/$slug/history' })
  const history = useQuery(historyQuery(sheet.slug, search))
  const [undoing, setUndoing] = useState<PastWrite | null>(null)
  if (history.isPending) return <Skeleton lines={8} />
  if (history.error && !history.data)
    return <ErrorState error={history.error} onRetry={() => history.refetch()} />
  const { isKept = false, changes = [], next = null } = history.data ?? {}
  if (!isKept) return <NotKept sheet={sheet} />
  return (
    <>
      <OfRow sheet={sheet} search={search} />
      {changes.length === 0 ? (
        <EmptyState title={search.before === undefined ? 'No changes yet' : 'Nothing further back'}>
          What requests and people change in the rows appears here, for {days(sheet)}.
        </EmptyState>
      ) : (
        <ol className="space-y-4" aria-label="Changes, newest first">
          {pastWrites(changes).map((write) => (
            <Write key={write.id} write={write} onUndo={() => setUndoing(write)} />
          ))}
        </ol>
      )}
      <Further search={search} next={next} />
      <UndoDialog sheet={sheet} write={undoing} onClose={() => setUndoing(null)} />
    </>
  )
}

function Write({ write, onUndo }: { write: PastWrite; onUndo(): void }) {
  const { account } = useSession()
  const [isOpen, setOpen] = useState(false)
  const { changes, atMs, operation } = write
  const shown = isOpen ? changes : changes.slice(0, shownAtFirst)
  return (
    <li className="overflow-hidden rounded-xl border border-line bg-raised">
      <div className="flex items-center justify-between gap-3 border-b border-line bg-sunken px-4 py-2.5">
        <p className="min-w-0 text-sm">
          <span className="font-medium wrap-anywhere">{whoOf(write)}</span>{' '}
          <span className="text-soft">
            <Ago atMs={atMs} /> · {inShort(changes)}
          </span>
        </p>
        {operation !== null && (
          <Button
            className="h-7! px-2.5! text-caption!"
            disabled={!account.plan.writeApi}
            onClick={onUndo}
            aria-label={`Undo: ${inShort(changes)}`}
          >
            Undo
          </Button>
        )}
      </div>
      <ul className="divide-y divide-line">
        {shown.map((change) => (
          <Change key={change.seq} of={change} />
        ))}
      </ul>
      {shown.length < changes.length && (
        <button
          type="button"
          onClick={() => setOpen(true)}
          className="w-full border-t border-line px-4 py-2 text-left text-caption text-accent underline underline-offset-2"
        >
          Show {changes.length - shown.length} more
        </button>
      )}
    </li>
  )
}

function Change({ of: change }: { of: PastChangeView }) {
  if (change.kind === 'columns_changed') {
    return (
      <li className="px-4 py-3 text-sm wrap-anywhere">
        <span className="text-soft">Columns:</span> {names(change.before)}{' '}
        <span className="text-soft">→</span> {names(change.after)}
      </li>
    )
  }
  if (change.kind === 'reset') {
    return (
      <li className="px-4 py-3 text-sm text-soft">
        Too much changed to be told row by row, or the key column is another one.
      </li>
    )
  }
  return <ChangedCells of={change as ChangedRow} />
}

function names(of: PastChangeView['before']): string {
  return Array.isArray(of) ? of.join(', ') : ''
}

function OfRow({ sheet, search: { row, key } }: { sheet: SheetView; search: HistorySearch }) {
  if (row === undefined && key === undefined) {
    return <p className="mb-4 text-sm text-soft">Who changed which rows, and when. Kept for {days(sheet)}.</p>
  }
  return (
    <p className="mb-4 flex flex-wrap items-center gap-x-3 gap-y-1 text-sm">
      <span className="font-medium wrap-anywhere">{key !== undefined ? `Row ${key}` : `Row ${row}`}</span>
      <Link
        to="/sheets/$slug/history"
        params={{ slug: sheet.slug }}
        search={{}}
        className="text-accent underline underline-offset-2"
      >
        Show all rows
      </Link>
    </p>
  )
}

function Further({ search, next }: { search: HistorySearch; next: string | null }) {
  const navigate = useNavigate({ from: '/sheets/$slug/history' })
  if (next === null && search.before === undefined) return null
  const go = (before: string | undefined) => void navigate({ search: { ...search, before } })
  return (
    <div className="mt-5 flex gap-2">
      {search.before !== undefined && <Button onClick={() => go(undefined)}>Newest</Button>}
      {next !== null && <Button onClick={() => go(next)}>Older changes</Button>}
    </div>
  )
}

function NotKept({ sheet: { slug } }: { sheet: SheetView }) {
  return (
    <EmptyState
      title="No history is kept"
      action={
        <ButtonLink to="/sheets/$slug/settings" params={{ slug }}>
          Open settings
        </ButtonLink>
      }
    >
      This sheet keeps its history for 0 days. Choose a number of days to see who changed what, and to undo
      it.
    </EmptyState>
  )
}

function days({ settings: { historyDays } }: SheetView): string {
  return historyDays === 1 ? '1 day' : `${historyDays} days`
}
