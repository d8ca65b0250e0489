import { hash } from 'node:crypto'

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

/** RFC 9110, 13.1.2: a list of ETags, compared weakly, or `*`. */
export function isNoneMatch(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return true
  if (ifNoneMatch === etag) return false
  return !ifNoneMatch.split(',').some((candidate) => {
    const tag = candidate.trim()
    return tag === '*' || tag === etag || tag === `W/${etag}`
  })
}
