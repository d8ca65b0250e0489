import { GoneMeanwhile } from '../../errors.ts'
import { passwordResetLetter, resetLinkLifeMs } from '../../mail/letters.ts'
import type { MailRoom } from '../../mail/mail-room.ts'
import type { Observe } from '../../reporting/observe.ts'
import { randomBase62 } from '../../secrets/random-base62.ts'
import { clientNetwork } from '../../shares/client-network.ts'
import type { Store } from '../../store/store.ts'
import { Problem } from '../problem.ts'
import { busy, foldEmail, problemWithPassword, type Visitor } from './owners.ts'
import type { Passwords } from './passwords.ts'
import { isSecretShaped, randomSecret, type SignIn, secretHash } from './sign-in.ts'
import { resetsPerAddress, resetsPerNetwork, type Throttle } from './throttle.ts'

/** Another way in for whoever has forgotten the password: by a link to the address that they sign in with. */
export interface PasswordReset {
  /** Whether or not somebody has this address, the answer is the same and takes as long. */
  ask(email: string, visitor: Visitor): Promise<Problem | null>
  /** Uses the link up; all sessions end, and a new one begins. */
  finish(wish: { token: string; password: string }, visitor: Visitor): Promise<ResetDone | Problem>
  /** What was asked for is in the store. */
  settled(): Promise<void>
}

export interface ResetDone {
  sessionId: string
  accountId: string
}

export interface PasswordResetParts {
  store: Pick<
    Store,
    'ownerByEmail' | 'accountById' | 'createMailLink' | 'isMailLinkGood' | 'resetPassword' | 'endSessionsOf'
  >
  mailRoom: MailRoom
  passwords: Passwords
  signIn: SignIn
  throttle: Throttle
  baseUrl(): string
  observe: Observe
}

export function createPasswordReset(parts: PasswordResetParts): PasswordReset {
  const { store, mailRoom, passwords, signIn, throttle, baseUrl, observe } = parts
  const underWay = new Set<Promise<void>>()
  return {
    async ask(email, { address }) {
      const whom = clientNetwork(address)
      const wait = await throttle.attempt([{ kind: 'reset from', whom, steps: resetsPerNetwork }])
      if (wait) return wait
      // Not waited for: how long it takes would tell whether there is anybody to write to.
      const writing: Promise<void> = writeTo(foldEmail(email))
        .catch((error: unknown) => {
          if (error instanceof GoneMeanwhile) return
          observe({ event: 'malfunction', reference: randomBase62(12), operation: 'none', error })
        })
        .finally(() => underWay.delete(writing))
      underWay.add(writing)
      return null
    },
    async finish({ token, password }, { address, formerSessionId }) {
      const weak = problemWithPassword(password, 'password')
      if (weak) return weak
      if (!isSecretShaped(token)) return linkUsed
      const hash = secretHash(token)
      // Hashing is slow, and not for everybody who makes up a link.
      if (!(await store.isMailLinkGood(hash, 'reset'))) return linkUsed
      const passwordHash = await passwords.hash(password, clientNetwork(address))
      if (passwordHash === 'busy') return busy
      const sessionId = randomSecret()
      const sessionHash = secretHash(sessionId)
      const owner = await store.resetPassword(hash, { passwordHash, sessionHash })
      if (!owner) return linkUsed
      await store.endSessionsOf(owner.accountId, sessionHash)
      if (formerSessionId !== null) await signIn.end(formerSessionId)
      return { sessionId, accountId: owner.accountId }
    },
    async settled() {
      await Promise.all(underWay)
    },
  }

  /** Beyond so many the box has enough of them; nobody is told, for that would say whose box there is. */
  async function writeTo(email: string): Promise<void> {
    const isEnough = await throttle.attempt([{ kind: 'reset of', whom: email, steps: resetsPerAddress }])
    if (isEnough) return
    const owner = await store.ownerByEmail(email)
    const account = owner && (await store.accountById(owner.accountId))
    if (!account) return
    const token = randomSecret()
    const { id: accountId, slug: accountSlug } = account
    await store.createMailLink({ hash: secretHash(token), accountId, kind: 'reset', email }, resetLinkLifeMs)
    const head = { baseUrl: baseUrl(), accountSlug }
    await mailRoom.post(passwordResetLetter(head, token), { accountId, email })
  }
}

const linkUsed = new Problem('This link has already been used or has expired. Request a new one.')
