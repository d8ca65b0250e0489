import type { AccountRecord } from './store.ts'

/** The store's part for the people behind accounts. E-mail addresses come case-folded and are compared as they are. */
export interface OwnerStore {
  /** Account, owner and session, all or none. */
  signUp(wish: SignUp): Promise<{ account: AccountRecord; owner: OwnerRecord } | 'slug_taken' | 'email_taken'>
  /** For an account that was made without one. Each account has one owner. */
  createOwner(owner: NewOwner & { accountId: string }): Promise<OwnerRecord | 'email_taken'>
  ownerOf(accountId: string): Promise<OwnerRecord | null>
  ownerByEmail(email: string): Promise<OwnerRecord | null>
  ownerByGoogle(subject: string): Promise<OwnerRecord | null>
  setPassword(ownerId: string, passwordHash: string): Promise<void>
  /** From now on this Google account signs in as this owner; false when it is another's already. */
  setGoogleSubject(ownerId: string, subject: string): Promise<boolean>

  createSignInAttempt(attempt: SignInAttempt): Promise<void>
  /** Once, unless it has expired. Another browser's attempt is neither taken nor destroyed. */
  takeSignInAttempt(stateHash: string, browserHash: string): Promise<SignInAttempt | null>

  accountById(accountId: string): Promise<AccountRecord | null>
  renameAccount(accountId: string, slug: string): Promise<'renamed' | 'slug_taken'>
  /** With everything that belongs to it, all or nothing. */
  deleteAccount(accountId: string): Promise<void>
}

export interface NewOwner {
  email: string
  passwordHash: string | null
  googleSubject: string | null
}

export interface SignUp extends NewOwner {
  slug: string
  plan: string
  sessionHash: string
}

export interface OwnerRecord extends NewOwner {
  id: string
  accountId: string
  createdAtMs: number
}

/** Somebody who went to Google to sign in and is expected back, in the same browser. */
export interface SignInAttempt {
  stateHash: string
  browserHash: string
  /** PKCE (RFC 7636). */
  codeVerifier: string
  returnTo: string
  expiresAtMs: number
}
