import type { Plans } from '../../admission/plans.ts'
import type { Clock } from '../../clock.ts'
import type { Store } from '../../store/store.ts'
import type { WebhookNews } from '../../store/webhooks/webhook-news.ts'
import { leastLimitOf, reachedMark } from '../alerts/quota-marks.ts'
import { type BrokenSheets, startTellingRounds } from '../alerts/telling-rounds.ts'

export interface AccountEventParts {
  store: Pick<Store, 'connectionNews' | 'sheetNewsForWebhooks' | 'quotaNews' | 'heldNews' | 'addWebhookEvent'>
  plans: Plans
  clock: Clock
}

/** Tells the webhooks of accounts of trouble. As mails do, it goes by what is so and by what was told, not by what happened here. */
export function startAccountEvents(parts: AccountEventParts): { close(): Promise<void> } {
  return startTellingRounds(parts.clock, (broken) => tellAll(parts, broken))
}

async function tellAll(
  { store, plans, clock }: AccountEventParts,
  brokenSheets: BrokenSheets,
): Promise<void> {
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
  brokenSheets.keep(broken)
  for (const news of sheets) {
    const { sheetId, slug, failureReason } = news
    const sheet = { sheet: slug, sheet_id: sheetId }
    if (failureReason === null) {
      await tell(news, 'well', 'sheet.recovered', sheet)
      continue
    }
    if (!brokenSheets.isLong(sheetId)) continue
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
