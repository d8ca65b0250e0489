import type { Plans } from '../../admission/plans.ts'
import type { Clock } from '../../clock.ts'
import {
  connectionEndedLetter,
  type Letter,
  quotaLetter,
  sheetBrokenLetter,
  sheetRecoveredLetter,
  webhookOffLetter,
} from '../../mail/letters.ts'
import type { MailRoom } from '../../mail/mail-room.ts'
import type { ProviderKinds } from '../../sheets/provider-kind.ts'
import type { Told } from '../../store/alerts/alerts.ts'
import type { Store } from '../../store/store.ts'
import { leastLimitOf, reachedMark } from './quota-marks.ts'
import { type BrokenSheets, startTellingRounds } from './telling-rounds.ts'

export interface AlertParts {
  store: Pick<
    Store,
    | 'endedConnectionsToTell'
    | 'sheetsToTell'
    | 'quotasToTell'
    | 'tellEndedConnection'
    | 'tellSheet'
    | 'tellQuota'
    | 'offWebhooksToTell'
    | 'tellOffWebhook'
  >
  mailRoom: Pick<MailRoom, 'sealed'>
  kinds: Pick<ProviderKinds, 'of'>
  plans: Plans
  clock: Clock
  baseUrl(): string
}

/** Owners hear of one sheet no more often: one that breaks and recovers by the minute would fill their box. */
const quietMs = 60 * 60_000

/**
 * Tells owners of trouble by mail. It goes by what the store knows and by what it has told, not by events: so nothing is
 * lost when a process ends, and of all instances that look at the same time one tells.
 */
export function startAlerts(parts: AlertParts): { close(): Promise<void> } {
  return startTellingRounds(parts.clock, (broken) => tellAll(parts, broken))
}

async function tellAll(parts: AlertParts, brokenSheets: BrokenSheets): Promise<void> {
  const { store, mailRoom, kinds, plans, clock, baseUrl } = parts
  const headOf = ({ account }: Told) => ({ baseUrl: baseUrl(), accountSlug: account.slug })
  const mailFor = ({ account, email }: Told, letter: Letter) =>
    mailRoom.sealed(letter, { accountId: account.id, email })

  for (const news of await store.endedConnectionsToTell()) {
    const letter = connectionEndedLetter(headOf(news), {
      providerName: kinds.of(news.provider).name,
      label: news.label,
      sheets: news.sheets,
    })
    await store.tellEndedConnection(news, mailFor(news, letter))
  }
  const sheets = await store.sheetsToTell(quietMs)
  const broken = new Set(
    sheets.filter(({ failureReason }) => failureReason !== null).map(({ sheetId }) => sheetId),
  )
  brokenSheets.keep(broken)
  for (const news of sheets) {
    const { sheetId, slug, failureReason } = news
    if (failureReason !== null && !brokenSheets.isLong(sheetId)) continue
    const letter =
      failureReason === null
        ? sheetRecoveredLetter(headOf(news), slug)
        : sheetBrokenLetter(headOf(news), slug, failureReason)
    await store.tellSheet(news, quietMs, mailFor(news, letter))
  }
  for (const news of await store.quotasToTell(leastLimitOf(plans))) {
    const reached = reachedMark(news, plans, clock.nowMs())
    if (!reached || reached.percent <= news.toldPercent) continue
    const letter = quotaLetter(headOf(news), reached)
    await store.tellQuota(news, reached.percent, mailFor(news, letter))
  }
  for (const news of await store.offWebhooksToTell()) {
    const { url, reason, sheetSlug } = news
    const letter = webhookOffLetter(headOf(news), { host: new URL(url).host, reason, sheetSlug })
    await store.tellOffWebhook(news, mailFor(news, letter))
  }
}
