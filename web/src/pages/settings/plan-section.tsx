import type { PlanView } from '../../../../src/dashboard/contract.ts'
import { useSession } from '../../session.ts'
import { DataTable } from '../../ui/data-table.tsx'
import { shownNumber } from '../../ui/number.ts'
import { Section } from '../../ui/section.tsx'
import { Badge } from '../../ui/states.tsx'

export function PlanSection() {
  const { account, server } = useSession()
  const { plan, allPlans } = account
  // Who runs it owns it: there is nothing to upgrade to, and nobody to ask.
  if (plan.requestsPerMinute === null && plan.requestsPerMonth === null)
    return (
      <Section title="Plan" about="Your request limits and permissions.">
        <p className="text-sm text-soft">This account has no limits of a plan.</p>
      </Section>
    )
  return (
    <Section title="Plan" about="Your request limits and permissions.">
      <DataTable
        caption="All plans"
        rows={allPlans}
        keyOf={({ name }) => name}
        columns={[
          { title: 'Plan', cell: (row) => <PlanName of={row} isYours={row.name === plan.name} /> },
          {
            title: 'Requests/min',
            isNumber: true,
            cell: ({ requestsPerMinute }) => limit(requestsPerMinute),
          },
          {
            title: 'Requests/month',
            isNumber: true,
            cell: ({ requestsPerMonth }) => limit(requestsPerMonth),
          },
        ]}
      />
      <p className="mt-4 text-sm text-soft">
        To upgrade, ask your administrator to run{' '}
        <code className="font-mono text-caption break-words">
          {server.operatorCommand} account plan {account.slug} business
        </code>
        .
      </p>
    </Section>
  )
}

function PlanName({ of: { name, writeApi }, isYours }: { of: PlanView; isYours: boolean }) {
  return (
    <>
      <span className="flex flex-wrap items-center gap-2 font-medium capitalize">
        {name} {isYours && <Badge tone="good">Current</Badge>}
      </span>
      <span className="text-caption text-soft">{writeApi ? 'Read and write' : 'Read only'}</span>
    </>
  )
}

function limit(count: number | null): string {
  return count === null ? 'no limit' : shownNumber(count)
}
