import { hash } from 'node:crypto'
import { tokenIdentity } from '../../providers/remote/access-tokens.ts'
import type { Sealing } from '../../secrets/sealing.ts'
import type { Connection, ConnectionProblem, ConsentEntrance, Grant } from '../../sheets/connection.ts'
import type { ProvenAssumption, SwitchedOff } from '../../sheets/proof.ts'
import { ProviderFailure } from '../../sheets/provider-failure.ts'
import type { ConnectionWay, ProviderKind } from '../../sheets/provider-kind.ts'
import type { CredentialRecord } from '../../store/credentials/credentials.ts'
import type { ConnectAttempt } from '../../store/sessions/sessions.ts'
import type { Store } from '../../store/store.ts'
import { signInAgain } from '../people/owners.ts'
import { isRecent, randomSecret, type Session, secretHash } from '../people/sign-in.ts'
import { Problem } from '../problem.ts'
import { orProblem } from '../sheets/provider-problem.ts'
import { createSpreadsheets, type OwnAccess, type Spreadsheets } from './spreadsheets.ts'

/** An account's access to one provider: asked for, granted, looked at, used, given back. */
export interface OwnerConnection {
  kind: ProviderKind
  words: Connection['words']
  /** How owners can let Rowport in, as far as the operator has set it up. */
  ways: readonly ConnectionWay[]
  /** Whether what is open to everybody with its link can be read without letting Rowport in. */
  readsPublic: boolean
  /** Where the owner's browser is sent to, for pages that must name it; null where there is no such page. */
  consentOrigin: string | null
  /** null when the account was never connected. */
  status(accountId: string): Promise<ConnectionStatus | null>
  /** The address at the provider to which the owner goes next. */
  start(session: Session, returnTo?: ReturnPage): Promise<string | Problem>
  /** What the owner's browser brought back from there. */
  finish(session: Session, answer: ConsentAnswer): Promise<Connected | Problem>
  /** Ends the way through the provider's consent; tells also the page from which they went. */
  comeBack(session: Session, answer: ConsentAnswer): Promise<CameBack>
  /** Without a way to the provider and back: the owner has a key. */
  connectByKey(session: Session, key: string): Promise<Connected | Problem>
  /** Adds a key for the operator, who may replace what is there. */
  addKey(accountId: string, key: string): Promise<Connected | Problem>
  /** The sheets stay, and answer `token_expired` until the account connects again. */
  disconnect(accountId: string): Promise<Disconnected | Problem>
  /** Tries on a spreadsheet of the account's what our promises take for granted there. */
  prove(accountId: string, pasted: string): Promise<ProvenAssumption[] | Problem>
  /** What this server does not do there, for any account. */
  switchedOff(): Promise<SwitchedOff[]>
  spreadsheets: Spreadsheets
}

export interface ConnectionStatus {
  state: 'connected' | 'ended'
  credentialId: string
  /** Who it is at the provider, for people: an e-mail address. */
  label: string
  scopes: string[]
  canSeeAllSpreadsheets: boolean
  /** The address with which the owner shares what it may use; null where it is their own access. */
  shareWith: string | null
  connectedAtMs: number
  /** Why it ended, in the provider's words. */
  endedReason: string | null
}

export interface ConsentAnswer {
  state: string | null
  code: string | null
  error: string | null
  /** All that was brought back: a provider may say more. */
  query?: URLSearchParams
}

export function consentAnswerIn(query: URLSearchParams): ConsentAnswer {
  return { state: query.get('state'), code: query.get('code'), error: query.get('error'), query }
}

/** Where a provider sends owners back to: the operator may have to name it there. */
export function returnPathOf({ id }: Pick<ProviderKind, 'id'>): string {
  return `/connect/${id}/callback`
}

/** From which page of the dashboard the owner went, and where they come back to. */
export type ReturnPage = '/connect' | '/settings'

/** Nothing was saved. */
export class NotConnected extends Problem {
  readonly failure: ConnectionProblem['problem'] | 'state_invalid'

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
  /** Spreadsheets that the owner chose there just now, to be offered first; chosen before or not at all: none. */
  pickedIds: string[]
  /** Who it was before; null at the first time. */
  formerLabel: string | null
  isSameOwner: boolean
}

