import type { IncomingMessage, ServerResponse } from 'node:http'
import { findRoute } from '../api/request/routes.ts'
import { refusalReply, send } from '../api/response/reply.ts'
import type { Clock } from '../clock.ts'
import type { Dashboard } from '../dashboard/dashboard.ts'
import { Refusal } from '../errors.ts'
import { formMethods } from '../forms/door.ts'
import { socketAddress } from '../http/client-address.ts'
import { withoutHost } from '../http/target.ts'
import type { Metrics } from '../reporting/metrics.ts'
import { createLoopTurns } from '../shares/loop-turns.ts'
import { strangersFrom } from '../shares/taker.ts'
import { type Drain, requestLineOf } from './wire.ts'

export type Handler = (request: IncomingMessage, response: ServerResponse) => unknown

export interface RouterParts {
  /** `base`: as `Api` has it. */
  api(request: IncomingMessage, response: ServerResponse, base?: readonly string[]): unknown
  agents: Handler
  openDashboard(): Promise<Dashboard>
  forms(request: IncomingMessage, response: ServerResponse, path: string): Promise<void>
  metrics: Metrics
  /** What keeps the store from its work; null when nothing does. */
  storeProblem(): Promise<StoreProblem | null>
  /** Shared with the doors: what it says ends up in their answers. */
  drain: Drain
  clock: Pick<Clock, 'elapsedMs'>
}

export interface StoreProblem {
  status: 'store unreachable' | 'store cannot be written to'
  /** In words, where it is known. */
  reason?: string
}

/** Shares requests out: the doors, health and metrics. */
export function createRouter(parts: RouterParts): Handler {
  const { api, agents, openDashboard, forms, metrics, storeProblem, drain } = parts
  // Thousands may wait for one and the same answer, and would all be sent it in one go.
  const turns = createLoopTurns(parts.clock)
  const instruments = new Map<string, Handler>([
    ['/healthz', (request, response) => plainJson(request, response, 200, { status: 'alive' })],
    ['/readyz', readiness],
    ['/metrics', exposition],
  ])

  /** The look at the store, for all who ask meanwhile: it costs a write, and strangers may ask. */
  let checking: Promise<StoreProblem | null> | null = null

  return (request, response) => {
    // Also for pages: a probe that keeps its connection would hold up the end.
    if (drain.isDraining) response.shouldKeepAlive = false
    const { url = '', method = '' } = request
    if (url.startsWith('/api/') || url.startsWith('/v1/')) return api(request, response)
    const target = withoutHost(url)
    const path = target.split('?', 1)[0] ?? ''
    if (path === '/mcp' && method !== 'OPTIONS') return agents(request, response)
    const instrument = instruments.get(path)
    const isForm = path.startsWith('/f/')
    if (!instrument && !isForm) return answerFromDashboard(request, response, target, path)
    if (isForm && method === 'OPTIONS') return forms(request, response, path)
    if (method === 'OPTIONS') return api(request, response)
    const methods = isForm ? formMethods : ['GET', 'HEAD']
    if (!methods.includes(method)) return refuseMethod(request, response, methods)
    return instrument ? instrument(request, response) : forms(request, response, path)
  }

  /** Or, where it has nothing, a page that says so to people, and an error to programs. */
  async function answerFromDashboard(
    request: IncomingMessage,
    response: ServerResponse,
    target: string,
    path: string,
  ): Promise<unknown> {
    const { method = '' } = request
    const dashboard = await openDashboard()
    const methods = dashboard.methodsAt(path)
    const isOwnPagesOnly = path.startsWith('/dashboard/')
    const base = isOwnPagesOnly ? forOwnPages : undefined
    if (method === 'OPTIONS' && isOwnPagesOnly) return answerOwnPagesOnly(response, methods ?? [])
    if (!methods && isPersonAsking(request) && !isOfApi(path))
      return dashboard.answerNotFound(request, response)
    if (!methods || method === 'OPTIONS') return api(request, response, base)
    if (!methods.includes(method)) return refuseMethod(request, response, methods, base)
    return dashboard.answer(request, response, target)
  }

  async function readiness(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (drain.isDraining) return plainJson(request, response, 503, { status: 'draining' })
    checking ??= storeProblem().finally(() => {
      checking = null
    })
    const problem = await checking
    await turns.next(strangersFrom(socketAddress(request.socket)))
    return plainJson(request, response, problem ? 503 : 200, problem ?? { status: 'ready' })
  }

  async function exposition(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = [await metrics.expose()]
    await turns.next(strangersFrom(socketAddress(request.socket)))
    send(
      response,
      { status: 200, base: [], headers: ['Content-Type', metrics.contentType], body },
      request.method === 'HEAD',
      false,
    )
  }
}

function isOfApi(path: string): boolean {
  return findRoute(path.slice(1).split('/')) !== null
}

/** Browsers ask for HTML by name when somebody opens an address; programs do not. */
function isPersonAsking({ method, headers }: IncomingMessage): boolean {
  return (method === 'GET' || method === 'HEAD') && /\btext\/html\b/.test(headers.accept ?? '')
}

const plainHeaders = ['Content-Type', 'application/json; charset=utf-8', 'Cache-Control', 'no-store']

function plainJson(request: IncomingMessage, response: ServerResponse, status: number, body: object): void {
  send(
    response,
    { status, base: plainHeaders, headers: [], body: `${JSON.stringify(body)}\n` },
    request.method === 'HEAD',
    false,
  )
}

function refuseMethod(
  request: IncomingMessage,
  response: ServerResponse,
  methods: readonly string[],
  base?: readonly string[],
): void {
  refuse(
    request,
    response,
    new Refusal('method_not_allowed', { allowedMethods: allowOf(methods) }),
    false,
    base,
  )
}

export function refuse(
  request: IncomingMessage,
  response: ServerResponse,
  refusal: Refusal,
  isLast: boolean,
  base?: readonly string[],
): void {
  const { form, isHead } = requestLineOf(request)
  const reply = refusalReply(refusal, form)
  send(response, base ? { ...reply, base } : reply, isHead, isLast)
}

/** Without a word of CORS, by which a browser knows that no other origin's script may ask. */
function answerOwnPagesOnly(response: ServerResponse, methods: readonly string[]): void {
  const headers = ['Allow', allowOf(methods), 'Cache-Control', 'no-store']
  send(response, { status: 204, base: [], headers, body: null }, false, false)
}

function allowOf(methods: readonly string[]): string {
  return [...methods, 'OPTIONS'].join(', ')
}

const forOwnPages = [...plainHeaders, 'Referrer-Policy', 'no-referrer', 'X-Content-Type-Options', 'nosniff']
