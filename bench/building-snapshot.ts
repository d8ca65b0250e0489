import { appendFile } from 'node:fs/promises'
import { Agent, get } from 'node:http'
import { atMost } from './floored.ts'
import { hundredThousandRows } from './list-files.ts'
import { ask, neverReached, startRowport } from './processes.ts'
import { type FigureRow, median, withEnds } from './row.ts'

const builds = 5
const most = { heldOfJson: 2, delayMs: 20 }

/** What a large sheet costs those who never asked for it: the memory it holds, and how long others wait while it is read. */
export const snapshotBuilding: FigureRow = {
  kind: 'figure',
  name: 'a snapshot of 100,000 × 10',
  measure: () =>
    withEnds(async (after) => {
      const rowport = await startRowport(hundredThousandRows(), neverReached, 'all')
      after(rowport.stop)
      const list = rowport.url + rowport.sheetPath
      const headers = { Authorization: `Bearer ${rowport.apiKey}`, 'Cache-Control': 'no-cache' }
      const build = async () => {
        // What has not changed is not built again.
        await appendFile(rowport.filePath, 'one,more\n')
        // Sorted, so that it waits for the indexes as well.
        const { status } = await ask(`${list}?limit=1&sort=price`, headers)
        if (status !== 200) throw new Error(`Rowport answered ${status}`)
      }
      const agent = new Agent({ keepAlive: true, maxSockets: 1 })
      after(async () => agent.destroy())
      const probe = () => timedProbe(`${rowport.url}/healthz`, agent)

      // The first one also starts threads and compiles.
      await build()
      const whileBuildingMs: number[] = []
      const otherwiseMs: number[] = []
      for (let n = 0; n < builds; n++) {
        whileBuildingMs.push(await longestWhile(build(), probe))
        otherwiseMs.push(await longestWhile(new Promise((resolve) => setTimeout(resolve, 500)), probe))
      }
      const { body: json } = await ask(list, headers)
      const held = await heldBytes(rowport.url)
      const heldOfJson = held / json.byteLength
      const delayMs = median(whileBuildingMs)
      const said =
        `held           ${heldOfJson.toFixed(2)} × its JSON (${megabytes(held)}, ${megabytes(json.byteLength)})\n` +
        `  longest wait   ${delayMs.toFixed(1)} ms while it is built\n` +
        `  each build     ${inMs(whileBuildingMs)}; nothing being built ${inMs(otherwiseMs)}`
      return {
        said,
        floored: [
          atMost('times its JSON held', heldOfJson, most.heldOfJson),
          atMost('longest that others wait while it is built', delayMs, most.delayMs, 'ms'),
        ],
      }
    }),
}

/** The longest that one of the requests had to wait that were sent, one after the other, while the work was done. */
async function longestWhile(work: Promise<unknown>, probe: () => Promise<number>): Promise<number> {
  let isDone = false
  const settled = work.finally(() => {
    isDone = true
  })
  let longestMs = 0
  while (!isDone) longestMs = Math.max(longestMs, await probe())
  await settled
  return longestMs
}

function timedProbe(url: string, agent: Agent): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  const begunMs = performance.now()
  get(url, { agent }, (response) => {
    response.resume().on('end', () => resolve(performance.now() - begunMs))
  }).on('error', reject)
  return promise
}

async function heldBytes(url: string): Promise<number> {
  const { body } = await ask(`${url}/metrics`, {})
  return Number(/^rowport_snapshot_bytes\{kind="rows"\} (\d+)/m.exec(body.toString())?.[1])
}

function megabytes(bytes: number): string {
  return `${(bytes / 1_000_000).toFixed(1)} MB`
}

function inMs(figures: readonly number[]): string {
  return `${figures.map((each) => each.toFixed(1)).join(' ')} ms`
}
