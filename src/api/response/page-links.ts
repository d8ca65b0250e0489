import type { SheetAddress } from '../../admission/judge.ts'
import { isBracketed, isIgnored } from '../request/parameter-name.ts'
import type { Parameters } from '../request/query.ts'
import { pathOf } from '../request/routes.ts'

/** A key never belongs to the page, nor does what we ignore. */
function isKept([name]: Parameters[number]): boolean {
  return name !== 'api_key' && name !== 'offset' && (!isIgnored(name) || isBracketed(name))
}

/** The URLs of the pages before and after; null where there is none. */
export interface NeighbourPages {
  next: string | null
  prev: string | null
}

/** Absolute: many clients take an address from an answer as it is. */
export function neighbourPages(
  baseUrl: string,
  address: SheetAddress,
  parameters: Parameters,
  total: number,
  { limit, offset }: { limit: number | null; offset: number },
): NeighbourPages {
  if (limit === null || limit === 0) return none
  return {
    next: offset + limit < total ? pageAt(offset + limit) : null,
    prev: offset > 0 ? pageAt(Math.max(0, Math.min(offset, total) - limit)) : null,
  }

  function pageAt(newOffset: number): string {
    const query = [...parameters.filter(isKept), ['offset', String(newOffset)] as const]
      .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
      .join('&')
    return `${baseUrl}${pathOf(address)}?${query}`
  }
}

const none: NeighbourPages = { next: null, prev: null }

/** `Link` (RFC 8288). */
export function linkHeader({ next, prev }: NeighbourPages): string[] {
  const links: string[] = []
  if (next !== null) links.push(`<${next}>; rel="next"`)
  if (prev !== null) links.push(`<${prev}>; rel="prev"`)
  return links.length === 0 ? [] : ['Link', links.join(', ')]
}
