import type { Clock } from '../clock.ts'
import type { Sealing } from '../sealing.ts'
import { tokenIdentity } from '../sheets/google/google-tokens.ts'
import type { Store } from '../store/store.ts'

type ResealingStore = Pick<Store, 'credentialsNotUnderKey' | 'resealCredential'>

const againEveryMs = 5_000
/** Machines need not agree on the time. */
const clockSlackMs = 60_000

/**
 * Seals anew, under the secret of today, what a former one sealed. Afterwards the former secret can go. What no known
 * secret opens is left as it is: with the right one back in place it is as good as ever.
 */
export async function resealCredentials(
  store: ResealingStore,
  sealing: Sealing,
  connectedSinceMs = 0,
): Promise<void> {
  for (const credential of await store.credentialsNotUnderKey(sealing.keyId)) {
    const { id: credentialId, accountId, version, sealedToken, keyId, connectedAtMs } = credential
    if (connectedAtMs < connectedSinceMs) continue
    const identity = tokenIdentity({ credentialId, accountId, version })
    const token = sealing.open(sealedToken, keyId, identity)
    if (token === null) continue
    // Not done when the owner connects again at this very moment; that one is sealed right already.
    await store.resealCredential(credentialId, version, keyId, {
      sealedToken: sealing.seal(token, identity),
      keyId: sealing.keyId,
    })
  }
}

/**
 * While instances are replaced one by one, an owner may connect at one that still seals under the former secret. Only
 * what was connected since our start: two instances must not seal everything to and fro.
 */
export function keepResealing(store: ResealingStore, sealing: Sealing, clock: Clock): { stop(): void } {
  const sinceMs = clock.nowMs() - clockSlackMs
  const timer = setInterval(() => {
    // What cannot be done now is done the next time.
    resealCredentials(store, sealing, sinceMs).catch(() => {})
  }, againEveryMs).unref()
  return { stop: () => clearInterval(timer) }
}
