import assert from 'node:assert/strict'
import { connect, type Socket } from 'node:net'
import type { TestContext } from 'node:test'
import type { TimeLimits } from '../../src/server/server.ts'
import { bearer, type ConnectedSheet, type Rowport, startRowport } from '../harness.ts'

/** A client that sends bytes as they are and keeps every answer apart, for what no HTTP library would send. */
export interface RawAnswer {
  status: number
  /** Names in lower case. */
  headers: Map<string, string>
  body: string
}

export interface RawTalk {
  answers: RawAnswer[]
  /** What came after the last whole answer. */
  rest: string
  isClosed: boolean
  /** The client's own trouble: `ECONNRESET` when the server cut it off. */
  error: string | null
  elapsedMs: number
}

interface TalkWish {
  withinMs?: number
  /** Says good-bye at the end of the bytes, but goes on reading. */
  halfClose?: boolean
  /** Hangs up after so many answers; else the server has to close. */
  answers?: number
  /** Whether the answers are to HEAD and have no body; `maybe` finds out, when the talk is over. */
  isHead?: boolean | 'maybe'
  /** Reads nothing before everything is sent, like a simple client that writes first. */
  readsLate?: boolean
}

export async function talk(port: number, bytes: string | Uint8Array, wish: TalkWish = {}): Promise<RawTalk> {
  const { withinMs = 10_000, halfClose = false, answers: enough = Number.POSITIVE_INFINITY } = wish
  const { isHead = false, readsLate = false } = wish
  const begunMs = performance.now()
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: readsLate })
  const chunks: Buffer[] = []
  let error: string | null = null
  const parsed = () => parseAnswers(Buffer.concat(chunks), isHead)
  const isClosed = await new Promise<boolean>((resolve) => {
    const timer = setTimeout(() => resolve(false), withinMs)
    const settle = (closed: boolean) => {
      clearTimeout(timer)
      resolve(closed)
    }
    socket.on('data', (chunk: Buffer) => {
      chunks.push(chunk)
      if (enough !== Number.POSITIVE_INFINITY && parsed().answers.length >= enough) settle(false)
    })
    socket.on('error', (cause: NodeJS.ErrnoException) => {
      error = cause.code ?? cause.message
    })
    socket.on('end', () => socket.end())
    socket.on('close', () => settle(true))
    if (readsLate) socket.pause()
    socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes, () => {
      if (readsLate) setTimeout(() => socket.resume(), 50)
    })
    if (halfClose) socket.end()
  })
  socket.destroy()
  return { ...parsed(), isClosed, error, elapsedMs: performance.now() - begunMs }
}

export function parseAnswers(
  bytes: Buffer,
  isHead: boolean | 'maybe' = false,
): { answers: RawAnswer[]; rest: string } {
  const answers: RawAnswer[] = []
  let at = 0
  while (at < bytes.length) {
    const headEnd = bytes.indexOf('\r\n\r\n', at)
    if (headEnd === -1) break
    const [statusLine = '', ...lines] = bytes.toString('latin1', at, headEnd).split('\r\n')
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(statusLine)?.[1] ?? 0)
    if (status === 0) break
    const headers = new Map(lines.map((line) => headerOf(line)))
    const bodyStart = headEnd + 4
    const isNextAtOnce = bodyStart === bytes.length || bytes.indexOf('HTTP/1.1 ', bodyStart) === bodyStart
    const isBodyless = status < 200 || status === 204 || status === 304
    const hasBody = !isBodyless && isHead !== true && !(isHead === 'maybe' && isNextAtOnce)
    const end = bodyStart + (hasBody ? Number(headers.get('content-length') ?? 0) : 0)
    if (end > bytes.length) break
    answers.push({ status, headers, body: bytes.toString('utf8', bodyStart, end) })
    at = end
  }
  return { answers, rest: bytes.toString('utf8', at) }
}

function headerOf(line: string): [string, string] {
  const colon = line.indexOf(':')
  return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
}

export type ErrorForm = 'flat' | 'nested'

/** The one shape that every refusal has: JSON, the form of its address, a known code, and nothing from inside. */
export function assertRefusal(
  answer: RawAnswer | undefined,
  status: number,
  code: string,
  form: ErrorForm,
): void {
  assert.equal(answer?.status, status, answer?.body ?? 'no response')
  assert.equal(answer.headers.get('content-type'), 'application/json; charset=utf-8')
  assert.equal(answer.headers.get('access-control-allow-origin'), '*')
  const body = JSON.parse(answer.body) as Record<string, unknown>
  const error = form === 'flat' ? body : (body.error as Record<string, unknown>)
  assert.equal(error.code, code, answer.body)
  assert.equal(typeof (form === 'flat' ? error.error : error.message), 'string', `${form}: ${answer.body}`)
  assert.deepEqual(
    Object.keys(body).filter((key) => !['error', 'code', 'details'].includes(key)),
    [],
  )
  assertNothingFromInside(answer.body)
}

export function assertNothingFromInside(body: string): void {
  assert.doesNotMatch(body, /\bat .*[/(]|node:|\.ts\b|node_modules|Error:|HPE_|SQLITE/, 'no internals')
}

/** A server with a small sheet and a key, and the parts of a request by hand. */
export interface Wired {
  rowport: Rowport
  sheet: ConnectedSheet
  key: { value: string }
  /** `Host` and `Authorization`, as header lines. */
  head: string
  talk(bytes: string | Uint8Array, wish?: TalkWish): Promise<RawTalk>
  post(path: string, body: string | Uint8Array): Promise<Response>
  /** The server is as it was: it serves, and nothing went wrong inside. */
  assertUnharmed(): Promise<void>
}

export async function startWired(t: TestContext, timeLimits: Partial<TimeLimits> = {}): Promise<Wired> {
  // The plan without a limit: these tests ask often.
  const rowport = await startRowport(t, { timeLimits })
  const sheet = await rowport.connectFile('products', 'products.csv', 'name,price,__proto__\nOak,1,x\n')
  const key = await rowport.createKey()
  return {
    rowport,
    sheet,
    key,
    head: `Host: rowport.test\r\nAuthorization: Bearer ${key.value}\r\n`,
    talk: (bytes, wish) => talk(rowport.port, bytes, wish),
    post: (path, body) =>
      fetch(rowport.url + path, {
        method: 'POST',
        headers: bearer(key),
        body: body as NonNullable<RequestInit['body']>,
      }),
    async assertUnharmed() {
      const malfunctions = rowport.seen.filter(({ event }) => event === 'malfunction')
      assert.deepEqual(malfunctions, [])
      const answer = await rowport.get(`${sheet.formA}?limit=1`, bearer(key))
      assert.equal(answer.status, 200)
      assert.equal(await answer.text(), '[{"name":"Oak","price":1,"__proto__":"x"}]')
    },
  }
}

/** A connection for tests that decide step by step what to send; its errors are expected. */
export async function openSocket(t: TestContext, port: number, allowHalfOpen = false): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen })
  t.after(() => socket.destroy())
  socket.on('error', () => {})
  await new Promise<void>((resolve) => socket.once('connect', resolve))
  return socket
}
