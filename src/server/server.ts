import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { maxBodyBytes } from '../api/request/body.ts'
import { readMethods } from '../api/request/routes.ts'
import { Refusal } from '../errors.ts'
import { isTrusted, socketAddress } from '../http/client-address.ts'
import { keepAliveMs } from '../http/keep-alive.ts'
import { randomBase62 } from '../secrets/random-base62.ts'
import { clientNetwork } from '../shares/client-network.ts'
import { createLoopTurns } from '../shares/loop-turns.ts'
import { createArrivals } from './arrivals.ts'
import { type ConnectionsParts, createConnections, type OpenConnections } from './connections.ts'
import { type Listeners, openListeners } from './listeners.ts'
import { maxHeaderBytes, maxHeaders, problemWithHead } from './request-head.ts'
import { createRouter, type RouterParts, refuse } from './router.ts'
import { createWire, type Drain, refuseOnSocket, requestLineOf, turnedAwayAtOnce } from './wire.ts'

export interface ServerParts extends RouterParts, ConnectionsParts {}

export interface RunningServer {
  port: number
  /** Takes no new connection, lets requests finish, and cuts what is left after `drainMs`. */
  close(drainMs: number): Promise<{ openConnections: number }>
}

/**
 * Node's own limits are loose; a slow or greedy client must not hold a place for long
 * (docs/reliability.md#slow-and-greedy-clients).
 */
export interface TimeLimits {
  /** From the first byte, or the connection, to the end of the headers. */
  headersMs: number
  /** To the end of the body. */
  requestMs: number
  /** How often idle connections are looked at; the two above four times as often, because what is late by then ends together. */
  checkEveryMs: number
  /** Between two requests. */
  keepAliveMs: number
  /** A connection on which something is sent and nothing moves in either direction: a reader that stopped reading. */
  idleSocketMs: number
}

const defaultTimeLimits: TimeLimits = {
  headersMs: 10_000,
  requestMs: 30_000,
  checkEveryMs: 1_000,
  keepAliveMs,
  idleSocketMs: 60_000,
}
const backlog = 1_024
/**
 * All requests that have come are begun in one go, which is the fastest, unless they are so many that this takes longer: thousands of
 * connections may ask in the same moment.
 */
const crowdedMs = 4
/** Nobody looks at the time for these: to ask for the end of a turn of the loop keeps it from waiting for more, and few would ask the store together. */
const begunFreely = 64
/** At the end, for answers whose clients are gone. */
const lastWritesMs = 2_000

/** Listens, with limits on what a connection may take. */
export async function listen(
  parts: ServerParts,
  at: { host: string; port: number },
  timeLimits: Partial<TimeLimits> = {},
): Promise<RunningServer> {
  const limits = { ...defaultTimeLimits, ...timeLimits }
  const { headersMs, requestMs, checkEveryMs } = limits
  const server = createServer({
    maxHeaderSize: maxHeaderBytes,
    headersTimeout: headersMs,
    requestTimeout: requestMs,
    connectionsCheckingInterval: Math.ceil(checkEveryMs / 4),
    // Node would set a clock after every answer and stop it at the next request; here all connections are looked at together.
    keepAliveTimeout: 0,
    // Node would answer a missing Host with an empty 400; the API answers it in JSON.
    requireHostHeader: false,
    // No stream for a body that is not there: a tenth of what Node does for a read.
    optimizeEmptyRequests: true,
  })
  // One more than is allowed, so that too many can be told from just enough.
  server.maxHeadersCount = maxHeaders + 1
  // A client that closes its half after asking still reads. (Old as Node itself, yet not in its documentation.)
  Object.assign(server, { httpAllowHalfOpen: true })
  const { underWay, connections } = share(server, parts, limits.idleSocketMs)
  // A place is given anew before Node has counted the connection that lost it, and who is turned away stays for a moment.
  const maxConnections = parts.shares.connections + backlog + turnedAwayAtOnce
  const listeners = await openListeners(server, { ...at, backlog, maxConnections })
  const closingIdle = setInterval(() => connections.closeIdle(limits.keepAliveMs), checkEveryMs).unref()
  const { port } = listeners
  return {
    port,
    async close(drainMs) {
      clearInterval(closingIdle)
      return close({ server, listeners }, underWay, parts.drain, drainMs)
    },
  }
}

/** Answers that are being made, also for clients that did not wait for them. */
interface UnderWay {
  count: number
  onNone: () => void
}

