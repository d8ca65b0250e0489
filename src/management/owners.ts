import type { Clock } from '../clock.ts'
import type { OwnerRecord } from '../store/owners.ts'
import type { Store } from '../store/store.ts'
import { maxPasswordBytes, minPasswordCharacters, type Passwords } from './passwords.ts'
import { Problem } from './problem.ts'
import { isRecent, randomSecret, type Session, type SignIn, secretHash } from './sign-in.ts'
import { problemWithSlug } from './slug.ts'
import { perAddress, perOwner, signUpsPerAddress, type Throttle } from './throttle.ts'
import { networkOf } from './visitor-network.ts'

/** The people behind accounts: how they come, and how they show that it is they. */
export interface Owners {
  canSignUp: boolean
  of(accountId: string): Promise<OwnerRecord | null>
  /** Account, owner and session; the id of the session. */
  signUp(wish: SignUpWish, visitor: Visitor): Promise<string | Problem>
  /** The id of a new session. */
  signIn(wish: SignInWish, visitor: Visitor): Promise<string | Problem>
  /** Shows once more that it is they, by the password: the id of a new session, which takes the place of this one. */
  confirm(session: Session, password: string, visitor: Visitor): Promise<string | Problem>
  /** Other sessions end. An account without an owner gets one by it. */
  setPassword(session: Session, wish: PasswordWish, visitor: Visitor): Promise<Problem | null>
}

/** Who knocks. */
export interface Visitor {
  address: string
  /** As the browser sent it; it ends when another session begins. */
  formerSessionId: string | null
}

export interface SignInWish {
  email: string
  password: string
}

export interface SignUpWish extends SignInWish {
  slug: string
}

export interface PasswordWish {
  /** null where there is none yet. */
  current: string | null
  next: string
  /** For an account that has no owner yet. */
  email: string | null
}

export interface OwnersParts {
  store: Pick<Store, 'signUp' | 'ownerOf' | 'ownerByEmail' | 'createOwner' | 'setPassword' | 'endSessionsOf'>
  passwords: Passwords
  signIn: SignIn
  throttle: Throttle
  /** The plan of those who sign up; null = nobody can. */
  signUpPlan: string | null
  clock: Clock
}

