import type { AccountRecord } from '../accounts/accounts.ts'

/**
 * The store's part for owners at the dashboard. All ids here are hashes: what opens a session is nowhere. Time is the
 * store's own.
 */
export interface SessionStore {
  /** Now, by the store's clock: for what is handed out sealed instead of being kept here. */
  nowMs(): Promise<number>
  createSession(idHash: string, accountId: string): Promise<void>
  /**
   * The account of a living session; null when unknown, idle for longer than `idleMs` or older than `maxAgeMs`. One
   * found dead is removed, so it stays dead. When it was last seen is written at most once a minute.
   */
  findSession(idHash: string, limits: SessionLimits): Promise<LivingSession | null>
  /** How many of an account live. */
  countSessions(accountId: string, limits: SessionLimits): Promise<number>
  /** The console's keys that it asked for end with it, here and in the following. */
  endSession(idHash: string): Promise<void>
  /** All but `exceptHash`, if there is one to spare. */
  endSessionsOf(accountId: string, exceptHash?: string): Promise<void>
  /**
   * Ends the oldest of an account, so that no more than `most` live, and forgets those that are over. Returns how many it ended that
   * lived.
   */
  keepNewestSessions(accountId: string, most: number, limits: SessionLimits): Promise<number>

  createSignInLink(hash: string, accountId: string, lifeMs: number): Promise<void>
  /** The id of its account, once; null when it was taken before, never existed or has expired. Only a success takes it. */
  takeSignInLink(hash: string): Promise<string | null>

  /** An account has only so many of them; the oldest goes. */
  createConnectAttempt(attempt: ConnectAttempt, lifeMs: number): Promise<void>
  /** Once, unless it has expired. Another session's attempt is neither taken nor destroyed. */
  takeConnectAttempt(
    stateHash: string,
    sessionHash: string,
  ): Promise<(ConnectAttempt & { leftMs: number }) | null>
}

export interface SessionLimits {
  idleMs: number
  maxAgeMs: number
}

export interface LivingSession {
  account: AccountRecord
  /** For telling one from another. */
  createdAtMs: number
  ageMs: number
}

/** An owner who went to the provider to allow access and is expected back. */
export interface ConnectAttempt {
  stateHash: string
  sessionHash: string
  accountId: string
  provider: string
  /** PKCE (RFC 7636): only whoever began the attempt can end it. */
  codeVerifier: string
  /** The page of the dashboard from which the owner went. */
  returnTo: string
}
