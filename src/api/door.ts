import type { IncomingMessage, ServerResponse } from 'node:http'
import { rateLimited } from '../admission/admitted.ts'
import type { IpGuard } from '../admission/ip-guard.ts'
import type { Clock } from '../clock.ts'
import { Refusal, StoreFailure } from '../errors.ts'
import { type AskInside, asIncoming, type InnerAnswer } from '../http/asking-inside.ts'
import { clientAddress, type TrustedProxies } from '../http/client-address.ts'
import { ClientGone } from '../http/client-gone.ts'
import { parseTarget } from '../http/target.ts'
import type { UnreadAnswers } from '../http/unread-answers.ts'
import type { Observe, Operation } from '../reporting/observe.ts'
import { randomBase62 } from '../secrets/random-base62.ts'
import { type FailedAction, refusalOfFailure } from '../sheets/refusal-of-failure.ts'
import type { Soon } from '../soon.ts'
import { listSheets } from './account-sheets.ts'
import { describeApi, describeSheet } from './describe.ts'
import { readChanges } from './read-changes.ts'
import { readRows } from './read-rows.ts'
import { refreshSheet } from './refresh-sheet.ts'
import type { Exchange } from './request/exchange.ts'
import { mayHaveKey } from './request/presented-key.ts'
import { readableParameters } from './request/query.ts'
import {
  errorFormOf,
  findRoute,
  type Route,
  readMethods,
  refreshMethods,
  rowMethods,
  rowsMethods,
  undoMethods,
} from './request/routes.ts'
import type { ApiParts } from './request/rows-request.ts'
import { limitHeaders } from './response/limit-headers.ts'
import {
  buffersOf,
  chunksOf,
  headersOf,
  preflightReply,
  type Reply,
  refusalReply,
  send,
} from './response/reply.ts'
import { writeRows } from './write-rows.ts'

export interface DoorParts extends ApiParts {
  ipGuard: IpGuard
  trustedProxies: TrustedProxies | null
  unread: UnreadAnswers
  clock: Clock
  observe: Observe
  /** Whether the server is about to stop: then every answer asks its client to close the connection. */
  isDraining(): boolean
}

/** Where a request goes. */
interface Address {
  segments: readonly string[] | null
  query: string | null
  route: Route | null
}

/** Most requests repeat the address of the one before; those with a query are their own, and may hold a key. */
function createAddressing(): (url: string) => Address {
  const known = new Map<string, Address>()
  return (url) => known.get(url) ?? remember(url, parseAddress(url))

  function parseAddress(url: string): Address {
    const { segments, query } = parseTarget(url)
    return { segments, query, route: segments && findRoute(segments) }
  }

  function remember(url: string, address: Address): Address {
    if (!address.route || address.query !== null || url.length > maxKnownCharacters) return address
    if (known.size >= maxKnownAddresses) known.clear()
    known.set(url, address)
    return address
  }
}

const maxKnownAddresses = 1_000
const maxKnownCharacters = 200

/** Door 1, the public API. */
export interface Api {
  /** `base`: what every answer carries at addresses that are none of the API's; that of the API unless given. */
  handle(request: IncomingMessage, response: ServerResponse, base?: readonly string[]): Promise<void>
  /** For another door, which says in its own words what it asks for and what it is told. */
  askInside: AskInside
}

/** What is to be sent to whom. */
interface Answered {
  reply: Reply
  limits: readonly string[]
  caller: Exchange['caller']
}

