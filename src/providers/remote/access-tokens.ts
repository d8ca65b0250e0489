import type { Clock } from '../../clock.ts'
import type { Observe } from '../../reporting/observe.ts'
import type { Sealing } from '../../secrets/sealing.ts'
import type { TokenSource } from '../../sheets/connection.ts'
import { CredentialExpired, ProviderFailure } from '../../sheets/provider-failure.ts'
import type { CredentialIdentity, CredentialRecord } from '../../store/credentials/credentials.ts'
import type { Store } from '../../store/store.ts'
import { type Deadline, within } from './deadline.ts'
import type { SharedTokens } from './shared-tokens.ts'

/** Access tokens, made from what the owner allowed once. */
export interface AccessTokens {
  /** Throws `CredentialExpired` when only the owner can help, else `ProviderFailure`. */
  accessToken(credentialId: string | null, deadline: Deadline): Promise<Access>
  /** Whose credential it is, told from memory; null until it was used once. */
  subjectOf(credentialId: string): string | null
  /** The provider refused this one, though it should be good: the next caller gets another. */
  forget(access: Access): void
  /** The provider will not have this credential any more. The failure to throw: it was perhaps replaced meanwhile. */
  expire(access: Pick<Access, 'credentialId' | 'version'>, reason: string): Promise<ProviderFailure>
}

export interface Access {
  token: string
  credentialId: string
  version: number
  /** Providers ration by person. */
  subject: string
  /** What the owner allowed, separated by spaces. */
  scopes: string
  /** Another instance got it, some time ago. */
  isFound: boolean
}

export interface TokensParts {
  /** What people call the provider. */
  name: string
  store: Pick<Store, 'findCredential' | 'expireCredential'>
  sealing: Pick<Sealing, 'open'>
  source: TokenSource
  clock: Clock
  observe: Observe
  /** Where several instances work on one store; without it, tokens are in this process's memory only. */
  shared?: SharedTokens
}

/** What a lasting token is sealed with (`Sealing`): moved to another row or another version, it does not open. */
export function tokenIdentity({ accountId, credentialId, version }: CredentialIdentity): string {
  return `credential ${accountId} ${credentialId} ${version}`
}

const refreshAheadMs = 5 * 60_000
const waitForRefreshMs = 30_000
/** How long one failure answers all who ask. */
const failureMemoryMs = 2_000
const maxRemembered = 10_000

interface Remembered {
  version: number
  subject: string
  token: string | null
  isFound: boolean
  /** Refused by the provider though its time was not over. */
  refusedToken: string | null
  expiresAtMs: number
  refreshing: Promise<void> | null
  failure: { error: unknown; untilMs: number } | null
}

export function createAccessTokens(parts: TokensParts): AccessTokens {
  const { name, store, sealing, source, clock, observe, shared } = parts
  const reconnect = `the owner has to connect ${name} again`
  const remembered = new Map<string, Remembered>()

  return {
    async accessToken(credentialId, deadline) {
      const credential = credentialId === null ? null : await store.findCredential(credentialId)
      if (credential?.state !== 'valid') throw new CredentialExpired(reconnect)
      const known = rememberCredential(credential)
      const leftMs = known.expiresAtMs - clock.elapsedMs()
      if (known.token === null || leftMs < waitForRefreshMs) {
        await within(deadline, renewToken(credential, known), tooLate)
      } else if (leftMs < refreshAheadMs) {
        // The old one still serves; should this fail, the next caller tries again.
        renewToken(credential, known).catch(() => {})
      }
      if (known.token === null) throw tooLate()
      const { id, version, subject, scopes } = credential
      const { token, isFound } = known
      return { token, isFound, credentialId: id, version, subject, scopes }
    },

    subjectOf: (credentialId) => remembered.get(credentialId)?.subject ?? null,

    forget({ credentialId, token }) {
      const known = remembered.get(credentialId)
      if (known?.token !== token) return
      known.token = null
      known.refusedToken = token
    },

    expire,
  }

  function rememberCredential({ id, version, subject }: CredentialRecord): Remembered {
    const known = remembered.get(id)
    if (known && known.version === version) return known
    const fresh: Remembered = {
      version,
      subject,
      token: null,
      isFound: false,
      refusedToken: null,
      expiresAtMs: 0,
      refreshing: null,
      failure: null,
    }
    remembered.delete(id)
    remembered.set(id, fresh)
    const [oldest] = remembered.keys()
    if (remembered.size > maxRemembered && oldest !== undefined) remembered.delete(oldest)
    return fresh
  }

  /** One refresh at a time for each credential, and one failure for all who come right after it. */
  async function renewToken(credential: CredentialRecord, known: Remembered): Promise<void> {
    if (known.failure && clock.elapsedMs() < known.failure.untilMs) throw known.failure.error
    known.refreshing ??= refresh(credential, known)
      .catch((error: unknown) => {
        known.failure = { error, untilMs: clock.elapsedMs() + failureMemoryMs }
        throw error
      })
      .finally(() => {
        known.refreshing = null
      })
    await known.refreshing
  }

  async function refresh(credential: CredentialRecord, known: Remembered): Promise<void> {
    const { id: credentialId, accountId, version, sealedToken, keyId } = credential
    const lastingToken = sealing.open(sealedToken, keyId, tokenIdentity({ accountId, credentialId, version }))
    if (lastingToken === null) {
      // Not marked in the store: with the right secret back in place, the credential is as good as ever.
      observe({ event: 'credential_expired', credentialId, reason: 'sealed under another secret' })
      throw new CredentialExpired(reconnect)
    }
    let isFound = true
    const ask = () => {
      isFound = false
      return askTwice(lastingToken)
    }
    const given = await (shared?.tokenOf(credential, [known.token, known.refusedToken], ask) ?? ask())
    if ('dead' in given) throw await expire({ credentialId, version }, given.dead)
    known.token = given.accessToken
    known.isFound = isFound
    known.expiresAtMs = clock.elapsedMs() + given.expiresInSeconds * 1_000
    known.failure = null
  }

  /** A refresh can be repeated without harm, and one lost answer would fail every reader of the owner. */
  async function askTwice(lastingToken: string) {
    try {
      return await source.refresh(lastingToken)
    } catch (error) {
      if (!(error instanceof ProviderFailure && error.facts.isPassing)) throw error
      return source.refresh(lastingToken)
    }
  }

  async function expire(
    { credentialId, version }: Pick<Access, 'credentialId' | 'version'>,
    reason: string,
  ): Promise<ProviderFailure> {
    if (await store.expireCredential(credentialId, version, reason)) {
      observe({ event: 'credential_expired', credentialId, reason })
      return new CredentialExpired(reconnect)
    }
    const now = await store.findCredential(credentialId)
    if (now?.state !== 'valid') return new CredentialExpired(reconnect)
    return new ProviderFailure(`${name} was reconnected at this moment`, {
      isPassing: true,
      retryAfterSeconds: 1,
    })
  }

  function tooLate(): ProviderFailure {
    return new ProviderFailure(`${name}'s sign-in service does not respond`, {
      isPassing: true,
      retryAfterSeconds: 5,
    })
  }
}
