import { type IncomingMessage, request as requestPlain } from 'node:http'
import { request as requestTls } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import type { Clock } from '../clock.ts'
import { type Target, TargetRefusal, type Targets } from './targets.ts'

/** Sends one request and reads the beginning of its answer. Never throws: a receiver that fails is an everyday thing. */
export interface Posting {
  post(url: string, headers: Record<string, string>, body: string, left: AbortSignal): Promise<Posted>
}

export interface Posted {
  /** null when no answer came. */
  status: number | null
  /** Why it does not count as taken, in half a sentence; null when it was. */
  failure: string | null
  /** The first lines. */
  answer: string
  /** What the receiver asks for. */
  retryAfterMs: number | null
}

export interface PostingParts {
  targets: Targets
  clock: Pick<Clock, 'nowMs'>
  /** Certificates that are believed beside those that Node believes. */
  ca?: string
}

const answerWithinMs = 15_000
/** What the status has said already is not waited for longer. */
const bodyWithinMs = 1_000
/** Answers before the answer, of which Node would take any number: a server may say that it works on it, and what it will link to. */
const mostInterimAnswers = 10
const keptBytes = 1_024
const keptLines = 8

export function createPosting({ targets, clock, ca }: PostingParts): Posting {
  return {
    async post(url, headers, body, left) {
      const deadline = AbortSignal.any([left, AbortSignal.timeout(answerWithinMs)])
      const target = await Promise.race([targets.find(url), whenAborted(deadline)])
      if (target === null) return failedPost(left.aborted ? 'it was broken off' : tooLate)
      if (target instanceof TargetRefusal) return failedPost(target.reason)
      try {
        const { retryAfter, ...posted } = await exchange(target, headers, body, deadline, ca)
        return { ...posted, retryAfterMs: retryAfterMsOf(retryAfter, clock.nowMs()) }
      } catch (error) {
        if (left.aborted) return failedPost('it was broken off')
        return failedPost(deadline.aborted ? tooLate : inWords(error))
      }
    },
  }
}

type Answered = Omit<Posted, 'retryAfterMs'> & { retryAfter: string | undefined }

function exchange(
  { url, addresses }: Target,
  headers: Record<string, string>,
  body: string,
  signal: AbortSignal,
  ca: string | undefined,
): Promise<Answered> {
  const { promise, resolve, reject } = Promise.withResolvers<Answered>()
  const bytes = Buffer.from(body)
  const request = (url.protocol === 'http:' ? requestPlain : requestTls)(url, {
    method: 'POST',
    headers: { ...headers, 'Content-Length': bytes.length },
    // A connection of its own, to where the name led when it was checked; what it leads to by now does not matter.
    agent: false,
    lookup: lookupOf(addresses),
    signal,
    ...(ca !== undefined && { ca }),
  })
  request.on('error', reject)
  let interimAnswers = 0
  request.on('information', () => {
    if (++interimAnswers === mostInterimAnswers + 1) request.destroy(new TooManyInterimAnswers())
  })
  request.on('response', (response) => {
    const { statusCode: status = 0, headers: answered } = response
    void beginningOf(response).then((answer) => {
      // Whatever else it says is not read.
      request.destroy()
      resolve({ status, failure: failureOf(status), answer, retryAfter: answered['retry-after'] })
    })
  })
  request.end(bytes)
  return promise
}

function lookupOf(addresses: readonly string[]): LookupFunction {
  const found = addresses.map((address) => ({ address, family: isIP(address) }))
  return (_hostname, { all }, callback) => {
    const [first] = found
    if (all) callback(null, found)
    else callback(null, first?.address ?? '', first?.family)
  }
}

/** As much of the text as people want to see. */
async function beginningOf(response: IncomingMessage): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const chunks: Buffer[] = []
  let bytes = 0
  const timer = setTimeout(resolve, bodyWithinMs)
  response.on('data', (chunk: Buffer) => {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes >= keptBytes) resolve()
  })
  for (const end of ['end', 'error', 'close', 'aborted']) response.on(end, () => resolve())
  await promise
  clearTimeout(timer)
  response.on('error', () => {})
  return firstLines(Buffer.concat(chunks).subarray(0, keptBytes).toString())
}

function firstLines(text: string): string {
  return text
    .split(/\r?\n/)
    .slice(0, keptLines)
    .map((line) => line.replaceAll(/\p{Cc}/gu, '\uFFFD'))
    .join('\n')
    .trim()
}

function failureOf(status: number): string | null {
  if (status >= 200 && status < 300) return null
  if (status >= 300 && status < 400) return `it returned ${status}, and redirects are not followed`
  return `it returned ${status}`
}

/** In seconds, or a date, which is told by the clock of somebody else. */
function retryAfterMsOf(header: string | undefined, nowMs: number): number | null {
  if (header === undefined) return null
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1_000
  const atMs = Date.parse(header)
  return Number.isNaN(atMs) ? null : Math.max(0, atMs - nowMs)
}

const tooLate = `no response came within ${answerWithinMs / 1_000} seconds`

const words: Record<string, string> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was closed',
  EPIPE: 'the connection was closed',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the host cannot be reached',
  ETIMEDOUT: 'no connection could be made',
}

class TooManyInterimAnswers extends Error {
  override readonly name = 'TooManyInterimAnswers'
}

function inWords(error: unknown): string {
  if (error instanceof TooManyInterimAnswers) return 'it sent interim responses without an end'
  const cause = error instanceof AggregateError ? error.errors[0] : error
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
  const known = words[code]
  if (known) return known
  if (/CERT|TLS|SSL|SIGNATURE|EPROTO/.test(code)) return `no safe connection could be made (${code})`
  return code === '' ? 'the connection failed' : `the connection failed (${code})`
}

function failedPost(failure: string): Posted {
  return { status: null, failure, answer: '', retryAfterMs: null }
}

function whenAborted(signal: AbortSignal): Promise<null> {
  if (signal.aborted) return Promise.resolve(null)
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(null), { once: true }))
}
