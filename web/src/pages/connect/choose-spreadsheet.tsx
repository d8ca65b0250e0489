import { useQuery } from '@tanstack/react-query'
import { useDeferredValue, useState } from 'react'
import type { ConnectionView } from '../../../../src/dashboard/contract.ts'
import { spreadsheetsQuery } from '../../queries.ts'
import type { ConnectableSource } from '../../sources.ts'
import { Button } from '../../ui/button.tsx'
import { TextField } from '../../ui/field.tsx'
import { ErrorState, Skeleton } from '../../ui/states.tsx'
import { Ago } from '../../ui/time.tsx'
import { ChooseThere } from './choose-there.tsx'
import { JustPicked } from './just-picked.tsx'
import { ShareWith } from './share-with.tsx'

const lookAgainMs = 4_000

/** By name from the list, or by a pasted link. */
export function ChooseSpreadsheet({
  source,
  connection,
  justPicked,
  onPicked,
}: {
  source: ConnectableSource
  connection: NonNullable<ConnectionView['connection']>
  /** Ids of what the owner chose there a moment ago. */
  justPicked: string[]
  /** Its id, or a link as it was pasted. */
  onPicked(spreadsheet: string): void
}) {
  const [text, setText] = useState('')
  const { canSeeAllSpreadsheets: canSeeAll, shareWith } = connection
  const whose =
    shareWith !== null
      ? 'shared with that address'
      : canSeeAll
        ? `of ${connection.email}`
        : `${connection.email} has shared with Rowport`
  const search = useDeferredValue(text.trim())
  const { provider, name } = source
  const isLink = new RegExp(source.connection.linkPattern).test(search)
  const list = useQuery({
    ...spreadsheetsQuery(provider, isLink ? '' : search),
    enabled: source.canBeListed,
    // What the owner shares on another page meanwhile comes by itself.
    refetchInterval: shareWith === null ? false : lookAgainMs,
  })
  // What stands above the list, as just selected, is not in it once more.
  const unlisted = (list.data ?? []).filter(
    ({ spreadsheetId }) => search !== '' || !justPicked.includes(spreadsheetId),
  )
  return (
    <div className="max-w-2xl">
      {shareWith !== null && <ShareWith address={shareWith} />}
      <div className="mb-3">
        <TextField
          label="Spreadsheet"
          type="search"
          placeholder={source.canBeListed ? 'Search by name, or paste a link' : 'Paste a link'}
          autoComplete="off"
          hint={`Spreadsheets ${whose}.`}
          value={text}
          onChange={({ target }) => setText(target.value)}
        />
      </div>
      {isLink && (
        <div className="mb-4">
          <Button look="primary" onClick={() => onPicked(search)}>
            Use this link
          </Button>
        </div>
      )}
      {search === '' && justPicked.length > 0 && (
        <>
          <JustPicked source={source} ids={justPicked} onPicked={onPicked} />
          <h2 className="mb-2 text-sm font-medium">All available spreadsheets</h2>
        </>
      )}
      {list.isLoading && <Skeleton lines={5} label={`Asking ${name} for your spreadsheets`} />}
      {list.error && <ErrorState error={list.error} onRetry={() => list.refetch()} />}
      {list.data?.length === 0 && (
        <p className="rounded-lg border border-dashed border-line-strong px-4 py-8 text-center text-sm text-soft">
          {search
            ? 'No spreadsheets match.'
            : shareWith !== null
              ? 'Nothing is shared with it yet. What you share shows up here by itself, or paste its link above.'
              : canSeeAll
                ? 'No spreadsheets here yet. Paste a link above.'
                : `No spreadsheets here yet. Select the first ones in ${name}, below.`}
        </p>
      )}
      {unlisted.length > 0 && (
        <ul className="divide-y divide-line overflow-hidden rounded-xl border border-line bg-raised">
          {unlisted.map(({ spreadsheetId, title, modifiedAtMs }) => (
            <li key={spreadsheetId}>
              <button
                type="button"
                onClick={() => onPicked(spreadsheetId)}
                className="flex w-full items-center justify-between gap-4 px-4 py-3 text-left text-sm hover:bg-sunken"
              >
                <span className="truncate font-medium">{title}</span>
                <span className="shrink-0 text-caption text-soft">
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
