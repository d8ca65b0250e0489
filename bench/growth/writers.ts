import { setTimeout as sleep } from 'node:timers/promises'
import { startGoogleProcess } from '../../test/google/google-process.ts'
import { createLoadClient } from '../../test/load-clients.ts'
import { withEnds } from '../row.ts'
import { startRowportOnGoogle } from '../rowport-on-google.ts'
import { tenThousandRows } from '../writing-files.ts'
import { connectFile, createAccount, type Ground, openGround } from './ground.ts'
import { type Axis, type Point, percentiles, powersOfTen, type StoreKind } from './point.ts'

const most = 1_000
const shares = { connections_per_address: 2 * most }
const latencyMs = { write: 400, read: 300 }
const googleSeconds = 8
/** With more writers than may wait, most come again after a second: several such rounds, or the first would be all that is seen. */
const manyWriters = { from: 1_000, seconds: 8 }
/** As the answer says. */
const retryAfterMs = 1_000

export const writersAxis: Axis = {
  name: 'writers',
  unit: 'writers of one sheet',
  about: `each adds one row after the other: to a CSV file of 10,000 rows, and at Google (400 ms a write, 300 ms a read, 60 of each a minute); ${JSON.stringify(shares)} in ROWPORT_SHARES`,
  drawn: ['POST, CSV file', 'POST, Google'],
  async *measure(store, after, wish) {
    const { seconds } = wish
    const settings = { ROWPORT_SHARES: JSON.stringify(shares) }
    const ground = await openGround(store, after, settings)
    const apiKey = await ground.prepare((workshop) => createAccount(workshop))
    for (const writers of powersOfTen(1, most, wish)) {
      const slug = `writers-${writers}`
      const path = await ground.prepare((workshop) =>
        connectFile(workshop, ground.folder, slug, tenThousandRows()),
      )
      const { url } = await ground.start()
      const port = Number(new URL(url).port)
      await addRows({ port, path, apiKey }, Math.min(writers, 100), 1)
      const end = ground.begin()
      const forSeconds = writers < manyWriters.from ? seconds + 1 : manyWriters.seconds
      const added = await addRows({ port, path, apiKey }, writers, forSeconds)
      yield { at: writers, request: 'POST, CSV file', ...figuresOf(end, added) }
    }
    await ground.prepare(async () => {})
    for (const writers of powersOfTen(1, most, wish))
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
    return figuresOf(end, await addRows(asked, writers, googleSeconds))
  })
}

interface Added {
  waitedMs: number[]
  refusals: number
}

/** At least one of each writer. Who is refused because too many wait comes again as it is told, and has waited since it first came. */
async function addRows(
  asked: { port: number; path: string; apiKey: string },
  writers: number,
  seconds: number,
): Promise<Added> {
  const waitedMs: number[] = []
  let refusals = 0
  const endMs = performance.now() + seconds * 1_000
  await Promise.all(
    Array.from({ length: writers }, async (_, writer) => {
      const client = createLoadClient()
      let n = 0
      do {
        const body = JSON.stringify({ name: `writer ${writer}`, price: n++ })
        const firstMs = performance.now()
        let answer = await client.ask({ ...asked, body })
        while (answer.status === 503 && performance.now() < endMs) {
          refusals++
          await sleep(retryAfterMs)
          answer = await client.ask({ ...asked, body })
        }
        if (answer.status === 503) refusals++
        if (answer.status === 503) break
        if (answer.status !== 201) throw new Error(`Rowport answered ${JSON.stringify(answer)}`)
        waitedMs.push(answer.endedMs - firstMs)
      } while (performance.now() < endMs)
      client.close()
    }),
  )
  return { waitedMs, refusals }
}

function figuresOf(
  end: ReturnType<Ground['begin']>,
  { waitedMs, refusals }: Added,
): Omit<Point, 'at' | 'request'> {
  return { ...end(waitedMs.length), ...percentiles(waitedMs), refusals: refusals / waitedMs.length }
}
