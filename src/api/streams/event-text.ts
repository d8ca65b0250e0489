import { changeJson, changeParts } from '../../changes/change-json.ts'
import type { ChangePage } from '../../changes/change-pages.ts'
import { cursorText } from '../../changes/cursor.ts'
import { piecesOf, type TextPart } from '../../changes/long-text.ts'
import type { ToldChange } from '../../changes/reading-changes.ts'
import { type ErrorForm, errorBody, type Refusal } from '../../errors.ts'
import type { Logged } from '../../sheets/sheet-log.ts'
import type { Soon } from '../../soon.ts'
import type { ChangesAsked } from '../request/changes-wish.ts'

/*
 * Changes as server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html). An event without `data` is not
 * dispatched, but its `id` counts: that is how a client knows where it stands before the first change, and past those that it did not
 * want.
 */

type Filter = Pick<ChangesAsked, 'matches' | 'filterName'>

const made = new WeakMap<ChangePage, Map<string, Buffer>>()

/** Made once for all who are sent the same page and want the same of it. */
export function pageEvents(
  page: ChangePage,
  { matches, filterName }: Filter,
  nextTurn: () => Soon<void>,
): Buffer | AsyncIterable<Uint8Array> {
  const ofPage = made.get(page) ?? new Map<string, Buffer>()
  made.set(page, ofPage)
  const known = ofPage.get(filterName)
  if (known) return known
  const wanted = page.changes.filter(({ change }) => matches(change))
  const cursor = cursorText(page.next)
  const isBehind = wanted.at(-1)?.cursor !== cursor
  const end = isBehind ? `id: ${cursor}\n\n` : ''
  // What stays in the store is told from there to each of them.
  if (wanted.some(({ long }) => long)) return piecesOf([...wanted.flatMap(eventParts), end], nextTurn)
  const bytes = Buffer.from(wanted.map(changeEvent).join('') + end)
  ofPage.set(filterName, bytes)
  return bytes
}

/** JSON has no line end in it. */
function changeEvent(told: ToldChange): string {
  return `id: ${told.cursor}\ndata: ${changeJson(told)}\n\n`
}

function eventParts(told: ToldChange): TextPart[] {
  return [`id: ${told.cursor}\ndata: `, ...changeParts(told), '\n\n']
}

export const comment = Buffer.from(':\n\n')

export function openingEvent(place: Logged, retryMs: number): Buffer {
  return Buffer.from(`retry: ${Math.round(retryMs)}\nid: ${cursorText(place)}\n\n`)
}

/** A browser waits no longer than this, whatever it is told to wait for. */
const longestRetryMs = 60 * 60 * 1_000

/** What a request would be told, as the last thing. */
export function endEvent(refusal: Refusal, form: ErrorForm): Buffer {
  const { retryAfterSeconds } = refusal.facts
  const retry =
    retryAfterSeconds === undefined ? '' : `retry: ${Math.min(longestRetryMs, retryAfterSeconds * 1_000)}\n`
  return Buffer.from(`${retry}event: end\ndata: ${JSON.stringify(errorBody(refusal, form))}\n\n`)
}
