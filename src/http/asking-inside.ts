import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { ClientGone } from './client-gone.ts'

/**
 * A request that one door makes of another for whoever knocked at it: over that one's connection, from its address and with its key, so
 * that it is admitted, limited and counted as if it had come by itself.
 */
export interface InnerRequest {
  from: IncomingMessage
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  url: string
  /** Beside those that say who asks. */
  headers?: Readonly<Record<string, string>>
  body?: string
  /** Says when whoever knocked wants no more of it, which may be long before the connection ends. */
  left?: AbortSignal
}

export interface InnerAnswer {
  status: number
  /** By their names in small letters. */
  headers: ReadonlyMap<string, string>
  /** Made as it is taken; whoever stops taking it ends it. */
  chunks: AsyncIterable<Uint8Array>
}

/** null when whoever knocked is gone. */
export type AskInside = (asked: InnerRequest) => Promise<InnerAnswer | null>

/** What says who asks, from where, and by what name of the server. */
const passedOn = ['authorization', 'x-api-key', 'x-forwarded-for', 'host', 'origin'] as const

/** As a door expects to get it; the address may carry the key, as that of the request from outside did. */
export function asIncoming({ from, method, url, headers = {}, body, left }: InnerRequest): IncomingMessage {
  const own = Object.fromEntries(
    passedOn.flatMap((name) => (from.headers[name] === undefined ? [] : [[name, from.headers[name]]])),
  )
  const bytes = Readable.from(body === undefined ? [] : [Buffer.from(body)], { objectMode: false })
  const parts = { method, url, headers: { ...own, ...headers }, socket: from.socket }
  const incoming = Object.assign(bytes, parts) as unknown as IncomingMessage
  if (left) lefts.set(incoming, left)
  return incoming
}

const lefts = new WeakMap<IncomingMessage, AbortSignal>()

export interface WatchedCaller {
  /** Aborted when they are gone: whoever waits for them need not. The reason is `ClientGone`. */
  left: AbortSignal
  /** They said that they send no more: most have left, and some still read. */
  hasPerhapsLeft(): boolean
  forget(): void
}

export function watchCaller(request: IncomingMessage): WatchedCaller {
  const { socket } = request
  const left = new AbortController()
  const leave = () => left.abort(new ClientGone('The client went away while it waited'))
  const inner = lefts.get(request)
  socket.once('close', leave)
  inner?.addEventListener('abort', leave, { once: true })
  if (socket.destroyed || inner?.aborted) leave()
  const hasPerhapsLeft = () => socket.readableEnded
  return { left: left.signal, hasPerhapsLeft, forget: () => socket.off('close', leave) }
}
