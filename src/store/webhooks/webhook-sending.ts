import type { NewDelivery, WebhookPlace, WebhookRecord } from './webhooks.ts'

/**
 * The store's part for those who send. A webhook is in one instance's hands at a time: it is taken for a while by the store's
 * clock, or as long as the instance lives, whichever is shorter, and whoever has lost it can note nothing.
 */
export interface WebhookSendingStore {
  /**
   * Webhooks that have something to send and whose time has come, at most so many; nobody else gets them for `holdMs`. `isFailing`: those
   * whose last attempt failed, or only the others. `mostOf`: no more of one account; `noteWaiting` is told of each that stays because of that.
   */
  takeWebhooks(wish: {
    most: number
    holdMs: number
    isFailing: boolean
    mostOf?: (accountId: string) => number
    noteWaiting?: (webhookId: string) => void
  }): Promise<HeldWebhook[]>
  /** What will be sent now, so that another instance sends the same message. False when the webhook is no longer ours, or not on. */
  noteSending(held: Held, to: WebhookPlace, holdMs: number): Promise<boolean>
  /** It has taken all up to there; without a delivery nothing of it was for this webhook. False as above. */
  noteTaken(held: Held, place: WebhookPlace, delivery: NewDelivery | null, holdMs: number): Promise<boolean>
  /** It was not taken: again after a pause, or no more, for a reason. Ours no longer. False when it was not before. */
  noteFailed(
    held: Held,
    delivery: NewDelivery,
    then: { pauseMs: number } | { offReason: string },
  ): Promise<boolean>
  /** There is nothing more to send, or not by us. */
  releaseWebhook(held: Held): Promise<void>
  /** The sheets of those that are on. */
  sheetsWithWebhooks(): Promise<string[]>
  /** An account's events after this one, the oldest first. */
  eventsAfter(webhookId: string, seq: number, most: number): Promise<WebhookEvent[]>
}

export interface Held {
  id: string
  fencingToken: number
}

export interface HeldWebhook extends Held {
  webhook: WebhookRecord
}

export interface WebhookEvent {
  seq: number
  type: string
  atMs: number
  /** JSON. */
  data: string
}
