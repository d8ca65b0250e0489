import type { SheetAddress } from '../../admission/judge.ts'
import { isBracketed, isIgnored } from '../request/parameter-name.ts'
import type { Parameters } from '../request/query.ts'
import { pathOf } from '../request/routes.ts'

/** A key never belongs to the page, nor does what we ignore. */
function isKept([name]: Parameters[number]): boolean {
  return name !== 'api_key' && name !== 'offset' && (!isIgnored(name) || isBracketed(name))
}

/** `Link` to the pages before and after (RFC 8288). */
export function pageLinks(
  address: SheetAddress,
  parameters: Parameters,
  total: number,
  { limit, offset }: { limit: number | null; offset: number },
): string[] {
  if (limit === null || limit === 0) return []
  const links: string[] = []
  if (offset + limit < total) links.push(linkTo(offset + limit, 'next'))
  if (offset > 0) links.push(linkTo(Math.max(0, Math.min(offset, total) - limit), 'prev'))
  return links.length === 0 ? [] : ['Link', links.join(', ')]

  function linkTo(newOffset: number, rel: string): string {
    const query = [...parameters.filter(isKept), ['offset', String(newOffset)] as const]
      .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
      .join('&')
    return `<${pathOf(address)}?${query}>; rel="${rel}"`
  }
}
