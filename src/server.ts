import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { maxBodyBytes } from './api/body.ts'
import { refusalReply, send } from './api/reply.ts'
import { readMethods } from './api/routes.ts'
import { withoutHost } from './api/target.ts'
import { Refusal } from './errors.ts'
import type { Metrics } from './metrics.ts'
import type { Observe } from './observe.ts'
import { randomBase62 } from './random-base62.ts'
import { maxHeaderBytes, maxHeaders, problemWithHead } from './request-head.ts'
import { askedBy, createWire, refuseOnSocket } from './wire.ts'

type Handler = (request: IncomingMessage, response: ServerResponse) => unknown

export interface ServerParts {
  api: Handler
  dashboard: Handler
  metrics: Metrics
  observe: Observe
  isStoreReachable(): Promise<boolean>
  /** Shared with the doors: what it says ends up in their answers. */
  drain: Drain
}

/** Whether the server is on its way out. */
export interface Drain {
  isDraining: boolean
}

export interface RunningServer {
  port: number
  /** Takes no new connection, lets requests finish, and cuts what is left after `drainMs`. */
  close(drainMs: number): Promise<{ openConnections: number }>
}

/** RELIABILITY 4.1: Node's own limits are loose; a slow or greedy client must not hold a place for long. */
export interface TimeLimits {
  /** From the first byte, or the connection, to the end of the headers. */
  headersMs: number
  /** To the end of the body. */
  requestMs: number
  /** How often the two above are looked at. */
  checkEveryMs: number
  /** Between two requests. */
  keepAliveMs: number
  /** A connection on which nothing moves in either direction: a reader that stopped reading. */
  idleSocketMs: number
}

const defaultTimeLimits: TimeLimits = {
  headersMs: 10_000,
  requestMs: 30_000,
  checkEveryMs: 1_000,
  keepAliveMs: 65_000,
  idleSocketMs: 60_000,
}
const maxConnections = 10_000
/** At the end, for answers whose clients are gone. */
const lastWritesMs = 2_000

/** Listens and shares requests out: two doors, health and metrics. */
export async function listen(
  parts: ServerParts,
  at: { host: string; port: number },
  timeLimits: Partial<TimeLimits> = {},
): Promise<RunningServer> {
  const { headersMs, requestMs, checkEveryMs, keepAliveMs, idleSocketMs } = {
    ...defaultTimeLimits,
    ...timeLimits,
  }
  const server = createServer({
    maxHeaderSize: maxHeaderBytes,
    headersTimeout: headersMs,
    requestTimeout: requestMs,
    connectionsCheckingInterval: checkEveryMs,
    keepAliveTimeout: keepAliveMs,
    // Node would answer a missing Host with an empty 400; the API answers it in JSON.
    requireHostHeader: false,
  })
  // One more than is allowed, so that too many can be told from just enough.
  server.maxHeadersCount = maxHeaders + 1
  server.maxConnections = maxConnections
  // A client that closes its half after asking still reads. (Old as Node itself, yet not in its documentation.)
  Object.assign(server, { httpAllowHalfOpen: true })
  const underWay = share(server, parts, idleSocketMs)
  await listening(server, at)
  const { port } = server.address() as AddressInfo
  return { port, close: (drainMs) => close(server, underWay, parts.drain, drainMs) }
}

/** Answers that are being made, also for clients that did not wait for them. */
interface UnderWay {
  count: number
  onNone: () => void
}

