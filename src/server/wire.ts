import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { errorFormOf } from '../api/request/routes.ts'
import { type ErrorForm, errorBody, Refusal } from '../errors.ts'
import { isAtItsOwnPace } from '../http/own-pace.ts'
import type { Observe } from '../reporting/observe.ts'
import type { LoopTurns } from '../shares/loop-turns.ts'
import { then } from '../soon.ts'
import { badRequest, headersTooLarge } from './request-head.ts'

/** Whether the server is on its way out. */
export interface Drain {
  isDraining: boolean
}

/** How long a client may take to read why it was refused before its connection is cut. */
const lingerMs = 2_000
/** A request whose time was already up lingers no longer. */
const lateLingerMs = 500
const timedOut = 'ERR_HTTP_REQUEST_TIMEOUT'
const endedInHead = 'HPE_INVALID_EOF_STATE'
const headsWithoutEnd = 'heads without end'
/** Connections that were turned away and may be told why at the same time; more are cut without a word. */
export const turnedAwayAtOnce = 256

/** The last request that was read on a connection, and its answer. */
interface LastExchange {
  request: IncomingMessage
  response: ServerResponse
  /** The answer before it, which goes out first when the client did not wait for it. */
  former: ServerResponse | null
  /** How many came one after the other without waiting for an answer. */
  unawaited: number
  /** Those of them whose answers have not been sent yet; null before the first. */
  unanswered: number | null
}

/**
 * Nobody sends more before it has read an answer. Those that came together are begun in one go, and each of them and its
 * answer is kept until the ones before it are sent.
 */
const maxUnawaited = 50
/**
 * Requests of all connections that wait behind others. When a connection ends, Node ends each request on it that has no answer yet, and says so to each; of thousands
 * of connections that end together, that is all done in one turn of the loop.
 */
const maxUnanswered = 5_000

/** Chunks of a body are looked at by so many: a short body may come in whatever it likes. */
const chunksTogether = 1_024
/**
 * Each chunk costs as much as a hundred bytes and more, and one byte takes six on the way. Programs that send a body while they
 * make it, line by line, stay above this.
 */
const leastMeanChunkBytes = 16
/** A body of this length is read to its end for a client that was refused without it, so that it keeps its connection. */
const shortBodyBytes = 64 * 1_024

/** Connections on which nothing is read any more. */
const parting = new WeakSet<Duplex>()

export interface Wire {
  /**
   * To be told of every request, before anyone answers it. False for one that is not to be answered, because its connection
   * was cut.
   */
  begin(request: IncomingMessage, response: ServerResponse): boolean
  /** For a connection that is one too many. */
  turnAway(socket: Socket, refusal: Refusal): void
  /** Whether it came before the answer to the one before it, or with a body in chunks. */
  isHasty(request: IncomingMessage): boolean
  /** Whether nothing that still comes on a connection is read as a request. */
  isParted(socket: Socket): boolean
  /** Closes a connection after its last answer. */
  partFrom(socket: Socket): void
  /** Answers what Node could not read, straight on the socket: still JSON, still the right status. */
  answerUnreadable(error: ParseError, socket: Socket): void
}

export type ParseError = Error & { code?: string; rawPacket?: Buffer }

