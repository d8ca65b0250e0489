import { billingCycleAt } from '../../admission/billing-cycle.ts'
import { limitsOf, type Plans, planUnknown } from '../../admission/plans.ts'
import type { Clock } from '../../clock.ts'
import {
  connectionEndedLetter,
  type Letter,
  quotaLetter,
  sheetBrokenLetter,
  sheetRecoveredLetter,
} from '../../mail/letters.ts'
import type { MailRoom } from '../../mail/mail-room.ts'
import type { ProviderKinds } from '../../sheets/provider-kind.ts'
import type { QuotaUse, Told } from '../../store/alerts/alerts.ts'
import type { Store } from '../../store/store.ts'

export interface AlertParts {
  store: Pick<
    Store,
    | 'endedConnectionsToTell'
    | 'sheetsToTell'
    | 'quotasToTell'
    | 'tellEndedConnection'
    | 'tellSheet'
    | 'tellQuota'
  >
  mailRoom: Pick<MailRoom, 'sealed'>
  kinds: Pick<ProviderKinds, 'of'>
  plans: Plans
  clock: Clock
  baseUrl(): string
}

const lookEveryMs = 5_000
/** Of one sheet owners hear no more often: one that breaks and recovers by the minute would fill their box. */
const quietMs = 60 * 60_000
/** What is well again by then was a hiccup of the provider's, and nobody has to do anything. */
const graceMs = 60_000
const earlyMark = 80

/**
 * Tells owners of trouble by mail. It goes by what the store knows and by what it has told, not by events: so nothing is
 * lost when a process ends, and of all instances that look at the same time one tells.
 */
export function startAlerts(parts: AlertParts): { close(): Promise<void> } {
  let looking: Promise<void> | null = null
  const brokenSince: BrokenSince = new Map()
  const timer = setInterval(() => {
    // What could not be told now is told the next time.
    looking ??= tellAll(parts, brokenSince)
      .catch(() => {})
      .finally(() => {
        looking = null
      })
  }, lookEveryMs).unref()
  return {
    async close() {
      clearInterval(timer)
      await looking
    },
  }
}

/** By sheet, when this instance first found it so, by the clock for durations. */
type BrokenSince = Map<string, number>

async function tellAll(parts: AlertParts, brokenSince: BrokenSince): Promise<void> {
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
  for (const sheetId of brokenSince.keys()) if (!broken.has(sheetId)) brokenSince.delete(sheetId)
  for (const news of sheets) {
    const { sheetId, slug, failureReason } = news
    if (failureReason !== null) {
      const sinceMs = brokenSince.get(sheetId) ?? clock.elapsedMs()
      brokenSince.set(sheetId, sinceMs)
      if (clock.elapsedMs() - sinceMs < graceMs) continue
    }
    const letter =
      failureReason === null
        ? sheetRecoveredLetter(headOf(news), slug)
        : sheetBrokenLetter(headOf(news), slug, failureReason)
    await store.tellSheet(news, quietMs, mailFor(news, letter))
  }
  for (const news of await store.quotasToTell(leastLimitOf(plans))) {
    const reached = reachedMark(news, plans, clock.nowMs())
    if (!reached) continue
    const letter = quotaLetter(headOf(news), reached)
    await store.tellQuota(news, reached.percent, mailFor(news, letter))
  }
}

function reachedMark(use: QuotaUse, plans: Plans, nowMs: number) {
  const { account, cycleStartMs, charged: used, toldPercent, by } = use
  const limit = limitsOf(account, plans).requestsPerMonth
  const resetsAtMs = billingCycleAt(account.createdAtMs, cycleStartMs).endMs
  if (limit === null || resetsAtMs <= nowMs) return null
  const percent = used >= limit ? 100 : used * 100 >= limit * earlyMark ? earlyMark : 0
  return percent > toldPercent ? { percent, used, limit, resetsAtMs, by } : null
}

function leastLimitOf(plans: Plans): number {
  const limits = [planUnknown, ...plans.values()].flatMap(({ requestsPerMonth }) => requestsPerMonth ?? [])
  return Math.min(...limits)
}