/** Everything that a connection can bring, each to the one who answers it. */
function share(
  server: Server,
  parts: ServerParts,
  idleSocketMs: number,
): { underWay: UnderWay; connections: OpenConnections } {
  const { observe, trustedProxies } = parts
  const underWay: UnderWay = { count: 0, onNone: () => {} }
  // And others for ending what nobody waits for any more.
  const wire = createWire(observe, parts.drain, createLoopTurns(parts.clock))
  const route = createRouter(parts)
  const connections = createConnections(parts)
  // Turns of their own: who only wants to be heard does not wait behind the work that was asked for.
  const turns = createLoopTurns(parts.clock)
  const arrivals = createArrivals(turns, parts.clock, wire.isParted)
  const crowd = createLoopTurns(parts.clock, crowdedMs)
  let free = begunFreely
  let proxied = 0

  server.on('connection', (socket: Socket) => {
    // Node listens until a connection is handed over (CONNECT), and in between an error that nobody hears would end the process.
    socket.on('error', () => {})
    // Whoever does not wait for answers has many requests on it, each of which may listen for its end.
    socket.setMaxListeners(0)
    // What Node calls after the last answer on a connection.
    socket.destroySoon = () => wire.partFrom(socket)
    const refusal = connections.open(socket)
    if (refusal) {
      wire.turnAway(socket, refusal)
      return
    }
    const address = socketAddress(socket)
    // Behind a proxy, each connection may be another client's.
    arrivals.begin(
      socket,
      isTrusted(address, trustedProxies) ? `proxied ${++proxied}` : clientNetwork(address),
    )
  })
  server.on('clientError', (error, socket) => wire.answerUnreadable(error, socket as Socket))
  server.on('connect', (request, socket) => {
    const refusal = new Refusal('method_not_allowed', { allowedMethods: readMethods })
    refuseOnSocket(socket, refusal, requestLineOf(request))
  })
  server.on('request', answer)
  server.on('checkContinue', (request, response) => {
    // The client waits to hear whether it should send at all.
    if (Number(request.headers['content-length'] ?? 0) <= maxBodyBytes) response.writeContinue()
    answer(request, response)
  })
  server.on('checkExpectation', (request, response) => {
    if (wire.begin(request, response)) refuse(request, response, new Refusal('expectation_failed'), true)
  })
  return { underWay, connections }

  function answer(request: IncomingMessage, response: ServerResponse): void {
    const isBegun = wire.begin(request, response)
    const isHasty = wire.isHasty(request)
    if (isHasty) arrivals.noteHaste(request.socket)
    if (!isBegun) return
    const refusal = problemWithHead(request)
    if (refusal) {
      observe({ event: 'request_unreadable', code: refusal.code, reason: 'head' })
      // The next request on the connection could be misread as well.
      refuse(request, response, refusal, true)
      return
    }
    // Node drops what was sent behind it in the same packet: whoever waits for that must not take the next answer for its own.
    if (request.headers.upgrade !== undefined) response.shouldKeepAlive = false
    const tooMany = connections.begin(request, response)
    // The connection is a proxy's, and others want to go on using it.
    if (tooMany) refuse(request, response, tooMany, parts.drain.isDraining)
    else void make(request, response, isHasty)
  }

  async function make(request: IncomingMessage, response: ServerResponse, isHasty: boolean): Promise<void> {
    underWay.count++
    try {
      // The first packets of many networks are read in one go, before anybody could know their haste.
      const isFree = !isHasty && free-- > 0
      if (free === -1) setImmediate(() => (free = begunFreely))
      const turnsOfIts = isHasty ? turns : crowd
      if (!isFree && !turnsOfIts.isNow()) {
        await turnsOfIts.next(clientNetwork(socketAddress(request.socket)))
        if (request.socket.destroyed) return
      }
      await route(request, response)
    } catch (error) {
      // The doors answer their own failures, so it was the answer that failed; another would fail likewise.
      observe({ event: 'malfunction', reference: randomBase62(12), operation: 'none', error })
      response.destroy()
    } finally {
      // Only where something is left to send: a clock for every answer would cost more than most answers do.
      const isUnsent = !response.writableEnded || (response.socket?.writableLength ?? 0) > 0
      if (isUnsent) cutWhereNothingIsRead(response, idleSocketMs)
      underWay.count--
      if (underWay.count === 0) underWay.onNone()
    }
  }
}

/**
 * For as long as the answer takes: between requests, a connection has another limit. Who has read all that there was waits for the
 * server, as the client of a stream does between two changes, and is never cut for it.
 */
function cutWhereNothingIsRead(response: ServerResponse, idleSocketMs: number): void {
  const { socket } = response
  if (!socket) return
  socket.setTimeout(idleSocketMs)
  // Without a listener Node cuts at once.
  response.on('timeout', () => {
    if (socket.writableLength > 0) socket.destroy()
    else socket.setTimeout(idleSocketMs)
  })
  response.once('finish', () => socket.setTimeout(0))
}

async function close(
  { server, listeners }: { server: Server; listeners: Listeners },
  underWay: UnderWay,
  drain: Drain,
  drainMs: number,
): Promise<{ openConnections: number }> {
  drain.isDraining = true
  const closed = listeners.close()
  server.closeIdleConnections()
  let openConnections = 0
  const deadline = setTimeout(async () => {
    openConnections = await listeners.countConnections()
    server.closeAllConnections()
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