/** Everything that a connection can bring, each to the one who answers it. */
function share(server: Server, parts: ServerParts, idleSocketMs: number): UnderWay {
  const { observe } = parts
  const underWay: UnderWay = { count: 0, onNone: () => {} }
  const wire = createWire(observe)
  const route = createRouter(parts)

  server.on('connection', (socket: Socket) => {
    // What Node calls after the last answer on a connection.
    socket.destroySoon = () => wire.partFrom(socket)
  })
  server.on('clientError', (error, socket) => wire.answerUnreadable(error, socket as Socket))
  server.on('connect', (request, socket) => {
    const refusal = new Refusal('method_not_allowed', { allowedMethods: readMethods })
    refuseOnSocket(socket, refusal, askedBy(request))
  })
  server.on('request', answer)
  server.on('checkContinue', (request, response) => {
    // The client waits to hear whether it should send at all.
    if (Number(request.headers['content-length'] ?? 0) <= maxBodyBytes) response.writeContinue()
    answer(request, response)
  })
  server.on('checkExpectation', (request, response) => {
    wire.begin(request, response)
    refuse(request, response, new Refusal('expectation_failed'), true)
  })
  return underWay

  function answer(request: IncomingMessage, response: ServerResponse): void {
    wire.begin(request, response)
    const refusal = problemWithHead(request)
    if (refusal) {
      observe({ event: 'request_unreadable', code: refusal.code, reason: 'head' })
      // The next request on the connection could be misread as well.
      refuse(request, response, refusal, true)
      return
    }
    void make(request, response)
  }

  async function make(request: IncomingMessage, response: ServerResponse): Promise<void> {
    underWay.count++
    try {
      await route(request, response)
    } catch (error) {
      // The doors answer their own failures, so it was the answer that failed; another would fail likewise.
      observe({ event: 'malfunction', reference: randomBase62(12), operation: 'none', error })
      response.destroy()
    } finally {
      // Only where something is left to send: a clock for every answer would cost more than most answers do.
      if (response.socket && response.socket.writableLength > 0) response.socket.setTimeout(idleSocketMs)
      underWay.count--
      if (underWay.count === 0) underWay.onNone()
    }
  }
}

function createRouter({ api, dashboard, metrics, isStoreReachable, drain }: ServerParts): Handler {
  const pages = new Map<string, Handler>([
    ['/', dashboard],
    ['/healthz', (request, response) => plainJson(request, response, 200, { status: 'alive' })],
    ['/readyz', readiness],
    ['/metrics', exposition],
  ])

  return (request, response) => {
    // Also for pages: a probe that keeps its connection would hold up the end.
    if (drain.isDraining) response.shouldKeepAlive = false
    const { url = '', method } = request
    if (url.startsWith('/api/') || url.startsWith('/v1/')) return api(request, response)
    const page = pages.get(withoutHost(url).split('?', 1)[0] ?? '')
    if (!page || method === 'OPTIONS') return api(request, response)
    if (method === 'GET' || method === 'HEAD') return page(request, response)
    const refusal = new Refusal('method_not_allowed', { allowedMethods: readMethods })
    return refuse(request, response, refusal, false)
  }

  async function readiness(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (drain.isDraining) return plainJson(request, response, 503, { status: 'draining' })
    const isReachable = await isStoreReachable()
    return plainJson(request, response, isReachable ? 200 : 503, {
      status: isReachable ? 'ready' : 'store unreachable',
    })
  }

  async function exposition(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await metrics.expose()
    send(
      response,
      { status: 200, base: ['Content-Type', metrics.contentType], headers: [], body },
      request.method === 'HEAD',
      false,
    )
  }
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

function refuse(request: IncomingMessage, response: ServerResponse, refusal: Refusal, isLast: boolean): void {
  const { form, isHead } = askedBy(request)
  send(response, refusalReply(refusal, form), isHead, isLast)
}

function listening(server: Server, { host, port }: { host: string; port: number }): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  server.once('error', reject)
  server.listen({ host, port, backlog: 1_024 }, () => {
    server.off('error', reject)
    resolve()
  })
  return promise
}

async function close(
  server: Server,
  underWay: UnderWay,
  drain: Drain,
  drainMs: number,
): Promise<{ openConnections: number }> {
  drain.isDraining = true
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  server.closeIdleConnections()
  let openConnections = 0
  const deadline = setTimeout(() => {
    server.getConnections((_error, count) => {
      openConnections = count
      server.closeAllConnections()
    })
  }, drainMs)
  await closed
  clearTimeout(deadline)
  // A client that left does not stop its write; what it writes to is closed next.
  if (underWay.count > 0) {
    const none = new Promise<void>((resolve) => {
      underWay.onNone = resolve
    })
    await Promise.race([none, sleep(lastWritesMs)])
  }
  return { openConnections }
}
