import { BlockList, isIP } from 'node:net'

/** Which addresses webhooks may be sent to. */
export interface AddressGuard {
  /** One that the operator has allowed, whatever else it is. */
  isAllowed(address: string): boolean
  /** One that anybody on the internet could reach. */
  isPublic(address: string): boolean
}

/** What is no public address (IANA's registries of special purposes). */
const specialIpv4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.31.196.0/24',
  '192.52.193.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '192.175.48.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  // Multicast, what is reserved, and broadcast.
  '224.0.0.0/3',
]

/** All public addresses of IPv6 are in here, so what is elsewhere (loopback, private, link-local, mapped IPv4, NAT64) needs no list. */
const globalIpv6 = '2000::/3'
/** Within these, what leads to an IPv4 address in disguise (Teredo, 6to4), or nowhere. */
const specialIpv6 = ['2001::/23', '2001:db8::/32', '2002::/16', '2620:4f:8000::/48', '3fff::/20']

/** `allowed`: addresses and networks that are reached although they are not public. */
export function createAddressGuard(allowed: readonly string[]): AddressGuard {
  const allowedNetworks = listOf(allowed)
  return {
    isAllowed: (address) => isIn(allowedNetworks(), address) && !isMapped(address),
    isPublic(address) {
      const family = isIP(address)
      if (family === 4) return !isIn(special(), address)
      return family === 6 && isIn(global(), address) && !isIn(special(), address)
    },
  }
}

/** Made when the first address is looked up: most servers send to nobody, and each start would take the time. */
function listOf(networks: readonly string[]): () => BlockList {
  let list: BlockList | null = null
  return () => {
    list ??= fillList(new BlockList(), networks)
    return list
  }
}

function fillList(list: BlockList, networks: readonly string[]): BlockList {
  for (const network of networks) {
    const [address = '', bits] = network.split('/', 2)
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4'
    if (bits === undefined) list.addAddress(address, family)
    else list.addSubnet(address, Number(bits), family)
  }
  return list
}

function isIn(list: BlockList, address: string): boolean {
  const family = isIP(address)
  return family !== 0 && list.check(address, family === 6 ? 'ipv6' : 'ipv4')
}

/** A list of Node's takes `::ffff:10.0.0.1` for `10.0.0.1`; whoever writes it so has a reason that is not ours. */
function isMapped(address: string): boolean {
  return isIP(address) === 6 && isIn(mapped(), address)
}

const mapped = listOf(['::ffff:0:0/96'])
const special = listOf([...specialIpv4, ...specialIpv6])
const global = listOf([globalIpv6])
