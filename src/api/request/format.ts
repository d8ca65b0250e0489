import { parseQualities } from '../../http/qualities.ts'

/** How rows can be written (docs/contract.md#formats). */
export type Format = 'json' | 'csv' | 'ndjson'

export const formats: readonly Format[] = ['json', 'csv', 'ndjson']

export const mediaTypes: Record<Format, string> = {
  json: 'application/json; charset=utf-8',
  csv: 'text/csv; charset=utf-8; header=present',
  ndjson: 'application/x-ndjson; charset=utf-8',
}

/** The names that clients use, ours first. There is no registered one for lines of JSON. */
const named: readonly (readonly [mediaType: string, format: Format])[] = [
  ['application/json', 'json'],
  ['text/csv', 'csv'],
  ['application/x-ndjson', 'ndjson'],
  ['application/ndjson', 'ndjson'],
  ['application/jsonl', 'ndjson'],
  ['application/x-jsonlines', 'ndjson'],
]
const mayAskForAnother = /csv|json-?l|ndjson|text\/\*/i

/**
 * The format that `Accept` likes best (RFC 9110, 12.5.1); JSON where it likes several alike, or none that we have:
 * a browser that asks for a page is better off with JSON than with a refusal.
 */
export function acceptedFormat(accept: string | undefined): Format {
  if (accept === undefined || !mayAskForAnother.test(accept)) return 'json'
  const ranges = parseQualities(accept)
  let best: Format = 'json'
  let bestQuality = qualityOf('application/json', ranges)
  for (const [mediaType, format] of named) {
    const quality = qualityOf(mediaType, ranges)
    if (quality > bestQuality) {
      best = format
      bestQuality = quality
    }
  }
  return best
}

/** Whether `Accept` would rather have events as they come than an answer that ends. */
export function wantsEvents(accept: string | undefined): boolean {
  if (accept === undefined || !/text\/event-stream/i.test(accept)) return false
  const ranges = parseQualities(accept)
  return (ranges.get(eventStream) ?? 0) > qualityOf('application/json', ranges)
}

export const eventStream = 'text/event-stream'

/** The most specific range that covers the type decides, so that `text/*;q=0.1, text/csv` means what it says. */
function qualityOf(mediaType: string, ranges: ReadonlyMap<string, number>): number {
  const [kind = ''] = mediaType.split('/')
  return ranges.get(mediaType) ?? ranges.get(`${kind}/*`) ?? ranges.get('*/*') ?? 0
}
