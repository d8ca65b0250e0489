import type { Clock } from '../../clock.ts'
import type { Observe } from '../../reporting/observe.ts'
import type { Sealing } from '../../secrets/sealing.ts'
import type { ShareValue } from '../../shared-state/registers/shared-value.ts'
import { defaultShares, type Shares } from '../../shares/shares.ts'
import { createTurnstile } from '../../shares/turnstile.ts'
import type { TokenSource } from '../../sheets/connection.ts'
import type { ProvenAssumption, SwitchedOff } from '../../sheets/proof.ts'
import type { Provider } from '../../sheets/provider.ts'
import type { Store } from '../../store/store.ts'
import { systemTimers, type Timers } from '../../timers.ts'
import { createAccessTokens } from '../remote/access-tokens.ts'
import { createBreaker } from '../remote/breaker.ts'
import type { BudgetLimits } from '../remote/rations/budget.ts'
import { type CallLimits, callLimits } from '../remote/remote-calls.ts'
import { createRetryCredit } from '../remote/retry-credit.ts'
import type { SharedTokens } from '../remote/shared-tokens.ts'
import {
  createTransport,
  type Transport,
  type TransportLimits,
  transportLimits,
} from '../remote/transport.ts'
import { createGoogleBudget, googleRations } from './client/google-budget.ts'
import { createGoogleCalls, type GoogleCalls } from './client/google-call.ts'
import { googleEndpoints } from './client/google-endpoints.ts'
import type { Asker } from './client/google-errors.ts'
import { createGoogleTime } from './client/google-time.ts'
import { withPublicAccess } from './client/public-access.ts'
import { createGoogleFiles, type GoogleFiles } from './google-files.ts'
import { createGoogleProvider } from './google-provider.ts'
import type { GoogleScope } from './oauth/google-consent.ts'
import { createGoogleOAuth, type GoogleOAuth } from './oauth/google-oauth.ts'
import { withoutApp } from './oauth/oauth-problem.ts'
import {
  createServiceAccounts,
  isServiceAccount,
  isServiceAccountToken,
  type ServiceAccounts,
} from './oauth/service-account.ts'
import { outcomesToKeep, proveGoogle } from './prove/prove.ts'
import { createStanding, onStanding, provenService } from './prove/standing.ts'
import { createAnswerRooms } from './read/answer-room.ts'
import { googleComparing } from './read/google-comparing.ts'
import { createColumnLooks } from './write/column-looks.ts'
import { createGoogleWriting } from './write/google-writing.ts'
import { journalTagOf } from './write/marker.ts'

/** All that speaks to Google, put together once. */
export interface Google {
  provider: Provider
  /** null where the operator has registered no app. */
  oauth: GoogleOAuth | null
  serviceAccounts: ServiceAccounts
  tokenSource: TokenSource
  /** What it finds holds for all instances, until it finds something else. */
  prove(credentialId: string, spreadsheetId: string): Promise<ProvenAssumption[]>
  switchedOff(): Promise<SwitchedOff[]>
  /** Whether spreadsheets that are open to everybody with the link can be read. */
  hasApiKey: boolean
  files: GoogleFiles
  calls: GoogleCalls
  /** Where the page is on which owners consent. */
  consentOrigin: string
  close(): Promise<void>
}

export interface GoogleParts {
  settings: {
    /** null where the operator has registered no app: then owners cannot consent. */
    client: { clientId: string; clientSecret: string } | null
    apiKey?: string | null
    /** As the operator wants it, whatever was proven. */
    areWritesOff?: boolean
    endpoint: string | null
    scope: GoogleScope
    /** Where Google granted the operator's project other rations than everyone has. */
    rations?: BudgetLimits
  }
  store: Pick<Store, 'findCredential' | 'expireCredential' | 'saveProof' | 'proofOf'>
  sealing: Pick<Sealing, 'open' | 'keyId'>
  clock: Clock
  observe: Observe
  sharedTokens?: SharedTokens
  /** Where several servers spend from the same rations. */
  share: ShareValue
  shares?: Partial<Pick<Shares, 'fetching_at_once' | 'long_fetches_at_once' | 'decoding_waiting'>>
  /** For tests; without them, as docs/google.md#limits and docs/reliability.md#deadlines-and-retries have it. */
  timers?: Timers
  random?: () => number
  transport?: Transport
  transportLimits?: TransportLimits
  callLimits?: CallLimits
  rations?: BudgetLimits
}

