import { bucketOf } from '../../src/usage/latency-buckets.ts'
import { done, type Rowport, startMs } from '../harness.ts'

const dayMs = 86_400_000

/** Four weeks of requests, so that figures and charts have something to show. Always the same. */
export async function addPastUsage({ workshop }: Rowport, account: string, slug: string): Promise<void> {
  const { id: accountId } = done(await workshop.accounts.find(account))
  const { id: sheetId } = done(await workshop.sheets.find(account, slug))
  const [key] = done(await workshop.keys.list(account))
  const keyId = key?.id ?? ''
  const days = Array.from({ length: 28 }, (_, at) => {
    const day = new Date(startMs - (28 - at) * dayMs)
    const isWeekend = day.getUTCDay() % 6 === 0
    return {
      day: day.toISOString().slice(0, 10),
      requests: (isWeekend ? 90 : 240) + at * 9 + ((at * 37) % 60),
    }
  })
  const of = { accountId, sheetId, keyId }
  await workshop.store.addUsage({
    counts: days.flatMap(({ day, requests }, at) => [
      { ...of, day, outcome: 'success', rowsFrom: 'hit', requests },
      { ...of, day, outcome: 'success', rowsFrom: 'miss', requests: 8 },
      { ...of, day, outcome: 'client_error', rowsFrom: '', requests: at % 5 === 2 ? 31 : 4 },
      { ...of, day, outcome: 'rate_limited', rowsFrom: '', requests: at % 9 === 6 ? 40 : 0 },
      { ...of, day, outcome: 'server_error', rowsFrom: '', requests: at === 19 ? 22 : 0 },
    ]),
    latencies: days.flatMap(({ day, requests }) =>
      [
        { ...of, day, bucket: bucketOf(1.4), requests },
        { ...of, day, bucket: bucketOf(310), requests: 8 },
      ].flatMap((count) => [count, { ...count, sheetId: '', keyId: '' }]),
    ),
    providerCalls: days.map(({ day }) => ({ sheetId, day, calls: 8 })),
    activity: [],
    recent: [],
  })
}
