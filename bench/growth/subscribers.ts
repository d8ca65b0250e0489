import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { createPlainClient } from '../../test/writing/plain-client.ts'
import { type Arrivals, openStream } from '../streams.ts'
import { connectFile, createAccount, openGround } from './ground.ts'
import { type Axis, percentiles, powersOfTen } from './point.ts'

const most = 10_000
const openedAtOnce = 50
const writes = 6
const heardWithinMs = 10_000
/** Long enough for ten thousand to be let go. */
const leavingMs = 3_000
const notWaited = { p50Ms: Number.NaN, p99Ms: Number.NaN }
const shares = {
  ...{ connections: most + 1_000, connections_per_address: most + 1_000 },
  ...{ following_at_once: most, following_total: most },
}

export const subscribersAxis: Axis = {
  name: 'subscribers',
  unit: 'streams of changes on one sheet',
  about: `one write a second; a request is a write and its way to all of them, p50 and p99 are from its 2xx to each stream; ${JSON.stringify(shares)} in ROWPORT_SHARES; ulimit -n 20000`,
  drawn: ['PATCH, to all streams'],
  async *measure(store, after, wish) {
    const ground = await openGround(store, after, { ROWPORT_SHARES: JSON.stringify(shares) })
    const { apiKey, sheetPath } = await ground.prepare(async (workshop) => ({
      apiKey: await createAccount(workshop),
      sheetPath: await connectFile(workshop, ground.folder, 'followed', 'name,n\nfirst,0\n'),
    }))
    for (const streams of powersOfTen(1, most, wish)) {
      const { url } = await ground.start()
      const client = createPlainClient(apiKey)
      const write = (n: number) => client.send(`${url}${sheetPath}/2`, 'PATCH', JSON.stringify({ n }), null)
      const arrivals: Arrivals = { streams, marker: '', atMs: [], onAll: () => {} }
      const sockets: Socket[] = []
      try {
        await write(-streams)
        while (sockets.length < streams) {
          const next = Math.min(openedAtOnce, streams - sockets.length)
          const opening = Array.from({ length: next }, () => openStream({ url, sheetPath, apiKey }, arrivals))
          sockets.push(...(await Promise.all(opening)))
        }
        const latenciesMs: number[] = []
        let end = ground.begin()
        for (let n = 0; n < writes; n++) {
          // The first is for warming up.
          if (n === 1) {
            end = ground.begin()
            latenciesMs.length = 0
          }
          const begunMs = performance.now()
          latenciesMs.push(...(await writeToAll(write, streams * 10 + n, arrivals)))
          await sleep(Math.max(0, 1_000 - (performance.now() - begunMs)))
        }
        yield {
          at: streams,
          request: 'PATCH, to all streams',
          ...end(writes - 1),
          ...percentiles(latenciesMs),
        }
        end = ground.begin()
        for (const socket of sockets) socket.destroy()
        await sleep(leavingMs)
        yield { at: streams, request: 'each stream, when all leave at once', ...end(streams), ...notWaited }
      } finally {
        client.close()
        for (const socket of sockets) socket.destroy()
      }
    }
  },
}

type Write = (n: number) => ReturnType<ReturnType<typeof createPlainClient>['send']>

/** How long after the 2xx each stream has heard of it. */
async function writeToAll(write: Write, n: number, arrivals: Arrivals): Promise<number[]> {
  arrivals.marker = `"after":{"name":"first","n":${n}}`
  arrivals.atMs = []
  const all = new Promise<void>((resolve) => {
    arrivals.onAll = resolve
  })
  const { status, body } = await write(n)
  const doneMs = performance.now()
  if (status !== 200) throw new Error(`Rowport answered ${status} ${body}`)
  await Promise.race([all, sleep(heardWithinMs, undefined, { ref: false })])
  if (arrivals.atMs.length < arrivals.streams)
    throw new Error(`${arrivals.atMs.length} of ${arrivals.streams} streams heard of a write`)
  return arrivals.atMs.map((atMs) => Math.max(0, atMs - doneMs))
}
