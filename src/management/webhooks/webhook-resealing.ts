import type { Sealing } from '../../secrets/sealing.ts'
import type { SealedSecret } from '../../store/sealed-secret.ts'
import type { Store } from '../../store/store.ts'
import type { WebhookRecord } from '../../store/webhooks/webhooks.ts'
import { openSecret, sealSecret } from '../../webhooks/signing.ts'

/** As it is done with credentials: what a former secret sealed, and nothing else. */
export async function resealWebhooks(
  store: Pick<Store, 'webhooksNotUnderKey' | 'resealWebhook'>,
  sealing: Sealing,
): Promise<void> {
  for (const webhook of await store.webhooksNotUnderKey(sealing.keyId)) {
    const { secret, formerSecret } = webhook
    const sealed = {
      secret: anew(secret, webhook, sealing),
      formerSecret: formerSecret && anew(formerSecret, webhook, sealing),
    }
    if (sealed.secret !== secret || sealed.formerSecret !== formerSecret)
      await store.resealWebhook(webhook, sealed)
  }
}

/** Gives back what it got where that is not to be sealed anew, or cannot be opened. */
function anew(sealed: SealedSecret, webhook: WebhookRecord, sealing: Sealing): SealedSecret {
  const secret = sealing.isFormer(sealed.keyId) ? openSecret(sealing, sealed, webhook) : null
  return secret === null ? sealed : sealSecret(sealing, secret, webhook)
}
