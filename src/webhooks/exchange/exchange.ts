import { type IncomingMessage, request as requestPlain } from 'node:http'
import { request as requestTls } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import { DEFAULT_CIPHERS } from 'node:tls'

/** What is sent, and where to. */
export interface ExchangeWish {
  url: string
  /** Where the name led when it was checked. */
  addresses: readonly string[]
  headers: Record<string, string>
  body: string
  /** Certificates that are believed beside those that Node believes. */
  ca?: string | undefined
}

export type Exchanged =
  | {
      status: number
      /** The first lines. */
      answer: string
      retryAfter: string | undefined
    }
  | {
      /** Why there is no answer, in half a sentence. */
      failure: string
    }

/** What the status has said already is not waited for longer. */
const bodyWithinMs = 1_000
/** Answers before the answer, of which Node would take any number: a server may say that it works on it, and what it will link to. */
const mostInterimAnswers = 10
/** What a server hands out to be known by later; each costs a millisecond. */
const mostTickets = 10
const keptBytes = 1_024
const keptLines = 8
/** Where the server chooses the group, it can be one in which a single step takes a second. */
const ciphers = `${DEFAULT_CIPHERS}:!kDHE`

/** One request on a connection of its own, and the beginning of its answer. */
export async function exchange(wish: ExchangeWish, signal: AbortSignal): Promise<Exchanged> {
  try {
    return await exchangeOnce(wish, signal)
  } catch (error) {
    return { failure: inWords(error) }
  }
}

function exchangeOnce(
  { url: address, addresses, headers, body, ca }: ExchangeWish,
  signal: AbortSignal,
): Promise<Exchanged> {
  const { promise, resolve, reject } = Promise.withResolvers<Exchanged>()
  const bytes = Buffer.from(body)
  const url = new URL(address)
  const request = (url.protocol === 'http:' ? requestPlain : requestTls)(url, {
    method: 'POST',
    headers: { ...headers, 'Content-Length': bytes.length },
    // To where the name led when it was checked; what it leads to by now does not matter.
    agent: false,
    lookup: lookupOf(addresses),
    signal,
    ...(url.protocol === 'https:' && { ciphers }),
    ...(ca !== undefined && { ca }),
  })
  request.on('error', reject)
  const giveUp = (words: string) => {
    reject(new NoAnswer(words))
    request.destroy()
  }
  let interimAnswers = 0
  request.on('information', () => {
    if (++interimAnswers > mostInterimAnswers) giveUp('it sent interim responses without an end')
  })
  let tickets = 0
  request.on('socket', (socket) =>
    socket.on('session', () => {
      if (++tickets > mostTickets) giveUp('it did not come to an end with its connection')
    }),
  )
  // Without a listener Node would drop the request and tell nobody.
  request.on('upgrade', (_response, socket) => {
    socket.destroy()
    giveUp('it returned 101')
  })
  request.on('close', () => reject(new NoAnswer('the connection was closed')))
  request.on('response', (response) => {
    const { statusCode: status = 0, headers: answered } = response
    void beginningOf(response).then((answer) => {
      resolve({ status, answer, retryAfter: answered['retry-after'] })
      // Whatever else it says is not read.
      request.destroy()
    })
  })
  request.end(bytes)
  return promise
}

function lookupOf(addresses: readonly string[]): LookupFunction {
  const found = addresses.map((address) => ({ address, family: isIP(address) }))
  return (_hostname, { all }, callback) => {
    const [first] = found
    if (all) callback(null, found)
    else callback(null, first?.address ?? '', first?.family)
  }
}

/** As much of the text as people want to see. */
async function beginningOf(response: IncomingMessage): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const chunks: Buffer[] = []
  let bytes = 0
  const timer = setTimeout(resolve, bodyWithinMs)
  response.on('data', (chunk: Buffer) => {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes >= keptBytes) resolve()
  })
  for (const end of ['end', 'error', 'close', 'aborted']) response.on(end, () => resolve())
  await promise
  clearTimeout(timer)
  response.on('error', () => {})
  return firstLines(Buffer.concat(chunks).subarray(0, keptBytes).toString())
}

function firstLines(text: string): string {
  return text
    .split(/\r?\n/)
    .slice(0, keptLines)
    .map((line) => line.replaceAll(/\p{Cc}/gu, '\uFFFD'))
    .join('\n')
    .trim()
}

const words: Record<string, string> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was closed',
  EPIPE: 'the connection was closed',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the host cannot be reached',
  ETIMEDOUT: 'no connection could be made',
}

/** In words for the owner. */
class NoAnswer extends Error {
  override readonly name = 'NoAnswer'
}

function inWords(error: unknown): string {
  if (error instanceof NoAnswer) return error.message
  const cause = error instanceof AggregateError ? error.errors[0] : error
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
  const known = words[code]
  if (known) return known
  if (/CERT|TLS|SSL|SIGNATURE|EPROTO/.test(code)) return `no safe connection could be made (${code})`
  return code === '' ? 'the connection failed' : `the connection failed (${code})`
}
