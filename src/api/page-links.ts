import type { SheetAddress } from '../admission/judge.ts'
import type { ListWish, Parameters } from './query.ts'
import { pathOf } from './routes.ts'

/** What of a query belongs to the page; a key never does. */
const kept = new Set(['limit', 'row_numbers'])

/** `Link` to the pages before and after (RFC 8288). */
export function pageLinks(
  address: SheetAddress,
  parameters: Parameters,
  total: number,
  { limit, offset }: ListWish,
): string[] {
  if (limit === null || limit === 0) return []
  const links: string[] = []
  if (offset + limit < total) links.push(linkTo(offset + limit, 'next'))
  if (offset > 0) links.push(linkTo(Math.max(0, Math.min(offset, total) - limit), 'prev'))
  return links.length === 0 ? [] : ['Link', links.join(', ')]

  function linkTo(newOffset: number, rel: string): string {
    const query = [...parameters.filter(([name]) => kept.has(name)), ['offset', String(newOffset)] as const]
      .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
      .join('&')
    return `<${pathOf(address)}?${query}>; rel="${rel}"`
  }
}
