import type { Plans } from '../../admission/plans.ts'
import type { Clock } from '../../clock.ts'
import type { Store } from '../../store/store.ts'
import type { WebhookNews } from '../../store/webhooks/webhook-news.ts'
import { graceMs } from '../alerts/alerts.ts'
import { leastLimitOf, reachedMark } from '../alerts/quota-marks.ts'

export interface AccountEventParts {
  store: Pick<Store, 'connectionNews' | 'sheetNewsForWebhooks' | 'quotaNews' | 'heldNews' | 'addWebhookEvent'>
  plans: Plans
  clock: Clock
}

const lookEveryMs = 5_000

/** Tells the webhooks of accounts of trouble. As mails do, it goes by what is so and by what was told, not by what happened here. */
export function startAccountEvents(parts: AccountEventParts): { close(): Promise<void> } {
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

async function tellAll({ store, plans, clock }: AccountEventParts, brokenSince: BrokenSince): Promise<void> {
  const tell = (news: WebhookNews, state: string, type: string, data: object) => {
    const told = JSON.stringify({ webhook: news.webhookId, account: news.account.slug, ...data })
    return store.addWebhookEvent(news, { state, type, atMs: clock.nowMs(), data: told })
  }
  for (const news of await store.connectionNews()) {
    const { version, provider, label, sheets } = news
    await tell(news, String(version), 'connection.expired', { provider, connection: label, sheets })
  }
  const sheets = await store.sheetNewsForWebhooks()
  const broken = new Set(
    sheets.flatMap(({ failureReason, sheetId }) => (failureReason === null ? [] : sheetId)),
  )
  for (const sheetId of brokenSince.keys()) if (!broken.has(sheetId)) brokenSince.delete(sheetId)
  for (const news of sheets) {
    const { sheetId, slug, failureReason } = news
    const sheet = { sheet: slug, sheet_id: sheetId }
    if (failureReason === null) {
      await tell(news, 'well', 'sheet.recovered', sheet)
      continue
    }
    const sinceMs = brokenSince.get(sheetId) ?? clock.elapsedMs()
    brokenSince.set(sheetId, sinceMs)
    if (clock.elapsedMs() - sinceMs < graceMs) continue
    await tell(news, 'broken', 'sheet.broken', { ...sheet, reason: failureReason })
  }
  for (const news of await store.heldNews()) {
    const { formId, formName, sheetId, slug, held } = news
    const form = { form: formId, form_name: formName, sheet: slug, sheet_id: sheetId, held }
    await tell(news, String(news.newestAtMs), 'form.held', form)
  }
  for (const news of await store.quotaNews(leastLimitOf(plans))) {
    const reached = reachedMark(news, plans, clock.nowMs())
    const state = `${news.cycleStartMs} ${reached?.percent}`
    if (!reached || state === news.told) continue
    const { percent, used, limit, resetsAtMs, by } = reached
    const resets_at = new Date(resetsAtMs).toISOString()
    await tell(news, state, 'quota.reached', { percent, used, limit, by, resets_at })
  }
}
