import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import type { SheetSummary } from '../../../../src/dashboard/contract.ts'
import { sheetsQuery } from '../../queries.ts'
import { useTitle } from '../../shell/use-title.ts'
import { useSources } from '../../sources.ts'
import { Button, ButtonLink } from '../../ui/button.tsx'
import { DataTable } from '../../ui/data-table.tsx'
import { DensitySwitch, useIsDense } from '../../ui/list/density.tsx'
import { ListChoice, ListTools, useFirst } from '../../ui/list/list-tools.tsx'
import { shownNumber } from '../../ui/number.ts'
import { EmptyState, ErrorState, PageHeader, Skeleton } from '../../ui/states.tsx'
import { Ago } from '../../ui/time.tsx'
import { AccessBadge } from './sheet-access.tsx'
import { listed, type SheetsSearch, sheetFilters, sheetSorts } from './sheet-list.ts'
import { SheetStateBadge } from './sheet-state.tsx'

export function SheetsPage() {
  useTitle('Sheets')
  const { offered } = useSources()
  const sheets = useQuery(sheetsQuery)
  const search = useSearch({ from: '/owners/sheets' })
  const navigate = useNavigate({ from: '/sheets' })
  const change = (part: SheetsSearch) =>
    void navigate({ search: (former) => ({ ...former, ...part }), replace: true, resetScroll: false })
  const found = listed(sheets.data ?? [], search)
  const { shown, more } = useFirst(found)
  const isDense = useIsDense(sheets.data?.length ?? 0)
  const homes = offered.map(({ connection, title }) =>
    connection ? `connect a spreadsheet from ${title}` : 'upload a file',
  )
  const connect = (
    <ButtonLink look="primary" to="/connect">
      Connect a sheet
    </ButtonLink>
  )
  return (
    <>
      <PageHeader title="Sheets" action={sheets.data?.length !== 0 && connect}>
        Each connected sheet has its own API.
      </PageHeader>
      {sheets.isPending && <Skeleton lines={6} />}
      {sheets.error && !sheets.data && <ErrorState error={sheets.error} onRetry={() => sheets.refetch()} />}
      {sheets.data?.length === 0 && (
        <EmptyState title="No sheets yet" action={connect}>
          {asSentence(homes.join(' or '))}, preview it as JSON, and choose a URL.
        </EmptyState>
      )}
      {sheets.data && sheets.data.length > 0 && (
        <ListTools
          label="Find a sheet"
          value={search.q ?? ''}
          onChange={(q) => change({ q: q || undefined })}
        >
          <ListChoice
            label="Show"
            value={search.show ?? 'all'}
            choices={sheetFilters}
            onChange={(show) => change({ show: show === 'all' ? undefined : show })}
          />
          <ListChoice
            label="Sort"
            value={search.sort ?? 'attention'}
            choices={sheetSorts}
            onChange={(sort) => change({ sort: sort === 'attention' ? undefined : sort })}
          />
          <DensitySwitch count={sheets.data.length} />
        </ListTools>
      )}
      {sheets.data && sheets.data.length > 0 && found.length === 0 && (
        <EmptyState
          title="No sheets match"
          action={<Button onClick={() => change({ q: undefined, show: undefined })}>Clear filters</Button>}
        >
          None of your {shownNumber(sheets.data.length)} sheets is like this.
        </EmptyState>
      )}
      {found.length > 0 && (
        <DataTable
          caption="Connected sheets"
          isDense={isDense}
          rows={shown}
          keyOf={({ id }) => id}
          columns={[
            { title: 'Sheet', cell: (sheet) => <Name of={sheet} /> },
            { title: 'Status', cell: (sheet) => <State of={sheet} /> },
            {
              title: 'Last request',
              cell: ({ lastRequestAtMs }) => <Ago atMs={lastRequestAtMs} />,
              isOptional: true,
            },
            {
              title: 'Requests this month',
              isNumber: true,
              isOptional: true,
              cell: ({ requestsThisMonth }) => shownNumber(requestsThisMonth),
            },
          ]}
        />
      )}
      {more}
    </>
  )
}

function asSentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
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
      <span className="block max-w-38 truncate text-caption text-soft sm:max-w-72 max-md:group-data-dense/table:hidden md:group-data-dense/table:ml-2.5 md:group-data-dense/table:inline-block md:group-data-dense/table:align-bottom">
        {nameOf(provider)} · {title}
      </span>
      {/* What the columns say where there is room for them. */}
      <span className="block max-w-38 text-caption text-soft md:hidden">
        {shownNumber(requestsThisMonth)} this month, last <Ago atMs={lastRequestAtMs} />
      </span>
    </>
  )
}

function State({ of: { provider, state, stateReason, access } }: { of: SheetSummary }) {
  const { nameOf, switchedOffAt } = useSources()
  const off = switchedOffAt(provider)
  return (
    <>
      <span className="flex flex-wrap gap-1.5">
        <SheetStateBadge state={state} />
        <AccessBadge access={access} />
      </span>
      {state === 'needs_reconnect' ? (
        <Link to="/settings" className="mt-1 block text-caption text-accent underline underline-offset-2">
          Reconnect {nameOf(provider)}
        </Link>
      ) : (
        stateReason && (
          <span className="mt-1 block max-w-64 text-caption text-soft first-letter:uppercase">
            {stateReason}
          </span>
        )
      )}
      {off && <span className="mt-1 block max-w-64 text-caption text-warn">{off.what}</span>}
    </>
  )
}
