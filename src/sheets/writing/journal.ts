import type { Refusal } from '../../errors.ts'
import type { LoopTurns } from '../../shares/loop-turns.ts'
import type { FinishedChanges } from '../../store/changes/change-log.ts'
import type { ChangesToSend, OperationOutcome } from '../../store/operations/operations.ts'
import type { Store } from '../../store/store.ts'
import type { Prepared } from '../provider.ts'
import { bytesLeftToKeys, keepAnswersMs } from './claims/idempotency.ts'
import { answerText, type JournalPlace, placeText, refusalText } from './journal-text.ts'
import { takerOfOrder, type WriteAnswer, type WriteOrder } from './order.ts'
import type { Persistence } from './persistence.ts'
import { createTakerTurns } from './taker-turns.ts'

export type JournalStore = Pick<
  Store,
  'beginSending' | 'finishApplied' | 'finishRefused' | 'unsendOperations' | 'dropOperations' | 'keptAnswers'
>

/** One order and what its client is told. */
export interface SentOrder {
  order: WriteOrder
  answer: WriteAnswer
}

/**
 * What the store is told of one batch. Orders with a key have a row each, for their replay. Those without share one,
 * and only where the batch has no other: all it is for is that the fence is known after a crash.
 */
export interface BatchJournal {
  /**
   * Nothing may leave before this resolved, and nothing at all if it throws. Nor if there is no room for the answers of
   * some, or if the log went on since the place that the changes come after: then nothing is recorded.
   */
  beginSending(
    sent: readonly SentOrder[],
    place: JournalPlace,
    prepared: Pick<Prepared, 'fence' | 'isExact' | 'expectedLastRow'>,
    changes: ChangesToSend | null,
  ): Promise<NoRoomFor | TooLongFor | 'overtaken' | null>
  /** Nothing of it was done: while it is tried again, the log may be told what people did. Tries until it is recorded. */
  takeBack(sent: readonly SentOrder[]): Promise<void>
  /**
   * Tries until it is recorded: the provider has it, and no client may hear of it before the store does. The number of the last
   * change that the log tells, where there is one.
   */
  finishApplied(sent: readonly SentOrder[], changes: FinishedChanges | null): Promise<number | null>
  /** Refused for good: a key keeps the answer for its replay. */
  finishRefused(order: WriteOrder, refusal: Refusal): Promise<void>
  /** Nothing had to be done: the same for the answer that says so, unless there is no room for it. */
  finishUnchanged(order: WriteOrder, answer: WriteAnswer): Promise<NoRoomFor | TooLongFor | null>
  /**
   * Nothing was done for these and nothing will be: their keys are free again. Those that are finished stay as they
   * are. Tries until it is recorded, and tells `onFailure` each time it is not.
   */
  drop(orders: readonly WriteOrder[], onFailure?: () => void): Promise<void>
}

/** Orders with a key whose answers would be more than their account may keep. */
export interface NoRoomFor {
  orders: ReadonlySet<WriteOrder>
  roomInMs: number
}

/** Orders with a key whose answers are each too long to be kept. */
export interface TooLongFor {
  tooLong: ReadonlySet<WriteOrder>
}

/** It is written and read by one statement each, and with the store of one machine on the thread that answers everybody. */
const mostAnswerBytes = 4 * 1024 * 1024

export interface JournalParts {
  store: JournalStore
  persistence: Persistence
  turns: LoopTurns
  /** What one account may keep of answers; absent = anything. */
  maxKeptBytes?: number
}

