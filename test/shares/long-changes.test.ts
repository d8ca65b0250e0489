import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { request } from 'node:http'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { ownPage, signedIn } from '../connect/visitor.ts'
import { bearer, type Rowport, startRowport } from '../harness.ts'
import { holdsOfTwo } from '../measured-twice.ts'
import { patienceMs } from '../soak.ts'
import { startTurnWatch } from '../turn-watch.ts'
import { hurtIn, inWords, startNeighbours, victimDuring } from './neighbours.ts'

/** To take a part of what is twice as long in the store takes twice as long. Processor time is counted in steps of 4 ms. */
const mostTurnMs = (bytesInStore: number) => (bytesInStore > 8_100_000 ? 20 : 16)
/** What the row is parsed and made into in one go is most of it; the log takes its changes in pieces of two milliseconds. */
const mostWriteMs = { 'plain letters': 28, 'letters of two bytes': 32, 'quotes and backslashes': 36 }
const columns = 80
const names = Array.from({ length: columns }, (_, nth) => `c${nth}`)
/** Nearly as long as a row may be: a change of it, with what it was before, is twice that. */
const rows = {
  'plain letters': 'x'.repeat(50_000),
  'letters of two bytes': 'Ж'.repeat(25_000),
  'quotes and backslashes': '"\\'.repeat(12_500),
}

for (const [what, cell] of Object.entries(rows))
  test(`changes of eight megabytes of ${what} are told in short turns`, {
    timeout: patienceMs,
  }, async (t) => {
    const mostMs = mostTurnMs(2 * columns * Buffer.byteLength(JSON.stringify(JSON.stringify(cell))))
    const rowport = await startRowport(t, { isTimePassing: true })
    const { formA, key } = await startLog(rowport, cell)
    const cursor = (await ask(rowport, `${formA}/changes?since=earliest&limit=1`, key)).cursor
    const asked: Record<string, { path: string; least: number; more?: Record<string, string> }> = {
      'a page with one': { path: `${formA}/changes?since=${cursor}`, least: 7_900_000 },
      'a page that it is filtered out of': { path: `${formA}/changes?since=earliest&key=`, least: 0 },
      'a poll that waits': { path: `${formA}/changes?since=earliest&kind=deleted&wait=1&row=`, least: 0 },
      'a page behind it': { path: `${formA}/changes?since=earliest&limit=1`, least: 7_900_000 },
    }
    for (const [name, { path, least }] of Object.entries(asked)) {
      let nth = 0
      await inShortTurns(t, name, mostMs, async () => {
        const filter = path.endsWith('=') ? ++nth + 100 : ''
        const { status, bytes } = await ask(rowport, `${path}${filter}`, key)
        assert.equal(status, 200)
        assert.ok(bytes >= least, `${bytes} bytes`)
      })
    }
    const owner = await signedIn(rowport)
    const headers = { ...ownPage, Cookie: owner.cookie }
    await inShortTurns(t, 'the history', mostMs, async () => {
      const { status, bytes } = await ask(rowport, '/dashboard/api/sheets/wide/history', headers)
      assert.equal(status, 200)
      assert.ok(bytes >= 7_900_000, `${bytes} bytes`)
    })
    await inShortTurns(t, 'a stream', mostMs, async () => {
      const events = { ...key, Accept: 'text/event-stream' }
      const { bytes } = await ask(rowport, `${formA}/changes?since=earliest`, events, 16_000_000)
      assert.ok(bytes >= 16_000_000, `${bytes} bytes`)
    })
  })

for (const [what, cell] of Object.entries(rows) as [keyof typeof rows, string][])
  test(`a cell beside megabytes of ${what} is changed in short turns`, { timeout: patienceMs }, async (t) => {
    const rowport = await startRowport(t, { isTimePassing: true })
    const { formA, key } = await startLog(rowport, cell)
    const headers = { ...key, 'Content-Type': 'application/json' }
    let nth = 3
    await inShortTurns(t, 'a change', mostWriteMs[what], async () => {
      const answer = await fetch(`${rowport.url}${formA}/2`, {
        method: 'PATCH',
        headers,
        body: JSON.stringify({ c0: `${++nth}` }),
      })
      await answer.arrayBuffer()
      assert.equal(answer.status, 200)
      // What is copied and cleared away afterwards is part of it.
      await sleep(200)
    })
  })

