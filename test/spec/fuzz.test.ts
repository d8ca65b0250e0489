import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { anyCodePoint } from '../any-code-point.ts'
import { freshPlace, logged, type RunningServer } from '../process/running.ts'
import { assertNothingFromInside, type RawTalk, talk } from './raw-client.ts'

/** More for a long look: `ROWPORT_FUZZ_CASES=100000 node --test test/spec/fuzz.test.ts`. */
const caseCount = Number(process.env.ROWPORT_FUZZ_CASES ?? 1_500)
const seed = Number(process.env.ROWPORT_FUZZ_SEED ?? 20_261_115)
/** Until the server has all its code and buffers, growth says nothing. */
const warmUpCount = 300
const limitMs = 60_000 + caseCount * 40

test('whatever bytes arrive, the answer is JSON below 500 or none, and the server goes on', {
  timeout: limitMs,
}, async (t) => {
  const target = await startTarget(t)
  const begunMs = performance.now()
  const seen = new Map<string, number>()
  let slowestMs = 0
  async function send({ bytes }: Case): Promise<void> {
    const said = await talk(target.server.port, bytes, { halfClose: true, withinMs: 20_000, isHead: 'maybe' })
    assertSound(said)
    slowestMs = Math.max(slowestMs, said.elapsedMs)
    const statuses = said.answers.map(({ status }) => status).join(' ') || 'none'
    seen.set(statuses, (seen.get(statuses) ?? 0) + 1)
  }
  const property = fc.asyncProperty(cases(target), send)

  await fc.assert(property, { seed: seed + 1, numRuns: warmUpCount })
  const beforeBytes = await residentBytes(target.server)
  await fc.assert(property, {
    seed,
    numRuns: caseCount,
    interruptAfterTimeLimit: limitMs - 5_000,
    markInterruptAsFailure: true,
  })
  const grownMegabytes = Math.round(((await residentBytes(target.server)) - beforeBytes) / 1e6)

  const often = [...seen].sort(([, one], [, other]) => other - one).slice(0, 12)
  t.diagnostic(
    `${warmUpCount} + ${caseCount} cases in ${((performance.now() - begunMs) / 1_000).toFixed(1)} s, seed ${seed}, ` +
      `the slowest ${Math.round(slowestMs)} ms; the server has ${grownMegabytes} MB more memory`,
  )
  t.diagnostic(`answers: ${often.map(([statuses, count]) => `${statuses} × ${count}`).join(', ')}`)
  for (const status of ['200', '201', '400', '404', '405']) {
    assert.ok(
      [...seen.keys()].some((statuses) => statuses.startsWith(status)),
      `no ${status}: these cases no longer try what they should`,
    )
  }
  assert.deepEqual(logged(target.server.stderr(), 'malfunction'), [])
  assert.equal(target.server.child.exitCode, null, 'it still runs')
  const good = await fetch(`${target.server.url}${target.formA}/2`, {
    headers: { Authorization: `Bearer ${target.key}` },
  })
  // Some of the cases change and delete rows, as they may.
  assert.equal(good.status, 200)
  assert.deepEqual(Object.keys(JSON.parse(await good.text())), ['name', 'price', '__proto__'])
  // What is not collected yet, and 2 KB for each case: a leak of a connection or its request would be more.
  assert.ok(grownMegabytes < 50 + caseCount / 500, `memory grew by ${grownMegabytes} MB`)
})

interface Target {
  server: RunningServer
  formA: string
  formB: string
  key: string
}

/** A server in a process of its own, so that its memory and its end are its own. */
async function startTarget(t: TestContext): Promise<Target> {
  const place = await freshPlace(t)
  const env = {
    // A small nursery, so that what is held can be told from what is merely not yet collected.
    NODE_OPTIONS: '--max-semi-space-size=1',
    // The guard against strangers would answer most of these cases alike.
    ROWPORT_REFUSALS_PER_MINUTE: '1000000',
  }
  const server = await place.start({ env })
  const run = async (...words: string[]) => {
    const { code, stdout, stderr } = await place.rowportHere([...words, '--json'])
    assert.equal(code, 0, stderr)
    return JSON.parse(stdout) as Record<string, string>
  }
  const file = join(place.folder, 'fuzz.csv')
  await writeFile(file, 'name,price,__proto__\nOak,1,x\n')
  // The plan without a limit.
  await run('account', 'create', 'fuzz', '--plan', 'enterprise')
  const { id } = await run('sheet', 'connect', 'fuzz/sheet', '--file', file)
  const { key = '' } = await run('key', 'create', 'fuzz', '--name', 'fuzz', '--scope', 'read-write')
  return { server, formA: '/api/sheets/fuzz/sheet', formB: `/v1/sheets/${id}`, key }
}

