import type { ServerResponse } from 'node:http'
import { type ErrorForm, errorBody, type Refusal } from '../../errors.ts'
import { type StreamedBody, sendStream } from '../../http/streaming.ts'
import { writeHead } from '../../http/write-head.ts'
import type { RowsFrom } from '../../reporting/observe.ts'
import { eventStream, type Format, mediaTypes } from '../request/format.ts'

/** An answer before it is sent. Header names and values alternate: the form that costs Node the least. */
export interface Reply {
  status: number
  /** What all answers of its kind carry, made once. */
  base: readonly string[]
  headers: readonly string[]
  body: Body | null
  /** The connection ends with it. */
  isLastOnConnection?: boolean
  /** Where the rows in it came from, for those who count. */
  rowsFrom?: RowsFrom
}

export type Body = string | readonly Uint8Array[] | StreamedBody

/** On every answer. Nothing here depends on the caller, so that a preflight or a header tells a stranger nothing. */
const onEveryAnswer = [
  'Access-Control-Allow-Origin',
  '*',
  'Access-Control-Expose-Headers',
  'Age, Allow, Cache-Status, Content-Disposition, ETag, Idempotent-Replayed, Link, Location, Operation-Id, Retry-After, ' +
    'X-Change-Cursor, X-Ignored-Cells, X-More-Changes, X-Quota-Limit, X-Quota-Remaining, X-Quota-Reset, X-RateLimit-Limit, X-RateLimit-Remaining, ' +
    'X-RateLimit-Reset, X-Rowport-Warning, X-Total-Count',
  'Referrer-Policy',
  'no-referrer',
  'X-Content-Type-Options',
  'nosniff',
]
const json = ['Content-Type', mediaTypes.json]
/**
 * A browser may keep what it read, but asks with the ETag each time; a proxy between keeps nothing. What an address
 * answers depends on two headers; on `Authorization` only whether it answers.
 */
const keptByCaller = ['Cache-Control', 'private, no-cache', 'Vary', 'Accept, Accept-Encoding']
const mustNotBeKept = ['Cache-Control', 'no-store']

const readHeadersWith = (contentType: string): readonly string[] => [
  ...onEveryAnswer,
  'Content-Type',
  contentType,
  ...keptByCaller,
]
export const readHeaders: Record<Format | 'schema' | 'text', readonly string[]> = {
  json: readHeadersWith(mediaTypes.json),
  csv: readHeadersWith(mediaTypes.csv),
  ndjson: readHeadersWith(mediaTypes.ndjson),
  schema: readHeadersWith('application/schema+json'),
  text: readHeadersWith('text/plain; charset=utf-8'),
}
export const notModifiedHeaders: readonly string[] = [...onEveryAnswer, ...keptByCaller]

/**
 * A reader without a key gets this answer: anyone between may keep it for as long as Rowport keeps the rows (`Age` has
 * begun to count). Not for those who send a key: whether theirs is good, and what it has left, only Rowport can say.
 */
export function forEveryone(reply: Reply, cacheSeconds: number): Reply {
  const known = keptByAll.get(reply.base)?.get(cacheSeconds)
  if (known) return { ...reply, base: known }
  const base = reply.base.slice(0, -keptByCaller.length)
  base.push('Cache-Control', `public, max-age=${cacheSeconds}`, 'Vary', varyOfPublic)
  const ofBase = keptByAll.get(reply.base) ?? new Map<number, readonly string[]>()
  if (ofBase.size < mostCacheSecondsKnown) keptByAll.set(reply.base, ofBase.set(cacheSeconds, base))
  return { ...reply, base }
}

/** The headers of such answers, by those that others get and by the seconds. */
const keptByAll = new WeakMap<readonly string[], Map<number, readonly string[]>>()
const mostCacheSecondsKnown = 1_000

const varyOfPublic = 'Accept, Accept-Encoding, Authorization, X-API-Key'

export const writeHeaders: readonly string[] = [...onEveryAnswer, ...json, ...mustNotBeKept]

/** For events as they come: proxies are not to keep, gather or compress them (`X-Accel-Buffering` is nginx's). */
export const eventStreamHeaders: readonly string[] = [
  ...onEveryAnswer,
  ...['Content-Type', `${eventStream}; charset=utf-8`],
  ...['Cache-Control', 'no-store, no-transform', 'Vary', 'Accept', 'X-Accel-Buffering', 'no'],
]

