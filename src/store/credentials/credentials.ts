import type { CredentialState } from '../sql/schema.ts'

/** The store's part for what opens an owner's spreadsheets at a provider. It holds sealed tokens and opens none. */
export interface CredentialStore {
  /**
   * One connection per account and provider: connecting again keeps the id, so every sheet goes on. The credential
   * is valid again and its version one higher. `seal` is told what the token will be stored under, because that is
   * part of the seal; it must not ask the store for anything.
   */
  saveCredential(credential: NewCredential): Promise<CredentialRecord>
  findCredential(credentialId: string): Promise<CredentialRecord | null>
  credentialOf(accountId: string, provider: string): Promise<CredentialRecord | null>
  /**
   * Only if `version` is still the one stored and valid: a token that was replaced meanwhile says nothing of its
   * successor. Returns whether it did.
   */
  expireCredential(credentialId: string, version: number, reason: string): Promise<boolean>
  /** Sealed anew under another key: only if version and key are still these. Returns whether it did. */
  resealCredential(
    credentialId: string,
    version: number,
    formerKeyId: string,
    sealed: SealedToken,
  ): Promise<boolean>
  /** Forgets the token; the sheets stay, and need a reconnect until the account connects again. */
  forgetCredential(credentialId: string): Promise<void>
  /** Those that hold a token which another key sealed. */
  credentialsNotUnderKey(keyId: string): Promise<CredentialRecord[]>
}

export interface NewCredential {
  accountId: string
  provider: string
  subject: string
  label: string
  scopes: string
  seal(identity: CredentialIdentity): SealedToken
}

export interface CredentialIdentity {
  credentialId: string
  accountId: string
  version: number
}

export interface SealedToken {
  sealedToken: string
  keyId: string
}

export interface CredentialRecord extends SealedToken {
  id: string
  accountId: string
  provider: string
  /** Who it is at the provider, by the provider's own unchanging name. */
  subject: string
  /** Who it is, for people: an e-mail address. */
  label: string
  /** Separated by spaces. */
  scopes: string
  version: number
  state: CredentialState
  expiredReason: string | null
  createdAtMs: number
  connectedAtMs: number
}