export function createBatchJournal(
  source: string,
  { store, persistence, turns, maxKeptBytes = Number.POSITIVE_INFINITY }: JournalParts,
): BatchJournal {
  let sharedId: string | null = null
  /** What is recorded for each claim, as far as it is certain. */
  const recorded = new Map<string, { answer: WriteAnswer; text: string }>()

  return {
    async beginSending(sent, place, { fence, isExact, expectedLastRow = null }, changes) {
      const keyed = sent.filter(({ order }) => order.claim !== null)
      const texts: string[] = []
      for (const { order, answer } of keyed)
        texts.push(await textOf(order, answer, { isExact, expectedLastRow }))
      const tooLong = keyed.filter((_, at) => isTooLong(texts[at] ?? ''))
      if (tooLong.length > 0) return { tooLong: new Set(tooLong.map(({ order }) => order)) }
      const rows = keyed.map(({ order }, at) => row(order, order.claim, texts[at] ?? ''))
      const [first] = sent
      const needsShared = rows.length === 0 && first !== undefined
      const operations = needsShared ? [row(first.order, sharedId, '')] : rows
      const keeping = { maxKeptBytes, keepMs: keepAnswersMs }
      const begun = await store.beginSending({
        source,
        fence,
        place: placeText(place),
        operations,
        changes,
        ...(Number.isFinite(maxKeptBytes) && { keeping }),
      })
      if ('isOvertaken' in begun) return 'overtaken'
      if ('noRoomAt' in begun) {
        const orders = new Set(begun.noRoomAt.flatMap((at) => keyed[at]?.order ?? []))
        return { orders, roomInMs: begun.roomInMs }
      }
      if (needsShared) sharedId = begun[0] ?? null
      for (const [at, { order, answer }] of keyed.entries())
        if (order.claim !== null && isExact) recorded.set(order.claim, { answer, text: texts[at] ?? '' })
      return null
    },
    async takeBack(sent) {
      const ids = sent.flatMap(({ order }) => order.claim ?? [])
      if (sharedId !== null) ids.push(sharedId)
      if (ids.length > 0) await persistence.until(() => store.unsendOperations(ids))
    },
    async finishApplied(sent, changes) {
      const outcomes: OperationOutcome[] = []
      for (const { order, answer } of sent) {
        if (order.claim === null) continue
        const known = recorded.get(order.claim)
        const text = known?.answer === answer ? known.text : await textOf(order, answer)
        outcomes.push({ id: order.claim, answer: known?.text === text ? null : text })
      }
      if (sharedId !== null) outcomes.push({ id: sharedId, answer: null })
      const lastSeq = await persistence.until(() => store.finishApplied(source, outcomes, changes))
      sharedId = null
      return lastSeq
    },
    async finishRefused({ claim }, refusal) {
      if (claim !== null) await store.finishRefused([{ id: claim, answer: refusalText(refusal) }])
    },
    async finishUnchanged(order, answer) {
      const { claim, accountId, isForVisitors } = order
      if (claim === null) return null
      const text = await textOf(order, answer)
      if (isTooLong(text)) return { tooLong: new Set([order]) }
      const { bytes, roomInMs } = await store.keptAnswers(accountId, keepAnswersMs)
      const leftToKeys = bytesLeftToKeys(maxKeptBytes, isForVisitors)
      if (bytes + Buffer.byteLength(text) + leftToKeys > maxKeptBytes)
        return { orders: new Set([order]), roomInMs }
      await store.finishRefused([{ id: claim, answer: text }])
      return null
    },
    async drop(orders, onFailure) {
      const ids = orders.flatMap(({ claim }) => claim ?? [])
      if (sharedId !== null) ids.push(sharedId)
      if (ids.length > 0) await persistence.until(() => store.dropOperations(ids), onFailure)
      sharedId = null
    },
  }

  function textOf(order: WriteOrder, ...given: Parameters<typeof answerText>): Promise<string> {
    return createTakerTurns(takerOfOrder(order), turns)(answerText(...given))
  }

  function row({ accountId, isForVisitors, sheet }: WriteOrder, id: string | null, answer: string) {
    const leavesBytes = bytesLeftToKeys(maxKeptBytes, isForVisitors)
    return { id, accountId, sheetId: sheet.id, answer, leavesBytes }
  }
}

function isTooLong(text: string): boolean {
  return text.length > mostAnswerBytes || Buffer.byteLength(text) > mostAnswerBytes
}
