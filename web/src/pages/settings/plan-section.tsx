import type { PlanView } from '../../../../src/dashboard/contract.ts'
import { useSession } from '../../session.ts'
import { DataTable } from '../../ui/data-table.tsx'
import { Badge, Card } from '../../ui/states.tsx'

export function PlanSection() {
  const { account } = useSession()
  const { plan, allPlans } = account
  return (
    <Card title="Plan">
      <p className="mb-4 text-sm text-soft">
        You are on <strong className="font-medium text-ink capitalize">{plan.name}</strong>: {inWords(plan)}.
        To change it, ask whoever runs this server; the new limits hold from the next request on.
      </p>
      <DataTable
        caption="All plans"
        rows={allPlans}
        keyOf={({ name }) => name}
        columns={[
          {
            title: 'Plan',
            cell: ({ name }) => (
              <span className="flex items-center gap-2 capitalize">
                {name} {name === plan.name && <Badge tone="good">yours</Badge>}
              </span>
            ),
          },
          { title: 'A minute', isNumber: true, cell: ({ requestsPerMinute }) => limit(requestsPerMinute) },
          { title: 'A month', isNumber: true, cell: ({ requestsPerMonth }) => limit(requestsPerMonth) },
          { title: 'Writing', cell: ({ writeApi }) => (writeApi ? 'yes' : 'no') },
        ]}
      />
    </Card>
  )
}

function limit(count: number | null): string {
  return count === null ? 'no limit' : count.toLocaleString('en')
}

function inWords({ requestsPerMinute, requestsPerMonth, writeApi }: PlanView): string {
  return `${limit(requestsPerMinute)} requests a minute, ${limit(requestsPerMonth)} a month, ${writeApi ? 'reading and writing' : 'reading only'}`
}
