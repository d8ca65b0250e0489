import type { RowsFrom } from '../../reporting/observe.ts'
import type { ReadSheet } from '../../sheets/reading/reading.ts'
import { notModifiedHeaders, type Reply } from './reply.ts'

/** RFC 9211: where the answer came from; `Age` beside it says how long ago that was. */
const cacheStatus: Record<RowsFrom, string> = {
  hit: 'rowport; hit',
  miss: 'rowport; fwd=miss',
  stale: 'rowport; fwd=stale',
  rationed: 'rowport; hit; detail=refresh-waits',
  outlasted: 'rowport; fwd=stale; detail=provider-failed',
}

export function originHeaders(etag: string, { ageSeconds, source, isPart }: ReadSheet): string[] {
  // They would tell when something was written that this reader may not see.
  if (isPart) return ['ETag', etag]
  return ['ETag', etag, 'Age', String(ageSeconds), 'Cache-Status', cacheStatus[source]]
}

export function notModified(etag: string, sheet: ReadSheet): Reply {
  return {
    status: 304,
    base: notModifiedHeaders,
    headers: originHeaders(etag, sheet),
    body: null,
    rowsFrom: sheet.source,
  }
}
