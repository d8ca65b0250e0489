import type { PlanView } from '../../../../src/dashboard/contract.ts'
import { useSession } from '../../session.ts'
import { DataTable } from '../../ui/data-table.tsx'
import { shownNumber } from '../../ui/number.ts'
import { Section } from '../../ui/section.tsx'
import { Badge } from '../../ui/states.tsx'

export function PlanSection() {
  const { account } = useSession()
  const { plan, allPlans } = account
  return (
    <Section title="Plan" about="How much your sheets serve, and whether they can be written to.">
      <DataTable
        caption="All plans"
        rows={allPlans}
        keyOf={({ name }) => name}
        columns={[
          { title: 'Plan', cell: (row) => <PlanName of={row} isYours={row.name === plan.name} /> },
          { title: 'A minute', isNumber: true, cell: ({ requestsPerMinute }) => limit(requestsPerMinute) },
          { title: 'A month', isNumber: true, cell: ({ requestsPerMonth }) => limit(requestsPerMonth) },
        ]}
      />
      <p className="mt-4 text-sm text-soft">
        To upgrade, ask whoever runs this Rowport; the new limits hold from the next request on. They type{' '}
        <code className="font-mono text-[13px] break-words">
          rowport account plan {account.slug} business
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
        {name} {isYours && <Badge tone="good">yours</Badge>}
      </span>
      <span className="text-[13px] text-soft">{writeApi ? 'reading and writing' : 'reading'}</span>
    </>
  )
}

function limit(count: number | null): string {
  return count === null ? 'no limit' : shownNumber(count)
}
