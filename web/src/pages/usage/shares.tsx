import { useQuery } from '@tanstack/react-query'
import type { ShareView } from '../../../../src/dashboard/contract.ts'
import { sharesQuery } from '../../queries.ts'
import { shownNumber } from '../../ui/number.ts'
import { ProgressBar } from '../../ui/progress-bar.tsx'
import { Badge, Card, ErrorState, Skeleton } from '../../ui/states.tsx'
import { shareWords } from './share-words.ts'

/** What lasts. What is over in a moment is in the list of what was used up. */
export function Shares() {
  const shares = useQuery(sharesQuery)
  return (
    <Card title="Account limits">
      {shares.isPending && <Skeleton lines={8} />}
      {shares.error && !shares.data && <ErrorState error={shares.error} onRetry={() => shares.refetch()} />}
      {shares.data && (
        <dl className="grid grid-cols-1 gap-x-8 gap-y-4 md:grid-cols-2">
          {shares.data.map((share) => (
            <Share key={share.share} of={share} />
          ))}
        </dl>
      )}
    </Card>
  )
}

function Share({ of: { share, used, limit } }: { of: ShareView }) {
  const [label] = shareWords[share]
  const isUsedUp = used >= limit
  return (
    <div>
      <dt className="flex items-center gap-2 text-caption text-soft">
        {label} {isUsedUp && <Badge tone="bad">used up</Badge>}
      </dt>
      <dd className="mt-0.5">
        <span className="mb-1 block text-sm font-medium tabular-nums">
          {amount(used)} of {amount(limit)}
        </span>
        <ProgressBar label={`${label}: share used`} share={Math.min(1, used / limit)} />
      </dd>
    </div>
  )
}

function amount(count: number): string {
  return shownNumber(count, 1)
}
