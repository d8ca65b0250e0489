import type { SheetRecord } from '../store/sheets/sheets.ts'
import { UsageError } from './command.ts'

export function parseSheetAddress(address: string): { accountSlug: string; sheetSlug: string } {
  const [accountSlug, sheetSlug, ...rest] = address.split('/')
  if (!accountSlug || !sheetSlug || rest.length > 0)
    throw new UsageError(`"${address}" is not <account>/<sheet>.`)
  return { accountSlug, sheetSlug }
}

export function sheetJson(sheet: SheetRecord) {
  return {
    id: sheet.id,
    slug: sheet.slug,
    provider: sheet.provider,
    access: sheet.access,
    accepts: sheet.accepts,
    paused: sheet.paused,
    cache_seconds: sheet.cacheSeconds,
    stale_if_error_seconds: sheet.staleIfErrorSeconds,
    unknown_fields: sheet.unknownFields,
    key_column: sheet.keyColumn,
    auto_key: sheet.autoKey,
    history_days: sheet.historyDays,
    watch_seconds: sheet.watchSeconds,
    location: JSON.parse(sheet.location),
  }
}
