import { useQuery } from '@tanstack/react-query'
import type { UsedUpSharesView } from '../../../../src/dashboard/contract.ts'
import { usedUpSharesQuery } from '../../queries.ts'
import { shownNumber } from '../../ui/number.ts'
import { Card, ErrorState, Skeleton } from '../../ui/states.tsx'
import { Ago, inWords } from '../../ui/time.tsx'
import { shareWords } from './share-words.ts'

const dayMs = 24 * 60 * 60_000

/** What only programs hear of at the time, as a refusal, and nobody where something had to make room. */
export function UsedUpShares() {
  const usedUp = useQuery(usedUpSharesQuery)
  return (
    <Card title="Limits reached recently">
      {usedUp.isPending && <Skeleton lines={2} />}
      {usedUp.error && !usedUp.data && <ErrorState error={usedUp.error} onRetry={() => usedUp.refetch()} />}
      {usedUp.data && <List of={usedUp.data} asOfMs={usedUp.dataUpdatedAt} />}
    </Card>
  )
}

/** `asOfMs` by this browser's clock, which need not be the server's. */
function List({ of: { shares, seenForMs }, asOfMs }: { of: UsedUpSharesView; asOfMs: number }) {
  const span =
    seenForMs < dayMs
      ? `at this server, since its start ${inWords(asOfMs - seenForMs, Date.now())}`
      : 'at this server, in the last 24 hours'
  if (shares.length === 0) return <p className="text-sm text-soft">None {span}.</p>
  return (
    <>
      <p className="text-sm text-soft">Counted {span}.</p>
      <ul aria-label="Limits reached recently" className="mt-2 divide-y divide-line">
        {shares.map(({ share, times, agoMs }) => {
          const [label, lost] = shareWords[share]
          return (
            <li key={share} className="flex flex-wrap items-baseline justify-between gap-x-6 py-2.5 text-sm">
              <div>
                <span className="font-medium">{label}</span>
                <span className="block text-caption text-soft">{lost}</span>
              </div>
              <div className="tabular-nums">
                {shownNumber(times)} {times === 1 ? 'time' : 'times'}
                <span className="text-soft">
                  {' '}
                  · last <Ago atMs={asOfMs - agoMs} />
                </span>
              </div>
            </li>
          )
        })}
      </ul>
    </>
  )
}
