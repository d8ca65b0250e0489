import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Clock } from '../clock.ts'
import type { AskInside } from '../http/asking-inside.ts'
import { clientAddress, type TrustedProxies } from '../http/client-address.ts'
import { marks } from '../json-marks.ts'
import type { Observe } from '../reporting/observe.ts'
import { randomBase62 } from '../secrets/random-base62.ts'
import { clientNetwork } from '../shares/client-network.ts'
import { inTurns } from '../shares/in-turns.ts'
import type { LoopTurns } from '../shares/loop-turns.ts'
import { strangersFrom } from '../shares/taker.ts'
import type { Soon } from '../soon.ts'
import type { AskedMessage } from './answer-message.ts'
import type { Message } from './message.ts'
import { isOwnOrigin } from './own-origin.ts'
import { CallerGone, createSheetsApi, Failure, type Listed, type SheetsApi } from './sheets-api.ts'
import { createStrangers } from './strangers.ts'

export interface AgentsDoorParts {
  askInside: AskInside
  baseUrl(): string
  isDraining(): boolean
  observe: Observe
  clock: Pick<Clock, 'elapsedMs'>
  turns: Pick<LoopTurns, 'next'>
  trustedProxies: TrustedProxies | null
  version: string
}

const maxBodyBytes = 2 * 1024 * 1024
/** A longer body is read only for those whose key is good, which costs one request more. */
const freelyReadBytes = 4 * 1024

