import type { AccountRecord } from '../accounts/accounts.ts'
import type { MailLinkKind } from '../sql/schema.ts'

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
  /** Another address, which nobody has verified yet; links that were mailed to the former one are worth nothing any more. */
  setEmail(ownerId: string, email: string): Promise<'set' | 'email_taken'>
  setAlerts(ownerId: string, isWanted: boolean): Promise<void>

  createMailLink(link: MailLink, lifeMs: number): Promise<void>
  /** Whether it can still be used; nothing is used up by asking. */
  isMailLinkGood(hash: string, kind: MailLinkKind): Promise<boolean>
  /** The owner whose address it shows to be theirs, once; null when it was used, has expired, or they have another by now. */
  verifyEmail(hash: string): Promise<OwnerRecord | null>
  /**
   * Another password for the owner to whom the link was mailed, and a session, both or none; null as above. The address is
   * verified by it, and no other link can reset the password any more. Other sessions are for the caller to end.
   */
  resetPassword(
    hash: string,
    wish: { passwordHash: string; sessionHash: string },
  ): Promise<OwnerRecord | null>

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
  /** Somebody who knows has said that the address is theirs: Google. */
  isEmailVerified?: boolean
}

export interface SignUp extends NewOwner {
  slug: string
  plan: string
  sessionHash: string
}

export interface OwnerRecord extends Omit<NewOwner, 'isEmailVerified'> {
  id: string
  accountId: string
  createdAtMs: number
  /** null = nobody has shown yet that the address is theirs. */
  emailVerifiedAtMs: number | null
  wantsAlerts: boolean
}

/** What a mail leads back with. Only the hash is kept. */
export interface MailLink {
  hash: string
  accountId: string
  kind: MailLinkKind
  email: string
}

/** Hashes; null where there is no password yet. */
export interface PasswordChange {
  from: string | null
  to: string
}
