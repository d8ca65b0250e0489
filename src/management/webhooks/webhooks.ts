import { readCursor } from '../../changes/cursor.ts'
import type { Clock } from '../../clock.ts'
import type { Observe } from '../../reporting/observe.ts'
import { randomBase62 } from '../../secrets/random-base62.ts'
import type { Sealing } from '../../secrets/sealing.ts'
import type { RateWindows } from '../../shared-state/rate-windows/rate-windows.ts'
import type { Shares } from '../../shares/shares.ts'
import { newId } from '../../store/new-id.ts'
import type { Store } from '../../store/store.ts'
import type {
  DeliveryRecord,
  NewDelivery,
  WebhookPlace,
  WebhookRecord,
} from '../../store/webhooks/webhooks.ts'
import { testMessage } from '../../webhooks/messages.ts'
import type { SignedPost } from '../../webhooks/signed-post.ts'
import { newSecret, sealSecret } from '../../webhooks/signing.ts'
import { TargetRefusal, type Targets } from '../../webhooks/targets.ts'
import type { NamedAccount } from '../accounts/accounts.ts'
import { Problem } from '../problem.ts'
import type { Sheets } from '../sheets/sheets.ts'

export type { DeliveryRecord, NewDelivery, WebhookRecord }

/** What owners and operators do with webhooks. */
export interface Webhooks {
  add(wish: WebhookToAdd): Promise<FreshWebhook | Problem>
  list(account: NamedAccount): Promise<WebhookRecord[]>
  find(webhookId: string): Promise<WebhookRecord | Problem>
  /** The webhook, if it is this account's: to everybody else it does not exist. */
  ofAccount(accountId: string, webhookId: string): Promise<WebhookRecord | Problem>
  /** Sends one message, now, and says what came of it. */
  test(webhook: WebhookRecord): Promise<NewDelivery | Problem>
  pause(webhook: WebhookRecord): Promise<WebhookRecord>
  /** Also after it was turned off: it is tried at once. */
  resume(webhook: WebhookRecord): Promise<WebhookRecord>
  /** The former secret signs too for a day. */
  rotate(webhook: WebhookRecord): Promise<FreshWebhook>
  /** The newest first. */
  deliveries(webhook: WebhookRecord): Promise<DeliveryRecord[]>
  /** Sends everything again that came after a point. */
  replay(webhook: WebhookRecord, since: ReplaySince): Promise<WebhookRecord | Problem>
  remove(webhook: WebhookRecord): Promise<void>
}

export interface WebhookToAdd {
  account: NamedAccount
  /** null = events of the account. */
  sheetSlug: string | null
  url: string
  kinds: readonly string[] | null
  columns: readonly string[] | null
  /** An operator may give an account more than its share. */
  isByOperator?: boolean
}

/** `secret` exists only here: it is shown once and then gone. */
export interface FreshWebhook {
  record: WebhookRecord
  secret: string
}

/** `cursor`: as a delivery names it. */
export type ReplaySince = 'earliest' | { cursor: string } | { atMs: number }

export interface WebhooksParts {
  store: Store
  sheets: Pick<Sheets, 'find'>
  targets: Targets
  post: SignedPost
  sealing: Pick<Sealing, 'seal' | 'keyId'>
  windows: RateWindows
  shares: Pick<Shares, 'webhooks'>
  clock: Clock
  observe: Observe
}

const changeKinds = ['added', 'updated', 'deleted'] as const
const maxColumns = 100
const overlapMs = 24 * 60 * 60_000
const testsPerMinute = 10
const minuteMs = 60_000

