import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createVisitor, ownPage } from '../connect/visitor.ts'
import { holdsOfTwo } from '../measured-twice.ts'
import { patienceMs, times } from '../soak.ts'
import {
  type Answer,
  exchange,
  type Figures,
  hurtIn,
  inWords,
  mainThreadMsEach,
  type Neighbours,
  startNeighbours,
  victimDuring,
  writeQuietly,
} from './neighbours.ts'

const small = 'name,price\nLamp,5\nTable,80\n'
const refused = /more than 2,000 columns with a name in row 1/

test('300,000 columns are refused by every way in, and nobody else notices', {
  timeout: patienceMs,
}, async (t) => {
  const neighbours = await startNeighbours(t)
  const { attacker, victim, residentMb } = neighbours
  const products = await victim.connect('products', small)
  const grown = await attacker.connect('grown', small)
  await attacker.ask(grown.formA)
  const idle = await warmAndIdle(neighbours, `${products.formA}?limit=1`)
  t.diagnostic(`idle: ${inWords(idle)}`)
  const beforeMb = residentMb()
  const wide = wideCsv(300_000, 2)
  await writeQuietly(grown.path, wide)
  const owner = await signedUp(neighbours)
  assert.equal((await owner.upload('wide.csv', wide)).status, 201)
  const source = { provider: 'file', path: 'wide.csv', tab: null }
  const now = { 'Cache-Control': 'no-cache' }
  const ways: Record<string, () => Promise<{ status: number; text: string }>> = {
    preview: () => owner.call('POST', '/preview', source),
    connect: () => owner.call('POST', '/sheets', { slug: 'wide', access: 'private', source }),
    'limit=1': () => asText(attacker.ask(`${grown.formA}?limit=1`, { headers: now })),
    'one row': () => asText(attacker.ask(`${grown.formA}/2`, { headers: now })),
    schema: () => asText(attacker.ask(`${grown.formA}/schema`, { headers: now })),
    openapi: () => asText(attacker.ask(`${grown.formA}/openapi.json`, { headers: now })),
    add: () => asText(attacker.ask(grown.formA, { method: 'POST', body: '{"c1":1}' })),
    change: () => asText(attacker.ask(`${grown.formA}/2`, { method: 'PUT', body: '{"c1":1}' })),
  }
  for (const [way, ask] of Object.entries(ways)) {
    const asked = times(3, 20)
    const measure = () =>
      victimDuring(neighbours, `${products.formA}?limit=1`, async () => {
        for (let n = 0; n < asked; n++) {
          const { status, text } = await ask()
          assert.match(text, refused, way)
          assert.ok(status >= 400, `${way}: ${status}`)
        }
      })
    // The file is read by another thread; with it come 300,000 names, unless they are refused there.
    const figures = await holdsOfTwo(measure, (one) => missedIn(one, way, asked, idle))
    t.diagnostic(`300,000 columns, ${way}: ${inWords(figures)}`)
  }
  t.diagnostic(`resident ${beforeMb.toFixed(0)} MB before, ${residentMb().toFixed(0)} MB after`)
  assert.ok(residentMb() - beforeMb < 200)
})

