import { useQuery } from '@tanstack/react-query'
import { useDeferredValue, useState } from 'react'
import type { GoogleView, SheetSource } from '../../../../src/dashboard/contract.ts'
import { spreadsheetsQuery } from '../../queries.ts'
import { Button } from '../../ui/button.tsx'
import { TextField } from '../../ui/field.tsx'
import { ErrorState, Skeleton } from '../../ui/states.tsx'
import { Ago } from '../../ui/time.tsx'
import { ChooseAtGoogle } from './choose-at-google.tsx'
import { ChooseTab } from './choose-tab.tsx'
import { JustPicked } from './just-picked.tsx'

const looksLikeLink = /docs\.google\.com|drive\.google\.com|^[\w-]{30,}$/

/** By name from the list, or by a pasted link; then the tab, where there are several. */
export function ChooseSpreadsheet({
  connection,
  justPicked,
  onChosen,
}: {
  connection: NonNullable<GoogleView['connection']>
  /** Ids of what the owner chose at Google a moment ago. */
  justPicked: string[]
  onChosen(source: SheetSource): void
}) {
  const [text, setText] = useState('')
  const [only, ...others] = justPicked
  const [picked, setPicked] = useState(only && others.length === 0 ? only : null)
  const canSeeAll = connection.canSeeAllSpreadsheets
  const search = useDeferredValue(text.trim())
  const isLink = looksLikeLink.test(search)
  const list = useQuery(spreadsheetsQuery(isLink ? '' : search))
  if (picked) {
    return (
      <ChooseTab
        spreadsheet={picked}
        canSeeAll={canSeeAll}
        onBack={() => setPicked(null)}
        onChosen={onChosen}
      />
    )
  }
  return (
    <div className="max-w-2xl">
      <div className="mb-3">
        <TextField
          label="Spreadsheet"
          type="search"
          placeholder="Search by name, or paste a link"
          autoComplete="off"
          hint={`Spreadsheets of ${connection.email}${canSeeAll ? '' : ' that you chose for Rowport at Google'}.`}
          value={text}
          onChange={({ target }) => setText(target.value)}
        />
      </div>
      {isLink && (
        <div className="mb-4">
          <Button look="primary" onClick={() => setPicked(search)}>
            Use this link
          </Button>
        </div>
      )}
      {search === '' && others.length > 0 && (
        <>
          <JustPicked ids={justPicked} onPicked={setPicked} />
          <h2 className="mb-2 text-sm font-medium">All that Rowport may use</h2>
        </>
      )}
      {list.isPending && <Skeleton lines={5} label="Asking Google for your spreadsheets" />}
      {list.error && <ErrorState error={list.error} onRetry={() => list.refetch()} />}
      {list.data?.length === 0 && (
        <p className="rounded-lg border border-dashed border-line-strong px-4 py-8 text-center text-sm text-soft">
          {search
            ? 'No spreadsheet has this in its name.'
            : canSeeAll
              ? 'No spreadsheets here yet. Paste the link of one above.'
              : 'No spreadsheets here yet. Choose the first ones at Google, below.'}
        </p>
      )}
      {list.data && list.data.length > 0 && (
        <ul className="divide-y divide-line overflow-hidden rounded-xl border border-line bg-raised">
          {list.data.map(({ spreadsheetId, title, modifiedAtMs }) => (
            <li key={spreadsheetId}>
              <button
                type="button"
                onClick={() => setPicked(spreadsheetId)}
                className="flex w-full items-center justify-between gap-4 px-4 py-3 text-left text-sm hover:bg-sunken"
              >
                <span className="truncate font-medium">{title}</span>
                <span className="shrink-0 text-[13px] text-soft">
                  <Ago atMs={modifiedAtMs} ifNever="" />
                </span>
              </button>
            </li>
          ))}
        </ul>
      )}
      {!canSeeAll && !list.isPending && <ChooseAtGoogle className="mt-5" />}
    </div>
  )
}
