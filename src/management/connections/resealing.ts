import { tokenIdentity } from '../../providers/remote/access-tokens.ts'
import type { Sealing } from '../../secrets/sealing.ts'
import type { Store } from '../../store/store.ts'
import { resealForms } from '../forms/captcha-secret.ts'
import { resealWebhooks } from '../webhooks/webhook-resealing.ts'

type ResealingStore = Pick<
  Store,
  | 'credentialsNotUnderKey'
  | 'resealCredential'
  | 'webhooksNotUnderKey'
  | 'resealWebhook'
  | 'formsNotUnderKey'
  | 'resealForm'
>

const againEveryMs = 5_000

/**
 * Seals anew, under the secret of today, what a former one sealed. Afterwards the former secret can go. What is under
 * the next secret stays: an instance that seals with that one already would do it again, to and fro. What no known
 * secret opens is left as it is: with the right one back in place it is as good as ever.
 */
async function resealCredentials(store: ResealingStore, sealing: Sealing): Promise<void> {
  for (const credential of await store.credentialsNotUnderKey(sealing.keyId)) {
    const { id: credentialId, accountId, version, sealedToken, keyId } = credential
    if (!sealing.isFormer(keyId)) continue
    const identity = tokenIdentity({ credentialId, accountId, version })
    const token = sealing.open(sealedToken, keyId, identity)
    if (token === null) continue
    // Not done when the owner connects again at this very moment; that one is looked at the next time.
    await store.resealCredential(credentialId, version, keyId, {
      sealedToken: sealing.seal(token, identity),
      keyId: sealing.keyId,
    })
  }
}

/**
 * Done once when it resolves, and then again and again: while instances are replaced one by one, an owner may connect
 * at one that still seals under the former secret.
 */
export async function startResealing(store: ResealingStore, sealing: Sealing): Promise<{ stop(): void }> {
  const resealAll = async () => {
    await resealCredentials(store, sealing)
    await resealWebhooks(store, sealing)
    await resealForms(store, sealing)
  }
  await resealAll()
  const timer = setInterval(() => {
    // What cannot be done now is done the next time.
    resealAll().catch(() => {})
  }, againEveryMs).unref()
  return { stop: () => clearInterval(timer) }
}
