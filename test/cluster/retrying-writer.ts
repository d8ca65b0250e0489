import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'

/** A client as we tell people to write one: a key for every write, sent again under it until the answer is certain. */
export interface RetryingWriter {
  /** Names that were acknowledged. */
  acknowledged: string[]
  /** How often the same write was sent again. */
  retries: number
  statuses: Map<number | 'no response', number>
  write(name: string): Promise<void>
}

const comeAgainMs = 150

/**
 * `t`: the test that it is for; what is not acknowledged when that ends, for whatever reason, is given up. `urls`: of the
 * instances, asked in turn; a retry goes to the next one.
 */
export function createRetryingWriter(
  t: { after(work: () => void): void },
  urls: () => readonly string[],
  path: string,
  apiKey: string,
): RetryingWriter {
  let next = 0
  let isGivenUp = false
  t.after(() => {
    isGivenUp = true
  })
  const writer: RetryingWriter = {
    acknowledged: [],
    retries: 0,
    statuses: new Map(),
    async write(name) {
      const key = randomUUID()
      while (!isGivenUp) {
        const now = urls()
        const status = await post(now[next++ % now.length] ?? '', key, name)
        writer.statuses.set(status, (writer.statuses.get(status) ?? 0) + 1)
        if (status === 201) {
          writer.acknowledged.push(name)
          return
        }
        writer.retries++
        await sleep(comeAgainMs)
      }
    },
  }
  return writer

  async function post(url: string, key: string, name: string): Promise<number | 'no response'> {
    try {
      const answer = await fetch(url + path, {
        method: 'POST',
        headers: { Authorization: `Bearer ${apiKey}`, 'Idempotency-Key': key },
        body: JSON.stringify({ name }),
        signal: AbortSignal.timeout(30_000),
      })
      await answer.arrayBuffer()
      return answer.status
    } catch {
      return 'no response'
    }
  }
}

export function tally(writers: readonly RetryingWriter[]): string {
  const all = new Map<number | 'no response', number>()
  for (const { statuses } of writers) {
    for (const [status, count] of statuses) all.set(status, (all.get(status) ?? 0) + count)
  }
  return [...all].map(([status, count]) => `${count} × ${status}`).join(', ')
}
