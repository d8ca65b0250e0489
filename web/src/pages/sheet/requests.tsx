import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import type { RecentRequest } from '../../../../src/dashboard/contract.ts'
import { burstSeconds, keptOfBurst, keptRequests } from '../../../../src/store/usage/kept-requests.ts'
import { requestsQuery } from '../../queries.ts'
import { Button, ButtonLink } from '../../ui/button.tsx'
import { DataTable } from '../../ui/data-table.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { DensitySwitch, useIsDense } from '../../ui/list/density.tsx'
import { ListChoice } from '../../ui/list/list-tools.tsx'
import { Badge, EmptyState, ErrorState, Skeleton } from '../../ui/states.tsx'
import { Ago, exactly } from '../../ui/time.tsx'
import { filteredRequests, outcomes, type RequestsSearch, requestsOfPage } from './requests-search.ts'
import { useSheet } from './sheet-query.ts'

const kept =
  `The last ${keptRequests} requests of each sheet are kept. ` +
  `Of more than ${keptOfBurst} within ${burstSeconds} seconds, only the newest ${keptOfBurst}.`
const cacheWords = { hit: 'cached', miss: 'fetched', stale: 'stale' }

/** As they come in. */
export function Requests() {
  const { slug } = useSheet()
  const search = useSearch({ from: '/owners/sheets/$slug/requests' })
  const last = search.last ?? requestsOfPage
  const requests = useQuery(requestsQuery(slug, last))
  const navigate = useNavigate({ from: '/sheets/$slug/requests' })
  const change = (part: RequestsSearch) =>
    void navigate({ search: (former) => ({ ...former, ...part }), replace: true, resetScroll: false })
  const [opened, setOpened] = useState<RecentRequest | null>(null)
  const isDense = useIsDense(requests.data?.length ?? 0)
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
        Requests appear here as they come in. {kept}
      </EmptyState>
    )
  const found = filteredRequests(requests.data, search)
  const methods = [...new Set(requests.data.map(({ method }) => method))].sort()
  const keys = [...new Set(requests.data.map(({ keyName }) => keyName ?? ''))].sort()
  return (
    <>
      <div className="mb-4 flex flex-wrap gap-3">
        <ListChoice
          label="Status"
          value={search.outcome ?? ''}
          choices={[{ value: '', title: 'Any status' }, ...outcomes]}
          onChange={(outcome) => change({ outcome: outcome || undefined })}
        />
        <ListChoice
          label="Method"
          value={search.method ?? ''}
          choices={[{ value: '', title: 'Any method' }, ...methods.map((value) => ({ value, title: value }))]}
          onChange={(method) => change({ method: method || undefined })}
        />
        <ListChoice
          label="Key"
          value={search.by ?? 'any'}
          choices={[
            { value: 'any', title: 'Any key' },
            ...keys.map((value) => ({ value, title: value === '' ? 'No key' : value })),
          ]}
          onChange={(by) => change({ by: by === 'any' ? undefined : by })}
        />
        <Button
          aria-pressed={search.exact === true}
          onClick={() => change({ exact: search.exact ? undefined : true })}
        >
          {search.exact ? 'Show relative times' : 'Show exact times'}
        </Button>
        <DensitySwitch count={requests.data.length} />
      </div>
      {found.length === 0 ? (
        <p className="rounded-xl border border-dashed border-line-strong py-10 text-center text-sm text-soft">
          None of the last {requests.data.length} requests match.
        </p>
      ) : (
        <DataTable
          caption="Recent requests, newest first"
          isDense={isDense}
          rows={found}
          keyOf={({ id }) => id}
          columns={[
            {
              title: 'When',
              cell: (request) => (
                <button
                  type="button"
                  onClick={() => setOpened(request)}
                  className="rounded-sm text-left text-accent underline underline-offset-2"
                >
                  {search.exact ? exactly(request.atMs) : <Ago atMs={request.atMs} />}
                  <span className="sr-only">: details</span>
                </button>
              ),
            },
            {
              title: 'Request',
              cell: ({ method, operation, keyName, cache }) => (
                <>
                  {method} <span className="text-soft max-md:hidden">{operation.replaceAll('_', ' ')}</span>
                  <span className="block text-caption text-soft md:hidden">
                    {[keyName ?? 'no key', cache && cacheWords[cache]].filter(Boolean).join(', ')}
                  </span>
                </>
              ),
            },
            { title: 'Status', cell: (request) => <Status of={request} /> },
            { title: 'Time', isNumber: true, cell: ({ durationMs }) => inMs(durationMs) },
            { title: 'Cache', cell: ({ cache }) => (cache ? cacheWords[cache] : ''), isOptional: true },
            {
              title: 'Key',
              cell: ({ keyName }) => keyName ?? <span className="text-soft">none</span>,
              isOptional: true,
            },
          ]}
        />
      )}
      <div className="mt-4 flex flex-wrap items-center justify-between gap-3">
        <p className="text-caption text-soft">{kept}</p>
        {(requests.isPlaceholderData || (requests.data.length >= last && last < keptRequests)) && (
          <Button isBusy={requests.isPlaceholderData} onClick={() => change({ last: last + requestsOfPage })}>
            Load older requests
          </Button>
        )}
      </div>
      <Dialog title="Request" isOpen={opened !== null} isSide onClose={() => setOpened(null)}>
        {opened && <Details of={opened} slug={slug} />}
        <div className="mt-5 flex justify-end">
          <Button onClick={() => setOpened(null)}>Close</Button>
        </div>
      </Dialog>
    </>
  )
}

function Details({ of: request, slug }: { of: RecentRequest; slug: string }) {
  const { atMs, method, operation, status, code, durationMs, cache, keyName } = request
  const facts: [string, string][] = [
    ['Time', exactly(atMs)],
    ['Method', method],
    ['Operation', operation.replaceAll('_', ' ')],
    ['Status', String(status)],
    ['Error code', code ?? '–'],
    ['Duration', inMs(durationMs)],
    ['Cache', cache ? cacheWords[cache] : '–'],
    ['Key', keyName ?? 'none'],
  ]
  return (
    <>
      <dl className="mb-5 grid grid-cols-[8rem_1fr] gap-y-2 text-sm">
        {facts.map(([name, value]) => (
          <div key={name} className="contents">
            <dt className="text-soft">{name}</dt>
            <dd className="wrap-anywhere">{value}</dd>
          </div>
        ))}
      </dl>
      <p className="mb-4 text-caption text-soft">
        URLs and bodies aren’t logged, so the console opens with the method alone. Nothing is sent until you
        press the button.
      </p>
      <ButtonLink to="/sheets/$slug/console" params={{ slug }} search={{ method }}>
        Open in console
      </ButtonLink>
    </>
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

function inMs(durationMs: number): string {
  return `${durationMs < 10 ? durationMs.toFixed(1) : Math.round(durationMs)} ms`
}
