import type { Clock } from '../../clock.ts'
import { Refusal } from '../../errors.ts'
import type { Observe } from '../../reporting/observe.ts'
import type { LoopTurns } from '../../shares/loop-turns.ts'
import type { Turnstile } from '../../shares/turnstile.ts'
import type { SheetRecord } from '../../store/sheets/sheets.ts'
import type { Store } from '../../store/store.ts'
import type { Unfit } from '../change.ts'
import type { Prepared, Provider } from '../provider.ts'
import { ProviderFailure } from '../provider-failure.ts'
import type { Reading } from '../reading/reading.ts'
import type { SheetLog } from '../sheet-log.ts'
import { answerTooLong, noRoomForAnswer } from './claims/idempotency.ts'
import { createBatchJournal, type JournalStore } from './journal.ts'
import type { JudgedTab } from './looks/judged-tab.ts'
import { lookAtAll, lookFor } from './looks/looking.ts'
import type { WriteAnswer, WriteOrder } from './order.ts'
import { Closing, type Persistence } from './persistence.ts'
import { answerOf } from './plans/answer-of.ts'
import { createGroupEffects } from './plans/group-effects.ts'
import { createJudge } from './plans/judge.ts'
import { outcomeUnknown, type QueuedWrite } from './queued-write.ts'
import { rehearse } from './rehearsing.ts'
import { type Judged, placeInLog, type SendingParts, send } from './sending.ts'
import { createTakerTurns } from './taker-turns.ts'
import { createWeighing, maxBytesTogether, ordersTogether } from './weighing.ts'

/** Someone else may change the sheet between our look at it and our write; each time we look again, so often. */
const maxAttempts = 5
/**
 * What people did is logged before we write. Where a look was overtaken by another one that cannot be, the next one can; after so many the
 * write goes on, and the log tells it with the next look.
 */
const maxLooks = 3

export interface BatchWorkParts {
  store: JournalStore & Pick<Store, 'sheetById'>
  providers: ReadonlyMap<string, Provider>
  reading: Reading
  persistence: Persistence
  clock: Clock
  observe: Observe
  turns: LoopTurns
  log: SheetLog
  /** What one account may keep of answers; absent = anything. */
  maxKeptBytes?: number
  rehearsing: Pick<Turnstile, 'pass'>
}

/**
 * Works a batch off: look at the sheet, judge each order alone, send those that can go. Returns when each order is
 * answered and the journal has nothing open of it, so that the lane may go on; never throws.
 */
export async function workOff(
  batch: readonly QueuedWrite[],
  source: string,
  parts: BatchWorkParts,
): Promise<void> {
  const orders = ordersOf(batch)
  const journal = createBatchJournal(source, parts)
  const toDiscard: Prepared[] = []
  try {
    try {
      const { record, provider } = await findSource(batch, source, parts)
      const inTurns = createTakerTurns(record.accountId, parts.turns)
      await sendAll(batch, { ...parts, record, provider, journal, inTurns, toDiscard })
      await journal.drop(orders)
    } catch (error) {
      if (error instanceof Closing) throw error
      // Known not to be done. Keys are free before their clients hear of it, unless the store is away.
      await journal.drop(orders, () => failAll(batch, error))
      failAll(batch, error)
    }
    await Promise.all(toDiscard.map((prepared) => prepared.discard()))
  } catch {
    // The server is closing: what is open stays in the journal, with all that its fence needs to be settled by.
    for (const waiting of batch) {
      waiting.fail(
        waiting.isSending ? outcomeUnknown(waiting.order) : new ProviderFailure('the server is closing'),
      )
    }
  }
}

async function findSource(
  batch: readonly QueuedWrite[],
  source: string,
  { store, providers }: BatchWorkParts,
): Promise<{ record: SheetRecord; provider: Provider }> {
  const record = await store.sheetById(batch[0]?.order.sheet.id ?? '')
  const provider = record && providers.get(record.provider)
  if (!record || !provider || record.source !== source) {
    throw new ProviderFailure('the sheet is no longer connected')
  }
  return { record, provider }
}

