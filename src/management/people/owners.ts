import { clientNetwork } from '../../shares/client-network.ts'
import type { OwnerRecord } from '../../store/owners/owners.ts'
import type { Store } from '../../store/store.ts'
import { problemWithSlug } from '../accounts/slug.ts'
import { Problem } from '../problem.ts'
import { maxPasswordBytes, minPasswordCharacters, type Passwords } from './passwords.ts'
import { isRecent, randomSecret, type Session, type SignIn, secretHash } from './sign-in.ts'
import {
  knownAddressesPerNetwork,
  perGuesser,
  perGuesserInSiege,
  perNetwork,
  siege,
  signUpsPerNetwork,
  type Throttle,
} from './throttle.ts'

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
  setPassword(session: Session, wish: PasswordWish): Promise<Problem | null>
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
  store: Pick<
    Store,
    | 'signUp'
    | 'ownerOf'
    | 'ownerByEmail'
    | 'createOwner'
    | 'setPassword'
    | 'createSessionByPassword'
    | 'endSessionsOf'
  >
  passwords: Passwords
  signIn: SignIn
  throttle: Throttle
  /** The plan of those who sign up; null = nobody can. */
  signUpPlan: string | null
  /** Called with each who has an address now that nobody has verified. */
  welcome(owner: OwnerRecord): Promise<void>
}

export function createOwners(parts: OwnersParts): Owners {
  const { store, passwords, signIn, throttle, signUpPlan, welcome } = parts
  return {
    canSignUp: signUpPlan !== null,
    of: (accountId) => store.ownerOf(accountId),
    async signUp({ email, password, slug }, { address, formerSessionId }) {
      if (signUpPlan === null) return signUpOff
      const wrong = problemWithSlug(slug)
      if (wrong) return new Problem(sentence(wrong), { field: 'slug' })
      const weak = problemWithPassword(password, 'password')
      if (weak) return weak
      const whom = clientNetwork(address)
      const known = [{ kind: 'sign-up known', whom, steps: knownAddressesPerNetwork }] as const
      const wait =
        (await throttle.problemNow(known)) ??
        (await throttle.attempt([{ kind: 'sign-up', whom, steps: signUpsPerNetwork }]))
      if (wait) return wait
      // Before anything is looked up: how long the answer takes must not tell whether the address is known.
      const passwordHash = await passwords.hash(password, whom)
      if (passwordHash === 'busy') return busy
      const sessionId = randomSecret()
      const sessionHash = secretHash(sessionId)
      const owner = { email: foldEmail(email), passwordHash, googleSubject: null }
      const made = await store.signUp({ slug, plan: signUpPlan, sessionHash, ...owner })
      // Slugs stand in public addresses, so that one is taken is no secret. That an e-mail address is known must be told
      // here, because nobody can be sent a message instead: last of all, and to one network only a few times.
      if (made === 'slug_taken') return slugTaken
      if (made === 'email_taken') {
        await throttle.count(known)
        return notWithThese
      }
      if (formerSessionId !== null) await signIn.end(formerSessionId)
      await welcome(made.owner)
      return sessionId
    },
    async signIn({ email, password }, { address, formerSessionId }) {
      const whom = clientNetwork(address)
      const wait = await waitAtSignIn(foldEmail(email), whom)
      if (wait) return wait
      const find = () => store.ownerByEmail(foldEmail(email))
      return enter(find, { password, wrong: wrongPair, whom }, formerSessionId)
    },
    async confirm(session, password, { formerSessionId }) {
      const { account } = session
      const owner = await store.ownerOf(account.id)
      if (!owner?.passwordHash) return noPassword
      const wait = await waitInSession(session)
      if (wait) return wait
      const guess = { password, wrong: wrongPassword, whom: account.id }
      return enter(() => store.ownerOf(account.id), guess, formerSessionId)
    },
    async setPassword(session, { current, next, email }) {
      const { account, idHash } = session
      const weak = problemWithPassword(next, 'next')
      if (weak) return weak
      const owner = await store.ownerOf(account.id)
      if (!owner && email === null) return new Problem('Enter an email to sign in with.', { field: 'email' })
      if (owner?.passwordHash) {
        if (current === null) return wrongCurrent
        const wait = await waitInSession(session)
        if (wait) return wait
        const guess = { password: current, wrong: wrongCurrent, whom: account.id }
        const problem = await withPassword(
          () => store.ownerOf(account.id),
          guess,
          async (checked, from) => {
            const to = await passwords.hash(next, account.id)
            if (to === 'busy') return busy
            return (await store.setPassword(checked.id, { from, to })) ? null : 'changed'
          },
        )
        if (problem) return problem
      } else {
        if (!isRecent(session)) return signInAgain
        // Here, too, somebody could hear which e-mail addresses are known.
        const wait = await waitInSession(session)
        if (wait) return wait
        const problem = await setFirstPassword(account.id, owner, next, email ?? '')
        if (problem) return problem
      }
      await store.endSessionsOf(account.id, idHash)
      return null
    },
  }

  /**
   * Counted apart for each network: if what is tried elsewhere could use an owner's tries up, anyone who knows the e-mail
   * address could keep them out. When very many networks try, each gets fewer tries, the owner's too; but it gets some.
   */
  async function waitAtSignIn(email: string, network: string): Promise<Problem | null> {
    const everywhere = [{ kind: 'sign-in of', whom: email, steps: siege }] as const
    const isBesieged = (await throttle.problemNow(everywhere)) !== null
    const steps = isBesieged ? perGuesserInSiege : perGuesser
    const wait = await throttle.attempt([
      { kind: 'sign-in', whom: `${email} ${network}`, steps },
      { kind: 'sign-in from', whom: network, steps: perNetwork },
    ])
    if (!wait) await throttle.count(everywhere)
    return wait
  }

  /** Whoever has a session is told apart from all who only know the e-mail address, and from other sessions. */
  function waitInSession({ idHash }: Session): Promise<Problem | null> {
    return throttle.attempt([{ kind: 'confirm', whom: idHash, steps: perGuesser }])
  }

  async function setFirstPassword(
    accountId: string,
    owner: OwnerRecord | null,
    password: string,
    email: string,
  ): Promise<Problem | null> {
    const passwordHash = await passwords.hash(password, accountId)
    if (passwordHash === 'busy') return busy
    if (owner) {
      const isSet = await store.setPassword(owner.id, { from: null, to: passwordHash })
      return isSet ? null : wrongCurrent
    }
    const fresh = { email: foldEmail(email), passwordHash, googleSubject: null }
    const made = await store.createOwner({ accountId, ...fresh })
    if (made === 'email_taken') return emailTaken
    await welcome(made)
    return null
  }

  /** The id of a new session, for whoever knows the password. */
  function enter(find: FindOwner, guess: Guess, formerSessionId: string | null): Promise<string | Problem> {
    return withPassword(find, guess, async (owner, from, isOutdated) => {
      const renewed = isOutdated ? await passwords.hash(guess.password, guess.whom) : 'busy'
      const to = renewed === 'busy' ? from : renewed
      const sessionId = randomSecret()
      if (!(await store.createSessionByPassword(secretHash(sessionId), owner.id, { from, to })))
        return 'changed'
      if (formerSessionId !== null) await signIn.end(formerSessionId)
      await signIn.endOldest(owner.accountId)
      return sessionId
    })
  }

  /**
   * The check is slow, and the password may be another by its end. What was checked is worth nothing then, so the
   * guess is checked against what is there now: a new password, or the same one hashed anew by another sign-in.
   */
  async function withPassword<T>(
    find: FindOwner,
    { password, wrong, whom }: Guess,
    act: (owner: OwnerRecord, checkedHash: string, isOutdated: boolean) => Promise<T | 'changed'>,
  ): Promise<T | Problem> {
    if (Buffer.byteLength(password) > maxPasswordBytes) return wrong
    for (let checks = 0; checks < maxChecks; checks++) {
      const owner = await find()
      const check = await passwords.check(password, owner?.passwordHash ?? null, whom)
      if (check === 'busy') return busy
      if (!owner?.passwordHash || !check.isRight) return wrong
      const outcome = await act(owner, owner.passwordHash, check.isOutdated)
      if (outcome !== 'changed') return outcome
    }
    return busy
  }
}

