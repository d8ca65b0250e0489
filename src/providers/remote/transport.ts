import {
  type ClientRequest,
  Agent as HttpAgent,
  request as httpRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
} from 'node:http'
import type { Agent as HttpsAgent } from 'node:https'
import type { Socket } from 'node:net'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { TooManyAtOnce } from '../../errors.ts'

/** One HTTP exchange with a provider, as bytes. */
export interface Transport {
  exchange(wish: ExchangeWish): Promise<HttpAnswer>
  close(): void
}

export interface ExchangeWish {
  method: 'GET' | 'POST'
  url: string
  headers: Record<string, string>
  body?: string
  signal: AbortSignal
  /**
   * Told each piece of the body, decompressed, as it comes: large bodies are looked at a little at a time. Where it returns a promise,
   * the rest is read after that.
   */
  onPiece?(piece: Uint8Array): void | Promise<void>
}

export interface HttpAnswer {
  status: number
  headers: IncomingHttpHeaders
  /** Decompressed, in a buffer of its own: it can be handed over to a thread. */
  body: Buffer<ArrayBuffer>
}

/** What can be known of an exchange without an answer; a write must know whether it may have been done. */
export type Lost = 'not_sent' | 'no_answer' | 'too_large'

export class ExchangeLost extends Error {
  override readonly name = 'ExchangeLost'
  readonly lost: Lost

  constructor(lost: Lost, cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause })
    this.lost = lost
  }
}

export interface TransportLimits {
  /** A connection that says nothing for so long is given up. */
  silenceMs: number
  /** Decompressed. A larger answer is refused while it comes. */
  maxBodyBytes: number
}

export const transportLimits: TransportLimits = { silenceMs: 10_000, maxBodyBytes: 64 * 1024 * 1024 }

// Providers close idle connections after minutes; ours end well before, or a write would meet a connection just closed
// and nobody could say whether it was done.
const agentOptions = { keepAlive: true, timeout: 60_000, maxSockets: 64, scheduling: 'lifo' } as const
const inflatedPieceBytes = 256 * 1024

export function createTransport({ silenceMs, maxBodyBytes }: TransportLimits): Transport {
  const plainAgent = new HttpAgent(agentOptions)
  let tlsAgent: HttpsAgent | null = null
  const turns = createTurnsOfPieces()

  return {
    exchange(wish) {
      const { promise, resolve, reject } = Promise.withResolvers<HttpAnswer>()
      const request = start(wish)
      let isSent = false
      const fail = (error: unknown) => {
        const lost = isSent ? 'no_answer' : 'not_sent'
        const isOwn = error instanceof ExchangeLost || error instanceof TooManyAtOnce
        reject(isOwn ? error : new ExchangeLost(lost, error))
        request.destroy()
      }
      request.once('socket', (socket) => {
        if (request.reusedSocket || !socket.connecting) isSent = true
        else socket.once('encrypted' in socket ? 'secureConnect' : 'connect', () => (isSent = true))
      })
      request.setTimeout(silenceMs, () => fail(new Error(`Silent for ${silenceMs} ms`)))
      request.on('error', fail)
      request.once('response', (response) => {
        isSent = true
        bodyOf(response, wish).then((body) => {
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body })
        }, fail)
      })
      request.end(wish.body)
      return promise
    },
    close() {
      plainAgent.destroy()
      tlsAgent?.destroy()
    },
  }

  function start({ method, url, headers, body, signal }: ExchangeWish): ClientRequest {
    const length = body === undefined ? {} : { 'Content-Length': String(Buffer.byteLength(body)) }
    // Some providers compress only for those who also say so by name.
    const all = { 'User-Agent': 'rowport (gzip)', 'Accept-Encoding': 'gzip', ...length, ...headers }
    const options = { method, headers: all, signal }
    if (!url.startsWith('https:')) return httpRequest(url, { ...options, agent: plainAgent })
    // Not imported: a server of files alone speaks no TLS, and it is a tenth of its start (docs/decisions/041).
    const https = process.getBuiltinModule('node:https')
    tlsAgent ??= new https.Agent(agentOptions)
    return https.request(url, { ...options, agent: tlsAgent })
  }

  async function bodyOf(response: IncomingMessage, { onPiece }: ExchangeWish): Promise<Buffer<ArrayBuffer>> {
    const pieces: Uint8Array[] = []
    let bytes = 0
    const collect = async (source: AsyncIterable<Uint8Array>) => {
      for await (const piece of source) {
        bytes += piece.byteLength
        if (bytes > maxBodyBytes) throw new ExchangeLost('too_large', `More than ${maxBodyBytes} bytes`)
        pieces.push(piece)
        const room = onPiece?.(piece)
        const nextTurn = turns.endAfter(piece.byteLength)
        if (nextTurn) await nextTurn
        if (!room) continue
        // As long as we do not read, it is not the other side that is silent.
        socketOf(response)?.setTimeout(0)
        await room
        socketOf(response)?.setTimeout(silenceMs)
      }
    }
    if (response.headers['content-encoding'] === 'gzip') {
      await pipeline(response, createGunzip({ chunkSize: inflatedPieceBytes }), collect)
    } else {
      await pipeline(response, collect)
    }
    return joinPieces(pieces, bytes)
  }
}

/** null once all of the answer came: pieces of it may be left to be read, but the connection is another one's by then. */
function socketOf({ socket }: IncomingMessage): Socket | null {
  return socket
}

/** All answers that come at the same time count together. */
const takenInATurn = 256 * 1024

/**
 * From a fast connection the runtime reads two megabytes before it looks at any other, and what comes with them would keep everybody
 * waiting. Who has to wait for the next turn does not read on meanwhile.
 */
function createTurnsOfPieces() {
  let bytes = 0
  let next: Promise<void> | null = null
  return {
    endAfter(pieceBytes: number): Promise<void> | null {
      bytes += pieceBytes
      if (bytes < takenInATurn) return null
      next ??= new Promise((resolve) =>
        setImmediate(() => {
          bytes = 0
          next = null
          resolve()
        }),
      )
      return next
    },
  }
}

/** Copied in one go, 60 MB would keep everybody waiting for 40 ms. */
const joinedInAStep = 256 * 1024

async function joinPieces(pieces: Uint8Array[], bytes: number): Promise<Buffer<ArrayBuffer>> {
  const body = Buffer.allocUnsafeSlow(bytes)
  let at = 0
  let inStep = 0
  for (const piece of pieces) {
    body.set(piece, at)
    at += piece.byteLength
    inStep += piece.byteLength
    if (inStep < joinedInAStep) continue
    inStep = 0
    await new Promise(setImmediate)
  }
  return body
}
