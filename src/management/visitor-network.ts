import { isIPv6 } from 'node:net'

/** What attempts are counted by: whoever has one IPv6 address has a whole /64 of them, and may spell it in many ways. */
export function networkOf(address: string): string {
  if (!isIPv6(address)) return address
  // The parser of addresses knows every spelling, and answers with one.
  const [left = '', right] = new URL(`http://[${address.replace(/%.*$/, '')}]`).hostname
    .slice(1, -1)
    .split('::')
  const first = left === '' ? [] : left.split(':')
  const last = right ? right.split(':') : []
  const zeros = right === undefined ? [] : new Array<string>(8 - first.length - last.length).fill('0')
  return `${[...first, ...zeros, ...last].slice(0, 4).join(':')}::/64`
}
