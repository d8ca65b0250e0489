import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { SheetSummary, UsageDay } from '../../../../src/dashboard/contract.ts'
import { basePath } from '../../base-path.ts'
import { needsAttention } from '../../problems.ts'
import { sheetsQuery, usageQuery } from '../../queries.ts'
import { ButtonAnchor, ButtonLink } from '../../ui/button.tsx'
import { DataTable } from '../../ui/data-table.tsx'
import { Fact } from '../../ui/fact.tsx'
import { shownNumber } from '../../ui/number.ts'
import { ProgressBar } from '../../ui/progress-bar.tsx'
import { Card, ErrorState, Skeleton } from '../../ui/states.tsx'
import { Ago, dateOf } from '../../ui/time.tsx'
import { SheetStateBadge } from '../sheets/sheet-state.tsx'

const shownSheets = 5
/** From here on, somebody should know before clients notice. */
const nearlyUsedUp = 0.8

/** What keeps clients from rows, first of all. */
export function Attention() {
  const { data: sheets = [] } = useQuery(sheetsQuery)
  const troubled = sheets.filter(needsAttention)
  if (troubled.length === 0) return null
  return (
    <section aria-labelledby="attention" className="mb-6 rounded-xl border border-bad/40 bg-bad-wash p-5">
      <h2 id="attention" className="mb-2 font-semibold text-bad">
        {troubled.length === 1 ? '1 sheet needs attention' : `${troubled.length} sheets need attention`}
      </h2>
      <ul className="space-y-2 text-sm">
        {troubled.slice(0, shownSheets).map(({ slug, state, stateReason }) => (
          <li key={slug} className="flex flex-wrap items-baseline gap-x-3 gap-y-1">
            <Link to="/sheets/$slug" params={{ slug }} className="font-medium underline underline-offset-2">
              {slug}
            </Link>
            <SheetStateBadge state={state} />
            {stateReason && (
              <span className="inline-block text-soft first-letter:uppercase">{stateReason}</span>
            )}
          </li>
        ))}
      </ul>
      {troubled.length > shownSheets && (
        <p className="mt-3">
          <ButtonLink to="/sheets" search={{ show: 'attention' }}>
            Show all {troubled.length}
          </ButtonLink>
        </p>
      )}
    </section>
  )
}

/** What needs attention, today, the month, what was asked for last, and `children` below, all at once. */
export function Home({ children }: { children: ReactNode }) {
  const usage = useQuery(usageQuery({ days: '7', sheet: '', key: '' }))
  const sheets = useQuery(sheetsQuery)
  if (usage.isPending || sheets.isPending) return <Skeleton lines={10} />
  if (!usage.data || !sheets.data) {
    const retry = () => {
      void usage.refetch()
      void sheets.refetch()
    }
    return (
      <>
        <Attention />
        <ErrorState error={usage.error ?? sheets.error} onRetry={retry} />
        {children}
      </>
    )
  }
  const { month, days } = usage.data
  const today = days.at(-1)
  const share = month.limit === null ? null : month.used / month.limit
  const recent = sheets.data
    .filter(({ lastRequestAtMs }) => lastRequestAtMs !== null)
    .toSorted((one, other) => (other.lastRequestAtMs ?? 0) - (one.lastRequestAtMs ?? 0))
  return (
    <>
      <Attention />
      <div className="space-y-6">
        <dl className="grid grid-cols-2 gap-4 lg:grid-cols-4">
          <Fact name="Requests today" hint="Since midnight UTC">
            {shownNumber(today ? requestsOf(today) : 0)}
          </Fact>
          <Fact name="Errors today">{shownNumber(today ? errorsOf(today) : 0)}</Fact>
          <Fact name="Requests in 7 days">
            {shownNumber(days.reduce((sum, day) => sum + requestsOf(day), 0))}
          </Fact>
          <Fact name="Sheets">{shownNumber(sheets.data.length)}</Fact>
        </dl>
        {share !== null && (
          <Card title="Monthly quota">
            <p className="mb-2 text-sm tabular-nums">
              {shownNumber(month.used)} of {shownNumber(month.limit ?? 0)} · resets {dateOf(month.resetsAtMs)}
            </p>
            <ProgressBar label="Monthly quota used" share={Math.min(1, share)} />
            {share >= nearlyUsedUp && (
              <p role="alert" className="mt-2 text-sm text-warn">
                {share >= 1
                  ? 'Your quota is used up. Requests return 429.'
                  : 'You’ve used over 80% of your quota.'}
              </p>
            )}
          </Card>
        )}
        <section>
          <h2 className="mb-3 text-base font-semibold tracking-tight">Recent activity</h2>
          <DataTable
            caption="Recently requested sheets"
            rows={recent.slice(0, shownSheets)}
            keyOf={({ id }) => id}
            columns={[
              { title: 'Sheet', cell: (sheet) => <RecentSheet of={sheet} /> },
              { title: 'Last request', cell: ({ lastRequestAtMs }) => <Ago atMs={lastRequestAtMs} /> },
              {
                title: 'Requests this month',
                isNumber: true,
                cell: ({ requestsThisMonth }) => shownNumber(requestsThisMonth),
              },
            ]}
          />
        </section>
        <div className="flex flex-wrap gap-2">
          <ButtonLink to="/sheets">Your sheets</ButtonLink>
          <ButtonLink to="/usage">View usage</ButtonLink>
          <ButtonAnchor href={`${basePath}/docs`}>Docs and recipes</ButtonAnchor>
        </div>
      </div>
      {children}
    </>
  )
}

function RecentSheet({ of: { slug } }: { of: SheetSummary }) {
  return (
    <Link
      to="/sheets/$slug/requests"
      params={{ slug }}
      className="rounded-sm font-medium underline-offset-2 hover:text-accent hover:underline"
    >
      {slug}
    </Link>
  )
}

function requestsOf(day: UsageDay): number {
  return day.success + errorsOf(day)
}

function errorsOf({ clientError, rateLimited, serverError }: UsageDay): number {
  return clientError + rateLimited + serverError
}