test('filters that nobody else asks with, of very long changes, hold up nobody else', {
  timeout: patienceMs,
}, async (t) => {
  const neighbours = await startNeighbours(t)
  const { attacker, victim, residentMb } = neighbours
  const wide = await attacker.connect('wide', csvOf(rows['letters of two bytes'] ?? ''))
  const products = await victim.connect('products', 'a\n1\n')
  const cheap = `${products.formA}?limit=1`
  assert.equal((await attacker.ask(wide.formA)).status, 200)
  assert.equal((await victim.ask(cheap)).status, 200)
  for (let nth = 0; nth < 6; nth++) {
    const headers = { 'Content-Type': 'application/json' }
    const body = JSON.stringify({ c0: `${nth}` })
    assert.equal((await attacker.ask(`${wide.formA}/2`, { method: 'PATCH', headers, body })).status, 200)
  }
  t.diagnostic(`idle: ${inWords(await victimDuring(neighbours, cheap, () => sleep(1_000)))}`)
  let nth = 0
  const attacks = {
    'filtered out': () => `row=${++nth + 100}`,
    told: () => `row=2&limit=${(++nth % 900) + 1}`,
  }
  for (const [name, filterOf] of Object.entries(attacks)) {
    const measure = () =>
      victimDuring(neighbours, cheap, async () => {
        const endMs = performance.now() + 2_500
        const one = async () => {
          while (performance.now() < endMs) {
            const { status } = await attacker.ask(`${wide.formA}/changes?since=earliest&${filterOf()}`)
            assert.equal(status, 200)
          }
        }
        await Promise.all(Array.from({ length: 8 }, one))
      })
    const figures = await holdsOfTwo(measure, (one) => hurtIn(one) && `${name}: ${inWords(one)}`)
    t.diagnostic(`${name}: ${nth} asked; ${inWords(figures)}; resident ${residentMb().toFixed(0)} MB`)
  }
})

/** A log of three very long changes, each of which takes a few bytes to make. */
async function startLog(rowport: Rowport, cell: string) {
  const key = bearer(await rowport.createKey())
  const { formA } = await rowport.connectFile('wide', 'wide.csv', csvOf(cell))
  await (await rowport.get(formA, key)).arrayBuffer()
  const headers = { ...key, 'Content-Type': 'application/json' }
  for (const body of ['{"c0":"1"}', '{"c0":"2"}', '{"c0":"3"}']) {
    const { status } = await fetch(`${rowport.url}${formA}/2`, { method: 'PATCH', headers, body })
    assert.equal(status, 200)
  }
  return { formA, key }
}

function csvOf(cell: string): string {
  return `${names.join()}\n${names.map(() => `"${cell.replaceAll('"', '""')}"`).join()}\n`
}

async function inShortTurns(
  t: TestContext,
  name: string,
  mostMs: number,
  work: () => Promise<void>,
): Promise<void> {
  const longest: number[] = []
  for (let round = 0; round < 6; round++) {
    const watch = startTurnWatch()
    await work().finally(() => longest.push(watch.stop()[0] ?? 0))
  }
  t.diagnostic(`${name}: turns of ${longest.join(' ')} ms`)
  assert.ok(Math.min(...longest) <= mostMs, `${name}: turns of ${longest.join(' ')} ms`)
}

/** Without putting together what comes, which would take turns of its own. */
function ask(
  { url }: Rowport,
  path: string,
  headers: Record<string, string>,
  enoughBytes = Number.POSITIVE_INFINITY,
): Promise<{ status: number; bytes: number; hash: string; cursor: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<Awaited<ReturnType<typeof ask>>>()
  request(`${url}${path}`, { headers }, async (answer) => {
    const hash = createHash('md5')
    let bytes = 0
    for await (const piece of answer) {
      hash.update(piece as Buffer)
      bytes += (piece as Buffer).byteLength
      if (bytes >= enoughBytes) break
    }
    const cursor = String(answer.headers['x-change-cursor'])
    resolve({ status: answer.statusCode ?? 0, bytes, hash: hash.digest('hex'), cursor })
  })
    .on('error', reject)
    .end()
  return promise
}
