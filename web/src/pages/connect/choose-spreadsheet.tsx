import { useQuery } from '@tanstack/react-query'
import { useDeferredValue, useState } from 'react'
import type { ConnectionView, SheetSource } from '../../../../src/dashboard/contract.ts'
import { spreadsheetsQuery } from '../../queries.ts'
import type { ConnectableSource } from '../../sources.ts'
import { Button } from '../../ui/button.tsx'
import { TextField } from '../../ui/field.tsx'
import { ErrorState, Skeleton } from '../../ui/states.tsx'
import { Ago } from '../../ui/time.tsx'
import { ChooseTab } from './choose-tab.tsx'
import { ChooseThere } from './choose-there.tsx'
import { JustPicked } from './just-picked.tsx'

/** By name from the list, or by a pasted link; then the tab, where there are several. */
export function ChooseSpreadsheet({
  source,
  connection,
  justPicked,
  onChosen,
}: {
  source: ConnectableSource
  connection: NonNullable<ConnectionView['connection']>
  /** Ids of what the owner chose there a moment ago. */
  justPicked: string[]
  onChosen(source: SheetSource): void
}) {
  const [text, setText] = useState('')
  const [only, ...others] = justPicked
  const [picked, setPicked] = useState(only && others.length === 0 ? only : null)
  const canSeeAll = connection.canSeeAllSpreadsheets
  const search = useDeferredValue(text.trim())
  const { provider, name } = source
  const isLink = new RegExp(source.connection.linkPattern).test(search)
  const list = useQuery({
    ...spreadsheetsQuery(provider, isLink ? '' : search),
    enabled: source.canBeListed,
  })
  if (picked) {
    return (
      <ChooseTab
        source={source}
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
          placeholder={source.canBeListed ? 'Search by name, or paste a link' : 'Paste a link'}
          autoComplete="off"
          hint={`Spreadsheets of ${connection.email}${canSeeAll ? '' : ` that you chose for Rowport at ${name}`}.`}
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
          <JustPicked source={source} ids={justPicked} onPicked={setPicked} />
          <h2 className="mb-2 text-sm font-medium">All that Rowport may use</h2>
        </>
      )}
      {list.isLoading && <Skeleton lines={5} label={`Asking ${name} for your spreadsheets`} />}
      {list.error && <ErrorState error={list.error} onRetry={() => list.refetch()} />}
      {list.data?.length === 0 && (
        <p className="rounded-lg border border-dashed border-line-strong px-4 py-8 text-center text-sm text-soft">
          {search
            ? 'No spreadsheet has this in its name.'
            : canSeeAll
              ? 'No spreadsheets here yet. Paste the link of one above.'
              : `No spreadsheets here yet. Choose the first ones at ${name}, below.`}
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
      {!canSeeAll && !list.isLoading && <ChooseThere source={source} className="mt-5" />}
    </div>
  )
}
