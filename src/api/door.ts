import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Clock } from '../clock.ts'
import { Refusal, StoreFailure } from '../errors.ts'
import type { Observe, Operation } from '../observe.ts'
import { randomBase62 } from '../random-base62.ts'
import { ProviderFailure } from '../sheets/provider-failure.ts'
import { listSheets } from './account-sheets.ts'
import { ClientGone } from './body.ts'
import { preflightReply, type Reply, refusalReply, send } from './reply.ts'
import { errorFormOf, findRoute, listMethods, type Route, readMethods } from './routes.ts'
import { type ApiParts, addRows, readRows } from './rows.ts'
import { parseTarget } from './target.ts'

export interface DoorParts extends ApiParts {
  clock: Clock
  observe: Observe
  /** Once true, every answer asks its client to close the connection. */
  isDraining(): boolean
}

/** Door 1, the public API: whatever arrives gets one answer, in JSON. */
export function createApi(
  parts: DoorParts,
): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  const { clock, observe, isDraining } = parts

  return async (request, response) => {
    const begunMs = clock.elapsedMs()
    const { method = '', url = '' } = request
    const { segments, query } = parseTarget(url)
    const route = segments && findRoute(segments)
    const operation = operationOf(route, method)
    const answer = await answerTo(request, { segments, query, route, operation }).catch((error: unknown) =>
      afterFailure(error, operation),
    )
    if (answer === null) return
    const isRefused = answer instanceof Refusal
    const reply = isRefused ? refusalReply(answer, errorFormOf(segments)) : answer
    send(response, reply, method === 'HEAD', isDraining())
    observe({
      event: 'request_answered',
      operation,
      form: route?.kind === 'rows' ? route.address.form : 'none',
      method: knownMethods.has(method) ? method : 'other',
      status: reply.status,
      code: isRefused ? answer.code : null,
      rowsFrom: reply.rowsFrom ?? null,
      durationMs: clock.elapsedMs() - begunMs,
    })
  }

  async function answerTo(request: IncomingMessage, asked: Asked): Promise<Reply | Refusal> {
    const { segments, query, route } = asked
    if (request.headers.host === undefined && request.httpVersion === '1.1') {
      return new Refusal('bad_request', { details: 'The Host header is missing.' })
    }
    if (request.method === 'OPTIONS') return preflightReply
    if (!segments) return new Refusal('bad_request', { details: 'The path is not valid.' })
    if (!route) return new Refusal('not_found', hintFor(segments))
    if (route.kind === 'sheets') {
      if (!isRead(request)) return new Refusal('method_not_allowed', { allowedMethods: readMethods })
      return listSheets(request, query, parts.admission)
    }
    const rowsRequest = { request, address: route.address, rowText: route.rowText, query }
    if (isRead(request)) return readRows(rowsRequest, parts)
    if (route.rowText !== null) return new Refusal('method_not_allowed', { allowedMethods: readMethods })
    if (request.method === 'POST') return addRows(rowsRequest, parts)
    return new Refusal('method_not_allowed', { allowedMethods: listMethods })
  }

  /** A provider's failure has its own code; anything else is ours, and the reference leads from the answer to the log. */
  function afterFailure(error: unknown, operation: Operation): Refusal | null {
    if (error instanceof ClientGone) return null
    if (error instanceof ProviderFailure) {
      const action = operation === 'add_rows' ? 'write to' : 'read from'
      return new Refusal('google_api_error', { fill: { action, reason: error.message } })
    }
    const reference = randomBase62(12)
    observe({ event: 'malfunction', reference, operation, error })
    if (error instanceof StoreFailure) return new Refusal('service_unavailable', { retryAfterSeconds: 1 })
    return new Refusal('internal_error', { details: `Reference ${reference}` })
  }
}

interface Asked {
  segments: string[] | null
  query: string | null
  route: Route | null
  operation: Operation
}

/** Others become one label, so that a stranger cannot make metrics grow. */
const knownMethods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

function isRead({ method }: IncomingMessage): boolean {
  return method === 'GET' || method === 'HEAD'
}

function operationOf(route: Route | null, method: string): Operation {
  if (method === 'OPTIONS') return 'preflight'
  if (!route) return 'none'
  if (route.kind === 'sheets') return 'list_sheets'
  if (method === 'POST') return 'add_rows'
  if (method !== 'GET' && method !== 'HEAD') return 'none'
  return route.rowText === null ? 'list_rows' : 'get_row'
}

function hintFor(segments: readonly string[]): { details?: string } {
  const hasTrailingSlash = segments.length > 2 && segments.at(-1) === ''
  return hasTrailingSlash ? { details: 'Leave out the slash at the end.' } : {}
}
