import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import type { UsageView } from '../../../../src/dashboard/contract.ts'
import { keysQuery, sheetsQuery, usageQuery } from '../../queries.ts'
import { useTitle } from '../../shell/use-title.ts'
import { DataTable } from '../../ui/data-table.tsx'
import { Fact } from '../../ui/fact.tsx'
import { SelectField } from '../../ui/field.tsx'
import { shownNumber } from '../../ui/number.ts'
import { ProgressBar } from '../../ui/progress-bar.tsx'
import { Card, ErrorState, PageHeader, Skeleton } from '../../ui/states.tsx'
import { dateOf } from '../../ui/time.tsx'
import { DaysChart } from './days-chart.tsx'
import { Shares } from './shares.tsx'
import { usageSearchIn } from './usage-search.ts'
import { UsedUpShares } from './used-up-shares.tsx'

export function UsagePage() {
  useTitle('Usage')
  const { days = 30, sheet = '', key = '' } = useSearch({ from: '/owners/usage' })
  const filter = { days: String(days), sheet, key }
  const navigate = useNavigate({ from: '/usage' })
  const setFilter = (chosen: typeof filter) =>
    void navigate({ search: usageSearchIn(chosen), replace: true, resetScroll: false })
  const sheets = useQuery(sheetsQuery)
  const keys = useQuery(keysQuery)
  const usage = useQuery(usageQuery(filter))
  return (
    <>
      <PageHeader title="Usage">Requests, errors and performance.</PageHeader>
      <div className="grid grid-cols-1 gap-x-4 sm:grid-cols-3">
        <SelectField
          label="Time"
          value={filter.days}
          onChange={({ target }) => setFilter({ ...filter, days: target.value })}
        >
          <option value="7">7 days</option>
          <option value="30">30 days</option>
          <option value="90">90 days</option>
        </SelectField>
        <SelectField
          label="Sheet"
          value={filter.sheet}
          onChange={({ target }) => setFilter({ ...filter, sheet: target.value })}
        >
          <option value="">All sheets</option>
          {sheets.data?.map(({ slug }) => (
            <option key={slug}>{slug}</option>
          ))}
        </SelectField>
        <SelectField
          label="Key"
          value={filter.key}
          onChange={({ target }) => setFilter({ ...filter, key: target.value })}
        >
          <option value="">All keys</option>
          {keys.data?.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </SelectField>
      </div>
      {usage.isPending && <Skeleton lines={24} />}
      {usage.error && !usage.data && <ErrorState error={usage.error} onRetry={() => usage.refetch()} />}
      {usage.data && <Figures usage={usage.data} />}
    </>
  )
}

function Figures({ usage }: { usage: UsageView }) {
  const { month, latencyMs } = usage
  return (
    <div className="space-y-6">
      <Quota month={month} />
      <Card title="Requests per day">
        <DaysChart days={usage.days} />
      </Card>
      <dl className="grid grid-cols-2 gap-4 lg:grid-cols-4">
        <Fact name="Cache hit rate">
          {usage.cacheHitShare === null ? '–' : `${(usage.cacheHitShare * 100).toFixed(1)}%`}
        </Fact>
        <Fact name="Upstream calls" hint="saved / made">
          {shownNumber(usage.providerCallsSaved)} / {shownNumber(usage.providerCalls)}
        </Fact>
        <Fact name="Rate-limited">{shownNumber(usage.rateLimited)}</Fact>
        <Fact name="Response time" hint="p50 / p95 / p99">
          {latencyMs ? `${[latencyMs.p50, latencyMs.p95, latencyMs.p99].map(rounded).join(' / ')} ms` : '–'}
        </Fact>
      </dl>
      <div className="grid grid-cols-1 items-start gap-6 lg:grid-cols-2">
        <DataTable
          caption="By sheet"
          rows={usage.bySheet}
          keyOf={({ slug }) => slug}
          columns={[
            { title: 'Sheet', cell: ({ slug }) => slug },
            { title: 'Requests', isNumber: true, cell: ({ requests }) => shownNumber(requests) },
            { title: 'Errors', isNumber: true, cell: ({ errors }) => shownNumber(errors) },
          ]}
        />
        <DataTable
          caption="By key"
          rows={usage.byKey}
          keyOf={({ id, name }) => id ?? name}
          columns={[
            { title: 'Key', cell: ({ name }) => name },
            { title: 'Requests', isNumber: true, cell: ({ requests }) => shownNumber(requests) },
            { title: 'Errors', isNumber: true, cell: ({ errors }) => shownNumber(errors) },
          ]}
        />
      </div>
      <Shares />
      <UsedUpShares />
    </div>
  )
}

function Quota({ month }: { month: UsageView['month'] }) {
  const share = month.limit === null ? 0 : Math.min(1, month.used / month.limit)
  return (
    <Card title="This month">
      <p className="mb-2 text-sm tabular-nums">
        <strong className="text-lg font-semibold">{shownNumber(month.used)}</strong>{' '}
        <span className="text-soft">
          {month.limit === null
            ? 'successful requests, without a limit'
            : `of ${shownNumber(month.limit)} successful requests`}{' '}
          · errors and 304s don’t count · resets {dateOf(month.resetsAtMs)}
        </span>
      </p>
      {month.limit !== null && <ProgressBar label="Share of the month's requests used" share={share} />}
      {month.publicUsed > 0 && (
        <p className="mt-2 text-soft text-sm tabular-nums">
          Readers of public sheets without a key: {shownNumber(month.publicUsed)}
          {month.limit !== null && ` of ${shownNumber(month.limit)} of their own`}. They don’t count against
          your keys’ quota.
        </p>
      )}
    </Card>
  )
}

function rounded(durationMs: number): string {
  return durationMs < 10 ? durationMs.toFixed(1) : String(Math.round(durationMs))
}
