import type { UseQueryResult } from '@tanstack/react-query'
import type { DeliveryView, ReplayInput } from '../../../../src/dashboard/contract.ts'
import { Button } from '../../ui/button.tsx'
import { Badge, ErrorState, Skeleton } from '../../ui/states.tsx'
import { Ago } from '../../ui/time.tsx'

/** The last attempts, each with what the receiver answered. */
export function Deliveries({
  query,
  onReplay,
}: {
  query: UseQueryResult<DeliveryView[]>
  onReplay(since: ReplayInput['since']): void
}) {
  return (
    <section className="mt-4">
      <h3 className="mb-2 text-sm font-semibold">Deliveries</h3>
      {query.isPending && <Skeleton lines={4} />}
      {query.error && !query.data && <ErrorState error={query.error} onRetry={() => query.refetch()} />}
      {query.data?.length === 0 && <p className="text-sm text-soft">Nothing was sent yet.</p>}
      <ul className="divide-y divide-line">
        {query.data?.map((delivery) => (
          <li key={delivery.id} className="py-2.5">
            <Delivery of={delivery} onReplay={onReplay} />
          </li>
        ))}
      </ul>
    </section>
  )
}

function Delivery({
  of: delivery,
  onReplay,
}: {
  of: DeliveryView
  onReplay(since: ReplayInput['since']): void
}) {
  const { type, changes, cursor, atMs, durationMs, status, failure, answer, messageId } = delivery
  return (
    <details>
      <summary className="cursor-pointer text-sm">
        <span className="inline-flex flex-wrap items-center gap-x-2 gap-y-1">
          <Badge tone={failure === null ? 'good' : 'bad'}>{status ?? 'no response'}</Badge>
          <span>{type}</span>
          {type === 'rows.changed' && (
            <span className="text-soft">
              {changes} {changes === 1 ? 'change' : 'changes'}
            </span>
          )}
          <span className="text-soft">
            <Ago atMs={atMs} />, {durationMs} ms
          </span>
        </span>
      </summary>
      <div className="mt-2 space-y-2 text-caption">
        {failure && <p className="text-bad">Not accepted: {failure}.</p>}
        <p className="text-soft">
          <span className="font-mono wrap-anywhere">{messageId}</span>
        </p>
        {answer !== '' && (
          <pre className="rounded-md bg-sunken p-2 font-mono text-xs wrap-anywhere whitespace-pre-wrap">
            {answer}
          </pre>
        )}
        {cursor !== null && <Button onClick={() => onReplay({ cursor })}>Send again what came after</Button>}
      </div>
    </details>
  )
}