export function createOwners(parts: OwnersParts): Owners {
  const { store, passwords, signIn, throttle, signUpPlan, clock } = parts
  return {
    canSignUp: signUpPlan !== null,
    of: (accountId) => store.ownerOf(accountId),
    async signUp({ email, password, slug }, { address, formerSessionId }) {
      if (signUpPlan === null) return signUpOff
      const wrong = problemWithSlug(slug)
      if (wrong) return new Problem(sentence(wrong), { field: 'slug' })
      const weak = problemWithPassword(password, 'password')
      if (weak) return weak
      const wait = await throttle.attempt([
        { name: `sign-up ${networkOf(address)}`, steps: signUpsPerAddress },
      ])
      if (wait) return wait
      // Before anything is looked up: how long the answer takes must not tell whether the address is known.
      const passwordHash = await passwords.hash(password)
      if (passwordHash === 'busy') return busy
      const sessionId = randomSecret()
      const sessionHash = secretHash(sessionId)
      const owner = { email: foldEmail(email), passwordHash, googleSubject: null }
      const made = await store.signUp({ slug, plan: signUpPlan, sessionHash, ...owner })
      // Slugs stand in public addresses, so that one is taken is no secret; whether an e-mail address is known is.
      if (made === 'slug_taken') return slugTaken
      if (made === 'email_taken') return notWithThese
      if (formerSessionId !== null) await signIn.end(formerSessionId)
      return sessionId
    },
    async signIn({ email, password }, { address, formerSessionId }) {
      const wait = await throttled(email, address)
      if (wait) return wait
      const owner = await store.ownerByEmail(foldEmail(email))
      const problem = await problemWithGuess(owner, password, wrongPair)
      if (problem || !owner) return problem ?? wrongPair
      return signIn.begin(owner.accountId, formerSessionId)
    },
    async confirm({ account }, password, { address, formerSessionId }) {
      const owner = await store.ownerOf(account.id)
      if (!owner?.passwordHash) return noPassword
      const problem =
        (await throttled(owner.email, address)) ?? (await problemWithGuess(owner, password, wrongPassword))
      return problem ?? signIn.begin(account.id, formerSessionId)
    },
    async setPassword(session, { current, next, email }, { address }) {
      const { account, idHash } = session
      const weak = problemWithPassword(next, 'next')
      if (weak) return weak
      const owner = await store.ownerOf(account.id)
      if (!owner && email === null)
        return new Problem('Give an e-mail address to sign in with.', { field: 'email' })
      if (owner?.passwordHash) {
        if (current === null) return wrongCurrent
        const problem =
          (await throttled(owner.email, address)) ?? (await problemWithGuess(owner, current, wrongCurrent))
        if (problem) return problem
      } else if (!isRecent(session, clock.nowMs())) return signInAgain
      const passwordHash = await passwords.hash(next)
      if (passwordHash === 'busy') return busy
      if (owner) await store.setPassword(owner.id, passwordHash)
      else {
        const fresh = { email: foldEmail(email ?? ''), passwordHash, googleSubject: null }
        const made = await store.createOwner({ accountId: account.id, ...fresh })
        if (made === 'email_taken') {
          return new Problem('This address cannot be used here. Choose another.', {
            kind: 'taken',
            field: 'email',
          })
        }
      }
      await store.endSessionsOf(account.id, idHash)
      return null
    },
  }

  /** One count for all the doors at which somebody's password can be guessed. */
  function throttled(email: string, address: string): Promise<Problem | null> {
    return throttle.attempt([
      { name: `sign-in ${secretHash(foldEmail(email))}`, steps: perOwner },
      { name: `sign-in ${networkOf(address)}`, steps: perAddress },
    ])
  }

  async function problemWithGuess(
    owner: OwnerRecord | null,
    password: string,
    wrong: Problem,
  ): Promise<Problem | null> {
    if (Buffer.byteLength(password) > maxPasswordBytes) return wrong
    const check = await passwords.check(password, owner?.passwordHash ?? null)
    if (check === 'busy') return busy
    if (!owner || !check.isRight) return wrong
    if (check.isOutdated) {
      const renewed = await passwords.hash(password)
      if (renewed !== 'busy') await store.setPassword(owner.id, renewed)
    }
    return null
  }
}

/** One form for all the ways in which people write the same address. */
export function foldEmail(email: string): string {
  return email.trim().normalize('NFC').toLowerCase()
}

function problemWithPassword(password: string, field: string): Problem | null {
  if ([...password].length < minPasswordCharacters)
    return new Problem(`A password has at least ${minPasswordCharacters} characters.`, { field })
  if (Buffer.byteLength(password) > maxPasswordBytes)
    return new Problem('This password is too long; 200 characters are plenty.', { field })
  return null
}

/** A problem's words as a sentence of its own. */
export function sentence(words: string): string {
  const text = words.charAt(0).toUpperCase() + words.slice(1)
  return /[.!?]$/.test(text) ? text : `${text}.`
}

const signUpOff = new Problem('Accounts are made by whoever runs this server. Ask them for a sign-in link.', {
  kind: 'not_allowed',
})
const slugTaken = new Problem('This account address is taken. Choose another.', {
  kind: 'taken',
  field: 'slug',
})
const notWithThese = new Problem(
  'An account could not be made with these details. If you have one already, sign in instead.',
  { kind: 'taken' },
)
const wrongPair = new Problem('The e-mail address or the password is wrong.', { kind: 'unknown_person' })
const wrongPassword = new Problem('This is not your password.', { field: 'password' })
const noPassword = new Problem('This account has no password yet. Sign in again to go on.', {
  kind: 'not_allowed',
})
export const signInAgain = new Problem('Show that it is you, then go on: your sign-in is a while ago.', {
  kind: 'recent_sign_in_required',
})
const wrongCurrent = new Problem('This is not your current password.', { field: 'current' })
const busy = new Problem('Many people are signing in right now. Try again in a moment.', {
  kind: 'busy',
  retryAfterSeconds: 2,
})
