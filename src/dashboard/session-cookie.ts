import type { IncomingMessage } from 'node:http'
import { sessionLimits } from '../management/people/sign-in.ts'
import type { Site } from './site.ts'

/**
 * `__Host-` makes the browser refuse a cookie that another host or path planted; it needs TLS, which a server at
 * http://localhost has not. Lax and not Strict: the way back from Google must bring the session along.
 */
function cookieName(name: string, { isSecure }: Site): string {
  return isSecure ? `__Host-${name}` : name
}

function attributes({ isSecure }: Site): string {
  return `Path=/; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`
}

const sessionName = 'rowport'
/** The cookie of a browser that went to Google to sign in. */
const googleName = 'rowport-google'
const googleSeconds = 600

export function sessionIdIn(request: IncomingMessage, site: Site): string | null {
  return valueIn(request, cookieName(sessionName, site))
}

export function sessionCookie(sessionId: string, site: Site): string {
  const maxAgeSeconds = sessionLimits.maxAgeMs / 1_000
  return `${cookieName(sessionName, site)}=${sessionId}; Max-Age=${maxAgeSeconds}; ${attributes(site)}`
}

export function sessionCookieEnd(site: Site): string {
  return `${cookieName(sessionName, site)}=; Max-Age=0; ${attributes(site)}`
}

export function googleAttemptIn(request: IncomingMessage, site: Site): string | null {
  return valueIn(request, cookieName(googleName, site))
}

export function googleCookie(attempt: string, site: Site): string {
  return `${cookieName(googleName, site)}=${attempt}; Max-Age=${googleSeconds}; ${attributes(site)}`
}

export function googleCookieEnd(site: Site): string {
  return `${cookieName(googleName, site)}=; Max-Age=0; ${attributes(site)}`
}

function valueIn({ headers }: IncomingMessage, name: string): string | null {
  const found = (headers.cookie ?? '').split(/; */).find((pair) => pair.startsWith(`${name}=`))
  return found ? found.slice(name.length + 1) : null
}
