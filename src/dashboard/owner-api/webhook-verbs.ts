import { z } from 'zod'
import { Problem } from '../../management/problem.ts'
import type {
  DeliveryRecord,
  FreshWebhook,
  NewDelivery,
  WebhookRecord,
} from '../../management/webhooks/webhooks.ts'
import type { DeliveryView, NewWebhookView, WebhookView } from '../contract.ts'
import type { DashboardParts } from '../dashboard-parts.ts'
import { type OwnerCall, type Verbs, withInput } from './route.ts'

const webhookInput = z.strictObject({
  sheetSlug: z.string().max(100).nullable(),
  url: z.string('Enter a URL.').max(2_000),
  kinds: z
    .array(z.enum(['added', 'updated', 'deleted']))
    .max(3)
    .nullable(),
  columns: z.array(z.string().max(50_000)).max(100).nullable(),
})
const stateInput = z.strictObject({ isOn: z.boolean() })
const replayInput = z.strictObject({
  since: z.union([
    z.literal('earliest'),
    z.strictObject({ cursor: z.string().max(100) }),
    z.strictObject({ atMs: z.int().min(0) }),
  ]),
})

export const webhookVerbs = {
  'GET /webhooks': {
    async owner({ session }, { webhooks, clock }) {
      const list = await webhooks.list(session.account)
      return { json: list.map((webhook) => viewOf(webhook, clock.nowMs())) }
    },
  },
  'POST /webhooks': {
    ...withInput(webhookInput, async ({ session }, wish, { webhooks, clock }) => {
      const made = await webhooks.add({ account: session.account, ...wish })
      return made instanceof Problem ? made : { json: freshView(made, clock.nowMs()), status: 201 }
    }),
  },
  'PATCH /webhooks/{id}': {
    ...withInput(stateInput, async (call, { isOn }, parts) => {
      const webhook = await webhookIn(call, parts)
      if (webhook instanceof Problem) return webhook
      const changed = await (isOn ? parts.webhooks.resume(webhook) : parts.webhooks.pause(webhook))
      return { json: viewOf(changed, parts.clock.nowMs()) }
    }),
  },
  'POST /webhooks/{id}/test': {
    async owner(call, parts) {
      const webhook = await webhookIn(call, parts)
      if (webhook instanceof Problem) return webhook
      const delivery = await parts.webhooks.test(webhook)
      return delivery instanceof Problem ? delivery : { json: deliveryView({ id: '', ...delivery }) }
    },
  },
  'POST /webhooks/{id}/rotate': {
    needsRecentSignIn: true,
    async owner(call, parts) {
      const webhook = await webhookIn(call, parts)
      if (webhook instanceof Problem) return webhook
      const rotated = await parts.webhooks.rotate(webhook)
      return { json: freshView(rotated, parts.clock.nowMs()), status: 201 }
    },
  },
  'POST /webhooks/{id}/replay': {
    ...withInput(replayInput, async (call, { since }, parts) => {
      const webhook = await webhookIn(call, parts)
      if (webhook instanceof Problem) return webhook
      const moved = await parts.webhooks.replay(webhook, since)
      return moved instanceof Problem ? moved : { json: viewOf(moved, parts.clock.nowMs()) }
    }),
  },
  'GET /webhooks/{id}/deliveries': {
    async owner(call, parts) {
      const webhook = await webhookIn(call, parts)
      if (webhook instanceof Problem) return webhook
      return { json: (await parts.webhooks.deliveries(webhook)).map(deliveryView) }
    },
  },
  'POST /webhooks/{id}/remove': {
    async owner(call, parts) {
      const webhook = await webhookIn(call, parts)
      if (webhook instanceof Problem) return webhook
      await parts.webhooks.remove(webhook)
      return { json: null }
    },
  },
} satisfies Partial<Verbs>

function webhookIn({ session, names: [id = ''] }: OwnerCall, { webhooks }: DashboardParts) {
  return webhooks.ofAccount(session.account.id, id)
}

function viewOf(webhook: WebhookRecord, nowMs: number): WebhookView {
  const { id, sheetSlug, url, kinds, columns, state, offReason, attempts, waiting, createdAtMs } = webhook
  const nextAttemptAtMs = webhook.nextAttemptInMs > 0 ? nowMs + webhook.nextAttemptInMs : null
  return {
    ...{ id, sheetSlug, url, state, offReason, attempts, waiting, createdAtMs, nextAttemptAtMs },
    kinds: kinds && [...kinds],
    columns: columns && [...columns],
  }
}

function freshView({ record, secret }: FreshWebhook, nowMs: number): NewWebhookView {
  return { webhook: viewOf(record, nowMs), secret }
}

function deliveryView(delivery: DeliveryRecord | (NewDelivery & { id: string })): DeliveryView {
  const { id, messageId, type, changes, cursor, atMs, durationMs, status, failure, answer } = delivery
  return { id, messageId, type, changes, cursor, atMs, durationMs, status, failure, answer }
}