test('as many columns as may be, with every kind of request, and nobody else notices', {
  timeout: patienceMs,
}, async (t) => {
  const neighbours = await startNeighbours(t)
  const { attacker, victim } = neighbours
  const products = await victim.connect('products', small)
  const path = `${products.formA}?limit=1`
  const idle = await warmAndIdle(neighbours, path)
  t.diagnostic(`idle: ${inWords(idle)}`)
  for (const [what, wide] of Object.entries({
    'short names': await attacker.connect('wide', wideCsv(2_000, times(200, 2_000))),
    'long names': await attacker.connect('long', wideCsv(2_000, times(50, 500), 58)),
  })) {
    // Ten rows with every column in them, as the log keeps them.
    const loggedMb = (10 * 2_000 * (what === 'long names' ? 70 : 12)) / 1_000_000
    const row = `{"c1999${'n'.repeat(what === 'long names' ? 58 : 0)}":1}`
    const kinds: Record<string, (n: number) => Promise<Answer>> = {
      'first read': () => attacker.ask(`${wide.formA}?limit=1`, { headers: { 'Cache-Control': 'no-cache' } }),
      'limit=1': () => attacker.ask(`${wide.formA}?limit=1`),
      'one row': () => attacker.ask(`${wide.formA}/2`),
      schema: (n) => attacker.ask(`${wide.formA}/schema?row_numbers=${n % 2 === 0}`),
      openapi: () => attacker.ask(`${wide.formA}/openapi.json`),
      'HEAD openapi': () => attacker.ask(`${wide.formA}/openapi.json`, { method: 'HEAD' }),
      csv: () => attacker.ask(`${wide.formA}?format=csv&limit=50`),
      filter: (n) => attacker.ask(`${wide.formA}?q=${n}x&sort=-c1998,c1&limit=1`),
      add: () =>
        attacker.ask(wide.formA, { method: 'POST', body: `[${Array.from({ length: 10 }, () => row)}]` }),
      change: () => attacker.ask(`${wide.formA}/3`, { method: 'PUT', body: row }),
    }
    for (const [kind, ask] of Object.entries(kinds)) {
      const asked = times(4, 50)
      let slowestMs = 0
      const measure = () =>
        victimDuring(neighbours, path, async () => {
          for (let n = 0; n < asked; n++) {
            const answer = await ask(n)
            assert.ok(
              answer.status < 300 || kind === 'filter',
              `${kind}: ${answer.status} ${answer.body.subarray(0, 300)}`,
            )
            slowestMs = Math.max(slowestMs, answer.tookMs)
          }
        })
      const figures = await holdsOfTwo(measure, (one) =>
        missedIn(one, `${what}, ${kind}`, asked, idle, kind === 'add' ? loggedMb : 0),
      )
      t.diagnostic(`2,000 columns, ${what}, ${kind} (up to ${slowestMs.toFixed(0)} ms): ${inWords(figures)}`)
    }
  }
})

/** What the victim's requests take when nobody attacks and nothing is compiled any more. */
async function warmAndIdle(neighbours: Neighbours, path: string): Promise<Figures> {
  await victimDuring(neighbours, path, () => sleep(1_000))
  return victimDuring(neighbours, path, () => sleep(500))
}

/**
 * Neither may the victim wait nor a request take long on the main thread: what it leaves in the log of changes is written there, 25 ms
 * for each megabyte of text.
 */
function missedIn(figures: Figures, what: string, asked: number, idle: Figures, loggedMb = 0): string | null {
  const eachMs = mainThreadMsEach(figures, asked, idle)
  if (eachMs >= 60 + 25 * loggedMb)
    return `${what}: ${eachMs.toFixed(1)} ms of the main thread each; ${inWords(figures)}`
  return hurtIn(figures) && `${what}: ${inWords(figures)}`
}

function wideCsv(columns: number, rows: number, longerBy = 0): string {
  const names = Array.from({ length: columns }, (_, n) => `c${n}${'n'.repeat(longerBy)}`).join(',')
  const line = Array.from({ length: columns }, (_, n) => n % 10).join(',')
  return `${names}\n${`${line}\n`.repeat(rows)}`
}

async function asText(answered: Promise<Answer>): Promise<{ status: number; text: string }> {
  const { status, body } = await answered
  return { status, text: body.toString() }
}

/** An owner who signed up in the dashboard, as any stranger can. */
async function signedUp({ server }: Pick<Neighbours, 'server'>) {
  const visitor = createVisitor(server)
  const wish = { email: 'wide@example.com', password: 'correct horse battery', slug: 'wide' }
  const answer = await visitor.call('POST', '/sign-up', wish)
  assert.equal(answer.status, 200, answer.text)
  return {
    ...visitor,
    upload: (name: string, body: string) =>
      exchange(server.port, `/dashboard/api/files?name=${name}`, {
        method: 'POST',
        headers: { ...ownPage, Cookie: visitor.cookie, 'Content-Type': 'application/octet-stream' },
        body,
      }),
  }
}
