import { hash } from 'node:crypto'
import type { Sealing } from '../../secrets/sealing.ts'
import { clientNetwork } from '../../shares/client-network.ts'
import type { Store } from '../../store/store.ts'
import { suggestSlug } from '../accounts/slug.ts'
import type { ConsentAnswer } from '../connections/owner-connection.ts'
import type { Problem } from '../problem.ts'
import type { GoogleIdentity, GooglePerson } from './google-identity.ts'
import { foldEmail, type Visitor } from './owners.ts'
import { randomSecret, type Session, type SignIn, secretHash } from './sign-in.ts'
import { perNetwork, signUpsPerNetwork, type Throttle } from './throttle.ts'

/** "Continue with Google": by Google's word on who it is, and by nothing else. */
export interface GoogleSignIn {
  /** Whether the operator has set Google up. */
  isConfigured: boolean
  /**
   * `attempt` goes into a cookie: only this browser can end what it began. Nothing is kept here, so that strangers can
   * begin as often as they like. null where Google is not set up.
   */
  start(returnTo: string, address: string): Promise<{ url: string; attempt: string } | Problem | null>
  /** null when this answer belongs to no attempt of this browser to sign in. */
  finish(answer: ConsentAnswer, browser: Browser): Promise<SignedIn | SignInFailure | null>
}

export interface Browser {
  /** What `start` gave it. */
  attempt: string | null
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
  store: Pick<Store, 'nowMs' | 'ownerByGoogle' | 'ownerByEmail' | 'setGoogleSubject' | 'signUp'>
  sealing: Pick<Sealing, 'keyId' | 'seal' | 'open'>
  signIn: SignIn
  throttle: Throttle
  /** null where the operator has not set Google up. */
  identity: GoogleIdentity | null
  /** null = nobody can sign up. */
  signUpPlan: string | null
  baseUrl(): string
}

/** Somebody who went to Google and is expected back. Only what is sealed here is believed. */
interface SignInAttempt {
  stateHash: string
  /** PKCE (RFC 7636). */
  codeVerifier: string
  returnTo: string
  /** By the store's clock, which all instances share. */
  begunAtMs: number
}

const attemptLifeMs = 10 * 60_000
const attemptSeal = 'google sign-in attempt'
const slugsTried = 20

export function createGoogleSignIn(parts: GoogleSignInParts): GoogleSignIn {
  const { store, sealing, signIn, throttle, identity, signUpPlan, baseUrl } = parts
  // The same as for connecting: an operator names one address to Google.
  const redirectUri = () => `${baseUrl()}/connect/google/callback`

  return {
    isConfigured: identity !== null,
    async start(returnTo, address) {
      if (!identity) return null
      const wait = await throttle.attempt([
        { kind: 'google', whom: clientNetwork(address), steps: perNetwork },
      ])
      if (wait) return wait
      const [state, codeVerifier] = [randomSecret(), randomSecret()]
      const stateHash = secretHash(state)
      const codeChallenge = hash('sha256', codeVerifier, 'base64url')
      const asked = { state, nonce: stateHash, codeChallenge, redirectUri: redirectUri() }
      const begunAtMs = await store.nowMs()
      return {
        url: identity.askUrl(asked),
        attempt: sealAttempt({ stateHash, codeVerifier, returnTo, begunAtMs }),
      }
    },
    async finish({ state, code, error }, { attempt: brought, session, visitor }) {
      if (!identity || state === null || brought === null) return null
      const attempt = openAttempt(brought)
      if (attempt?.stateHash !== secretHash(state)) return null
      if ((await store.nowMs()) - attempt.begunAtMs >= attemptLifeMs) return null
      if (error === 'access_denied') return 'denied'
      if (code === null) return 'failed'
      const { codeVerifier: verifier, stateHash: nonce, returnTo } = attempt
      // Google takes a code once: an attempt that is brought a second time ends here.
      const person = await identity.identify({ code, verifier, nonce, redirectUri: redirectUri() })
      if (!person?.isEmailVerified) return 'failed'
      const entered = await enter(person, session, visitor)
      return typeof entered === 'string' ? entered : { ...entered, returnTo }
    },
  }

  function sealAttempt(attempt: SignInAttempt): string {
    return `${sealing.keyId}.${sealing.seal(JSON.stringify(attempt), attemptSeal)}`
  }

  function openAttempt(brought: string): SignInAttempt | null {
    const [keyId = '', ...rest] = brought.split('.')
    const text = sealing.open(rest.join('.'), keyId, attemptSeal)
    return text === null ? null : (JSON.parse(text) as SignInAttempt)
  }

  async function enter(
    person: GooglePerson,
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
    { email, subject }: GooglePerson,
    { address, formerSessionId }: Visitor,
  ): Promise<{ sessionId: string } | SignInFailure> {
    if (signUpPlan === null) return 'unknown'
    const newcomer = [{ kind: 'sign-up', whom: clientNetwork(address), steps: signUpsPerNetwork }] as const
    if (await throttle.attempt(newcomer)) return 'failed'
    // Google has seen that the address is theirs; without that nobody comes here.
    const owner = {
      email: foldEmail(email),
      passwordHash: null,
      googleSubject: subject,
      isEmailVerified: true,
    }
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
