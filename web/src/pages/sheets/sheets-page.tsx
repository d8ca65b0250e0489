import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { SheetSummary } from '../../../../src/dashboard/contract.ts'
import { sheetsQuery } from '../../queries.ts'
import { useTitle } from '../../shell/use-title.ts'
import { useSources } from '../../sources.ts'
import { ButtonLink } from '../../ui/button.tsx'
import { DataTable } from '../../ui/data-table.tsx'
import { shownNumber } from '../../ui/number.ts'
import { EmptyState, ErrorState, PageHeader, Skeleton } from '../../ui/states.tsx'
import { Ago } from '../../ui/time.tsx'
import { AccessBadge } from './sheet-access.tsx'
import { SheetStateBadge } from './sheet-state.tsx'

export function SheetsPage() {
  useTitle('Sheets')
  const { connectableNames } = useSources()
  const sheets = useQuery(sheetsQuery)
  const connect = (
    <ButtonLink look="primary" to="/connect">
      Connect a sheet
    </ButtonLink>
  )
  return (
    <>
      <PageHeader title="Sheets" action={sheets.data?.length !== 0 && connect}>
        Each connected sheet is an API of its own.
      </PageHeader>
      {sheets.isPending && <Skeleton lines={6} />}
      {sheets.error && !sheets.data && <ErrorState error={sheets.error} onRetry={() => sheets.refetch()} />}
      {sheets.data?.length === 0 && (
        <EmptyState title="No sheet yet" action={connect}>
          Take a {connectableNames('or')} spreadsheet or a file, look at its rows as JSON, and give it an
          address.
        </EmptyState>
      )}
      {sheets.data && sheets.data.length > 0 && (
        <DataTable
          caption="Connected sheets"
          rows={sheets.data}
          keyOf={({ id }) => id}
          columns={[
            { title: 'Sheet', cell: (sheet) => <Name of={sheet} /> },
            { title: 'State', cell: (sheet) => <State of={sheet} /> },
            {
              title: 'Last request',
              cell: ({ lastRequestAtMs }) => <Ago atMs={lastRequestAtMs} />,
              isOptional: true,
            },
            {
              title: 'This month, errors too',
              isNumber: true,
              isOptional: true,
              cell: ({ requestsThisMonth }) => shownNumber(requestsThisMonth),
            },
          ]}
        />
      )}
    </>
  )
}

function Name({ of: sheet }: { of: SheetSummary }) {
  const { slug, title, provider, lastRequestAtMs, requestsThisMonth } = sheet
  const { nameOf } = useSources()
  return (
    <>
      <Link
        to="/sheets/$slug"
        params={{ slug }}
        className="rounded-sm font-medium underline-offset-2 hover:text-accent hover:underline"
      >
        {slug}
      </Link>
      <span className="block max-w-38 truncate text-[13px] text-soft sm:max-w-72">
        {nameOf(provider)} · {title}
      </span>
      {/* What the columns say where there is room for them. */}
      <span className="block max-w-38 text-[13px] text-soft md:hidden">
        {shownNumber(requestsThisMonth)} this month, last <Ago atMs={lastRequestAtMs} />
      </span>
    </>
  )
}

function State({ of: { provider, state, stateReason, access } }: { of: SheetSummary }) {
  const { nameOf } = useSources()
  return (
    <>
      <span className="flex flex-wrap gap-1.5">
        <SheetStateBadge state={state} />
        <AccessBadge access={access} />
      </span>
      {state === 'needs_reconnect' ? (
        <Link to="/settings" className="mt-1 block text-[13px] text-accent underline underline-offset-2">
          Reconnect {nameOf(provider)}
        </Link>
      ) : (
        stateReason && <span className="mt-1 block max-w-64 text-[13px] text-soft">{stateReason}</span>
      )}
    </>
  )
}
