import { createHmac, randomBytes } from 'node:crypto'
import type { Sealing } from '../secrets/sealing.ts'
import type { SealedSecret } from '../store/sealed-secret.ts'

/** By the Standard Webhooks specification (https://www.standardwebhooks.com). */
const prefix = 'whsec_'
const secretBytes = 32

export function newSecret(): string {
  return prefix + randomBytes(secretBytes).toString('base64')
}

export interface ToSign {
  id: string
  timestampSeconds: number
  body: string
}

/** One signature for each secret, the newest first: the receiver may know any of them. */
export function signaturesOf({ id, timestampSeconds, body }: ToSign, secrets: readonly string[]): string {
  const signed = `${id}.${timestampSeconds}.${body}`
  return secrets
    .map((secret) => {
      const key = Buffer.from(secret.slice(prefix.length), 'base64')
      return `v1,${createHmac('sha256', key).update(signed).digest('base64')}`
    })
    .join(' ')
}

/** Whose secret it is, is part of the seal. */
export interface SecretOwner {
  id: string
  accountId: string
}

export function sealSecret(
  sealing: Pick<Sealing, 'seal' | 'keyId'>,
  secret: string,
  owner: SecretOwner,
): SealedSecret {
  return { sealed: sealing.seal(secret, sealIdentity(owner)), keyId: sealing.keyId }
}

/** null where no known key opens it. */
export function openSecret(
  sealing: Pick<Sealing, 'open'>,
  { sealed, keyId }: SealedSecret,
  owner: SecretOwner,
): string | null {
  return sealing.open(sealed, keyId, sealIdentity(owner))
}

function sealIdentity({ id, accountId }: SecretOwner): string {
  return `webhook secret ${id} of ${accountId}`
}
