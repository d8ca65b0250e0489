import type { Precondition } from '../../sheets/writing/order.ts'
import { plainEtag, rowEtag } from '../response/etag.ts'

/** RFC 9110, 13.1.1: a list of ETags, compared strongly (so a weak one never matches), or `*` for any row. */
export function parseIfMatch(header: string | undefined): Precondition | null {
  if (header === undefined) return null
  const tags = new Set(header.split(',').map((tag) => plainEtag(tag.trim())))
  return (rowNumber, rowJson) => tags.has('*') || tags.has(rowEtag(rowNumber, rowJson))
}
