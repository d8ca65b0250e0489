import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { FormView, HeldEntryView } from '../../../../src/dashboard/contract.ts'
import { send } from '../../api.ts'
import { formsQuery, heldEntriesQuery } from '../../queries.ts'
import { Button } from '../../ui/button.tsx'
import { ConfirmDialog } from '../../ui/dialog.tsx'
import { FormError } from '../../ui/field.tsx'
import { useFirst } from '../../ui/list/list-tools.tsx'
import { Badge, EmptyState, ErrorState, Skeleton } from '../../ui/states.tsx'
import { Ago } from '../../ui/time.tsx'
import { useToast } from '../../ui/toast.tsx'

interface Settled {
  id: string
  entry: string
}

const releaseEntry = (names: Settled) => send('POST /forms/{id}/entries/{entry}/release', { names })
const releaseAll = (id: string) => send('POST /forms/{id}/release', { names: { id } })
const discardEntry = (names: Settled) => send('POST /forms/{id}/entries/{entry}/discard', { names })

const reasons: Record<HeldEntryView['reason'], string> = {
  honeypot: 'filled in a hidden field',
  too_quick: 'sent too quickly',
  unfit: 'the sheet could not take it',
}

/** What looks like spam: nothing of it is in the sheet, and nothing of it is lost. */
export function HeldEntries({ form: { id, settings } }: { form: FormView }) {
  const queryClient = useQueryClient()
  const toast = useToast()
  const entries = useQuery(heldEntriesQuery(id))
  const { shown, more } = useFirst(entries.data ?? [])
  const done = (words: string) => {
    void queryClient.invalidateQueries({ queryKey: formsQuery.queryKey })
    toast(words)
  }
  const releasing = useMutation({
    mutationFn: releaseEntry,
    onSuccess: () => done('Released. It is being added to the sheet.'),
  })
  const releasingAll = useMutation({
    mutationFn: releaseAll,
    onSuccess: ({ released }) => {
      setIsAsking(false)
      done(`Released ${released}. They are being added to the sheet.`)
    },
  })
  const [isAsking, setIsAsking] = useState(false)
  const discarding = useMutation({ mutationFn: discardEntry, onSuccess: () => done('Discarded.') })
  if (entries.isPending) return <Skeleton lines={5} />
  if (!entries.data) return <ErrorState error={entries.error} onRetry={() => entries.refetch()} />
  if (entries.data.length === 0)
    return (
      <EmptyState title="Nothing is held">
        Entries that look like spam wait here until you release or discard them.
      </EmptyState>
    )
  const labels = new Map(settings.fields.map(({ column, label }) => [column, label]))
  const isBusy = releasing.isPending || releasingAll.isPending || discarding.isPending
  const waiting = entries.data.filter(({ isReleased }) => !isReleased).length
  const isUnfit = entries.data.some(({ reason }) => reason === 'unfit')
  return (
    <>
      {isUnfit && (
        <p className="mb-4 text-sm text-warn">
          The sheet could not take some entries: a column of the form was renamed or removed there, or a key
          is taken already. Mend that, then release them.
        </p>
      )}
      {waiting > 1 && (
        <div className="mb-3 flex justify-end">
          <Button disabled={isBusy} onClick={() => setIsAsking(true)}>
            Release all
          </Button>
        </div>
      )}
      <ConfirmDialog
        title={`Release ${waiting} entries?`}
        confirm="Release all"
        isOpen={isAsking}
        isBusy={releasingAll.isPending}
        error={releasingAll.error?.message}
        onConfirm={() => releasingAll.mutate(id)}
        onClose={() => {
          setIsAsking(false)
          releasingAll.reset()
        }}
      >
        <p>Each of them becomes a row of the sheet, also those that look like spam.</p>
      </ConfirmDialog>
      <FormError>{(releasing.error ?? discarding.error)?.message}</FormError>
      <ul className="space-y-3">
        {shown.map(({ id: entry, reason, cells, isReleased, receivedAtMs }) => (
          <li key={entry} className="rounded-xl border border-line bg-raised p-5">
            <div className="mb-3 flex flex-wrap items-center gap-x-3 gap-y-2">
              <Badge tone="warn">{reasons[reason]}</Badge>
              <span className="mr-auto text-caption text-soft">
                <Ago atMs={receivedAtMs} />
              </span>
              {isReleased ? (
                <span className="text-sm text-good">Being added…</span>
              ) : (
                <span className="flex gap-2">
                  <Button disabled={isBusy} onClick={() => releasing.mutate({ id, entry })}>
                    Release<span className="sr-only"> {summaryOf(cells)}</span>
                  </Button>
                  <Button
                    className="text-bad!"
                    disabled={isBusy}
                    onClick={() => discarding.mutate({ id, entry })}
                  >
                    Discard<span className="sr-only"> {summaryOf(cells)}</span>
                  </Button>
                </span>
              )}
            </div>
            <dl className="grid grid-cols-1 gap-x-4 gap-y-1 text-sm sm:grid-cols-[9rem_minmax(0,1fr)]">
              {cells.map(([column, value]) => (
                <div key={column} className="contents">
                  <dt className="text-soft">{labels.get(column) ?? column}</dt>
                  <dd className="wrap-anywhere whitespace-pre-line max-sm:mb-1.5">{shownCell(value)}</dd>
                </div>
              ))}
            </dl>
          </li>
        ))}
      </ul>
      {more}
    </>
  )
}

function shownCell(value: string | number | boolean): string {
  return typeof value === 'boolean' ? (value ? 'Yes' : 'No') : String(value)
}

function summaryOf(cells: HeldEntryView['cells']): string {
  return String(cells[0]?.[1] ?? '').slice(0, 60)
}
