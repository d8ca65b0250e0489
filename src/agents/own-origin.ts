import type { IncomingMessage } from 'node:http'

/**
 * Programs send no `Origin`; pages do. A page of another site could be turned into an agent's client by a name that is made to lead
 * here, which the specification wants refused. So the name in `Host` says nothing, unless it is one that nobody can lead elsewhere: an
 * address, or this machine. On the machine itself, tools with a page of their own may ask.
 */
export function isOwnOrigin({ headers }: Pick<IncomingMessage, 'headers'>, baseUrl: string): boolean {
  const { origin, host = '' } = headers
  if (origin === undefined) return true
  const asking = URL.parse(origin)
  const asked = URL.parse(`http://${host}`)
  if (!asking || !asked) return false
  if (asking.origin === URL.parse(baseUrl)?.origin) return true
  if (isLoopback(asking.hostname)) return isLoopback(asked.hostname)
  return isAddress(asking.hostname) && asking.host === asked.host
}

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname)
}

function isAddress(hostname: string): boolean {
  return hostname.startsWith('[') || /^\d+\.\d+\.\d+\.\d+$/.test(hostname)
}
