import type { Clock } from '../clock.ts'
import type { Sealing } from '../secrets/sealing.ts'
import type { NewDelivery, WebhookRecord } from '../store/webhooks/webhooks.ts'
import type { Message } from './messages.ts'
import type { Posted, Posting } from './posting.ts'
import { openSecret, signaturesOf } from './signing.ts'

/** Signs a message and sends it to its webhook, once. */
export type SignedPost = (webhook: WebhookRecord, message: Message, left: AbortSignal) => Promise<PostOutcome>

export interface PostOutcome {
  delivery: NewDelivery
  retryAfterMs: number | null
}

export interface SignedPostParts {
  posting: Posting
  sealing: Pick<Sealing, 'open'>
  clock: Clock
  version: string
}

export function createSignedPost({ posting, sealing, clock, version }: SignedPostParts): SignedPost {
  return async (webhook, { id, type, body, changes, cursor }, left) => {
    const begunMs = clock.elapsedMs()
    const atMs = clock.nowMs()
    const { retryAfterMs, ...posted } = await post(webhook, { id, body, atMs }, left)
    const durationMs = Math.round(clock.elapsedMs() - begunMs)
    return { delivery: { messageId: id, type, changes, cursor, atMs, durationMs, ...posted }, retryAfterMs }
  }

  async function post(
    webhook: WebhookRecord,
    { id, body, atMs }: { id: string; body: string; atMs: number },
    left: AbortSignal,
  ): Promise<Posted> {
    const secrets = [webhook.secret, webhook.formerSecret].flatMap((sealed) => {
      const secret = sealed && openSecret(sealing, sealed, webhook)
      return secret === null ? [] : [secret]
    })
    if (secrets.length === 0) {
      return {
        status: null,
        failure: 'its secret was sealed under another one',
        answer: '',
        retryAfterMs: null,
      }
    }
    const timestampSeconds = Math.floor(atMs / 1_000)
    const headers = {
      'Content-Type': 'application/json',
      'User-Agent': `Rowport/${version} (webhooks)`,
      'webhook-id': id,
      'webhook-timestamp': String(timestampSeconds),
      'webhook-signature': signaturesOf({ id, timestampSeconds, body }, secrets),
    }
    const { accountId, url } = webhook
    return posting.post({ accountId, url, headers, body }, left)
  }
}
