import type { Refusal } from '../../errors.ts'
import type { FinishedChanges } from '../../store/changes/change-log.ts'
import type { ChangesToSend, OperationOutcome } from '../../store/operations/operations.ts'
import type { Store } from '../../store/store.ts'
import type { Prepared } from '../provider.ts'
import { keepAnswersMs } from './idempotency.ts'
import { answerText, type JournalPlace, placeText, refusalText } from './journal-text.ts'
import type { WriteAnswer, WriteOrder } from './order.ts'
import type { Persistence } from './persistence.ts'

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
  ): Promise<NoRoomFor | 'overtaken' | null>
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
  finishUnchanged(order: WriteOrder, answer: WriteAnswer): Promise<NoRoomFor | null>
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

export function createBatchJournal(
  store: JournalStore,
  persistence: Persistence,
  source: string,
  maxKeptBytes: number,
): BatchJournal {
  let sharedId: string | null = null
  /** What is recorded for each claim. */
  const recorded = new Map<string, string>()

  return {
    async beginSending(sent, place, { fence, isExact, expectedLastRow = null }, changes) {
      const keyed = sent.filter(({ order }) => order.claim !== null)
      const rows = keyed.map(({ order, answer }) =>
        row(order, order.claim, answerText(answer, { isExact, expectedLastRow })),
      )
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
      for (const { id, answer } of rows) if (id !== null) recorded.set(id, answer)
      return null
    },
    async takeBack(sent) {
      const ids = sent.flatMap(({ order }) => order.claim ?? [])
      if (sharedId !== null) ids.push(sharedId)
      if (ids.length > 0) await persistence.until(() => store.unsendOperations(ids))
    },
    async finishApplied(sent, changes) {
      const outcomes: OperationOutcome[] = sent.flatMap(({ order: { claim }, answer }) => {
        if (claim === null) return []
        const text = answerText(answer)
        return { id: claim, answer: recorded.get(claim) === text ? null : text }
      })
      if (sharedId !== null) outcomes.push({ id: sharedId, answer: null })
      const lastSeq = await persistence.until(() => store.finishApplied(source, outcomes, changes))
      sharedId = null
      return lastSeq
    },
    async finishRefused({ claim }, refusal) {
      if (claim !== null) await store.finishRefused([{ id: claim, answer: refusalText(refusal) }])
    },
    async finishUnchanged(order, answer) {
      const { claim, accountId } = order
      if (claim === null) return null
      const text = answerText(answer)
      const { bytes, roomInMs } = await store.keptAnswers(accountId, keepAnswersMs)
      if (bytes + Buffer.byteLength(text) > maxKeptBytes) return { orders: new Set([order]), roomInMs }
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

  function row({ accountId, sheet }: WriteOrder, id: string | null, answer: string) {
    return { id, accountId, sheetId: sheet.id, answer }
  }
}
