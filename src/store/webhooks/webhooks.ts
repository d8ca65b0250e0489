import type { SealedSecret } from '../sealed-secret.ts'
import type { WebhookState } from '../sql/schema.ts'

/** The store's part for webhooks, as those who manage them see it (docs/decisions/034). It holds sealed secrets and opens none. */
export interface WebhookStore {
  /** Throws `AccountFull` where the account has so many. */
  createWebhook(webhook: NewWebhook, mostOfAccount?: number | null): Promise<WebhookRecord>
  /** The oldest first. */
  webhooksOf(accountId: string): Promise<WebhookRecord[]>
  findWebhook(webhookId: string): Promise<WebhookRecord | null>
  /** What was turned off, or waits between two attempts, is tried at once when it is on again. */
  setWebhookState(webhookId: string, state: 'on' | 'paused'): Promise<void>
  /** The secret of now signs too for so long. */
  replaceWebhookSecret(webhookId: string, secret: SealedSecret, overlapMs: number): Promise<void>
  /** What comes after this place is sent, at once and as new messages. Whoever is sending for it can note nothing any more. */
  moveWebhook(webhookId: string, place: WebhookPlace): Promise<void>
  deleteWebhook(webhookId: string): Promise<void>
  /** The last change of a sheet that was made before this time of day; 0 when all that are kept came later. */
  changeBefore(sheetId: string, atMs: number): Promise<number>
  /** The last event of a webhook from before this time of day. */
  eventBefore(webhookId: string, atMs: number): Promise<number>

  /** The newest of each webhook are remembered. */
  addDelivery(webhookId: string, delivery: NewDelivery): Promise<void>
  /** The newest first. */
  deliveriesOf(webhookId: string): Promise<DeliveryRecord[]>

  /** Those with a secret that another key sealed. */
  webhooksNotUnderKey(keyId: string): Promise<WebhookRecord[]>
  /** Only if they are still under these keys. */
  resealWebhook(former: WebhookSecrets & { id: string }, sealed: WebhookSecrets): Promise<void>
}

export interface NewWebhook {
  /** Made before, because it is part of the seal. */
  id: string
  accountId: string
  /** null = it is told events of the account. */
  sheetId: string | null
  url: string
  /** null = all. */
  kinds: readonly string[] | null
  columns: readonly string[] | null
  secret: SealedSecret
  place: WebhookPlace
}

/** A place in the log of a sheet, without an epoch in one that is still to begin; or, without one, in the events of an account. */
export interface WebhookPlace {
  epoch: string | null
  seq: number
}

export interface WebhookSecrets {
  secret: SealedSecret
  /** While it signs too. */
  formerSecret: SealedSecret | null
}

export interface WebhookRecord extends Omit<NewWebhook, 'secret'>, WebhookSecrets {
  accountSlug: string
  /** null for one of the account's events. */
  sheetSlug: string | null
  state: WebhookState
  /** Why it was turned off. */
  offReason: string | null
  /** Where the message ends that is being sent. */
  sendingTo: WebhookPlace | null
  replays: number
  /** That have failed since the last that did not, and for how long. */
  attempts: number
  failingForMs: number | null
  /** Until the next attempt; 0 when there is nothing to wait for. */
  nextAttemptInMs: number
  /** Changes or events that it has not been told, as far as they are kept. */
  waiting: number
  createdAtMs: number
}

export interface NewDelivery {
  messageId: string
  type: string
  changes: number
  cursor: string | null
  atMs: number
  durationMs: number
  /** null when no answer came. */
  status: number | null
  /** null when it was taken. */
  failure: string | null
  /** Its first lines. */
  answer: string
}

export interface DeliveryRecord extends NewDelivery {
  id: string
}
