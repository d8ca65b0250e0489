import { hash } from 'node:crypto'
import type { Store } from '../store/store.ts'
import type { ConsentAnswer } from './google-connection.ts'
import type { GoogleIdentity, Person } from './google-identity.ts'
import { foldEmail, type Visitor } from './owners.ts'
import { randomSecret, type Session, type SignIn, secretHash } from './sign-in.ts'
import { suggestSlug } from './slug.ts'
import { signUpsPerAddress, type Throttle } from './throttle.ts'
import { networkOf } from './visitor-network.ts'

/** "Continue with Google": by Google's word on who it is, and by nothing else. */
export interface GoogleSignIn {
  /** `browserSecret` goes into a cookie: only this browser can end what it began. */
  start(returnTo: string): Promise<{ url: string; browserSecret: string } | null>
  /** null when this answer belongs to no attempt of this browser to sign in. */
  finish(answer: ConsentAnswer, browser: Browser): Promise<SignedIn | SignInFailure | null>
}

export interface Browser {
  secret: string | null
  /** Whoever is signed in there already. */
  session: Session | null
  visitor: Visitor
}

export interface SignedIn {
  sessionId: string
  returnTo: string
}

/** `has_password`: an owner with this e-mail address signs in otherwise, and nobody has shown yet that it is theirs. */
export type SignInFailure = 'denied' | 'failed' | 'unknown' | 'has_password'

export interface GoogleSignInParts {
  store: Pick<
    Store,
    | 'createSignInAttempt'
    | 'takeSignInAttempt'
    | 'ownerByGoogle'
    | 'ownerByEmail'
    | 'setGoogleSubject'
    | 'signUp'
  >
  signIn: SignIn
  throttle: Throttle
  /** null where the operator has not set Google up. */
  identity: GoogleIdentity | null
  /** null = nobody can sign up. */
  signUpPlan: string | null
  baseUrl(): string
}

const attemptLifeMs = 10 * 60_000
const slugsTried = 20

export function createGoogleSignIn(parts: GoogleSignInParts): GoogleSignIn {
  const { store, signIn, throttle, identity, signUpPlan, baseUrl } = parts
  // The same as for connecting: an operator names one address to Google.
  const redirectUri = () => `${baseUrl()}/connect/google/callback`

  return {
    async start(returnTo) {
      if (!identity) return null
      const [state, browserSecret, codeVerifier] = [randomSecret(), randomSecret(), randomSecret()]
      const attempt = {
        stateHash: secretHash(state),
        browserHash: secretHash(browserSecret),
        codeVerifier,
        returnTo,
      }
      await store.createSignInAttempt(attempt, attemptLifeMs)
      const codeChallenge = hash('sha256', codeVerifier, 'base64url')
      return { url: identity.askUrl({ state, codeChallenge, redirectUri: redirectUri() }), browserSecret }
    },
    async finish({ state, code, error }, { secret, session, visitor }) {
      if (!identity || state === null || secret === null) return null
      const attempt = await store.takeSignInAttempt(secretHash(state), secretHash(secret))
      if (!attempt) return null
      if (error === 'access_denied') return 'denied'
      if (code === null) return 'failed'
      const { codeVerifier: verifier, returnTo } = attempt
      const person = await identity.identify({ code, verifier, redirectUri: redirectUri() })
      if (!person?.isEmailVerified) return 'failed'
      const entered = await enter(person, session, visitor)
      return typeof entered === 'string' ? entered : { ...entered, returnTo }
    },
  }

  async function enter(
    person: Person,
    session: Session | null,
    visitor: Visitor,
  ): Promise<{ sessionId: string } | SignInFailure> {
    const begin = async (accountId: string) => ({
      sessionId: await signIn.begin(accountId, visitor.formerSessionId),
    })
    const known = await store.ownerByGoogle(person.subject)
    if (known) return begin(known.accountId)
    const namesake = await store.ownerByEmail(foldEmail(person.email))
    if (!namesake) return signUp(person, visitor)
    // Nobody's address is verified at sign-up: whoever signed up with this one before its owner came would share the
    // account with them from then on. So only those who are in already may add Google as another way in.
    if (session?.account.id !== namesake.accountId) return 'has_password'
    await store.setGoogleSubject(namesake.id, person.subject)
    return begin(namesake.accountId)
  }

  async function signUp(
    { email, subject }: Person,
    { address, formerSessionId }: Visitor,
  ): Promise<{ sessionId: string } | SignInFailure> {
    if (signUpPlan === null) return 'unknown'
    const steps = signUpsPerAddress
    if (await throttle.attempt([{ name: `sign-up ${networkOf(address)}`, steps }])) return 'failed'
    const owner = { email: foldEmail(email), passwordHash: null, googleSubject: subject }
    const taken = new Set<string>()
    for (let tried = 0; tried < slugsTried; tried++) {
      const slug = suggestSlug(email.split('@', 1)[0] ?? '', taken)
      const sessionId = randomSecret()
      const wish = { slug, plan: signUpPlan, sessionHash: secretHash(sessionId), ...owner }
      const made = await store.signUp(wish)
      if (made === 'email_taken') return 'failed'
      if (made !== 'slug_taken') {
        if (formerSessionId !== null) await signIn.end(formerSessionId)
        return { sessionId }
      }
      taken.add(slug)
    }
    return 'failed'
  }
}
