import { useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import type { ConnectionView } from '../../../../src/dashboard/contract.ts'
import { tabsQuery } from '../../queries.ts'
import type { ConnectableSource } from '../../sources.ts'
import { Button } from '../../ui/button.tsx'
import { ErrorState, Skeleton } from '../../ui/states.tsx'
import { ChooseThere } from './choose-there.tsx'
import { ShareWith } from './share-with.tsx'

const lookAgainMs = 3_000

/** Which tab of it becomes the sheet. */
export function ChooseTab({
  source,
  spreadsheet,
  connection: { canSeeAllSpreadsheets, shareWith },
  onBack,
  onChosen,
}: {
  source: ConnectableSource
  /** Its id, or a link as it was pasted. */
  spreadsheet: string
  connection: Pick<NonNullable<ConnectionView['connection']>, 'canSeeAllSpreadsheets' | 'shareWith'>
  onBack(): void
  /** `isOnly`: there was nothing to choose. */
  onChosen(spreadsheetId: string, tabId: number, isOnly: boolean): void
}) {
  const tabs = useQuery({
    ...tabsQuery(source.provider, spreadsheet),
    // Until the owner has shared it, which they do on another page.
    refetchInterval: ({ state: { error } }) => (error && shareWith !== null ? lookAgainMs : false),
  })
  const only = tabs.data?.tabs.length === 1 ? tabs.data.tabs[0] : undefined
  const spreadsheetId = tabs.data?.spreadsheetId
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each spreadsheet
  useEffect(() => {
    if (only && spreadsheetId !== undefined) onChosen(spreadsheetId, only.tabId, true)
  }, [only, spreadsheetId])
  return (
    <div className="max-w-2xl">
      <Button look="quiet" className="mb-3 -ml-3" onClick={onBack}>
        ← Back to spreadsheets
      </Button>
      {tabs.isPending && <Skeleton lines={4} label={`Asking ${source.name} for the tabs`} />}
      {tabs.error && <ErrorState error={tabs.error} onRetry={() => tabs.refetch()} />}
      {tabs.error && shareWith !== null && <ShareWith address={shareWith} isAwaited />}
      {tabs.error && !canSeeAllSpreadsheets && <ChooseThere source={source} className="mt-5" />}
      {tabs.data && (
        <>
          <h2 data-step tabIndex={-1} className="mb-3 font-semibold outline-none">
            {source.hasTabs ? `Choose a tab in “${tabs.data.title}”` : tabs.data.title}
          </h2>
          <ul className="divide-y divide-line overflow-hidden rounded-xl border border-line bg-raised">
            {tabs.data.tabs.map(({ tabId, title }) => (
              <li key={tabId}>
                <button
                  type="button"
                  onClick={() => onChosen(tabs.data.spreadsheetId, tabId, false)}
                  className="flex w-full items-center justify-between gap-4 px-4 py-3 text-left text-sm hover:bg-sunken"
                >
                  <span className="truncate font-medium">
                    {title}
                    {tabId === tabs.data.preferredTabId && <span className="text-soft"> (in your link)</span>}
                  </span>
                </button>
              </li>
            ))}
          </ul>
        </>
      )}
    </div>
  )
}
