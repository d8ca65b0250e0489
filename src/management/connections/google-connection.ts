import { hash } from 'node:crypto'
import { pickedIdsIn } from '../../providers/google/oauth/google-consent.ts'
import type { GoogleOAuth } from '../../providers/google/oauth/google-oauth.ts'
import { type OAuthProblem, problemOfConsent } from '../../providers/google/oauth/oauth-problem.ts'
import { tokenIdentity } from '../../providers/remote/access-tokens.ts'
import type { Sealing } from '../../secrets/sealing.ts'
import { ProviderFailure } from '../../sheets/provider-failure.ts'
import type { CredentialRecord } from '../../store/credentials/credentials.ts'
import type { ConnectAttempt } from '../../store/sessions/sessions.ts'
import type { Store } from '../../store/store.ts'
import { signInAgain } from '../people/owners.ts'
import { isRecent, randomSecret, type Session, secretHash } from '../people/sign-in.ts'
import { Problem } from '../problem.ts'

/** An account's access to Google: asked for, granted, looked at, given back. */
export interface GoogleConnection {
  /** Whether the operator has set Google up. */
  isConfigured: boolean
  /** Where the owner's browser is sent to, for pages that must name it. */
  consentOrigin: string | null
  /** null when the account was never connected. */
  status(accountId: string): Promise<GoogleStatus | null>
  /** The address at Google to which the owner goes next. */
  start(session: Session, returnTo?: ReturnPage): Promise<string | Problem>
  /** What the owner's browser brought back from there. */
  finish(session: Session, answer: ConsentAnswer): Promise<Connected | Problem>
  /** The same, and the page from which they went. */
  comeBack(session: Session, answer: ConsentAnswer): Promise<CameBack>
  /** The sheets stay, and answer `token_expired` until the account connects again. */
  disconnect(accountId: string): Promise<Disconnected | Problem>
}

export interface GoogleStatus {
  state: 'connected' | 'ended'
  credentialId: string
  /** The e-mail address of the Google account. */
  label: string
  scopes: string[]
  connectedAtMs: number
  /** Why it ended, in the provider's words. */
  endedReason: string | null
}

export interface ConsentAnswer {
  state: string | null
  code: string | null
  error: string | null
  /** `picked_file_ids`: what the owner chose on the way. */
  pickedFileIds?: string | null
}

/** From which page of the dashboard the owner went, and where they come back to. */
export type ReturnPage = '/connect' | '/settings'

/** Nothing was saved. */
export class NotConnected extends Problem {
  readonly failure: 'denied' | 'scope_missing' | 'state_invalid' | 'failed'

  constructor(failure: NotConnected['failure'], words: string) {
    super(words, { kind: 'provider' })
    this.failure = failure
  }
}

export interface CameBack {
  returnTo: ReturnPage
  outcome: Connected | NotConnected
}

export interface Connected {
  label: string
  /** Spreadsheets that the owner chose at Google just now, to be offered first; chosen before or not at all: none. */
  pickedIds: string[]
  /** Who it was before; null at the first time. */
  formerLabel: string | null
  isSameOwner: boolean
}

export interface Disconnected {
  label: string
  /** False when Google could not be told. */
  isRevoked: boolean
}

const provider = 'google'
const attemptLifeMs = 10 * 60_000

export interface GoogleConnectionParts {
  store: Pick<
    Store,
    'credentialOf' | 'saveCredential' | 'forgetCredential' | 'createConnectAttempt' | 'takeConnectAttempt'
  >
  sealing: Sealing
  /** null where the operator has not set Google up. */
  oauth: GoogleOAuth | null
  consentOrigin: string | null
  /** Known for certain only when the server listens. */
  baseUrl(): string
}

