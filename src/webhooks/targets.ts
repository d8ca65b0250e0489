import { Resolver } from 'node:dns/promises'
import { isIP } from 'node:net'
import { createAddressGuard } from './address-guard.ts'

/** Where a webhook goes, checked: a name is asked for once, and what is connected to are these addresses and no others. */
export interface Target {
  url: URL
  addresses: readonly string[]
}

export interface Targets {
  find(url: string): Promise<Target | TargetRefusal>
}

/** Why nothing is sent there, in words for its owner, that name no address. */
export class TargetRefusal {
  readonly reason: string

  constructor(reason: string) {
    this.reason = reason
  }
}

/** All addresses of a name; an empty list or an exception when there are none. */
export type ResolveName = (name: string) => Promise<string[]>

export interface TargetsParts {
  /** Networks that may be reached although they are private; there also without TLS. */
  allowedNetworks: readonly string[]
  resolveName?: ResolveName
}

const maxUrlCharacters = 2_000
const usualPorts: Record<string, number> = { 'https:': 443, 'http:': 80 }
/** Below them are the servers of other protocols. */
const leastOtherPort = 1_024

export function createTargets({ allowedNetworks, resolveName = askNameServers }: TargetsParts): Targets {
  const guard = createAddressGuard(allowedNetworks)
  return {
    async find(text) {
      const url = text.length > maxUrlCharacters ? null : URL.parse(text)
      const usualPort = url && usualPorts[url.protocol]
      if (!url || usualPort === undefined || usualPort === null || url.hostname === '') return notAUrl
      if (url.username !== '' || url.password !== '') return hasLogin
      if (url.hash !== '') return hasFragment
      const isPlain = url.protocol === 'http:'
      if (isPlain && allowedNetworks.length === 0) return needsHttps
      const port = url.port === '' ? usualPort : Number(url.port)
      if (port !== usualPort && port < leastOtherPort) return wrongPort
      const addresses = await addressesOf(url)
      if (addresses.length === 0) return noAddress
      const areAllowed = addresses.every((address) => guard.isAllowed(address))
      if (isPlain && !areAllowed) return needsHttps
      if (!addresses.every((address) => guard.isAllowed(address) || guard.isPublic(address))) return notPublic
      return { url, addresses }
    },
  }

  async function addressesOf({ hostname }: URL): Promise<string[]> {
    const name = hostname.replace(/^\[(.*)\]$/, '$1')
    if (isIP(name) !== 0) return [name]
    // RFC 6761: no name server is asked for it.
    if (/(?:^|\.)localhost\.?$/i.test(name)) return ['127.0.0.1']
    try {
      return (await resolveName(name)).filter((address) => isIP(address) !== 0)
    } catch {
      return []
    }
  }
}

/** Not as other connections find theirs: that asks in a thread, of which there are few, and a name that hangs would hold up everybody. */
async function askNameServers(name: string): Promise<string[]> {
  const resolver = new Resolver({ timeout: 2_000, tries: 2 })
  const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)])
  return answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
}

const notAUrl = new TargetRefusal('it is not a URL such as https://example.com/hook')
const hasLogin = new TargetRefusal('its URL must not have a user name or password')
const hasFragment = new TargetRefusal('its URL must not have a fragment (#…)')
const needsHttps = new TargetRefusal('its URL must begin with https://')
const wrongPort = new TargetRefusal('its port must be 443 or 1024 and above')
const noAddress = new TargetRefusal('the name of its host has no IP address')
const notPublic = new TargetRefusal('its host is not on the public internet')
