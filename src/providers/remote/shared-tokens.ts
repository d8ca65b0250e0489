import { setTimeout as sleep } from 'node:timers/promises'
import type { Sealing } from '../../secrets/sealing.ts'
import type { CredentialRecord } from '../../store/credentials/credentials.ts'
import type { Store } from '../../store/store.ts'

/** Access tokens that all instances on one store share: each credential is refreshed by one of them at a time. */
export interface SharedTokens {
  /** What another instance got lately, else what `refresh` gives. `former`: of no use any more. */
  tokenOf<R extends GivenToken | { dead: string }>(
    credential: CredentialRecord,
    former: readonly (string | null)[],
    refresh: () => Promise<R>,
  ): Promise<R | GivenToken>
}

export interface GivenToken {
  accessToken: string
  expiresInSeconds: number
}

export interface SharedTokensParts {
  store: Pick<Store, 'findAccessToken' | 'saveAccessToken' | 'takeLease' | 'endLease'>
  sealing: Pick<Sealing, 'open' | 'seal' | 'keyId'>
}

/** Longer than two attempts at a provider's token endpoint take. */
const leaseMs = 30_000
const askEveryMs = 50
const wantMs = 1_000
/** After so many questions the other instance is taken for dead or stuck, and a second refresh does no harm. */
const maxQuestions = 100
/** One that is over so soon is not worth taking. */
const leastLeftMs = 30_000

export function createSharedTokens({ store, sealing }: SharedTokensParts): SharedTokens {
  return {
    async tokenOf(credential, former, refresh) {
      const name = `refresh ${credential.id}`
      for (let questions = 0; questions < maxQuestions; questions++) {
        const known = await findToken(credential, former)
        if (known) return known
        const lease = await store.takeLease(name, leaseMs, wantMs)
        if (!lease) {
          await sleep(askEveryMs)
          continue
        }
        try {
          // Whoever had the lease before may have been done between the two questions.
          return (await findToken(credential, former)) ?? (await refreshToken(credential, refresh))
        } finally {
          await store.endLease(lease).catch(() => {})
        }
      }
      return refreshToken(credential, refresh)
    },
  }

  async function findToken(
    credential: CredentialRecord,
    former: readonly (string | null)[],
  ): Promise<GivenToken | null> {
    const stored = await store.findAccessToken(credential.id)
    if (!stored || stored.version !== credential.version || stored.expiresInMs < leastLeftMs) return null
    const accessToken = sealing.open(stored.sealedToken, stored.keyId, identityOf(credential))
    if (accessToken === null || former.includes(accessToken)) return null
    return { accessToken, expiresInSeconds: Math.floor(stored.expiresInMs / 1_000) }
  }

  async function refreshToken<R extends GivenToken | { dead: string }>(
    credential: CredentialRecord,
    refresh: () => Promise<R>,
  ): Promise<R> {
    const given = await refresh()
    if ('dead' in given) return given
    const { accessToken, expiresInSeconds } = given
    const sealedToken = sealing.seal(accessToken, identityOf(credential))
    const { version } = credential
    const kept = { version, sealedToken, keyId: sealing.keyId, expiresInMs: expiresInSeconds * 1_000 }
    // It is good all the same; the others then ask for themselves.
    await store.saveAccessToken(credential.id, kept).catch(() => {})
    return given
  }
}

/** Another than the refresh token's: neither opens in the place of the other. */
function identityOf({ accountId, id, version }: CredentialRecord): string {
  return `access token ${accountId} ${id} ${version}`
}
