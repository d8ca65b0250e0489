import type { IncomingMessage } from 'node:http'
import type { Site } from './site.ts'

/** On every write. A page of another site cannot add it without asking first, and is never given leave. */
const ownHeader = 'x-rowport-dashboard'

/**
 * Whether one of our own pages asks (docs/reliability.md#requests-of-other-sites). `Sec-Fetch-Site` cannot be set by a
 * page; browsers without it send `Origin` with every write. What has neither is no browser: it may read, with a cookie
 * that it was given, but not write.
 */
export function isFromOurPages({ headers, method }: IncomingMessage, { origin }: Site): boolean {
  const isRead = method === 'GET' || method === 'HEAD'
  if (!isRead && headers[ownHeader] !== '1') return false
  const fetchSite = headers['sec-fetch-site']
  if (fetchSite !== undefined) return fetchSite === 'same-origin' || fetchSite === 'none'
  return isRead ? headers.origin === undefined || headers.origin === origin : headers.origin === origin
}
