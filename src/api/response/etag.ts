import { createHash, hash } from 'node:crypto'
import type { Coding } from '../../http/content-coding.ts'
import type { Precondition, SheetPrecondition } from '../../sheets/writing/order.ts'
import type { Soon } from '../../soon.ts'
import type { Format } from '../request/format.ts'

/**
 * An ETag names the rows as they can be read, in either form; `as_of` is not part of it, so that it holds while the
 * rows do.
 */
export function etagOf(contentHash: string): string {
  return `"${contentHash}"`
}

export function rowEtag(rowNumber: number, json: string): string {
  return etagOf(hash('sha256', `${rowNumber} ${json}`, 'base64url').slice(0, 22))
}

/** `rowEtag` of a row that comes in pieces of its JSON text. */
export async function longRowEtag(
  rowNumber: number,
  pieces: Iterable<Uint8Array>,
  nextTurn: () => Soon<void>,
): Promise<string> {
  const made = createHash('sha256').update(`${rowNumber} `)
  for (const piece of pieces) {
    await nextTurn()
    made.update(piece)
  }
  return etagOf(made.digest('base64url').slice(0, 22))
}

/**
 * RFC 9110, 8.8.3.3: what one address gives in several formats and codings has an ETag for each. Plain JSON has the
 * plain one.
 */
export function variantOf(etag: string, format: Format, coding: Coding | null): string {
  if (format === 'json' && coding === null) return etag
  return `${etag.slice(0, -1)}${format === 'json' ? '' : `-${format}`}${coding === null ? '' : `-${coding}`}"`
}

const variant = /^("[\w-]{22})(?:-(?:csv|ndjson))?(?:-(?:zstd|br|gzip))?"$/

/** The rows' own ETag, whatever it was read as: a row that came compressed is still that row (`If-Match`). */
export function plainEtag(etag: string): string {
  const plain = variant.exec(etag)?.[1]
  return plain === undefined ? etag : `${plain}"`
}

/** RFC 9110, 13.1.1: a list of ETags, compared strongly (so a weak one never matches), or `*` for any row. */
export function parseIfMatch(header: string | undefined): Precondition | null {
  if (header === undefined) return null
  const tags = tagsIn(header)
  return (rowNumber, rowJson) => tags.has('*') || tags.has(rowEtag(rowNumber, rowJson))
}

/** Where many rows are meant, one of the ETags must be that of the whole list. */
export function parseSheetIfMatch(header: string | undefined): SheetPrecondition | null {
  if (header === undefined) return null
  const tags = tagsIn(header)
  return (contentHash) => tags.has('*') || tags.has(etagOf(contentHash))
}

function tagsIn(header: string): ReadonlySet<string> {
  return new Set(header.split(',').map((tag) => plainEtag(tag.trim())))
}

/** RFC 9110, 13.1.2: a list of ETags, compared weakly, or `*`. */
function isNoneMatch(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return true
  if (ifNoneMatch === etag) return false
  return !ifNoneMatch.split(',').some((candidate) => {
    const tag = candidate.trim()
    return tag === '*' || tag === etag || tag === `W/${etag}`
  })
}

/**
 * The variant that the client has and that is still right, or null. One that is not compressed will do for any
 * client: it was ours to choose whether to compress.
 */
export function variantHeld(
  ifNoneMatch: string | undefined,
  etag: string,
  format: Format,
  coding: Coding | null,
): string | null {
  if (ifNoneMatch === undefined) return null
  const plain = variantOf(etag, format, null)
  if (!isNoneMatch(ifNoneMatch, plain)) return plain
  if (coding === null) return null
  const compressed = variantOf(etag, format, coding)
  return isNoneMatch(ifNoneMatch, compressed) ? null : compressed
}
