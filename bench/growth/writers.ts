import { startGoogleProcess } from '../../test/google/google-process.ts'
import { createLoadClient } from '../../test/load-clients.ts'
import { withEnds } from '../row.ts'
import { startRowportOnGoogle } from '../rowport-on-google.ts'
import { tenThousandRows } from '../writing-files.ts'
import { connectFile, createAccount, openGround } from './ground.ts'
import { type Axis, type Point, percentiles, powersOfTen, type StoreKind } from './point.ts'

const most = 1_000
const shares = { connections_per_address: 2 * most }
const latencyMs = { write: 400, read: 300 }
const googleSeconds = 8

export const writersAxis: Axis = {
  name: 'writers',
  unit: 'writers of one sheet',
  about: `each adds one row after the other: to a CSV file of 10,000 rows, and at Google (400 ms a write, 300 ms a read, 60 of each a minute); ${JSON.stringify(shares)} in ROWPORT_SHARES`,
  drawn: ['POST, CSV file', 'POST, Google'],
  async *measure(store, after, seconds) {
    const settings = { ROWPORT_SHARES: JSON.stringify(shares) }
    const ground = await openGround(store, after, settings)
    const apiKey = await ground.prepare((workshop) => createAccount(workshop))
    for (const writers of powersOfTen(1, most)) {
      const slug = `writers-${writers}`
      const path = await ground.prepare((workshop) =>
        connectFile(workshop, ground.folder, slug, tenThousandRows()),
      )
      const { url } = await ground.start()
      const port = Number(new URL(url).port)
      await addRows({ port, path, apiKey }, Math.min(writers, 10), 1)
      const end = ground.begin()
      const waitedMs = await addRows({ port, path, apiKey }, writers, seconds + 1)
      yield { at: writers, request: 'POST, CSV file', ...end(waitedMs.length), ...percentiles(waitedMs) }
    }
    await ground.prepare(async () => {})
    for (const writers of powersOfTen(1, most))
      yield { at: writers, request: 'POST, Google', ...(await atGoogle(store, writers)) }
  },
}

/** Each in a Google, a store and a server of its own: rations that one used up are not the next one's. */
function atGoogle(store: StoreKind, writers: number): Promise<Omit<Point, 'at' | 'request'>> {
  return withEnds(async (after) => {
    const ground = await openGround(store, after, { ROWPORT_SHARES: JSON.stringify(shares) })
    const google = await startGoogleProcess({ after }, { latencyMs, quotas: true })
    const values = [['name', 'price']]
    const { settings } = ground
    const { url, apiKey, pid } = await startRowportOnGoogle(google, after, { values, settings })
    const asked = { port: Number(new URL(url).port), path: '/api/sheets/acme/s', apiKey }
    await addRows(asked, 1, 0)
    const end = ground.begin(pid)
    const waitedMs = await addRows(asked, writers, googleSeconds)
    return { ...end(waitedMs.length), ...percentiles(waitedMs) }
  })
}

/** At least one of each writer; how long each waited for its answer. */
async function addRows(
  asked: { port: number; path: string; apiKey: string },
  writers: number,
  seconds: number,
): Promise<number[]> {
  const waitedMs: number[] = []
  const endMs = performance.now() + seconds * 1_000
  await Promise.all(
    Array.from({ length: writers }, async (_, writer) => {
      const client = createLoadClient()
      let n = 0
      do {
        const body = JSON.stringify({ name: `writer ${writer}`, price: n++ })
        const { status, begunMs, endedMs, ...answer } = await client.ask({ ...asked, body })
        if (status !== 201)
          throw new Error(`Rowport answered ${status} ${'text' in answer ? answer.text : ''}`)
        waitedMs.push(endedMs - begunMs)
      } while (performance.now() < endMs)
      client.close()
    }),
  )
  return waitedMs
}
