import { ask, neverReached, startBare, startRowport } from './processes.ts'
import type { LoadRow } from './row.ts'

/** What abuse costs us: requests that are refused, as fast as they can be sent. */
export const refusedRows: readonly LoadRow[] = [
  refusal('refused: no key (401)', 401, 'unlimited', () => ({})),
  refusal('refused: wrong key (403)', 403, 'unlimited', (apiKey) => ({
    Authorization: `Bearer ${mistyped(apiKey)}`,
  })),
  refusal('refused: over the rate (429)', 429, 'used up', (apiKey) => ({
    Authorization: `Bearer ${apiKey}`,
  })),
]

function refusal(
  name: string,
  status: number,
  rate: 'unlimited' | 'used up',
  headersFor: (apiKey: string) => Record<string, string>,
): LoadRow {
  return {
    kind: 'load',
    name,
    reference: 'bare node:http, same bytes',
    floor: 0,
    async start() {
      const rowport = await startRowport('a\n1\n', rate === 'unlimited' ? neverReached : 1)
      const headers = headersFor(rowport.apiKey)
      const url = rowport.url + rowport.sheetPath
      await ask(url, headers)
      const answer = await ask(url, headers)
      if (answer.status !== status) throw new Error(`Rowport answered ${answer.status}, not ${status}`)
      const bare = await startBare(answer)
      return {
        subject: { url, headers, pid: rowport.pid, status },
        reference: { url: bare.url, headers, pid: bare.pid, status },
        async stop() {
          await bare.stop()
          await rowport.stop()
        },
      }
    },
  }
}

/** A key of the right shape that nobody has. */
function mistyped(apiKey: string): string {
  return [...apiKey.slice(0, 8), ...[...apiKey.slice(8)].reverse()].join('')
}