/** Door 3, `POST /mcp`: agents, by the Model Context Protocol. What they ask for goes through the API (docs/decisions/040). */
export function createAgentsDoor(
  parts: AgentsDoorParts,
): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  const strangers = createStrangers(parts.clock)
  return async (request, response) => {
    try {
      await answer(request, response)
    } catch (error) {
      if (error instanceof CallerGone || response.destroyed) return
      const reference = randomBase62(12)
      parts.observe({ event: 'malfunction', reference, operation: 'none', error })
      if (response.headersSent) return void response.destroy()
      refuse(response, new Refused(500, -32603, `An internal error occurred. Reference ${reference}`))
    }
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method !== 'POST')
      return refuse(
        response,
        new Refused(405, -32000, 'Only POST is supported here.', { Allow: 'POST, OPTIONS' }),
      )
    if (!isOwnOrigin(request, parts.baseUrl()))
      return refuse(response, new Refused(403, -32000, "Pages from other origins can't use this URL."))
    const left = new AbortController()
    const network = clientNetwork(clientAddress(request, parts.trustedProxies))
    const nextTurn = () => parts.turns.next(strangersFrom(network))
    // Whoever listened leaves much behind, and a thousand may leave in the same moment.
    response.once('close', async () => {
      await nextTurn()
      left.abort()
    })
    const api = createSheetsApi({
      ...{ askInside: parts.askInside, from: request, left: left.signal },
      nextTurn,
    })
    let listed: Listed | null = null
    if (Number(request.headers['content-length'] ?? Number.POSITIVE_INFINITY) > freelyReadBytes) {
      const outcome = await listSheets(api, network)
      if (outcome instanceof Failure) return refuse(response, refusalMessage(outcome))
      listed = outcome
    }
    const message = await messageIn(request, nextTurn)
    // What is no message counts as a request, too: else there would be no end to it.
    const isRefused = message instanceof Refused
    if (
      listed === null &&
      (isRefused || strangers.mustBeJudged(network, api.key) || asksForSheets(message))
    ) {
      const outcome = await listSheets(api, network)
      if (outcome instanceof Failure)
        return refuse(response, refusalMessage(outcome, isRefused ? undefined : message.id))
      listed = outcome
    }
    if (isRefused) return refuse(response, message)
    // Nothing is kept between requests, so there is nobody whom a notification could tell anything.
    if (message.id === undefined) return void response.writeHead(202, always).end()
    await answerBySdk(request, response, { message, api, listed, left: left.signal }, network)
  }

  /** The request by which whoever asks for nothing else is judged, and counts. */
  async function listSheets(api: SheetsApi, network: string): Promise<Listed | Failure> {
    const listed = await api.listSheets()
    if (!(listed instanceof Failure)) strangers.noteAdmitted(api.key ?? '')
    else strangers.noteStranger(network)
    return listed
  }

  async function answerBySdk(
    request: IncomingMessage,
    response: ServerResponse,
    asked: Pick<AskedMessage, 'message' | 'api' | 'listed' | 'left'>,
    network: string,
  ): Promise<void> {
    // Loaded when the first agent comes: it is as large as half of the server.
    const { answerMessage } = await import('./answer-message.ts')
    // The SDK takes a millisecond and more for each message: those that come at once must not be one piece.
    await asked.api.nextTurn()
    const told = await answerMessage({
      ...{ ...asked, request, version: parts.version },
      url: `${parts.baseUrl()}/mcp`,
    })
    // What asked the API for nothing counts as well.
    if (!asked.api.hasAsked()) {
      const counted = await listSheets(asked.api, network)
      if (counted instanceof Failure) return refuse(response, refusalMessage(counted, asked.message.id))
    }
    for (const [name, value] of told.headers) response.setHeader(name, value)
    for (const [name, value] of asked.api.limits()) response.setHeader(name, value)
    for (const [name, value] of Object.entries(always)) response.setHeader(name, value)
    if (parts.isDraining()) response.setHeader('Connection', 'close')
    response.writeHead(told.status)
    if (!told.body) return void response.end()
    await sendBody(told.body, response, asked.left)
  }

  /** Node's own way would let go of it in the moment in which the client leaves, outside of any turn. */
  async function sendBody(
    body: ReadableStream<Uint8Array>,
    response: ServerResponse,
    left: AbortSignal,
  ): Promise<void> {
    const reader = body.getReader()
    const letGo = () => void reader.cancel().catch(() => {})
    if (left.aborted) letGo()
    left.addEventListener('abort', letGo, { once: true })
    try {
      for (;;) {
        const { done, value } = await reader.read()
        if (done || response.destroyed) break
        if (!response.write(value)) await once(response, 'drain', { signal: left })
      }
      response.end()
    } catch {
      // Whoever left before the end has closed the connection, and that is all there is to know.
      response.destroy()
    }
  }

  function refuse(response: ServerResponse, { status, code, message, headers, id, data }: Refused): void {
    const error = { code, message, ...(data && { data }) }
    const isLast = status === 413 || parts.isDraining()
    response.writeHead(status, {
      'Content-Type': 'application/json; charset=utf-8',
      ...always,
      ...headers,
      ...(isLast && { Connection: 'close' }),
    })
    response.end(`${JSON.stringify({ jsonrpc: '2.0', id, error })}\n`)
  }
}

