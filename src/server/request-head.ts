import type { IncomingMessage } from 'node:http'
import { Refusal } from '../errors.ts'

export const maxHeaderBytes = 16 * 1024
export const maxHeaders = 100

/**
 * What Node lets through and RFC 9112 does not: no Host or a doubtful one (3.2), another major version (2.3), a coding
 * that nobody here undoes (6.1); and more headers than are kept, of which the rest would be missing without a word.
 */
export function problemWithHead(request: IncomingMessage): Refusal | null {
  const { rawHeaders, headers, httpVersionMajor, httpVersion } = request
  if (rawHeaders.length > 2 * maxHeaders) return headersTooLarge()
  if (httpVersionMajor !== 1) return badRequest('Only HTTP/1.1 and HTTP/1.0 are spoken here.')
  const coding = headers['transfer-encoding']
  if (coding !== undefined && coding.toLowerCase() !== 'chunked') {
    return badRequest('The only Transfer-Encoding understood here is "chunked".')
  }
  const { host } = headers
  if (host === undefined) return httpVersion === '1.0' ? null : badRequest('The Host header is missing.')
  if (host !== lastGoodHost && !hostShape.test(host)) return badRequest('The Host header is not valid.')
  lastGoodHost = host
  return countHosts(rawHeaders) > 1 ? badRequest('There is more than one Host header.') : null
}

/** Nearly every request names the same one. */
let lastGoodHost = ''

/** A name, an IPv4 address or an IPv6 one in brackets, and a port (RFC 3986, 3.2.2); empty is allowed. */
const hostShape = /^(?:\[[\da-f:.]+\]|[\w.~!$&'()*+,;=%-]*)(?::\d*)?$/i

function countHosts(rawHeaders: readonly string[]): number {
  let count = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]
    if (name?.length === 4 && name.toLowerCase() === 'host') count++
  }
  return count
}

export function headersTooLarge(): Refusal {
  const details = `At most ${maxHeaders} headers, and ${maxHeaderBytes} bytes in all.`
  return new Refusal('headers_too_large', { details })
}

export function badRequest(details: string): Refusal {
  return new Refusal('bad_request', { details })
}