export function createGoogleConnection(parts: GoogleConnectionParts): GoogleConnection {
  const { store, sealing, oauth, consentOrigin, baseUrl } = parts
  const redirectUri = () => `${baseUrl()}/connect/google/callback`

  return {
    isConfigured: oauth !== null,
    consentOrigin,
    async status(accountId) {
      const credential = await store.credentialOf(accountId, provider)
      return credential && statusOf(credential)
    },
    async start(session, returnTo = '/connect') {
      if (!oauth) return notSetUp
      const { idHash, account } = session
      // Whoever consents as somebody else takes the valid connection away, as disconnecting does.
      const former = await store.credentialOf(account.id, provider)
      if (former?.state === 'valid' && !isRecent(session)) return signInAgain
      const state = randomSecret()
      const codeVerifier = randomSecret()
      const attempt = { stateHash: secretHash(state), sessionHash: idHash, accountId: account.id, provider }
      await store.createConnectAttempt({ ...attempt, codeVerifier, returnTo }, attemptLifeMs)
      // RFC 7636, 4.2: what stands in the address is only the hash of what ends the attempt.
      const codeChallenge = hash('sha256', codeVerifier, 'base64url')
      return oauth.consentUrl({ state, codeChallenge, redirectUri: redirectUri() })
    },
    finish: async (session, answer) => (await comeBack(session, answer)).outcome,
    comeBack,
    async disconnect(accountId) {
      const credential = await store.credentialOf(accountId, provider)
      if (!credential || credential.sealedToken === '') return new Problem('Google is not connected')
      // Forgotten first: whatever becomes of the rest, nothing is read with it from now on.
      await store.forgetCredential(credential.id)
      return { label: credential.label, isRevoked: await isRevoked(credential) }
    },
  }

  async function comeBack(session: Session, answer: ConsentAnswer): Promise<CameBack> {
    const { idHash, account } = session
    const { state } = answer
    // Before anything else that was sent is believed, a refusal included.
    const attempt = state === null ? null : await store.takeConnectAttempt(secretHash(state), idHash)
    if (!oauth || !attempt || attempt.provider !== provider || attempt.accountId !== account.id)
      return { returnTo: '/connect', outcome: noSuchAttempt }
    const returnTo = attempt.returnTo === '/settings' ? '/settings' : '/connect'
    // By when the attempt began: the time at Google is not held against anybody.
    const mayReplace = isRecent(session, attemptLifeMs - attempt.leftMs)
    return { returnTo, outcome: await connected(oauth, attempt, mayReplace, answer) }
  }

  async function connected(
    oauth: GoogleOAuth,
    { accountId, codeVerifier: verifier }: ConnectAttempt,
    mayReplace: boolean,
    { code, error, pickedFileIds = null }: ConsentAnswer,
  ): Promise<Connected | NotConnected> {
    if (error !== null) return notConnected(problemOfConsent(error))
    if (code === null) return new NotConnected('failed', withoutAnswer)
    const grant = await oauth.exchangeCode({ code, verifier, redirectUri: redirectUri() })
    if ('problem' in grant) return notConnected(grant)
    const former = await store.credentialOf(accountId, provider)
    // Under another GOOGLE_SCOPE the same person has another subject.
    const isSameOwner = former === null || former.subject === grant.subject || former.label === grant.email
    // It was not valid, or not there, when the attempt began: somebody has connected in the meantime.
    if (former?.state === 'valid' && !isSameOwner && !mayReplace) return connectedMeanwhile
    await store.saveCredential({
      accountId,
      provider,
      subject: grant.subject,
      label: grant.email,
      scopes: grant.scopes.join(' '),
      seal: (identity) => ({
        sealedToken: sealing.seal(grant.refreshToken, tokenIdentity(identity)),
        keyId: sealing.keyId,
      }),
    })
    return {
      label: grant.email,
      pickedIds: pickedIdsIn(pickedFileIds),
      formerLabel: former?.label ?? null,
      isSameOwner,
    }
  }

  async function isRevoked(credential: CredentialRecord): Promise<boolean> {
    const { id: credentialId, accountId, version, sealedToken, keyId } = credential
    const token = sealing.open(sealedToken, keyId, tokenIdentity({ credentialId, accountId, version }))
    if (!oauth || token === null) return false
    try {
      // One that Google does not know any more is as good as revoked.
      await oauth.revoke(token)
      return true
    } catch (error) {
      if (error instanceof ProviderFailure) return false
      throw error
    }
  }
}

function statusOf({
  id,
  label,
  scopes,
  state,
  connectedAtMs,
  expiredReason,
}: CredentialRecord): GoogleStatus {
  return {
    state: state === 'valid' ? 'connected' : 'ended',
    credentialId: id,
    label,
    scopes: scopes.split(' '),
    connectedAtMs,
    endedReason: expiredReason,
  }
}

export const notSetUp = new Problem(
  'Google is not set up on this server; whoever runs it must set GOOGLE_CLIENT_ID and GOOGLE_CLIENT_SECRET',
  { kind: 'not_allowed' },
)

const withoutAnswer = 'Google sent you back without an answer. Nothing was saved; try again'
const noSuchAttempt = new NotConnected(
  'state_invalid',
  'this answer from Google does not belong to what you began here, was used already, or took longer than ten minutes. Nothing was saved; try again',
)

const connectedMeanwhile = new NotConnected(
  'failed',
  'another Google account was connected in the meantime. Nothing was saved; sign in again to replace it',
)

function notConnected({ problem, words }: OAuthProblem): NotConnected {
  const failure = problem === 'denied' || problem === 'scope_missing' ? problem : 'failed'
  return new NotConnected(failure, words)
}