/** What happens below the requests: bytes that are none, bodies that break off, answers that must still arrive. */
export function createWire(observe: Observe, drain: Drain, endings: LoopTurns): Wire {
  const latest = new WeakMap<Socket, LastExchange>()
  const late = new WeakSet<Socket>()
  let turnedAway = 0
  let unanswered = 0

  return {
    turnAway(socket, refusal) {
      parting.add(socket)
      if (turnedAway >= turnedAwayAtOnce) return void socket.resetAndDestroy()
      turnedAway++
      socket.once('close', () => turnedAway--)
      // What it will ask for is not known yet.
      refuseOnSocket(socket, refusal, { form: 'flat', isHead: false }, lateLingerMs)
    },

    begin(request, response) {
      const { socket, headers } = request
      // What was too late may come before its refusal.
      if (socket.destroyed || late.has(socket)) return false
      const isChunked = headers['transfer-encoding'] !== undefined
      if (isChunked) watchChunks(request)
      if (isChunked || Number(headers['content-length'] ?? 0) > shortBodyBytes)
        partUnlessRead(request, response)
      const known = latest.get(socket)
      if (!known) {
        latest.set(socket, { request, response, former: null, unawaited: 0, unanswered: null })
        return true
      }
      known.former = isOver(known.response) ? null : known.response
      known.unawaited = known.former ? known.unawaited + 1 : 0
      known.request = request
      known.response = response
      if (known.former) countUnanswered(known, socket)
      if (known.unawaited <= maxUnawaited && unanswered <= maxUnanswered) return true
      observe({ event: 'request_unreadable', code: 'too_many_at_once', reason: 'pipelined' })
      // At once: those that come in the same turn of the loop have room then.
      forgetUnanswered(known)
      socket.resetAndDestroy()
      return false
    },

    isHasty: ({ socket, headers }) =>
      (latest.get(socket)?.unawaited ?? 0) > 0 || headers['transfer-encoding'] !== undefined,

    isParted: (socket) => socket.destroyed || parting.has(socket),

    partFrom(socket) {
      // A client that has sent all it announced reads our answer next; only another one needs time.
      if (latest.get(socket)?.request.complete === false) closeGently(socket, lingerMs)
      else closeNow(socket)
    },

    answerUnreadable(error, socket) {
      // Node tells of each request once, so from now on only its own limit holds.
      const current = latest.get(socket)?.request
      if (error.code === timedOut && current?.complete === false && isAtItsOwnPace(current)) return
      if (parting.has(socket)) return
      parting.add(socket)
      // A connection that broke has nobody at its end.
      if (!isAboutTheRequest(error) || !socket.writable) return void socket.destroy()
      const refuse = () => refuseRest(socket, refusalFor(error), error.code ?? 'unknown', error.rawPacket)
      // Node tells of all headers that are late in one go, and thousands of clients may leave in the middle of one in the same moment.
      const hasNoEnd = error.code === timedOut || error.code === endedInHead
      if (hasNoEnd && current?.complete !== false) {
        late.add(socket)
        then(endings.next(headsWithoutEnd), refuse)
      } else refuse()
    },
  }

  function countUnanswered(exchange: LastExchange, socket: Socket): void {
    // Those that never had their turn to be sent are not told of the end of the connection.
    if (exchange.unanswered === null) socket.once('close', () => forgetUnanswered(exchange))
    exchange.unanswered = (exchange.unanswered ?? 0) + 1
    unanswered++
    exchange.response.once('close', () => {
      if (!exchange.unanswered) return
      unanswered--
      exchange.unanswered--
    })
  }

  function forgetUnanswered(exchange: LastExchange): void {
    unanswered -= exchange.unanswered ?? 0
    exchange.unanswered = 0
  }

  /** Refuses what cannot be read, or is not to be, as the last thing on its connection. */
  function refuseRest(socket: Socket, refusal: Refusal, reason: string, packet?: Buffer): void {
    parting.add(socket)
    observe({ event: 'request_unreadable', code: refusal.code, reason })
    const waitMs = refusal.code === 'request_timeout' ? lateLingerMs : lingerMs
    const exchange = latest.get(socket)
    // In the middle of a body, the error belongs to a request that has been seen; else to one that has not.
    const cutShort = exchange?.request.complete === false ? exchange : null
    // Answers keep the order of their requests, also before the answer to what is no request.
    after(cutShort ? cutShort.former : exchange?.response, () => {
      if (cutShort?.response.headersSent) {
        after(cutShort.response, () => closeGently(socket, waitMs))
        return
      }
      const asked = cutShort ? requestLineOf(cutShort.request) : requestLineIn(packet)
      refuseOnSocket(socket, refusal, asked, waitMs)
    })
  }

  /** Node pushes each chunk of a body by itself, whoever reads it. */
  function watchChunks(request: IncomingMessage): void {
    const { push } = request
    let chunks = 0
    let bytes = 0
    let isRefused = false
    request.push = (chunk: Buffer | null, encoding) => {
      bytes += chunk?.length ?? 0
      if (!isRefused && ++chunks === chunksTogether) {
        // One less, because a chunk at the end of a piece comes as two.
        isRefused = bytes < chunks * (leastMeanChunkBytes - 1)
        chunks = 0
        bytes = 0
        if (isRefused && !parting.has(request.socket)) refuseRest(request.socket, tinyChunks(), 'tiny chunks')
      }
      if (!isRefused) return push.call(request, chunk, encoding)
      // Its end may be in the piece that is being read: for whoever waits for the rest, the client went away.
      request.complete = false
      return true
    }
  }

  /** Whoever is answered before its long body was read would go on sending it to nobody. */
  function partUnlessRead(request: IncomingMessage, response: ServerResponse): void {
    const { shouldKeepAlive } = response
    response.shouldKeepAlive = false
    request.once('end', () => {
      response.shouldKeepAlive = shouldKeepAlive && !drain.isDraining
    })
  }
}

