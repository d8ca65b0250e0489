import type { Clock } from '../clock.ts'
import type { Observe } from '../reporting/observe.ts'
import type { LoopTurns } from '../shares/loop-turns.ts'
import type { Store } from '../store/store.ts'
import type { HeldWebhook } from '../store/webhooks/webhook-sending.ts'
import type { WebhookPlace } from '../store/webhooks/webhooks.ts'
import { idleTimers } from '../timers.ts'
import { changesFor, eventsFor, type Outgoing } from './outgoing.ts'
import { giveUpAfterMs, pauseAfter } from './retries.ts'
import type { PostOutcome, SignedPost } from './signed-post.ts'

/** Sends what webhooks have not been told yet (docs/decisions/034). */
export interface WebhookDelivery {
  /** Something was logged here: those who want to hear of it need not wait. */
  noteChange(sheetId: string): void
  /** What is being sent has a moment; what is not taken then, another instance sends, or this one after its next start. */
  close(): Promise<void>
}

export interface WebhookDeliveryParts {
  store: Pick<
    Store,
    | 'takeWebhooks'
    | 'noteSending'
    | 'noteTaken'
    | 'noteFailed'
    | 'releaseWebhook'
    | 'eventsAfter'
    | 'changeLogOf'
    | 'loggedChanges'
    | 'addAuditEntry'
    | 'sheetsWithWebhooks'
  >
  post: SignedPost
  /** The share of one account. */
  deliveriesAtOnce: number
  turns: LoopTurns
  clock: Clock
  observe: Observe
}

const roundEveryMs = 1_000
const soonMs = 20
const sheetsEveryMs = 5_000
/** Much longer than any attempt takes: until then nobody else sends. */
const holdMs = 60_000
/** For how long one goes on without a pause while others may wait for its place. */
const turnMs = 10_000
/** Places of all accounts; each costs a connection. One account has its share of them, so that slow receivers of some leave places for others. */
const atOnce = 512
/** Those that fail have these, so that they never take the place of those that do not. */
const failingAtOnce = 32
const closingMs = 2_000
const gone = 410

