import { lengthOfText } from '../changes/read-change.ts'
import { nullIfGone, readLong, readShort } from '../changes/read-entries.ts'
import type { LoggedChange } from '../sheets/logged-change.ts'
import type { Soon } from '../soon.ts'
import type { Store } from '../store/store.ts'
import type { HeldWebhook } from '../store/webhooks/webhook-sending.ts'
import type { WebhookPlace, WebhookRecord } from '../store/webhooks/webhooks.ts'
import { eventMessage, type Message, type NumberedChange, rowsMessage } from './messages.ts'

/** What a webhook has to be told, message by message. */
export interface Outgoing {
  /** After this place; up to `sendingTo` where a message is on its way that was not taken yet. null when there is nothing. */
  next(place: WebhookPlace, sendingTo: WebhookPlace | null): Promise<NextMessage | null>
}

/** Without a message, nothing up to there is for this webhook. */
export interface NextMessage {
  message: Message | null
  to: WebhookPlace
}

type OutgoingStore = Pick<Store, 'changeLogOf' | 'loggedChanges' | 'eventsAfter'>

/** As much as receivers are used to; a single change may be longer. */
const maxChanges = 100
const maxMessageBytes = 20_000
const readBytes = 128 * 1024

export function eventsFor(held: HeldWebhook, store: OutgoingStore): Outgoing {
  return {
    async next({ seq }) {
      const [event] = await store.eventsAfter(held.id, seq, 1)
      if (!event) return null
      return { message: eventMessage(held.webhook, event), to: { epoch: null, seq: event.seq } }
    },
  }
}

export function changesFor(
  held: HeldWebhook,
  sheetId: string,
  store: OutgoingStore,
  clock: { nowMs(): number },
  nextTurn: () => Soon<void>,
): Outgoing {
  /** Read and not gone through yet. */
  let ahead: NumberedChange[] = []

  return {
    async next(place, sendingTo) {
      const position = await store.changeLogOf(sheetId)
      if (!position || position.epoch === null) return null
      const { epoch, head, floor } = position
      const from = place.epoch === null ? 0 : place.seq
      const isOtherLog = place.epoch !== null && place.epoch !== epoch
      if (isOtherLog || from < floor || from > head) return messageOfGap({ epoch, seq: head })
      if (from === head) return place.epoch === null ? { message: null, to: { epoch, seq: head } } : null
      const isUnderWay = sendingTo?.epoch === epoch && sendingTo.seq > from && sendingTo.seq <= head
      const { changes, to } = await gatherChanges(from, isUnderWay ? sendingTo.seq : null)
      if (to === from) return null
      const message =
        changes.length === 0 ? null : rowsMessage(held.webhook, { from, to: { epoch, seq: to }, changes })
      return { message, to: { epoch, seq: to } }
    },
  }

  /** What came between is no longer kept, or never was: the receiver has to read all rows. */
  function messageOfGap(to: { epoch: string; seq: number }): NextMessage {
    const changes = [{ seq: to.seq, atMs: clock.nowMs(), change: { kind: 'reset' } as const }]
    return { message: rowsMessage(held.webhook, { from: null, to, changes }), to }
  }

  /** Up to a number where one is given, else as many as belong into one message. */
  async function gatherChanges(
    from: number,
    upTo: number | null,
  ): Promise<{ changes: NumberedChange[]; to: number }> {
    const changes: NumberedChange[] = []
    let to = from
    for (let bytes = 0; to !== upTo; ) {
      const next = await changeAfter(to)
      if (!next) break
      if (isFor(held.webhook, next.change)) {
        const size = sizeOf(next)
        const isFull = changes.length === maxChanges || (changes.length > 0 && bytes + size > maxMessageBytes)
        if (upTo === null && isFull) break
        bytes += size
        changes.push(next)
      }
      to = next.seq
      ahead.shift()
    }
    return { changes, to }
  }

  async function changeAfter(seq: number): Promise<NumberedChange | null> {
    if (ahead[0]?.seq !== seq + 1) {
      // It may be for nothing, for as long as the log is: nobody may wait for all of it.
      await nextTurn()
      const chunks = await store.loggedChanges(sheetId, seq, readBytes)
      ahead = []
      for (const { firstSeq, atMs, entries } of chunks) {
        const its =
          typeof entries === 'string' ? readShort(entries) : await nullIfGone(readLong(entries, nextTurn))
        if (its === null) break
        for (const [nth, read] of its.changes.entries())
          if (firstSeq + nth > seq) ahead.push({ seq: firstSeq + nth, atMs, ...read })
      }
    }
    return ahead[0]?.seq === seq + 1 ? ahead[0] : null
  }
}

/** Whoever follows rows must hear of other columns and of a new beginning, whatever else they want to hear of. */
function isFor({ kinds, columns }: WebhookRecord, { kind, changed }: LoggedChange): boolean {
  if (kind === 'columns_changed' || kind === 'reset') return true
  if (kinds !== null && !kinds.includes(kind)) return false
  return kind !== 'updated' || columns === null || !changed || changed.some((name) => columns.includes(name))
}

/** About as long as it will be told. */
function sizeOf(change: NumberedChange): number {
  return 200 + lengthOfText(change, 'before') + lengthOfText(change, 'after')
}