/** Sends until each order is answered. What it throws holds for all that are still open: nothing was done for them. */
async function sendAll(batch: readonly QueuedWrite[], parts: SendingParts): Promise<void> {
  const { record, journal, inTurns, provider, reading } = parts
  const isToldByCell = provider.fetchRows !== undefined
  let columnCount = reading.lastKnown(record)?.indexed.columns.length ?? null
  let base: JudgedTab | null = null
  let attemptsLeft = maxAttempts
  let looksLeft = maxLooks
  let maxTogether = batch.length
  for (;;) {
    const allOpen = batch.filter(({ isOpen }) => isOpen)
    if (allOpen.length === 0) return
    const open = isToldByCell ? allOpen.slice(0, ordersTogether(columnCount)) : allOpen
    base ??= await lookFor(ordersOf(open), parts)
    columnCount = base.columns.length
    const { group, isFirstUnread } = await judgeOrders(open.slice(0, maxTogether), base)
    if (isFirstUnread) base = await lookAtAll(ordersOf(open), parts)
    if (group.length === 0) continue
    const [first] = group
    const isDryRun = first?.waiting.order.isDryRun === true
    const place = isDryRun ? null : await placeInLog(group, base, parts)
    if (place === null && !isDryRun && looksLeft > 0) {
      looksLeft--
      base = await lookAtAll(ordersOf(open), parts)
      continue
    }
    const outcome =
      first && isDryRun ? await rehearse(first, base, parts) : await send(group, base, place, parts)
    switch (outcome.kind) {
      case 'applied':
        base = null
        attemptsLeft = maxAttempts
        looksLeft = maxLooks
        maxTogether *= 2
        break
      case 'not_admitted':
        for (const { waiting, refusal } of outcome.refused) await turnAway(waiting, refusal)
        break
      case 'unfit':
        await refuseUnfit(outcome.waiting, outcome.unfit)
        break
      case 'refused':
        // One of them spoils it for all: in halves, until it stands alone.
        if (group.length > 1) maxTogether = Math.ceil(group.length / 2)
        else for (const { waiting } of group) await fail(waiting, new ProviderFailure(outcome.details))
        break
      case 'conflict':
      case 'void':
        base = null
        attemptsLeft--
        if (attemptsLeft === 0) throw new ProviderFailure(reasons[outcome.kind], { isPassing: true })
    }
  }

  async function judgeOrders(
    open: readonly QueuedWrite[],
    on: JudgedTab,
  ): Promise<{ group: Judged[]; isFirstUnread: boolean }> {
    const judge = createJudge(on, record)
    const bytesOf = createWeighing(on)
    const effects = createGroupEffects()
    const group: Judged[] = []
    let bytes = 0
    for (const waiting of open) {
      const judgement = await inTurns(judge(waiting.order.wish, effects))
      if (judgement === 'unread') return { group, isFirstUnread: group.length === 0 }
      if (judgement === 'later') break
      if (judgement instanceof Refusal) {
        await refuse(waiting, judgement)
        continue
      }
      bytes += await inTurns(bytesOf(judgement.changes, effects.asRead))
      if (group.length > 0 && bytes > maxBytesTogether) break
      if (judgement.changes.length > 0) {
        effects.note(judgement.changes)
        group.push({ waiting, plan: judgement })
        continue
      }
      // Its rows have the numbers that are told when the deletions before it are done.
      if (effects.hasDeletion()) break
      await answerAtOnce(waiting, await inTurns(answerOf(judgement, [], on.columns)))
    }
    return { group, isFirstUnread: false }
  }

  /** There is nothing to do, and so nothing to undo. Whoever sends it again under its key is told the same. */
  async function answerAtOnce(waiting: QueuedWrite, answer: WriteAnswer): Promise<void> {
    const { order } = waiting
    const refusal = await order.stillAdmitted()
    if (refusal) return turnAway(waiting, refusal)
    const noRoom = order.isDryRun ? null : await journal.finishUnchanged(order, answer)
    if (noRoom && 'tooLong' in noRoom) return turnAway(waiting, answerTooLong)
    if (noRoom) return turnAway(waiting, noRoomForAnswer(order.accountId, noRoom.roomInMs, parts.observe))
    waiting.answer(order.isDryRun ? { ...answer, isDryRun: true } : answer)
  }

  /** Decided on the order itself: whoever sends it again under its key is told the same. */
  async function refuse(waiting: QueuedWrite, refusal: Refusal): Promise<void> {
    await journal.finishRefused(waiting.order, refusal)
    waiting.answer(refusal)
  }

  /** What stands in the file's way can be cleared away by its owner, so then the key is free again. */
  function refuseUnfit(waiting: QueuedWrite, { reason, details, advice }: Unfit): Promise<void> {
    if (reason === 'file') {
      return fail(waiting, new ProviderFailure(details, advice === undefined ? {} : { details: advice }))
    }
    if (reason === 'read_only') return turnAway(waiting, new Refusal('sheet_read_only', { details }))
    return refuse(waiting, new Refusal(reason === 'row' ? 'row_not_found' : 'invalid_body', { details }))
  }

  /** Decided on who asks, or when: the key is free again. */
  async function turnAway(waiting: QueuedWrite, refusal: Refusal): Promise<void> {
    await journal.drop([waiting.order])
    waiting.answer(refusal)
  }

  async function fail(waiting: QueuedWrite, failure: ProviderFailure): Promise<void> {
    await journal.drop([waiting.order])
    waiting.fail(failure)
  }
}

const reasons = {
  conflict: 'the spreadsheet keeps changing while we write to it',
  void: 'the spreadsheet does not respond',
}

function ordersOf(batch: readonly QueuedWrite[]): WriteOrder[] {
  return batch.map(({ order }) => order)
}

function failAll(batch: readonly QueuedWrite[], error: unknown): void {
  for (const waiting of batch) waiting.fail(error)
}
