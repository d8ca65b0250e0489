import { createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import type { Account } from './accounts.ts'

const keyId = 'emulator'
let madeKey: KeyObject | undefined

// On first use: a key costs about a tenth of a second, and most tests never ask for an ID token.
function signingKey(): KeyObject {
  madeKey ??= generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey
  return madeKey
}

export interface IdTokenClaims {
  clientId: string
  account: Account
  withEmail: boolean
  nonce: string | undefined
  nowMs: number
}

export function issueIdToken({ clientId, account, withEmail, nonce, nowMs }: IdTokenClaims): string {
  const issuedAt = Math.floor(nowMs / 1000)
  const claims = {
    iss: 'https://accounts.google.com',
    azp: clientId,
    aud: clientId,
    sub: account.sub,
    ...(withEmail ? { email: account.email, email_verified: true } : {}),
    ...(nonce === undefined ? {} : { nonce }),
    iat: issuedAt,
    exp: issuedAt + 3600,
  }
  const unsigned = [{ alg: 'RS256', kid: keyId, typ: 'JWT' }, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.')
  return `${unsigned}.${sign('sha256', Buffer.from(unsigned), signingKey()).toString('base64url')}`
}

/** `/oauth2/v1/certs`: key id → PEM. */
export function pemCertificates(): Record<string, string> {
  return { [keyId]: String(createPublicKey(signingKey()).export({ type: 'spki', format: 'pem' })) }
}

/** `/oauth2/v3/certs`: a JSON Web Key set. */
export function jsonWebKeys(): { keys: Record<string, unknown>[] } {
  const key = createPublicKey(signingKey()).export({ format: 'jwk' })
  return { keys: [{ ...key, kid: keyId, alg: 'RS256', use: 'sig' }] }
}
