import type { SheetAddress } from '../admission/judge.ts'
import type { ListWish, Parameters } from './query.ts'
import { pathOf } from './routes.ts'

/** `Link` to the pages before and after (RFC 8288), with the query as it was but for the offset, and never a key. */
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
    const kept = parameters.filter(([name]) => name !== 'offset' && name !== 'api_key')
    const query = [...kept, ['offset', String(newOffset)] as const]
      .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
      .join('&')
    return `<${pathOf(address)}?${query}>; rel="${rel}"`
  }
}