async function residentBytes({ url }: RunningServer): Promise<number> {
  const metrics = await (await fetch(`${url}/metrics`)).text()
  return Number(/^rowport_process_resident_memory_bytes (\S+)$/m.exec(metrics)?.[1])
}

/** Every answer whole, below 500, in the format that it says, with nothing from inside; and the connection closed. */
function assertSound({ answers, rest, isClosed }: RawTalk): void {
  assert.ok(isClosed, 'still open')
  assert.equal(rest, '', 'something that is no answer')
  for (const { status, headers, body } of answers) {
    assert.ok(status < 500, `${status} ${body}`)
    if (body === '') continue
    const contentType = headers.get('content-type') ?? ''
    if (contentType.startsWith('application/json')) JSON.parse(body)
    else assert.ok(status === 200 && /^text\/(?:html|plain)/.test(contentType), `${status} ${contentType}`)
    if (status >= 400) assertNothingFromInside(body)
  }
}

/** One or two requests on a connection, shown as text when they fail. */
interface Case {
  bytes: Buffer
  [fc.toStringMethod](): string
}

function cases(target: Target): fc.Arbitrary<Case> {
  return fc.array(requests(target), { minLength: 1, maxLength: 2 }).map((pieces) => {
    const bytes = Buffer.concat(pieces)
    return { bytes, [fc.toStringMethod]: () => JSON.stringify(bytes.toString('latin1')).slice(0, 2_000) }
  })
}