export function createWebhooks(parts: WebhooksParts): Webhooks {
  const { store, sheets, targets, post, sealing, windows, shares, clock, observe } = parts
  return {
    async add({ account, sheetSlug, url, kinds, columns, isByOperator = false }) {
      const sheet = sheetSlug === null ? null : await sheets.find(account, sheetSlug)
      if (sheet instanceof Problem) return sheet
      const problem = problemWithWish(sheetSlug, kinds, columns)
      if (problem) return problem
      if (sheet?.historyDays === 0) return noLog
      const list = isByOperator ? [] : await store.webhooksOf(account.id)
      if (list.length >= shares.webhooks) {
        observe({ event: 'share_used_up', share: 'webhooks', accountId: account.id })
        return new Problem(`you can have up to ${shares.webhooks} webhooks; remove one first`)
      }
      const target = await targets.find(url.trim())
      if (target instanceof TargetRefusal)
        return new Problem(`nothing can be sent there: ${target.reason}`, { field: 'url' })
      const position = sheet && (await store.changeLogOf(sheet.id))
      const id = newId('wh')
      const secret = newSecret()
      const webhook = {
        id,
        accountId: account.id,
        sheetId: sheet?.id ?? null,
        url: target.url.href,
        kinds,
        columns,
        secret: sealSecret(sealing, secret, { id, accountId: account.id }),
        place: { epoch: position?.epoch ?? null, seq: position?.head ?? 0 },
      }
      const record = await store.createWebhook(webhook, isByOperator ? null : shares.webhooks)
      return { record, secret }
    },
    list: (account) => store.webhooksOf(account.id),
    find,
    async ofAccount(accountId, webhookId) {
      const webhook = await find(webhookId)
      return webhook instanceof Problem || webhook.accountId === accountId
        ? webhook
        : unknownWebhook(webhookId)
    },
    async test(webhook) {
      const window = await windows.takeFromWindow(
        `webhook tests ${webhook.accountId}`,
        testsPerMinute,
        minuteMs,
      )
      if (!window.isAdmitted) {
        const retryAfterSeconds = Math.max(1, Math.ceil((window.resetAtMs - window.nowMs) / 1_000))
        const message = `too many tests; try again in ${retryAfterSeconds} seconds`
        return new Problem(message, { kind: 'too_often', retryAfterSeconds })
      }
      const message = testMessage(webhook, randomBase62(12), clock.nowMs())
      const { delivery } = await post(webhook, message, new AbortController().signal)
      await store.addDelivery(webhook.id, delivery)
      return delivery
    },
    async pause(webhook) {
      await store.setWebhookState(webhook.id, 'paused')
      return { ...webhook, state: 'paused', offReason: null }
    },
    async resume(webhook) {
      await store.setWebhookState(webhook.id, 'on')
      return { ...webhook, state: 'on', offReason: null, attempts: 0, failingForMs: null, nextAttemptInMs: 0 }
    },
    async rotate(webhook) {
      const secret = newSecret()
      await store.replaceWebhookSecret(webhook.id, sealSecret(sealing, secret, webhook), overlapMs)
      return { record: webhook, secret }
    },
    deliveries: ({ id }) => store.deliveriesOf(id),
    async replay(webhook, since) {
      const place =
        webhook.sheetId === null
          ? await placeOfEvent(webhook.id, since)
          : await placeOfChange(webhook.sheetId, since)
      if (place instanceof Problem) return place
      await store.moveWebhook(webhook.id, place)
      return find(webhook.id)
    },
    remove: ({ id }) => store.deleteWebhook(id),
  }

  async function find(webhookId: string): Promise<WebhookRecord | Problem> {
    return (await store.findWebhook(webhookId)) ?? unknownWebhook(webhookId)
  }

  async function placeOfChange(sheetId: string, since: ReplaySince): Promise<WebhookPlace | Problem> {
    const position = await store.changeLogOf(sheetId)
    if (!position || position.epoch === null) return noLog
    const { epoch, floor, head } = position
    if (since === 'earliest') return { epoch, seq: floor }
    if ('atMs' in since) return { epoch, seq: Math.max(floor, await store.changeBefore(sheetId, since.atMs)) }
    const cursor = readCursor(since.cursor)
    const isKept = cursor?.epoch === epoch && cursor.seq >= floor && cursor.seq <= head
    return isKept ? cursor : notKept
  }

  async function placeOfEvent(webhookId: string, since: ReplaySince): Promise<WebhookPlace | Problem> {
    if (since === 'earliest') return { epoch: null, seq: 0 }
    if ('atMs' in since) return { epoch: null, seq: await store.eventBefore(webhookId, since.atMs) }
    const isNumber = /^(?:0|[1-9][0-9]{0,14})$/.test(since.cursor)
    const last = isNumber ? Number(since.cursor) : 0
    const [next] = await store.eventsAfter(webhookId, last, 1)
    return isNumber && next ? { epoch: null, seq: last } : notKept
  }
}

function problemWithWish(
  sheetSlug: string | null,
  kinds: readonly string[] | null,
  columns: readonly string[] | null,
): Problem | null {
  if (sheetSlug === null && (kinds !== null || columns !== null)) {
    return new Problem('kinds and columns are for the changes of a sheet, not for events of the account')
  }
  if (kinds && (kinds.length === 0 || kinds.some((kind) => !changeKinds.some((known) => known === kind)))) {
    return new Problem(`the kinds are ${changeKinds.join(', ')}`, { field: 'kinds' })
  }
  if (columns && (columns.length === 0 || columns.length > maxColumns || columns.includes(''))) {
    return new Problem(`name 1 to ${maxColumns} columns`, { field: 'columns' })
  }
  return null
}

const noLog = new Problem('the sheet keeps no log of changes (history_days is 0)')
const notKept = new Problem('nothing is kept after that point; "earliest" is the first that is', {
  field: 'since',
})

function unknownWebhook(webhookId: string): Problem {
  return new Problem(`there is no webhook with the id "${webhookId}"`, { kind: 'not_found' })
}
