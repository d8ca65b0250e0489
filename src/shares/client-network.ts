/**
 * What callers from the net are counted by: their IPv4 address, or the first half of their IPv6 address. Whoever has one
 * IPv6 address has a whole /64 of them, and may spell it in many ways; an IPv4 address may come in IPv6 clothes.
 */
export function clientNetwork(address: string): string {
  if (!address.includes(':')) return address
  const [left = '', right = ''] = address.split('::', 2)
  const first = groupsOf(left)
  const last = groupsOf(right)
  const between = new Array<number>(Math.max(0, 8 - first.length - last.length)).fill(0)
  const groups = [...first, ...between, ...last]
  const [high = 0, low = 0] = groups.slice(6)
  const isMappedIpv4 = groups[5] === 0xffff && groups.slice(0, 5).every((group) => group === 0)
  if (isMappedIpv4) return `${high >> 8}.${high & 0xff}.${low >> 8}.${low & 0xff}`
  return groups
    .slice(0, 4)
    .map((group) => group.toString(16))
    .join(':')
}

function groupsOf(part: string): number[] {
  if (part === '') return []
  return part.split(':').flatMap((group) => {
    if (!group.includes('.')) return Number.parseInt(group, 16)
    const [a = 0, b = 0, c = 0, d = 0] = group.split('.').map(Number)
    return [a * 256 + b, c * 256 + d]
  })
}
