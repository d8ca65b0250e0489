import type { Sealing } from '../sealing.ts'
import { tokenIdentity } from '../sheets/google/google-tokens.ts'
import type { Store } from '../store/store.ts'

/**
 * Seals anew, under the secret of today, what a former one sealed. Afterwards the former secret can go. What no known
 * secret opens is left as it is: with the right one back in place it is as good as ever.
 */
export async function resealCredentials(
  store: Pick<Store, 'credentialsNotUnderKey' | 'resealCredential'>,
  sealing: Sealing,
): Promise<void> {
  for (const credential of await store.credentialsNotUnderKey(sealing.keyId)) {
    const { id: credentialId, accountId, version, sealedToken, keyId } = credential
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
