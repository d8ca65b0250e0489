import type { IncomingMessage } from 'node:http'
import { BlockList, isIP, type Socket } from 'node:net'

/** The addresses of proxies that the operator named; only these are believed when they say who asked. */
export type TrustedProxies = BlockList

/** Each an address or a network: `10.0.0.1`, `10.0.0.0/8`, `::1`. */
export function trustProxies(networks: readonly string[]): TrustedProxies | null {
  if (networks.length === 0) return null
  const trusted = new BlockList()
  for (const network of networks) {
    const [address = '', bits] = network.split('/', 2)
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4'
    if (bits === undefined) trusted.addAddress(address, family)
    else trusted.addSubnet(address, Number(bits), family)
  }
  return trusted
}

/**
 * Who asked. Each proxy adds the address it saw to the end of `X-Forwarded-For`, so the list is read from its end, as
 * long as the one who wrote the entry is trusted: what stands further left, a client can write itself.
 */
export function clientAddress({ socket, headers }: IncomingMessage, trusted: TrustedProxies | null): string {
  let address = socketAddress(socket)
  if (!isTrusted(address, trusted)) return address
  const forwarded = headers['x-forwarded-for']
  const said = (Array.isArray(forwarded) ? forwarded.join(',') : (forwarded ?? '')).split(',')
  for (const entry of said.reverse()) {
    const before = plain(withoutPort(entry.trim()))
    if (isIP(before) === 0) return address
    address = before
    if (!isTrusted(address, trusted)) return address
  }
  return address
}

/** Some proxies add the port they saw, `192.0.2.1:4711`; IPv6 then stands in brackets, `[2001:db8::1]:4711`. */
function withoutPort(entry: string): string {
  const [, ipv6, ipv4] = /^(?:\[(.*)\]|([\d.]+))(?::\d+)?$/.exec(entry) ?? []
  return ipv6 ?? ipv4 ?? entry
}

export function isTrusted(address: string, trusted: TrustedProxies | null): boolean {
  if (trusted === null) return false
  const family = isIP(address)
  return family !== 0 && trusted.check(address, family === 6 ? 'ipv6' : 'ipv4')
}

/** Who is at the other end of a connection: a client, or a proxy for many. */
export function socketAddress({ remoteAddress = '' }: Pick<Socket, 'remoteAddress'>): string {
  return plain(remoteAddress)
}

/** IPv4 addresses come in IPv6 clothes where the server listens on both. */
function plain(address: string): string {
  return address.startsWith('::ffff:') && isIP(address.slice(7)) === 4 ? address.slice(7) : address
}
