import { useQueries } from '@tanstack/react-query'
import { tabsQuery } from '../../queries.ts'
import type { ConnectableSource } from '../../sources.ts'

/** Each is asked for by itself; more than these are found in the list. */
const mostShown = 10

/** What the owner has just chosen at the provider comes first, also where its list does not have it yet. */
export function JustPicked({
  source: { provider },
  ids,
  onPicked,
}: {
  source: ConnectableSource
  ids: string[]
  onPicked(id: string): void
}) {
  const queries = ids.slice(0, mostShown).map((id) => tabsQuery(provider, id))
  const shown = useQueries({ queries }).flatMap(({ data }) => (data ? [data] : []))
  if (shown.length === 0) return null
  return (
    <section className="mb-5">
      <h2 className="mb-2 text-sm font-medium">Just selected</h2>
      <ul className="divide-y divide-line overflow-hidden rounded-xl border border-accent bg-raised">
        {shown.map(({ spreadsheetId, title, tabs }) => (
          <li key={spreadsheetId}>
            <button
              type="button"
              onClick={() => onPicked(spreadsheetId)}
              className="flex w-full items-center justify-between gap-4 px-4 py-3 text-left text-sm hover:bg-sunken"
            >
              <span className="truncate font-medium">{title}</span>
              <span className="shrink-0 text-caption text-soft">
                {tabs.length} {tabs.length === 1 ? 'tab' : 'tabs'}
              </span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  )
}