export const preflightReply: Reply = {
  status: 204,
  base: onEveryAnswer,
  headers: [
    'Access-Control-Allow-Methods',
    'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS',
    'Access-Control-Allow-Headers',
    // A star stands for any name but `Authorization` (Fetch standard): tracing tools add headers of their own to every request. The
    // other names are for browsers that do not know the star.
    '*, Authorization, Content-Type, X-API-Key, Idempotency-Key, If-Match, If-None-Match, Cache-Control, Last-Event-ID',
    'Access-Control-Max-Age',
    '7200',
    'Allow',
    'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS',
  ],
  body: null,
}

export function refusalReply(refusal: Refusal, form: ErrorForm): Reply {
  const { allowedMethods, retryAfterSeconds } = refusal.facts
  const headers: string[] = []
  if (allowedMethods !== undefined) headers.push('Allow', allowedMethods)
  if (retryAfterSeconds !== undefined) headers.push('Retry-After', String(retryAfterSeconds))
  if (refusal.code === 'api_key_required') headers.push('WWW-Authenticate', 'Bearer')
  return {
    status: refusal.status,
    base: writeHeaders,
    headers,
    body: `${JSON.stringify(errorBody(refusal, form))}\n`,
    // What is left of an oversized or unreadable body is not read to its end.
    isLastOnConnection: refusal.status === 413 || refusal.status === 408,
  }
}

/** Sends an answer: the same head for HEAD, without the body. `isLast` asks the client to close the connection. */
export function send(
  response: ServerResponse,
  { status, base, headers, body, isLastOnConnection }: Reply,
  isHead: boolean,
  isLast: boolean,
  more: readonly string[] = [],
): void {
  const length = body === null ? null : byteLength(body)
  const ending = length === null ? [] : ['Content-Length', String(length)]
  if ((isLast || isLastOnConnection) && !base.includes('Connection')) ending.push('Connection', 'close')
  writeHead(response, status, { base, own: more.length === 0 ? headers : headers.concat(more), ending })
  if (isHead && body !== null && typeof body !== 'string' && isStreamed(body)) void letGoOf(body)
  if (isHead || body === null) response.end()
  else if (typeof body === 'string') response.end(body)
  else if (isStreamed(body)) void sendStream(response, body)
  else {
    for (const piece of body.slice(0, -1)) response.write(piece)
    response.end(body.at(-1))
  }
}

/** What makes a body may hold a place among those who compress, which it leaves at its end; one that has not begun has none. */
async function letGoOf({ chunks, onFailure }: StreamedBody): Promise<void> {
  if (!(Symbol.asyncIterator in chunks)) return
  const rest = chunks[Symbol.asyncIterator]()
  try {
    await rest.next()
    await rest.return?.()
  } catch (error) {
    onFailure(error)
  }
}

/** What was to be sent as its head, by names in small letters. */
export function headersOf({ base, headers }: Reply, more: readonly string[]): Map<string, string> {
  const all = base.concat(headers, more)
  const byName = new Map<string, string>()
  for (let at = 0; at < all.length; at += 2) byName.set((all[at] ?? '').toLowerCase(), all[at + 1] ?? '')
  return byName
}

/** A body as it is taken, each piece in its turn. */
export async function* chunksOf(body: Body | null): AsyncGenerator<Uint8Array> {
  if (body === null) return
  if (typeof body === 'string') return yield Buffer.from(body)
  if (!isStreamed(body)) return yield* body
  for await (const chunk of body.chunks) {
    await body.nextTurn()
    yield chunk
  }
}

/** What stays in memory while a body is being read. */
export function buffersOf(body: Body | null): readonly ArrayBufferView[] {
  if (body === null || typeof body === 'string') return []
  return isStreamed(body) ? body.holds : body
}

/** null where it is not known before the end. */
function byteLength(body: Body): number | null {
  if (typeof body === 'string') return Buffer.byteLength(body)
  if (isStreamed(body)) return body.bytes
  return body.reduce((sum, piece) => sum + piece.byteLength, 0)
}

function isStreamed(body: readonly Uint8Array[] | StreamedBody): body is StreamedBody {
  return 'chunks' in body
}
