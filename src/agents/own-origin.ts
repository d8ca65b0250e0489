import type { IncomingMessage } from 'node:http'

/**
 * Programs send no `Origin`; pages do. A page of another site could be turned into an agent's client by a name that is made to lead
 * here, which the specification wants refused. On the machine itself, tools with a page of their own may ask.
 */
export function isOwnOrigin({ headers }: Pick<IncomingMessage, 'headers'>, ownAddress: string): boolean {
  const { origin } = headers
  if (origin === undefined) return true
  const asking = URL.parse(origin)
  const own = URL.parse(ownAddress)
  if (!asking || !own) return false
  return asking.origin === own.origin || (isLoopback(asking.hostname) && isLoopback(own.hostname))
}

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname)
}