export function createGoogle(parts: GoogleParts): Google {
  const { settings, store, sealing, clock, observe, timers = systemTimers, random = Math.random } = parts
  const { scope } = settings
  const endpoints = googleEndpoints(settings.endpoint)
  const transport = parts.transport ?? createTransport(parts.transportLimits ?? transportLimits)
  const asking = { endpoints, transport, clock, timers }
  const oauth = settings.client && createGoogleOAuth({ ...asking, client: settings.client, scope })
  const serviceAccounts = createServiceAccounts(asking)
  const tokenSource: TokenSource = {
    refresh(token) {
      if (isServiceAccountToken(token)) return serviceAccounts.refresh(token)
      if (!oauth) throw withoutApp()
      return oauth.refresh(token)
    },
  }
  const ownTokens = createAccessTokens({
    name: 'Google',
    store,
    sealing,
    source: tokenSource,
    clock,
    observe,
    ...(parts.sharedTokens && { shared: parts.sharedTokens }),
  })
  const tokens = withPublicAccess(ownTokens, settings.apiKey ?? null)
  const budget = createGoogleBudget({
    timers,
    observe,
    random,
    limits: parts.rations ?? settings.rations ?? googleRations,
    share: parts.share,
  })
  const breaker = createBreaker({
    name: 'Google',
    clock,
    random,
    onRest: (caller, forMs) =>
      observe({ event: 'provider_rested', provider: 'google', credentialId: caller, forMs }),
  })
  const retryCredit = createRetryCredit(clock)
  const limits = parts.callLimits ?? callLimits
  const time = createGoogleTime(clock)
  const calls = createGoogleCalls({
    transport,
    tokens,
    time,
    budget,
    breaker,
    retryCredit,
    askerOf,
    clock,
    timers,
    observe,
    random,
    limits,
  })

  function askerOf(credentialId: string | null): Asker {
    if (credentialId === null) return { by: 'key' }
    const subject = tokens.subjectOf(credentialId)
    return subject !== null && isServiceAccount(subject)
      ? { by: 'service_account', address: subject }
      : { by: 'owner', scope }
  }

  const { fetching_at_once, long_fetches_at_once, decoding_waiting } = { ...defaultShares, ...parts.shares }
  const fetchTurns = createTurnstile({
    share: 'fetching_at_once',
    // Together they are bounded by the project's ration.
    places: Number.POSITIVE_INFINITY,
    placesOfAccount: fetching_at_once,
    waitingOfAccount: decoding_waiting,
    clock,
    observe,
  })
  const longFetches = createTurnstile({
    share: 'long_fetches_at_once',
    places: long_fetches_at_once,
    placesOfAccount: Math.ceil(long_fetches_at_once / 2),
    // No more of them than it may fetch.
    waitingOfAccount: Number.POSITIVE_INFINITY,
    clock,
    observe,
  })
  const fetches = createAnswerRooms(fetchTurns, longFetches)
  const reading = { calls, endpoints, comparing: googleComparing, fetches, clock, timers, limits }
  const standing = createStanding(store, settings)
  const provider = {
    ...createGoogleProvider({ ...reading, tokens, budget }),
    ...createGoogleWriting({
      calls,
      endpoints,
      tokens,
      budget,
      columnLooks: createColumnLooks(reading),
      time,
      journalTag: journalTagOf(sealing.keyId),
      clock,
      timers,
      observe,
    }),
  }
  return {
    provider: onStanding(provider, standing),
    oauth,
    serviceAccounts,
    tokenSource,
    async prove(credentialId, spreadsheetId) {
      const proven = await proveGoogle({ calls, endpoints, time, clock, timers }, credentialId, spreadsheetId)
      await store.saveProof(provenService(settings.endpoint), outcomesToKeep(proven))
      return proven
    },
    switchedOff: standing.switchedOff,
    hasApiKey: settings.apiKey != null,
    files: createGoogleFiles({ calls, endpoints, store }),
    calls,
    consentOrigin: new URL(endpoints.consentPage).origin,
    async close() {
      budget.close()
      transport.close()
    },
  }
}
