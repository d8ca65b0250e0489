import type { AccountRecord } from '../accounts/accounts.ts'

/**
 * The store's part for what an account's webhooks are told of (docs/decisions/034). It goes by what each was told last, which is
 * noted with the event, both or none: any number of instances may look at once, and nothing is lost with one of them.
 */
export interface WebhookNewsStore {
  /** Connections that ended by themselves. */
  connectionNews(): Promise<ConnectionNews[]>
  /** Sheets that are otherwise than they were told to be. */
  sheetNewsForWebhooks(): Promise<WebhookSheetNews[]>
  /** Months that may have reached a mark: `leastLimit` is the smallest of any plan, accounts may have their own. */
  quotaNews(leastLimit: number): Promise<QuotaNews[]>
  /** Forms that hold entries which came after the last that was told. */
  heldNews(): Promise<HeldNews[]>
  /** False when another was quicker, or so many events wait for the webhook that no more are kept: then it is told later. */
  addWebhookEvent(news: WebhookNews, event: NewWebhookEvent): Promise<boolean>
}

export interface WebhookNews {
  webhookId: string
  account: AccountRecord
  subject: string
  /** What it was told last; null = nothing. */
  told: string | null
}

export interface ConnectionNews extends WebhookNews {
  version: number
  provider: string
  /** Who they are there. */
  label: string
  /** How many need it. */
  sheets: number
}

export interface WebhookSheetNews extends WebhookNews {
  sheetId: string
  slug: string
  /** Why it is broken; null when it works again. */
  failureReason: string | null
}

export interface QuotaNews extends WebhookNews {
  /** By whom: clients with a key, or readers without one. */
  by: 'keys' | 'public'
  cycleStartMs: number
  charged: number
}

export interface HeldNews extends WebhookNews {
  formId: string
  formName: string
  sheetId: string
  slug: string
  /** How many wait for their owner. */
  held: number
  newestAtMs: number
}

export interface NewWebhookEvent {
  /** What it is told now. */
  state: string
  type: string
  atMs: number
  /** JSON. */
  data: string
}
