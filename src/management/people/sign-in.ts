import { hash, randomBytes } from 'node:crypto'
import type { Clock } from '../../clock.ts'
import type { Observe } from '../../reporting/observe.ts'
import type { AccountRecord } from '../../store/accounts/accounts.ts'
import type { Store } from '../../store/store.ts'
import type { Accounts } from '../accounts/accounts.ts'
import { Problem } from '../problem.ts'

/** How an owner comes to the dashboard and stays there: by a link that works once, then by a session. */
export interface SignIn {
  /** For the operator to hand on. */
  createLink(accountSlug: string): Promise<SignInLink | Problem>
  /** Uses the link up, and gives the id of a new session; `formerId`, if any, ends with it. */
  follow(token: string, formerId: string | null): Promise<string | Problem>
  /** A new session of an account whose owner has shown who they are; `formerId`, if any, ends with it. */
  begin(accountId: string, formerId: string | null): Promise<string>
  /** To be called when a session was begun in another way: an account has only so many, and the oldest ends. */
  endOldest(accountId: string): Promise<void>
  /** null for one that is unknown, over or forgotten. */
  find(sessionId: string): Promise<Session | null>
  end(sessionId: string): Promise<void>
  /** All sessions of the account, this one too. */
  endAll(accountId: string): Promise<void>
}

export interface SignInLink {
  /** Opens the account, so it is shown to the one who asked and nowhere else. */
  token: string
  /** For people; the link is judged by the store's clock. */
  expiresAtMs: number
}

/** An owner at the dashboard. */
export interface Session {
  /** What the store knows the session by. */
  idHash: string
  account: AccountRecord
  /** By the store's clock: for telling one sign-in from another, not for comparing with a time of day. */
  signedInAtMs: number
  /** Since the sign-in. */
  ageMs: number
}

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const linkLifeMs = 15 * minuteMs
/** Idle 12 h, absolute 14 d (docs/reliability.md#passwords-and-sessions). */
export const sessionLimits = { idleMs: 12 * hourMs, maxAgeMs: 14 * 24 * hourMs }

/** What cannot be undone asks for a sign-in that is not older (docs/reliability.md#passwords-and-sessions). */
const recentMs = 15 * minuteMs

/** Whether it is, or was so long ago. */
export function isRecent({ ageMs }: Session, agoMs = 0): boolean {
  return ageMs - agoMs <= recentMs
}

/** 256 random bits; whatever else is sent in its place need not be looked for. */
const secretShape = /^[\w-]{43}$/

export function isSecretShaped(text: string): boolean {
  return secretShape.test(text)
}

export function createSignIn(
  store: Pick<
    Store,
    | 'createSignInLink'
    | 'takeSignInLink'
    | 'createSession'
    | 'findSession'
    | 'endSession'
    | 'endSessionsOf'
    | 'keepNewestSessions'
  >,
  accounts: Pick<Accounts, 'find'>,
  clock: Clock,
  maxSessions: number,
  observe: Observe,
): SignIn {
  return {
    async createLink(accountSlug) {
      const account = await accounts.find(accountSlug)
      if (account instanceof Problem) return account
      const token = randomSecret()
      await store.createSignInLink(secretHash(token), account.id, linkLifeMs)
      return { token, expiresAtMs: clock.nowMs() + linkLifeMs }
    },
    async follow(token, formerId) {
      const accountId = secretShape.test(token) ? await store.takeSignInLink(secretHash(token)) : null
      return accountId === null ? linkUsed : begin(accountId, formerId)
    },
    begin,
    endOldest,
    async find(sessionId) {
      if (!secretShape.test(sessionId)) return null
      const idHash = secretHash(sessionId)
      const living = await store.findSession(idHash, sessionLimits)
      if (!living) return null
      const { account, createdAtMs: signedInAtMs, ageMs } = living
      return { idHash, account, signedInAtMs, ageMs }
    },
    end,
    endAll: (accountId) => store.endSessionsOf(accountId),
  }

  async function begin(accountId: string, formerId: string | null): Promise<string> {
    if (formerId !== null) await end(formerId)
    // Always a new id: one that was planted in the browser before must not become a session.
    const sessionId = randomSecret()
    await store.createSession(secretHash(sessionId), accountId)
    await endOldest(accountId)
    return sessionId
  }

  async function endOldest(accountId: string): Promise<void> {
    const ended = await store.keepNewestSessions(accountId, maxSessions, sessionLimits)
    if (ended > 0) observe({ event: 'share_used_up', share: 'sessions', accountId })
  }

  async function end(sessionId: string): Promise<void> {
    if (secretShape.test(sessionId)) await store.endSession(secretHash(sessionId))
  }
}

const linkUsed = new Problem(
  'This link has already been used or has expired. Ask your administrator for a new one (rowport account link).',
)

export function signInUrl(baseUrl: string, { token }: SignInLink): string {
  return `${baseUrl}/sign-in-link?token=${token}`
}

export function randomSecret(): string {
  return randomBytes(32).toString('base64url')
}

/** Random secrets need no salt and no slow hash: there is nothing to guess. */
export function secretHash(secret: string): string {
  return hash('sha256', secret, 'hex')
}
