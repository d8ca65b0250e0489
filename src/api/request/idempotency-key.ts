import { createHash } from 'node:crypto'
import { Refusal } from '../../errors.ts'

const visibleAscii = /^[\x21-\x7e]{1,255}$/
/** RFC 8941, 3.3.3: a string in quotes, where a quote and a backslash stand behind a backslash. */
const quoted = /^"((?:[^"\\]|\\["\\])*)"$/

/** 1 to 255 visible ASCII characters, quoted or bare; null when there is none (docs/contract.md#idempotency-keys). */
export function parseIdempotencyKey(header: string | string[] | undefined): string | null | Refusal {
  if (header === undefined) return null
  const text = String(header).trim()
  const inner = quoted.exec(text)?.[1]?.replaceAll(/\\(["\\])/g, '$1') ?? text
  if (visibleAscii.test(inner)) return inner
  const details = 'Idempotency-Key must be 1 to 255 visible ASCII characters, without spaces, sent once.'
  return new Refusal('bad_request', { details })
}

export interface AskedWrite {
  method: string
  sheetId: string
  row: string
  ifMatch: string | undefined
  body: Buffer
}

/** Tells whether a request under the same key is the same request, in whichever form it comes. */
export function fingerprintOf({ method, sheetId, row, ifMatch, body }: AskedWrite): string {
  // As JSON, so that no field can be mistaken for a part of its neighbour.
  const head = JSON.stringify([method, sheetId, row, ifMatch ?? null])
  return createHash('sha256').update(head).update(body).digest('base64url')
}