export interface Disconnected {
  label: string
  /** False when the provider could not be told. */
  isRevoked: boolean
  /** What the owner can do about that. */
  endItThere: string
}

const attemptLifeMs = 10 * 60_000

export interface OwnerConnectionParts {
  store: Pick<
    Store,
    'credentialOf' | 'saveCredential' | 'forgetCredential' | 'createConnectAttempt' | 'takeConnectAttempt'
  >
  sealing: Sealing
  connection: Connection
  /** Known for certain only when the server listens. */
  baseUrl(): string
}

export function createOwnerConnection(parts: OwnerConnectionParts): OwnerConnection {
  const { store, sealing, connection, baseUrl } = parts
  const { kind, words, access, canSeeAll, shareWith } = connection
  const { id: provider, name } = kind
  const { consent = null, key: keyEntrance = null } = access?.entrances ?? {}
  const redirectUri = () => `${baseUrl()}${returnPathOf(kind)}`
  const notSetUp = new Problem(
    `${name} isn't set up on this server; your administrator must ${words.setUp}`,
    {
      kind: 'not_allowed',
    },
  )
  const noSuchAttempt = new NotConnected(
    'state_invalid',
    `this response from ${name} does not belong to what you started here, was already used, or took longer than ten minutes. Nothing was saved; try again`,
  )
  const connectedMeanwhile = new NotConnected(
    'failed',
    `another ${name} account was connected in the meantime. Nothing was saved; sign in again to replace it`,
  )

  return {
    kind,
    words,
    ways: [...(consent ? (['consent'] as const) : []), ...(keyEntrance ? (['key'] as const) : [])],
    readsPublic: access?.readsPublic ?? false,
    consentOrigin: consent?.origin ?? null,
    status,
    async start(session, returnTo = '/connect') {
      if (!consent) return notSetUp
      if (await wouldReplace(session)) return signInAgain
      const { idHash, account } = session
      const state = randomSecret()
      const codeVerifier = randomSecret()
      const attempt = { stateHash: secretHash(state), sessionHash: idHash, accountId: account.id, provider }
      await store.createConnectAttempt({ ...attempt, codeVerifier, returnTo }, attemptLifeMs)
      // RFC 7636, 4.2: what stands in the address is only the hash of what ends the attempt.
      const codeChallenge = hash('sha256', codeVerifier, 'base64url')
      return consent.consentUrl({ state, codeChallenge, redirectUri: redirectUri() })
    },
    finish: async (session, answer) => (await comeBack(session, answer)).outcome,
    comeBack,
    async connectByKey(session, key) {
      if (await wouldReplace(session)) return signInAgain
      return saveKey(session.account.id, key, isRecent(session))
    },
    addKey: (accountId, key) => saveKey(accountId, key, true),
    async disconnect(accountId) {
      const credential = await store.credentialOf(accountId, provider)
      if (!credential || credential.sealedToken === '') return new Problem(`${name} is not connected`)
      // Forgotten first: whatever becomes of the rest, nothing is read with it from now on.
      await store.forgetCredential(credential.id)
      const { label, subject } = credential
      return { label, isRevoked: await isRevoked(credential), endItThere: words.endItThere(subject) }
    },
    async prove(accountId, pasted) {
      const own = await accessOf(accountId)
      if (own instanceof Problem) return own
      const { access: itsAccess, credentialId } = own
      const named = itsAccess.parsePasted(pasted)
      if (!named) return new Problem(words.notALink)
      if (credentialId === null || !itsAccess.prove)
        return new Problem(`nothing can be tried at ${name} without an account that may write there`)
      const { prove } = itsAccess
      return orProblem(kind, () => prove(credentialId, named.spreadsheetId))
    },
    switchedOff: async () => (await access?.switchedOff?.()) ?? [],
    spreadsheets: createSpreadsheets(connection, accessOf),
  }

  async function status(accountId: string): Promise<ConnectionStatus | null> {
    const credential = await store.credentialOf(accountId, provider)
    if (!credential) return null
    const { id, label, subject, state, connectedAtMs, expiredReason } = credential
    const scopes = credential.scopes.split(' ')
    return {
      state: state === 'valid' ? 'connected' : 'ended',
      credentialId: id,
      label,
      scopes,
      canSeeAllSpreadsheets: canSeeAll(scopes),
      shareWith: shareWith(subject),
      connectedAtMs,
      endedReason: expiredReason,
    }
  }

  async function accessOf(accountId: string): Promise<OwnAccess | Problem> {
    if (!access) return notSetUp
    const own = await status(accountId)
    if (own?.state !== 'connected' && access.readsPublic) return { access, credentialId: null }
    if (own?.state !== 'connected')
      return new Problem(`${name} is not connected; connect it first`, { kind: 'provider' })
    return { access, credentialId: own.credentialId }
  }

  /** Whoever connects as somebody else takes the valid connection away, as disconnecting does. */
  async function wouldReplace(session: Session): Promise<boolean> {
    const former = await store.credentialOf(session.account.id, provider)
    return former?.state === 'valid' && !isRecent(session)
  }

  async function comeBack(session: Session, answer: ConsentAnswer): Promise<CameBack> {
    const { idHash, account } = session
    const { state } = answer
    // Before anything else that was sent is believed, a refusal included.
    const attempt = state === null ? null : await store.takeConnectAttempt(secretHash(state), idHash)
    if (!consent || !attempt || attempt.provider !== provider || attempt.accountId !== account.id)
      return { returnTo: '/connect', outcome: noSuchAttempt }
    const returnTo = attempt.returnTo === '/settings' ? '/settings' : '/connect'
    // By when the attempt began: the time at the provider is not held against anybody.
    const mayReplace = isRecent(session, attemptLifeMs - attempt.leftMs)
    return { returnTo, outcome: await connectByConsent(consent, attempt, mayReplace, answer) }
  }

  async function connectByConsent(
    entrance: ConsentEntrance,
    { accountId, codeVerifier: verifier }: ConnectAttempt,
    mayReplace: boolean,
    { code, error, query = new URLSearchParams() }: ConsentAnswer,
  ): Promise<Connected | NotConnected> {
    if (error !== null) return notConnected(entrance.problemOf(error))
    if (code === null) {
      const withoutAnswer = `${name} sent you back without a response. Nothing was saved; try again`
      return new NotConnected('failed', withoutAnswer)
    }
    const grant = await entrance.exchangeCode({ code, verifier, redirectUri: redirectUri() })
    if ('problem' in grant) return notConnected(grant)
    const saved = await save(accountId, grant, mayReplace)
    return saved instanceof NotConnected ? saved : { ...saved, pickedIds: entrance.pickedIds(query) }
  }

  async function saveKey(accountId: string, key: string, mayReplace: boolean): Promise<Connected | Problem> {
    if (!keyEntrance) return notSetUp
    const grant = await keyEntrance.exchangeKey(key.trim())
    return 'problem' in grant ? notConnected(grant) : save(accountId, grant, mayReplace)
  }

  async function save(
    accountId: string,
    grant: Grant,
    mayReplace: boolean,
  ): Promise<Connected | NotConnected> {
    const former = await store.credentialOf(accountId, provider)
    // Under another scope the same person may have another subject.
    const isSameOwner = former === null || former.subject === grant.subject || former.label === grant.label
    // It was not valid, or not there, when the attempt began: somebody has connected in the meantime.
    if (former?.state === 'valid' && !isSameOwner && !mayReplace) return connectedMeanwhile
    await store.saveCredential({
      accountId,
      provider,
      subject: grant.subject,
      label: grant.label,
      scopes: grant.scopes.join(' '),
      seal: (identity) => ({
        sealedToken: sealing.seal(grant.token, tokenIdentity(identity)),
        keyId: sealing.keyId,
      }),
    })
    return { label: grant.label, pickedIds: [], formerLabel: former?.label ?? null, isSameOwner }
  }

  async function isRevoked(credential: CredentialRecord): Promise<boolean> {
    const { id: credentialId, accountId, version, sealedToken, keyId } = credential
    const token = sealing.open(sealedToken, keyId, tokenIdentity({ credentialId, accountId, version }))
    if (!access || token === null) return false
    try {
      // One that the provider does not know any more is as good as revoked.
      await access.revoke(token)
      return true
    } catch (error) {
      if (error instanceof ProviderFailure) return false
      throw error
    }
  }
}

function notConnected({ problem, words }: ConnectionProblem): NotConnected {
  return new NotConnected(problem, words)
}
