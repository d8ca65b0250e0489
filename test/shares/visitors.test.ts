import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { defaultShares, type Shares } from '../../src/shares/shares.ts'
import { EventStream } from '../changes/event-stream-client.ts'
import { bearer, type Rowport, startRowport } from '../harness.ts'
import { createPageKey, fromPage } from '../pages/page-keys.ts'

/*
 * docs/api.md: readers without a key, and visitors with a publishable one, use up nothing of what the account's keys have. Each test
 * fails where `takerOf` of admission says that visitors are the account.
 */

const rows = 60_000

for (const who of ['readers without a key', 'visitors with a publishable key'] as const)
  test(`queries of ${who} wait among themselves, and none of the owner's is refused for them`, async (t) => {
    const { rowport, key, connect } = await start(t, { queries_at_once: 1, queries_waiting: 2 })
    const { formA } = await connect('big', largeCsv())
    const headers = who === 'readers without a key' ? {} : fromPage(await createPageKey(rowport, 'big'))
    for (const asWhom of [headers, bearer(key)])
      assert.equal((await rowport.get(`${formA}?id=1&limit=1`, asWhom)).status, 200)

    const dear = (n: number) => `${formA}?q=${n}&sort=note,-name,price&limit=1`
    const strangers = Array.from({ length: 30 }, (_, n) => rowport.get(dear(n), headers))
    await Promise.race(strangers.map(untilRefused))
    const ofOwner = Array.from({ length: 3 }, (_, n) => rowport.get(dear(100 + n), bearer(key)))
    assert.deepEqual(await statusesOf(ofOwner), { 200: 3 })
    const { 200: served = 0, 429: refused = 0 } = await statusesOf(strangers)
    assert.ok(served >= 3 && refused > 0, `${served} of the visitors were served, ${refused} refused`)
  })

test('sheets that readers without a key have read wait among themselves, also where the owner comes to wait for one of them', async (t) => {
  const { rowport, key, connect } = await start(t, { decoding_waiting: 1 })
  const open = []
  for (let n = 0; n < 6; n++) open.push(await connect(`open-${n}`, largeCsv(n)))
  const own = await connect('own', largeCsv(9), 'private')
  const strangers = open.map(({ formA }) => rowport.get(`${formA}?limit=1`))
  await Promise.race(strangers.map(untilRefused))
  const wanted = [own, ...open.slice(0, 2)]
  const ofOwner = wanted.map(({ formA }) => rowport.get(`${formA}?limit=1`, bearer(key)))
  assert.deepEqual(await statusesOf(ofOwner), { 200: wanted.length })
  assert.ok(((await statusesOf(strangers))[429] ?? 0) > 0)
})

test('streams of readers without a key have places of their own, fewer than keys have', async (t) => {
  const { rowport, key, connect } = await start(t, { following_at_once: 4, following_total: 5 })
  const { formA } = await connect('open', 'name\nOak\n')
  const open = async (headers: Record<string, string> = {}) => {
    const stream = await EventStream.open(`${rowport.url}${formA}/changes`, headers)
    t.after(() => stream.close())
    return stream.response.statusCode
  }
  const strangers = [await open(), await open(), await open()]
  assert.deepEqual(strangers, [200, 200, 429])
  const ofOwner = [await open(bearer(key)), await open(bearer(key)), await open(bearer(key))]
  assert.deepEqual(ofOwner, [200, 200, 200])
})

test('what visitors send with an Idempotency-Key leaves a quarter of the journal to the account', async (t) => {
  const { rowport, key, connect } = await start(t, { journal_mb: 1 })
  const { formA } = await connect('open', 'name\nOak\n', 'private')
  const page = fromPage(await createPageKey(rowport, 'open'))
  const add = async (name: string, headers: Record<string, string>) => {
    // Nothing that could be packed.
    const sent = Array.from({ length: 8 }, () => ({ name: randomBytes(15_000).toString('base64') }))
    const more = { 'Idempotency-Key': name, 'Content-Type': 'application/json' }
    const wish = { method: 'POST', headers: { ...headers, ...more }, body: JSON.stringify(sent) }
    return (await fetch(`${rowport.url}${formA}`, wish)).status
  }
  const ofVisitors: number[] = []
  while (ofVisitors.length < 20 && ofVisitors.at(-1) !== 429)
    ofVisitors.push(await add(`visitor-${ofVisitors.length}`, page))
  assert.equal(ofVisitors.at(-1), 429, ofVisitors.join(' '))
  assert.equal(await add('owner', bearer(key)), 201)
})

async function start(t: TestContext, shares: Partial<Shares>) {
  const rowport = await startRowport(t, {
    isTimePassing: true,
    settings: { shares: { ...defaultShares, public_requests_per_minute: 1_000_000, ...shares } },
  })
  const connect = (
    slug: string,
    csv: string,
    access: 'public-read' | 'private' = 'public-read',
  ): ReturnType<Rowport['connectFile']> => rowport.connectFile(slug, `${slug}.csv`, csv, { access })
  return { rowport, key: await rowport.createKey({ scope: 'read-write' }), connect }
}

/** Settles for a refusal alone, or when nothing was refused. */
async function untilRefused(asked: Promise<Response>): Promise<void> {
  if ((await asked).status !== 429) await new Promise((resolve) => setTimeout(resolve, 5_000).unref())
}

async function statusesOf(asked: readonly Promise<Response>[]): Promise<Record<number, number>> {
  const counts: Record<number, number> = {}
  for (const { status } of await Promise.all(asked)) counts[status] = (counts[status] ?? 0) + 1
  return counts
}

function largeCsv(seed = 0): string {
  const lines = Array.from(
    { length: rows },
    (_, n) => `${n},n${(n * 7_919 + seed) % 100_003},${(n * 31) % 997},ab cd ${n}`,
  )
  return `id,name,price,note\n${lines.join('\n')}\n`
}
