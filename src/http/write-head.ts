import { type ServerResponse, STATUS_CODES, validateHeaderName, validateHeaderValue } from 'node:http'
import { keepAliveMs } from './keep-alive.ts'

/**
 * What lies below `writeHead` of Node, as old as Node itself, yet not in its documentation: the first lines go out as they are, and only
 * the headers beside them are looked at. Where a Node has no such thing, its own `writeHead` does the same more slowly.
 */
interface NodeResponse {
  _storeHeader?(firstLines: string, headers: readonly string[]): void
  _hasBody: boolean
}

/** The first lines of answers of a kind, by what they all carry: made, and looked at, once. */
const firstLinesOf = new WeakMap<readonly string[], Map<number, string | null>>()
/** Letters that may stand in a header, of those that nobody reads in two ways (RFC 9110, 5.5). */
const plainValues = /^[\t\x20-\x7e]*$/
const keepAliveLine = `Keep-Alive: timeout=${keepAliveMs / 1_000}\r\n`
/** By these, Node knows how the answer ends. */
const forNode = new Set(['connection', 'content-length', 'transfer-encoding', 'trailer', 'date'])

/**
 * Begins an answer: with the headers that all of its kind carry (`base`, made once and never changed), those of its own, and those by which
 * Node knows how it ends. Node's own `writeHead` looks at each name and each value by itself every time: for a cached list a tenth of
 * all that it costs.
 */
export function writeHead(
  response: ServerResponse,
  status: number,
  { base, own, ending }: { base: readonly string[]; own: readonly string[]; ending: readonly string[] },
): void {
  const below = response as ServerResponse & NodeResponse
  const common = firstLines(status, base)
  let lines = common ?? ''
  let values = ''
  for (let at = 0; at < own.length; at += 2) {
    values += own[at + 1]
    lines += `${own[at]}: ${own[at + 1]}\r\n`
  }
  // Who waits to hear whether to send a body has rules of its own there, and so have headers that somebody has set before.
  const isSpecial = response.req.headers.expect !== undefined || response.getHeaderNames().length > 0
  if (common === null || !below._storeHeader || isSpecial || !plainValues.test(values)) {
    response.writeHead(status, base.concat(own, ending))
    return
  }
  response.statusCode = status
  response.statusMessage = STATUS_CODES[status] ?? 'unknown'
  // RFC 9110, 6.4.1.
  if (status === 204 || status === 304) below._hasBody = false
  const isKept = response.shouldKeepAlive && !ending.includes('Connection')
  below._storeHeader(isKept ? lines + keepAliveLine : lines, ending)
}

/** null where Node must see one of them. */
function firstLines(status: number, base: readonly string[]): string | null {
  const known = firstLinesOf.get(base)?.get(status)
  if (known !== undefined) return known
  const made = makeFirstLines(status, base)
  const byStatus = firstLinesOf.get(base) ?? new Map<number, string | null>()
  firstLinesOf.set(base, byStatus.set(status, made))
  return made
}

function makeFirstLines(status: number, base: readonly string[]): string | null {
  let lines = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'unknown'}\r\n`
  for (let at = 0; at < base.length; at += 2) {
    const [name = '', value = ''] = base.slice(at, at + 2)
    if (forNode.has(name.toLowerCase())) return null
    validateHeaderName(name)
    validateHeaderValue(name, value)
    lines += `${name}: ${value}\r\n`
  }
  return lines
}
