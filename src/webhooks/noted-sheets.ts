import type { Store } from '../store/store.ts'

export interface NotedSheetsParts {
  store: Pick<Store, 'sheetsWithWebhooks' | 'noteFollowed'>
}

const everyMs = 15_000
/** Long enough that one round may fail. */
const followedForMs = 40_000

/** Nobody hears of what people do in a spreadsheet unless somebody looks: a sheet with a webhook is followed, as by a stream. */
export function startNotingSheets({ store }: NotedSheetsParts): { close(): void } {
  const timer = setInterval(() => {
    // A store that is away is asked again the next time.
    void noteAll().catch(() => {})
  }, everyMs).unref()
  return { close: () => clearInterval(timer) }

  async function noteAll(): Promise<void> {
    const sheetIds = await store.sheetsWithWebhooks()
    if (sheetIds.length > 0) await store.noteFollowed(sheetIds, followedForMs)
  }
}