type FindOwner = () => Promise<OwnerRecord | null>

interface Guess {
  password: string
  wrong: Problem
  /** Whose turn it takes: a network's, or, in a session, the account's. */
  whom: string
}

/** A password that changes again and again during one sign-in is nobody's everyday. */
const maxChecks = 3

/** One form for all the ways in which people write the same address. */
export function foldEmail(email: string): string {
  return email.trim().normalize('NFC').toLowerCase()
}

export function problemWithPassword(password: string, field: string): Problem | null {
  if ([...password].length < minPasswordCharacters)
    return new Problem(`Use at least ${minPasswordCharacters} characters.`, { field })
  if (Buffer.byteLength(password) > maxPasswordBytes)
    return new Problem('Use 200 characters or fewer.', { field })
  return null
}

/** A problem's words as a sentence of its own. */
export function sentence(words: string): string {
  const text = words.charAt(0).toUpperCase() + words.slice(1)
  return /[.!?]$/.test(text) ? text : `${text}.`
}

const signUpOff = new Problem(
  'Only an administrator can create accounts on this server. Ask them for a sign-in link.',
  {
    kind: 'not_allowed',
  },
)
const slugTaken = new Problem('This account name is taken. Choose another.', {
  kind: 'taken',
  field: 'slug',
})
const notWithThese = new Problem(
  'An account can’t be created with these details. If you already have one, sign in instead.',
  { kind: 'taken' },
)
const wrongPair = new Problem('Incorrect email or password.', { kind: 'unknown_person' })
const wrongPassword = new Problem('Incorrect password.', { field: 'password' })
const noPassword = new Problem('This account has no password yet. Sign in again to continue.', {
  kind: 'not_allowed',
})
export const signInAgain = new Problem('Confirm it’s you to continue. You signed in a while ago.', {
  kind: 'recent_sign_in_required',
})
export const emailTaken = new Problem('You can’t use this email. If you already have an account, sign in.', {
  kind: 'taken',
  field: 'email',
})
const wrongCurrent = new Problem('Incorrect current password.', { field: 'current' })
export const busy = new Problem('Many people are signing in right now. Try again in a moment.', {
  kind: 'busy',
  retryAfterSeconds: 2,
})