const always = { 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' }

/** These need to know what the key opens, and a wrong key is to be told of when a client connects. A tool asks by itself. */
function asksForSheets({ id, method }: Message): boolean {
  return id !== undefined && method !== 'tools/call' && method !== 'resources/read'
}

class Refused {
  readonly status: number
  readonly code: number
  readonly message: string
  readonly headers: Record<string, string>
  readonly id: string | number | null
  readonly data: Record<string, unknown> | null

  constructor(
    status: number,
    code: number,
    message: string,
    headers: Record<string, string> = {},
    id: string | number | null = null,
    data: Record<string, unknown> | null = null,
  ) {
    this.status = status
    this.code = code
    this.message = message
    this.headers = headers
    this.id = id
    this.data = data
  }
}

/** As the API refuses: the same status, code and words. */
function refusalMessage(
  { status, code, message, details, retryAfterSeconds }: Failure,
  id: Message['id'] = undefined,
) {
  const headers = {
    ...(status === 401 && { 'WWW-Authenticate': 'Bearer' }),
    ...(retryAfterSeconds !== null && { 'Retry-After': String(retryAfterSeconds) }),
  }
  return new Refused(status, -32000, message, headers, id ?? null, {
    code,
    ...(details !== null && { details }),
  })
}

async function messageIn(request: IncomingMessage, nextTurn: () => Soon<void>): Promise<Message | Refused> {
  const chunks: Buffer[] = []
  let bytes = 0
  try {
    for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      bytes += chunk.length
      if (bytes > maxBodyBytes)
        return new Refused(413, -32600, `The body must be ${maxBodyBytes} bytes or less.`)
      chunks.push(chunk)
      const due = nextTurn()
      if (due) await due
    }
  } catch (cause) {
    throw new CallerGone('The caller went away while sending', { cause })
  }
  const body = Buffer.concat(chunks)
  if (!(await inTurns(isModest(body), nextTurn))) return new Refused(400, -32600, tooMuch)
  await nextTurn()
  const parsed = parseMessage(body.toString())
  if (parsed === undefined) return new Refused(400, -32700, 'The body is not JSON.')
  // Of several messages in one, each would cost a request and all would be worked on at once; no client of today sends such.
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed))
    return new Refused(400, -32600, 'Send one message, an object.')
  const { id, method, params } = parsed as Record<string, unknown>
  const isMessage = typeof method === 'string' && /^(?:string|number|undefined)$/.test(typeof id)
  if (!isMessage) return new Refused(400, -32600, 'This is no request of JSON-RPC 2.0.')
  const { name, uri } = (params ?? {}) as Record<string, unknown>
  const isLong = (each: unknown) => typeof each === 'string' && each.length > mostNameCharacters
  if ([id, method, name, uri].some(isLong)) return new Refused(400, -32600, longNames())
  return parsed as Message
}

/** They are told again in what is answered, where each of two million characters would be looked at several times. */
const mostNameCharacters = 10_000
const longNames = () =>
  `The id, the method and what it names may have ${mostNameCharacters.toLocaleString('en')} characters each.`

/** A thousand rows of twenty cells. */
const mostValues = 20_000
const deepest = 20
/** As many as one row may have. */
const mostKeys = 2_001
const tooMuch = `A message may hold ${mostValues} values, an object ${mostKeys} of them, nested ${deepest} deep at most. Send fewer rows at a time.`

/** How far a message was looked at. */
interface Look {
  at: number
  values: number
  depth: number
  isInText: boolean
  /** How many values the open object of each depth has so far; lists have any number. */
  keysAt: number[]
}

/** Looks at so many bytes in a step. */
const bytesPerStep = 32 * 1024

/**
 * JSON.parse takes a tenth of a second and more for two megabytes of brackets or of different keys, and whoever judges what it makes of them
 * several times as long; nobody else is served meanwhile. So they are counted first, as if all of it were JSON.
 */
function* isModest(json: Buffer): Generator<void, boolean> {
  const look: Look = { at: 0, values: 0, depth: 0, isInText: false, keysAt: [] }
  while (look.at < json.length) {
    if (!isModestTo(json, look, Math.min(look.at + bytesPerStep, json.length))) return false
    yield
  }
  return true
}

/** With bytes, not letters, and without a call for each text: two megabytes of quotes took 60 ms. */
function isModestTo(json: Buffer, look: Look, to: number): boolean {
  let { at, isInText } = look
  const { keysAt } = look
  while (at < to) {
    const byte = json[at++] as number
    if (isInText) {
      if (byte === marks.backslash) at++
      else if (byte === marks.quote) isInText = false
      continue
    }
    if (byte === marks.quote) isInText = true
    else if (byte === marks.comma) {
      look.values++
      const keys = (keysAt[look.depth] ?? 0) + 1
      keysAt[look.depth] = keys
      if (keys >= mostKeys) return false
    } else if (byte === marks.openingBrace || byte === marks.openingBracket) {
      look.values++
      look.depth++
      keysAt[look.depth] = byte === marks.openingBrace ? 0 : Number.NEGATIVE_INFINITY
    } else if (byte === marks.closingBrace || byte === marks.closingBracket) {
      look.depth--
    } else continue
    if (look.values > mostValues || look.depth > deepest) return false
  }
  look.at = at
  look.isInText = isInText
  return true
}

function parseMessage(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
