import type { AccountRecord } from '../accounts/accounts.ts'
import type { NewMail } from '../mail/mail.ts'

/**
 * The store's part for what owners are told by mail: only those whose address is verified and who want to hear of it. What
 * has been told is noted with the mail, both or none, so that any number of instances may look at once and each thing is
 * told once.
 */
export interface AlertStore {
  /** Connections that ended by themselves, and nobody has been told. */
  endedConnectionsToTell(): Promise<EndedConnection[]>
  /** Sheets that are otherwise than their owners were last told, unless that was less than `quietMs` ago. */
  sheetsToTell(quietMs: number): Promise<SheetNews[]>
  /** Months that may have reached a mark: `leastLimit` is the smallest of any plan, accounts may have their own. */
  quotasToTell(leastLimit: number): Promise<QuotaUse[]>
  /** Webhooks that Rowport has turned off, and nobody has been told. */
  offWebhooksToTell(): Promise<OffWebhook[]>
  /** False, here and in the following, when another was quicker, and then there is no mail. */
  tellEndedConnection(news: EndedConnection, mail: NewMail): Promise<boolean>
  tellSheet(news: SheetNews, quietMs: number, mail: NewMail): Promise<boolean>
  tellQuota(news: QuotaUse, percent: number, mail: NewMail): Promise<boolean>
  tellOffWebhook(news: OffWebhook, mail: NewMail): Promise<boolean>
}

/** Whom it is to be told. */
export interface Told {
  account: AccountRecord
  email: string
}

export interface EndedConnection extends Told {
  credentialId: string
  version: number
  provider: string
  /** Who they are there. */
  label: string
  /** How many need it. */
  sheets: number
}

export interface SheetNews extends Told {
  sheetId: string
  slug: string
  /** Why it is broken; null when it works again. */
  failureReason: string | null
}

export interface QuotaUse extends Told {
  /** By whom: clients with a key, or readers without one. */
  by: 'keys' | 'public'
  cycleStartMs: number
  charged: number
  /** The mark that they have been told of: 0, 80 or 100. */
  toldPercent: number
}

export interface OffWebhook extends Told {
  webhookId: string
  url: string
  reason: string
  /** null for one of the account's events. */
  sheetSlug: string | null
}
