import type { SealedToken } from './credentials.ts'

/** The store's part for what a provider gave lately: one refresh of a credential serves every instance. */
export interface AccessTokenStore {
  /** Null when there is none, or its time is over. */
  findAccessToken(credentialId: string): Promise<StoredAccessToken | null>
  /** Takes the place of the one before. One for a version that is no longer the credential's is not kept. */
  saveAccessToken(credentialId: string, token: StoredAccessToken): Promise<void>
}

export interface StoredAccessToken extends SealedToken {
  /** Version of the credential that it was made from. */
  version: number
  expiresInMs: number
}
