import type { AccountRecord } from '../accounts/accounts.ts'

/** The store's part for the people behind accounts. E-mail addresses come case-folded and are compared as they are. */
export interface OwnerStore {
  /** Account, owner and session, all or none. */
  signUp(wish: SignUp): Promise<{ account: AccountRecord; owner: OwnerRecord } | 'slug_taken' | 'email_taken'>
  /** For an account that was made without one. Each account has one owner. */
  createOwner(owner: NewOwner & { accountId: string }): Promise<OwnerRecord | 'email_taken'>
  ownerOf(accountId: string): Promise<OwnerRecord | null>
  ownerByEmail(email: string): Promise<OwnerRecord | null>
  ownerByGoogle(subject: string): Promise<OwnerRecord | null>
  /** False when `from` is no longer the owner's: somebody else has changed it since it was read. */
  setPassword(ownerId: string, change: PasswordChange): Promise<boolean>
  /**
   * A session for an owner whose password was checked against `from`, which becomes `to` where it was hashed anew.
   * False, and no session, when `from` is no longer the owner's. One that is made is there for whoever ends the
   * owner's sessions after a change.
   */
  createSessionByPassword(sessionHash: string, ownerId: string, change: PasswordChange): Promise<boolean>
  /** From now on this Google account signs in as this owner; false when it is another's already. */
  setGoogleSubject(ownerId: string, subject: string): Promise<boolean>

  accountById(accountId: string): Promise<AccountRecord | null>
  /**
   * The former slug stays reserved for this account, which may take it back; to everyone else it is taken, for as long
   * as `slugReservedMs` says. `too_often`: as many are reserved for it as may be.
   */
  renameAccount(accountId: string, slug: string): Promise<'renamed' | 'slug_taken' | 'too_often'>
  /** With everything that belongs to it, all or nothing. Its slugs stay reserved, for nobody. */
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

/** Hashes; null where there is no password yet. */
export interface PasswordChange {
  from: string | null
  to: string
}
