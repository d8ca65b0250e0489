import { fieldsOf, parseJsonBytes } from '../../remote/json-fields.ts'

/** For whom an ID token must have been made, to say anything. */
export interface IdTokenWish {
  clientId: string
  /** What this attempt sent to Google's page. */
  nonce: string
  /** When the token came, by Google's own clock: ours may be set wrong. */
  date: string | undefined
}

/** https://developers.google.com/identity/openid-connect/openid-connect#validatinganidtoken */
const issuers: ReadonlySet<unknown> = new Set(['https://accounts.google.com', 'accounts.google.com'])

/**
 * What it says, if that was meant for us, for this attempt and for now; null if not. It must have come straight from
 * Google over TLS, so its signature need not be looked at.
 */
export function claimsMeantFor(
  idToken: string,
  { clientId, nonce, date }: IdTokenWish,
): Record<string, unknown> | null {
  const payload = idToken.split('.')[1] ?? ''
  const claims = fieldsOf(parseJsonBytes(Buffer.from(payload, 'base64url')))
  const googleSeconds = Date.parse(date ?? '') / 1_000
  const isMeant =
    claims.aud === clientId &&
    issuers.has(claims.iss) &&
    claims.nonce === nonce &&
    typeof claims.exp === 'number' &&
    claims.exp > googleSeconds
  return isMeant ? claims : null
}