export function startWebhookDelivery(parts: WebhookDeliveryParts): WebhookDelivery {
  const { store, post, deliveriesAtOnce, turns, clock, observe } = parts
  const underWay = new Map<Promise<void>, { isFailing: boolean; accountId: string }>()
  const closing = new AbortController()
  /** By whether they are failing: which webhooks wait for a place of their account, and since when. */
  const waitingSince = new Map<boolean, ReadonlyMap<string, number>>()
  let followed: ReadonlySet<string> = new Set()
  let followedAtMs: number | null = null
  let round: Promise<void> | null = null
  let isAsked = false
  let isOpen = true
  const timer = setInterval(runRound, roundEveryMs).unref()
  let cancelSoon: (() => void) | null = null

  return {
    noteChange(sheetId) {
      if (!isOpen || cancelSoon || !followed.has(sheetId)) return
      cancelSoon = idleTimers.after(soonMs, () => {
        cancelSoon = null
        runRound()
      })
    },
    async close() {
      isOpen = false
      clearInterval(timer)
      cancelSoon?.()
      await round
      // A receiver that hangs must not keep this process from ending.
      const cancel = idleTimers.after(closingMs, () => closing.abort())
      await Promise.all(underWay.keys())
      cancel()
    },
  }

  function runRound(): void {
    if (!isOpen) return
    if (round) {
      isAsked = true
      return
    }
    // A store that is away is asked again the next time.
    round = takeAll()
      .catch(() => {})
      .finally(() => {
        round = null
        if (!isAsked) return
        isAsked = false
        runRound()
      })
  }

  async function takeAll(): Promise<void> {
    if (followedAtMs === null || clock.elapsedMs() - followedAtMs >= sheetsEveryMs) {
      followed = new Set(await store.sheetsWithWebhooks())
      followedAtMs = clock.elapsedMs()
    }
    for (const isFailing of [false, true]) {
      const failing = [...underWay.values()].filter((one) => one.isFailing).length
      const most = Math.min(atOnce - underWay.size, isFailing ? failingAtOnce - failing : atOnce)
      if (most <= 0 || !isOpen) continue
      const ofAccounts = Map.groupBy(underWay.values(), ({ accountId }) => accountId)
      const mostOf = (accountId: string) => deliveriesAtOnce - (ofAccounts.get(accountId)?.length ?? 0)
      const waitedBefore = waitingSince.get(isFailing)
      const waiting = new Map<string, number>()
      const noteWaiting = (id: string) => waiting.set(id, waitedBefore?.get(id) ?? clock.elapsedMs())
      const taken = await store.takeWebhooks({ most, holdMs, isFailing, mostOf, noteWaiting })
      waitingSince.set(isFailing, waiting)
      for (const held of taken) {
        const sinceMs = waitedBefore?.get(held.id)
        if (sinceMs !== undefined) {
          const waitedMs = clock.elapsedMs() - sinceMs
          observe({ event: 'turn_waited', share: 'deliveries_at_once', waitedMs })
        }
        begin(held, isFailing)
      }
    }
  }

  function begin(held: HeldWebhook, isFailing: boolean): void {
    const { accountId } = held.webhook
    const sending: Promise<void> = deliver(held)
      .catch(() => store.releaseWebhook(held).catch(() => {}))
      .finally(() => {
        underWay.delete(sending)
        const left = [...underWay.values()].filter((one) => one.accountId === accountId).length
        // Somebody may have waited for the place.
        if (underWay.size === atOnce - 1 || left === deliveriesAtOnce - 1) runRound()
      })
    underWay.set(sending, { isFailing, accountId })
  }

  async function deliver(held: HeldWebhook): Promise<void> {
    const { webhook } = held
    const outgoing: Outgoing =
      webhook.sheetId === null
        ? eventsFor(held, store)
        : changesFor(held, webhook.sheetId, store, clock, () => turns.next(webhook.accountId))
    const endMs = clock.elapsedMs() + turnMs
    let { place, sendingTo, attempts, failingForMs } = webhook
    while (isOpen && clock.elapsedMs() <= endMs) {
      const next = await outgoing.next(place, sendingTo)
      if (!next) break
      const { message, to } = next
      let outcome: PostOutcome | null = null
      if (message) {
        if (!isSame(to, sendingTo) && !(await store.noteSending(held, to, holdMs))) break
        outcome = await post(webhook, message, closing.signal)
        if (closing.signal.aborted && outcome.delivery.status === null) break
        if (outcome.delivery.failure !== null) return noteFailure(held, outcome, { attempts, failingForMs })
        const { changes, durationMs } = outcome.delivery
        observe({ event: 'webhook_delivered', webhookId: webhook.id, changes, durationMs })
      }
      if (!(await store.noteTaken(held, to, outcome?.delivery ?? null, holdMs))) break
      place = to
      sendingTo = null
      attempts = 0
      failingForMs = null
    }
    await store.releaseWebhook(held)
  }

  async function noteFailure(
    held: HeldWebhook,
    { delivery, retryAfterMs }: PostOutcome,
    { attempts, failingForMs }: Pick<HeldWebhook['webhook'], 'attempts' | 'failingForMs'>,
  ): Promise<void> {
    const { webhook } = held
    const { status, failure } = delivery
    const offReason =
      status === gone
        ? 'it returned 410 Gone'
        : (failingForMs ?? 0) >= giveUpAfterMs
          ? `it failed for three days; at last, ${failure}`
          : null
    observe({
      event: 'webhook_failed',
      webhookId: webhook.id,
      attempts: attempts + 1,
      status,
      reason: failure ?? '',
    })
    const then = offReason === null ? { pauseMs: pauseAfter(attempts, retryAfterMs) } : { offReason }
    const isNoted = await store.noteFailed(held, delivery, then)
    if (offReason === null || !isNoted) return
    observe({ event: 'webhook_turned_off', webhookId: webhook.id, reason: offReason })
    await store.addAuditEntry({
      accountId: webhook.accountId,
      actor: 'rowport',
      address: null,
      action: 'webhook.turned_off',
      subject: webhook.url,
      details: JSON.stringify({ reason: offReason }),
    })
  }
}

function isSame(one: WebhookPlace, other: WebhookPlace | null): boolean {
  return other !== null && one.epoch === other.epoch && one.seq === other.seq
}