/** Whatever arrives gets one answer, in JSON. */
export function createApi(parts: DoorParts): Api {
  const { ipGuard, trustedProxies, unread, clock, observe, isDraining } = parts
  const addressOf = createAddressing()

  return {
    handle: (request, response, base) =>
      answer(request, ({ reply, limits, caller }) => {
        const isHead = request.method === 'HEAD'
        send(response, base ? { ...reply, base } : reply, isHead, isDraining(), limits)
        if (caller && !isHead) unread.begin(caller.taker, response, buffersOf(reply.body))
      }),

    async askInside(asked) {
      let told: InnerAnswer | null = null
      await answer(asIncoming(asked), ({ reply, limits }) => {
        told = { status: reply.status, headers: headersOf(reply, limits), chunks: chunksOf(reply.body) }
      })
      return told
    },
  }

  /** `tell` is not called where the client is gone. (A promise of what is to be told would cost each read another turn of waiting.) */
  async function answer(request: IncomingMessage, tell: (answered: Answered) => void): Promise<void> {
    const begunMs = clock.elapsedMs()
    const { method = '', url = '' } = request
    const { segments, query, route } = addressOf(url)
    const operation = operationOf(route, method)
    const exchange: Exchange = {
      request,
      query,
      clientAddress: clientAddress(request, trustedProxies),
      isStranger: true,
      caller: null,
      limits: null,
      reserve: null,
      release: null,
    }
    let outcome: Reply | Refusal | null
    try {
      const look = ipGuard.readRefusals(exchange.clientAddress)
      const window = look instanceof Promise ? await look : look
      const isWelcome = window.isAdmitted || method === 'OPTIONS'
      const mayPass = isWelcome || mayHaveKey(request, readableParameters(query))
      outcome = mayPass ? await answerTo(exchange, segments, route) : null
      const isStranger = exchange.isStranger && (outcome === null || outcome instanceof Refusal)
      if (isStranger && !isWelcome) outcome = tooOften(exchange, window)
      else if (isStranger) await ipGuard.countRefused(exchange.clientAddress)
    } catch (error) {
      outcome = afterFailure(error, operation)
    }
    const isSuccess = outcome !== null && outcome.status >= 200 && outcome.status < 300
    if (!isSuccess) exchange.release?.()
    if (outcome === null) return
    const code = outcome instanceof Refusal ? outcome.code : null
    const reply = outcome instanceof Refusal ? refusalReply(outcome, errorFormOf(url)) : outcome
    const limits = exchange.limits ? limitHeaders(exchange.limits) : noHeaders
    const { caller } = exchange
    observe({
      event: 'request_answered',
      operation,
      form: route && 'address' in route ? route.address.form : 'none',
      method: knownMethods.has(method) ? method : 'other',
      status: reply.status,
      code,
      rowsFrom: reply.rowsFrom ?? null,
      durationMs: clock.elapsedMs() - begunMs,
      accountId: caller?.account.id ?? null,
      sheetId: caller?.sheet?.id ?? null,
      keyId: caller?.key?.id ?? null,
    })
    tell({ reply, limits, caller })
  }

  /**
   * Strangers wait at an address from which too many were refused. Without a key, or with a text that is none, nothing is
   * looked up; a key is judged first, and whoever has a good one is not held up by a neighbour behind the same address.
   */
  function tooOften(exchange: Exchange, { remaining, resetAtMs, nowMs }: GuardWindow): Refusal {
    exchange.isStranger = false
    exchange.limits = { rate: { limit: ipGuard.refusalsPerMinute, remaining, resetAtMs }, quota: null }
    return rateLimited(resetAtMs, nowMs)
  }

  function answerTo(
    exchange: Exchange,
    segments: readonly string[] | null,
    route: Route | null,
  ): Reply | Refusal | Promise<Reply | Refusal> {
    const { method } = exchange.request
    if (method === 'OPTIONS') return preflightReply
    if (!segments) return new Refusal('bad_request', { details: 'The path is not valid.' })
    if (!route) return new Refusal('not_found', hintFor(segments))
    const isRead = method === 'GET' || method === 'HEAD'
    if (route.kind === 'refresh') {
      if (method !== 'POST') return notAllowed(refreshMethods)
      return refreshSheet({ exchange, address: route.address, rowText: null }, parts)
    }
    if (route.kind === 'undo') {
      const { address, undoneId } = route
      if (method !== 'POST') return notAllowed(undoMethods)
      return writeRows({ exchange, address, rowText: null, undoneId }, parts, 'undo')
    }
    if (route.kind !== 'rows') return isRead ? answerToRead(exchange, route) : notAllowed(readMethods)
    const { address, rowText, named } = route
    const asked = { exchange, address, rowText, named }
    const isOne = rowText !== null || named !== undefined
    if (isRead) return readRows(asked, parts)
    if (method === 'PUT' || method === 'PATCH') return writeRows(asked, parts, 'update')
    if (method === 'DELETE') return writeRows(asked, parts, 'delete')
    if (method === 'POST' && !isOne) return writeRows(asked, parts, 'add')
    return notAllowed(isOne ? rowMethods : rowsMethods)
  }

  /** What has no writing side. */
  function answerToRead(
    exchange: Exchange,
    route: Exclude<Route, { kind: 'rows' | 'refresh' | 'undo' }>,
  ): Soon<Reply | Refusal> {
    if (route.kind === 'api-description') return describeApi(exchange, parts)
    if (route.kind === 'sheets') return listSheets(exchange, parts.admission)
    if (route.kind === 'changes')
      return readChanges({ exchange, address: route.address, rowText: null }, parts)
    return describeSheet({ exchange, address: route.address, rowText: null }, route.what, parts)
  }

  /** A provider's failure has its own code; anything else is ours, and the reference leads from the answer to the log. */
  function afterFailure(error: unknown, operation: Operation): Refusal | null {
    if (error instanceof ClientGone) return null
    const refusal = refusalOfFailure(error, actions[operation] ?? 'read from')
    if (refusal) return refusal
    const reference = randomBase62(12)
    observe({ event: 'malfunction', reference, operation, error })
    if (error instanceof StoreFailure) return new Refusal('service_unavailable', { retryAfterSeconds: 1 })
    return new Refusal('internal_error', { details: `Reference ${reference}` })
  }
}

const actions: Partial<Record<Operation, FailedAction>> = {
  add_rows: 'write to',
  update_row: 'update to',
  delete_row: 'delete from',
  undo_write: 'write to',
}

type GuardWindow = Awaited<ReturnType<IpGuard['readRefusals']>>

const noHeaders: readonly string[] = []

/** Others become one label, so that a stranger cannot make metrics grow. */
const knownMethods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

function notAllowed(allowedMethods: string): Refusal {
  return new Refusal('method_not_allowed', { allowedMethods })
}

function operationOf(route: Route | null, method: string): Operation {
  if (method === 'OPTIONS') return 'preflight'
  if (!route) return 'none'
  if (route.kind === 'sheets') return 'list_sheets'
  if (route.kind === 'changes') return 'list_changes'
  if (route.kind === 'refresh') return 'refresh'
  if (route.kind === 'undo') return method === 'POST' ? 'undo_write' : 'none'
  if (route.kind !== 'rows') return 'describe'
  if (method === 'POST') return 'add_rows'
  if (method === 'PUT' || method === 'PATCH') return 'update_row'
  if (method === 'DELETE') return 'delete_row'
  if (method !== 'GET' && method !== 'HEAD') return 'none'
  return route.rowText === null && !route.named ? 'list_rows' : 'get_row'
}

function hintFor(segments: readonly string[]): { details?: string } {
  const hasTrailingSlash = segments.length > 2 && segments.at(-1) === ''
  return hasTrailingSlash ? { details: 'Leave out the slash at the end.' } : {}
}
