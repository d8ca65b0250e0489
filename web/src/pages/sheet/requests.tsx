import { useQuery } from '@tanstack/react-query'
import type { RecentRequest } from '../../../../src/dashboard/contract.ts'
import { requestsQuery } from '../../queries.ts'
import { ButtonLink } from '../../ui/button.tsx'
import { DataTable } from '../../ui/data-table.tsx'
import { Badge, EmptyState, ErrorState, Skeleton } from '../../ui/states.tsx'
import { Ago } from '../../ui/time.tsx'
import { useSheet } from './sheet-query.ts'

const cacheWords = { hit: 'from memory', miss: 'read anew', stale: 'read anew' }

/** As they come in. */

export function Requests() {
  const { slug } = useSheet()
  const requests = useQuery(requestsQuery(slug))
  if (requests.isPending) return <Skeleton lines={8} />
  if (requests.error && !requests.data)
    return <ErrorState error={requests.error} onRetry={() => requests.refetch()} />
  if (!requests.data || requests.data.length === 0)
    return (
      <EmptyState
        title="No requests yet"
        action={
          <ButtonLink to="/sheets/$slug/console" params={{ slug }}>
            Send one from the console
          </ButtonLink>
        }
      >
        The last hundred appear here as they come in.
      </EmptyState>
    )
  return (
    <DataTable
      caption="Recent requests, newest first"
      rows={requests.data}
      keyOf={({ atMs, method, durationMs }) => `${atMs} ${method} ${durationMs}`}
      columns={[
        { title: 'When', cell: ({ atMs }) => <Ago atMs={atMs} /> },
        {
          title: 'Request',
          cell: ({ method, operation, keyName, cache }) => (
            <>
              {method} <span className="text-soft max-md:hidden">{operation.replaceAll('_', ' ')}</span>
              <span className="block text-[13px] text-soft md:hidden">
                {[keyName ?? 'no key', cache && cacheWords[cache]].filter(Boolean).join(', ')}
              </span>
            </>
          ),
        },
        { title: 'Status', cell: (request) => <Status of={request} /> },
        {
          title: 'Time',
          isNumber: true,
          cell: ({ durationMs }) => `${durationMs < 10 ? durationMs.toFixed(1) : Math.round(durationMs)} ms`,
        },
        { title: 'Cache', cell: ({ cache }) => (cache ? cacheWords[cache] : ''), isOptional: true },
        {
          title: 'Key',
          cell: ({ keyName }) => keyName ?? <span className="text-soft">none</span>,
          isOptional: true,
        },
      ]}
    />
  )
}

function Status({ of: { status, code } }: { of: RecentRequest }) {
  return (
    <span className="flex flex-wrap items-center gap-2">
      <Badge tone={status < 400 ? 'good' : status < 500 ? 'warn' : 'bad'}>{status}</Badge>
      {code && <code className="font-mono text-xs text-soft">{code}</code>}
    </span>
  )
}