function after(response: ServerResponse | null | undefined, act: () => void): void {
  if (response && !isOver(response)) response.once('close', act)
  else act()
}

/** One refusal as the last thing on a connection that no longer speaks HTTP with us. */
export function refuseOnSocket(
  socket: Duplex,
  refusal: Refusal,
  { form, isHead }: Asked,
  waitMs = lingerMs,
): void {
  if (!socket.writable) return
  const body = `${JSON.stringify(errorBody(refusal, form))}\n`
  const { allowedMethods, retryAfterSeconds } = refusal.facts
  const allow = allowedMethods ? `Allow: ${allowedMethods}\r\n` : ''
  const retryAfter = retryAfterSeconds ? `Retry-After: ${retryAfterSeconds}\r\n` : ''
  socket.write(
    `HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status]}\r\n` +
      `Access-Control-Allow-Origin: *\r\nContent-Type: application/json; charset=utf-8\r\n${allow}${retryAfter}` +
      `Cache-Control: no-store\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n` +
      (isHead ? '' : body),
  )
  closeGently(socket, waitMs)
}

/**
 * Ends our half and throws away what still comes, for a moment: a connection that is cut while its client sends often
 * loses the answer too. The body of a refused request reaches nobody any more, so that nothing is done with it.
 */
function closeGently(socket: Duplex, waitMs: number): void {
  parting.add(socket)
  // Node's own listener is gone once a connection was handed over (CONNECT); without any, a reset ends the process.
  socket.on('error', () => {})
  socket.end()
  socket.resume()
  // Once the socket flows again, and not before: who takes it from the parser while it is paused never sees it move.
  process.nextTick(() => socket.removeAllListeners('data').on('data', () => {}))
  const cut = setTimeout(() => socket.destroy(), waitMs).unref()
  socket.once('close', () => clearTimeout(cut))
}

function closeNow(socket: Socket): void {
  socket.end()
  if (socket.writableFinished) socket.destroy()
  else socket.once('finish', () => socket.destroy())
}

/** As much of a request as decides what its refusal looks like. */
export interface Asked {
  form: ErrorForm
  isHead: boolean
}

export function requestLineOf({ method, url = '' }: IncomingMessage): Asked {
  return { form: errorFormOf(url), isHead: method === 'HEAD' }
}

/**
 * From the bytes that were not understood, as far as they look like a request line at all. They may be a later piece of what
 * came together (arrivals.ts), which has memory of its own.
 */
function requestLineIn(piece: Buffer | undefined): Asked {
  const line = piece ? Buffer.from(piece.buffer).toString('latin1', 0, 512) : ''
  const [, method, url = ''] = /^\s*([A-Z]+) (\S*)/.exec(line) ?? []
  return { form: errorFormOf(url), isHead: method === 'HEAD' }
}

function isAboutTheRequest({ code = '' }: ParseError): boolean {
  return code.startsWith('HPE_') || code === timedOut
}

function isOver(response: ServerResponse): boolean {
  return response.writableFinished || response.destroyed
}

function tinyChunks(): Refusal {
  return badRequest(`The body comes in chunks of fewer than ${leastMeanChunkBytes} bytes; send larger ones.`)
}

function refusalFor({ code }: ParseError): Refusal {
  if (code === 'HPE_HEADER_OVERFLOW') return headersTooLarge()
  if (code === 'HPE_CHUNK_EXTENSIONS_OVERFLOW') return new Refusal('payload_too_large')
  if (code === timedOut) return new Refusal('request_timeout')
  return badRequest('This is not a valid HTTP/1.1 request.')
}