/** Good requests with damage: from none at all to beyond recognition. */
function requests({ formA, formB, key }: Target): fc.Arbitrary<Buffer> {
  const head = `Host: rowport.test\r\nAuthorization: Bearer ${key}\r\n`
  const row = '{"name":"Plant","price":12.5}'
  const good = [
    `GET ${formA} HTTP/1.1\r\n${head}\r\n`,
    `GET ${formB}/2?row_numbers=true HTTP/1.1\r\n${head}Cache-Control: no-cache\r\n\r\n`,
    `GET ${formB}?limit=1&offset=0&api_key=${key} HTTP/1.1\r\nHost: a\r\nIf-None-Match: "x", W/"y"\r\n\r\n`,
    `HEAD ${formA}/2 HTTP/1.1\r\n${head}\r\n`,
    `OPTIONS ${formB} HTTP/1.1\r\nHost: a\r\nOrigin: http://b.test\r\n\r\n`,
    `POST ${formA} HTTP/1.1\r\n${head}Content-Length: ${row.length}\r\n\r\n${row}`,
    `POST ${formB} HTTP/1.1\r\n${head}Transfer-Encoding: chunked\r\n\r\n${row.length.toString(16)};x=y\r\n${row}\r\n0\r\nT: u\r\n\r\n`,
    `POST ${formA} HTTP/1.1\r\n${head}Expect: 100-continue\r\nContent-Length: ${row.length}\r\n\r\n${row}`,
    `GET http://elsewhere.test/v1/sheets HTTP/1.1\r\n${head}\r\n`,
    `GET /healthz HTTP/1.0\r\n\r\n`,
    'GET / HTTP/1.1\r\nHost: a\r\n\r\n',
  ].map((text) => Buffer.from(text, 'latin1'))
  const damaged = fc
    .tuple(fc.constantFrom(...good), fc.array(damage, { maxLength: 4 }))
    .map(([bytes, damages]) => damages.reduce<Buffer>((sofar, act) => act(sofar), bytes))
  const oddTarget = fc
    .tuple(
      fc.constantFrom('GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'TRACE'),
      fc.constantFrom('', '/', formA, formB, `${formB}/2`),
      targetText,
    )
    .map(([method, path, text]) => Buffer.from(`${method} ${path}${text} HTTP/1.1\r\n${head}\r\n`, 'latin1'))
  const oddBody = fc
    .tuple(fc.constantFrom(formA, formB), bodies)
    .map(([path, body]) =>
      Buffer.concat([
        Buffer.from(`POST ${path} HTTP/1.1\r\n${head}Content-Length: ${body.length}\r\n\r\n`),
        body,
      ]),
    )
  return fc.oneof(
    { arbitrary: damaged, weight: 5 },
    { arbitrary: oddTarget, weight: 2 },
    { arbitrary: oddBody, weight: 2 },
  )
}

type Damage = (bytes: Buffer) => Buffer

/** What parsers trip over, and what belongs elsewhere in a request. */
const tokens = [
  '\r\n',
  '\n',
  '\r',
  '\0',
  ' ',
  '\t',
  ':',
  '%',
  '%00',
  '%zz',
  '/',
  '//',
  '?',
  '#',
  '*',
  '\\',
  '"',
  '{',
  '[',
  '}',
  ']',
  ',',
  '\xff',
  '\xc3\x28',
  'HTTP/1.1',
  'HTTP/1.0',
  'HTTP/9.9',
  'GET ',
  'CONNECT ',
  'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  'Host: a\r\n',
  'Content-Length: 5\r\n',
  'Content-Length: 0\r\n',
  'Transfer-Encoding: chunked\r\n',
  'Connection: close\r\n',
  'Connection: Upgrade\r\nUpgrade: websocket\r\n',
  'Expect: x\r\n',
  'Expect: 100-continue\r\n',
  '\r\n\r\n',
  '0\r\n\r\n',
  '__proto__',
  '1e999',
  '-0',
  '\\ud800',
  'http://',
  'x: '.padEnd(17_000, 'y'),
  'x:y\r\n'.repeat(120),
  '/'.repeat(5_000),
] as const

/** A place in the bytes as a part of their length, so that it stays meaningful while the case is made smaller. */
const place = fc.integer({ min: 0, max: 999 })
const damage: fc.Arbitrary<Damage> = fc.oneof(
  fc
    .tuple(place, fc.constantFrom(...tokens))
    .map(([at, token]) => splice(at, 0, Buffer.from(token, 'latin1'))),
  fc
    .tuple(place, fc.uint8Array({ minLength: 1, maxLength: 8 }))
    .map(([at, bytes]) => splice(at, bytes.length, bytes)),
  fc.tuple(place, fc.integer({ min: 1, max: 40 })).map(([at, count]) => splice(at, count, Buffer.alloc(0))),
  place.map((at) => (bytes: Buffer) => bytes.subarray(0, index(bytes, at))),
  fc.tuple(place, place).map(([from, to]) => (bytes: Buffer) => {
    const piece = bytes.subarray(index(bytes, Math.min(from, to)), index(bytes, Math.max(from, to)))
    return splice(to, 0, piece)(bytes)
  }),
  fc.tuple(place, fc.integer({ min: 0, max: 7 })).map(([at, bit]) => (bytes: Buffer) => {
    const copy = Buffer.from(bytes)
    const where = Math.min(index(bytes, at), Math.max(0, bytes.length - 1))
    copy[where] = (copy[where] ?? 0) ^ (1 << bit)
    return copy
  }),
)

function splice(at: number, removed: number, inserted: Uint8Array): Damage {
  return (bytes) => {
    const from = index(bytes, at)
    return Buffer.concat([bytes.subarray(0, from), inserted, bytes.subarray(from + removed)])
  }
}

function index(bytes: Buffer, at: number): number {
  return Math.floor((bytes.length * at) / 1_000)
}

const targetText = fc.oneof(
  fc.string({
    unit: fc.constantFrom('/', '%', '2', 'f', '?', '=', '&', 'a', '[', ']', '.', '+', ';', '\\', '"'),
  }),
  fc.string({ unit: 'grapheme' }).map((text) => encodeURIComponent(text.toWellFormed())),
  fc
    .tuple(
      fc.constantFrom('limit', 'offset', 'row', 'row_numbers', '_x', 'api_key', '__proto__'),
      fc.string({ unit: 'grapheme' }),
    )
    .map(([name, value]) => `?${name}=${encodeURIComponent(value.toWellFormed())}`),
)

const cell = fc.oneof(
  fc.string({ unit: anyCodePoint }),
  fc.double(),
  fc.boolean(),
  fc.constant(null),
  fc.jsonValue(),
)
const rowOf = fc.dictionary(
  fc.constantFrom('name', ' NAME ', 'price', '__proto__', '_row', 'constructor'),
  cell,
)
const bodies: fc.Arbitrary<Buffer> = fc.oneof(
  rowOf.map((row) => Buffer.from(JSON.stringify(row))),
  fc.array(rowOf, { maxLength: 5 }).map((rows) => Buffer.from(JSON.stringify(rows))),
  fc.jsonValue().map((value) => Buffer.from(JSON.stringify(value))),
  fc
    .tuple(rowOf, fc.array(damage, { minLength: 1, maxLength: 3 }))
    .map(([row, damages]) =>
      damages.reduce<Buffer>((sofar, act) => act(sofar), Buffer.from(JSON.stringify(row))),
    ),
  fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
)
