import { setImmediate as takeTurn } from 'node:timers/promises'
import type { Clock } from '../../clock.ts'
import type { Refusal } from '../../errors.ts'
import type { Observe } from '../../reporting/observe.ts'
import type { Turnstile } from '../../shares/turnstile.ts'
import type { ChunkToLog, FinishedChanges, LogPlace } from '../../store/changes/change-log.ts'
import { textBytesOf } from '../../store/changes/changes-of-writes.ts'
import { mostUnpackedCharacters, packEntries } from '../../store/changes/packed-entries.ts'
import type { SheetRecord } from '../../store/sheets/sheets.ts'
import type { Store } from '../../store/store.ts'
import type { ChangeResult, Unfit } from '../change.ts'
import { changesText, chunksOfChanges, type LoggedChange, textsOfChanges } from '../logged-change.ts'
import type { Committed, Prepared, Provider } from '../provider.ts'
import { OutcomeUnknown, ProviderFailure } from '../provider-failure.ts'
import type { Reading } from '../reading/reading.ts'
import { createRowWriter } from '../rows/row-json.ts'
import { areSameColumns, type Column } from '../rows/table.ts'
import type { SheetLog } from '../sheet-log.ts'
import { type BatchChanges, changesOfBatch } from './changes-of-batch.ts'
import { answerTooLong, noRoomForAnswer } from './claims/idempotency.ts'
import { withFoundNumbers } from './finding-rows.ts'
import type { BatchJournal, NoRoomFor, SentOrder, TooLongFor } from './journal.ts'
import type { JudgedTab } from './looks/judged-tab.ts'
import { racedWarning, withOperationId } from './order.ts'
import { Closing, type Persistence } from './persistence.ts'
import { answerOf } from './plans/answer-of.ts'
import { createGroupEffects } from './plans/group-effects.ts'
import type { Plan } from './plans/plan.ts'
import { stretchOf } from './plans/stretches.ts'
import { refuseOtherUnnamedCells } from './plans/undo/unnamed-cells.ts'
import type { QueuedWrite } from './queued-write.ts'
import { afterMovedColumns, standingWhereExpected } from './races/moved-columns.ts'
import {
  type DeletionFate,
  fatesOfDeletions,
  sentenceAbout,
  withRowsThatWent,
} from './races/raced-deletions.ts'
import type { TakerTurns } from './taker-turns.ts'

/** An order with what it comes to in the sheet as it is. */
export interface Judged {
  waiting: QueuedWrite
  /** With one change at least. */
  plan: Plan
}

/** What became of one attempt to send a group. */
export type SendOutcome =
  /** Everyone is answered. */
  | { kind: 'applied' }
  /** Nothing was sent: this one cannot be written here; words for the client. */
  | { kind: 'unfit'; waiting: QueuedWrite; unfit: Unfit }
  /** Nothing was sent: these may not any more, their answers have no room, or their time was up meanwhile. */
  | { kind: 'not_admitted'; refused: readonly { waiting: QueuedWrite; refusal: Refusal }[] }
  /** Nothing was done, because the sheet is another by now, or the log of it; or the provider says so after an answer was lost. */
  | { kind: 'conflict' | 'void' }
  /** Nothing was done: the provider will not have one of these, and does not say which. */
  | { kind: 'refused'; details: string }

export interface SendingParts {
  store: Pick<Store, 'sheetById'>
  record: SheetRecord
  provider: Provider
  journal: BatchJournal
  reading: Reading
  persistence: Persistence
  clock: Clock
  observe: Observe
  inTurns: TakerTurns
  log: SheetLog
  /** The answer to a dry run is made and told in a turn: any number could be asked for, and nothing else takes their time. */
  rehearsing: Pick<Turnstile, 'pass'>
  /** Everything that was prepared is discarded in the end, when the journal has nothing open under its fence. */
  toDiscard: Prepared[]
}

const toldInOneGo = 16

/**
 * One attempt: prepare → may they still? → journal → commit → journal → answer. What it throws means that nothing was
 * done, but for `Closing`.
 */
export async function send(
  group: readonly Judged[],
  base: JudgedTab,
  place: LogPlace | null,
  parts: SendingParts,
): Promise<SendOutcome> {
  const { record, provider, toDiscard, clock } = parts
  const begunMs = clock.elapsedMs()
  const changes = group.flatMap(({ plan }) => plan.changes)
  const isTabWanted = parts.reading.isTabWanted(record)
  const seqBefore = isTabWanted ? ((await parts.store.sheetById(record.id))?.writeSeq ?? null) : null
  const prepared = await reporting(parts, () =>
    provider.prepare(record, changes, base.version, base.columns, isTabWanted),
  )
  if (prepared === 'conflict') return { kind: 'conflict' }
  if ('changeAt' in prepared) {
    return { kind: 'unfit', waiting: waitingOfChange(group, prepared.changeAt), unfit: prepared }
  }
  toDiscard.push(prepared)
  // Before anyone is asked whether they still may: from then on nothing should take its time.
  const expected = await answersFrom(group, prepared.expected, base.columns, parts)
  const foreseen = await changesFrom(group, prepared.expected, base.columns, parts)
  const conflicting = await ordersInConflict(group, prepared.expected, base.columns, parts)

  const verdicts = await Promise.all(group.map(({ waiting }) => waiting.order.stillAdmitted()))
  const refused = verdicts.flatMap((refusal, at) =>
    refusal ? { waiting: waitingAt(group, at), refusal } : [],
  )
  refused.push(...conflicting)
  const isAnyoneGone = group.some(({ waiting }) => !waiting.isOpen)
  if (refused.length > 0 || isAnyoneGone) return { kind: 'not_admitted', refused }

  mark(group, true)
  try {
    const outcome = await commit(
      group,
      base,
      { prepared, expected, place, toLog: foreseen, seqBefore },
      parts,
    )
    if (outcome.kind === 'applied') tellWritten(group, clock.elapsedMs() - begunMs, parts)
    mark(group, false)
    return outcome
  } catch (error) {
    if (!(error instanceof Closing)) mark(group, false)
    throw error
  }
}

/** Undos that would take what people wrote since. */
async function ordersInConflict(
  group: readonly Judged[],
  results: readonly ChangeResult[],
  columns: readonly Column[],
  { inTurns }: SendingParts,
): Promise<{ waiting: QueuedWrite; refusal: Refusal }[]> {
  const refused: { waiting: QueuedWrite; refusal: Refusal }[] = []
  for (const [at, { waiting, plan }] of group.entries()) {
    if (plan.undoes === undefined) continue
    const { from, to } = stretchOf(group, at)
    const refusal = await inTurns(refuseOtherUnnamedCells(plan.changes, results.slice(from, to), columns))
    if (refusal) refused.push({ waiting, refusal })
  }
  return refused
}

/** What is known of a write that was applied. */
interface AppliedEnd {
  results: readonly ChangeResult[]
  columns: readonly Column[]
  racedAt: readonly number[]
  fates: ReadonlyMap<number, DeletionFate> | null
}

interface PreparedSending {
  prepared: Prepared
  expected: readonly SentOrder[]
  /** Where the log tells the rows as they were judged; null where it does not. */
  place: LogPlace | null
  /** What the log will tell; null where there is none. */
  toLog: BatchChanges | null
  /** The sheet's number of writes before this one; null where nobody wants the tab that it leaves. */
  seqBefore: number | null
}

async function commit(
  group: readonly Judged[],
  base: JudgedTab,
  { prepared, expected, place, toLog, seqBefore }: PreparedSending,
  parts: SendingParts,
): Promise<SendOutcome> {
  const { journal, record, reading, clock } = parts
  const isPlaced = prepared.isExact && toLog?.isPlaced === true && place !== null
  const changes = toLog && {
    chunks: await chunksOf(toLog, parts),
    identity: record.keyColumn ?? '',
    sheetId: record.id,
    accountId: record.accountId,
    isPlaced,
    after: place,
  }
  const noRoom = await journal.beginSending(expected, record, prepared, changes)
  if (noRoom === 'overtaken') return { kind: 'conflict' }
  if (noRoom) return { kind: 'not_admitted', refused: withoutPlace(group, noRoom, parts.observe) }
  const [begunMs, asOfMs] = [clock.elapsedMs(), clock.nowMs()]
  const committed = await reporting(parts, () => prepared.commit()).catch((error: unknown) => {
    const isKnown = error instanceof ProviderFailure && !(error instanceof OutcomeUnknown)
    if (isKnown) throw error
    // A bug of ours counts as a lost answer too: it says nothing about what was sent before it struck.
    return settlePrepared(prepared, parts)
  })
  if (committed === 'void' || (committed !== 'applied' && committed.outcome !== 'applied')) {
    await journal.takeBack(expected)
    if (committed === 'void') return { kind: 'void' }
    return committed.outcome === 'refused'
      ? { kind: 'refused', details: committed.details }
      : { kind: 'conflict' }
  }
  const end = committed === 'applied' ? null : await endOf(committed)
  const sent = end ? await answersAfter(end) : await afterLostAnswer(group, expected, prepared, base, parts)
  const lastSeq = await journal.finishApplied(sent, toLog && (await describeFinishedChanges(end)))
  parts.log.noteWritten(record.id)
  // Where columns moved, rows were perhaps put right since.
  if (seqBefore !== null && committed !== 'applied' && committed.tab && !committed.columns) {
    // The number that this write has if nobody else wrote; if somebody did, it is never shown.
    reading.takeWritten(record, committed.tab, {
      writeSeq: seqBefore + 1,
      begunMs,
      asOfMs,
      loggedSeq: lastSeq,
    })
  }
  for (const [at, { answer }] of sent.entries()) {
    // Each is put together and sent as soon as it is told: all two hundred in one go would keep everybody waiting.
    if (at > 0 && at % toldInOneGo === 0) await takeTurn()
    waitingAt(group, at).answer(answer)
  }
  return { kind: 'applied' }

  /** It is done: from here on, nothing may end in an error that says otherwise. */
  async function endOf({
    results,
    columns = base.columns,
    racedAt = [],
  }: Committed & { outcome: 'applied' }): Promise<AppliedEnd> {
    const fates = columns === base.columns ? await fatesAfter(racedAt) : null
    return { results: fates ? withRowsThatWent(results, fates) : results, columns, racedAt, fates }
  }

  async function answersAfter({
    results,
    columns,
    racedAt,
    fates,
  }: AppliedEnd): Promise<readonly SentOrder[]> {
    // Where it came as foreseen, so does the answer.
    const isForeseen = results === prepared.expected && columns === base.columns
    const answered = isForeseen ? expected : ((await tryAnswersFrom(results, columns)) ?? expected)
    if (columns !== base.columns && answered !== expected)
      return afterMovedColumns(group, answered, results, { judged: base.columns, now: columns }, parts)
    return racedAt.length === 0 ? answered : answered.map((sent, at) => tellRace(sent, at, racedAt, fates))
  }

  /** Where nobody can tell which rows it hit, the next look does. */
  async function describeFinishedChanges(end: AppliedEnd | null): Promise<FinishedChanges> {
    const { id: sheetId } = record
    const asBegun = { sheetId, outcome: 'as_begun', textBytes: textBytesOfAll(changes?.chunks) } as const
    if (!end) return isPlaced ? asBegun : { sheetId, outcome: 'unplaced' }
    const { results, columns, racedAt } = end
    if (columns !== base.columns) return { sheetId, outcome: 'unplaced' }
    if (isPlaced && results === prepared.expected) return asBegun
    const done = await changesFrom(group, results, base.columns, parts, racedAt).catch(() => null)
    if (!done) return { sheetId, outcome: 'unplaced' }
    return done.isPlaced && place !== null
      ? { sheetId, outcome: 'placed', chunks: await chunksOf(done, parts) }
      : { sheetId, outcome: 'unplaced', entries: changesText(done.changes) }
  }

  /** A row that was found by what it holds was perhaps another by then: whoever asked must know. */
  function tellRace(
    sent: SentOrder,
    at: number,
    racedAt: readonly number[],
    fates: ReadonlyMap<number, DeletionFate> | null,
  ): SentOrder {
    const { from, to } = stretchOf(group, at)
    const isRaced = racedAt.some((changeAt) => changeAt >= from && changeAt < to)
    const own = fates ? Array.from({ length: to - from }, (_, n) => fates.get(from + n)) : []
    const isWrong = own.some((fate) => fate !== undefined && fate.kind !== 'right')
    if (!(isRaced || isWrong) || group[at]?.plan.isByContent !== true) return sent
    const missed = [...(fates ?? [])].filter(([, { kind }]) => kind === 'another')
    const sentence = sentenceAbout(
      own,
      missed.some(([changeAt]) => changeAt < from || changeAt >= to),
    )
    return sentence === null
      ? sent
      : { ...sent, answer: { ...sent.answer, warning: sentence ?? racedWarning } }
  }

  /** What deletions took, where rows were moved in their moment. The answer waits for that one look. */
  async function fatesAfter(racedAt: readonly number[]): Promise<ReadonlyMap<number, DeletionFate> | null> {
    const changes = group.flatMap(({ plan }) => plan.changes)
    if (!base.marks || !racedAt.some((changeAt) => changes[changeAt]?.kind === 'delete')) return null
    return fatesOfDeletions(changes, base.marks, parts.inTurns).catch(() => null)
  }

  async function tryAnswersFrom(
    results: readonly ChangeResult[],
    columns: readonly Column[],
  ): Promise<readonly SentOrder[] | null> {
    try {
      return await answersFrom(group, results, columns, parts)
    } catch {
      return null
    }
  }
}

async function answersFrom(
  group: readonly Judged[],
  results: readonly ChangeResult[],
  columns: readonly Column[],
  { inTurns }: SendingParts,
): Promise<readonly SentOrder[]> {
  const count = group.reduce((sum, { plan }) => sum + plan.changes.length, 0)
  if (results.length !== count) throw new Error('The provider answered another number of changes')
  const sent: SentOrder[] = []
  for (const [at, { waiting, plan }] of group.entries()) {
    const { from, to } = stretchOf(group, at)
    sent.push({
      order: waiting.order,
      answer: withOperationId(await inTurns(answerOf(plan, results.slice(from, to), columns)), waiting.order),
    })
  }
  return sent
}

/** null where no log is kept. */
async function changesFrom(
  group: readonly Judged[],
  results: readonly ChangeResult[],
  columns: readonly Column[],
  { inTurns, record: { historyDays, keyColumn } }: SendingParts,
  racedAt: readonly number[] = [],
): Promise<BatchChanges | null> {
  return historyDays === 0 ? null : inTurns(changesOfBatch({ group, results, columns, keyColumn, racedAt }))
}

/** Packed here, in turns: within the store's transaction nobody else would have one. */
function chunksOf({ changes }: BatchChanges, { clock, inTurns }: SendingParts): Promise<ChunkToLog[]> {
  return inTurns(packedChunks(changes, clock.nowMs()))
}

function* packedChunks(changes: readonly LoggedChange[], atMs: number): Generator<void, ChunkToLog[]> {
  const chunks: ChunkToLog[] = []
  const texts = yield* textsOfChanges(changes)
  for (const { entries, ...chunk } of chunksOfChanges(changes, (_change, at) => texts[at] ?? '')) {
    yield
    const textBytes = Buffer.byteLength(entries)
    chunks.push({ ...chunk, entries: packEntries(entries, mostUnpackedCharacters), textBytes, atMs })
  }
  return chunks
}

function textBytesOfAll(chunks: readonly ChunkToLog[] = []): number {
  return chunks.reduce((sum, chunk) => sum + textBytesOf(chunk), 0)
}

/**
 * The place in the log at which the rows that are to be changed, and the columns, are as they were read. null: what people did to
 * them is not logged yet. For a sheet without a log any place will do.
 */
export async function placeInLog(
  group: readonly Judged[],
  base: JudgedTab,
  { log, reading, record }: SendingParts,
): Promise<LogPlace | null> {
  if (record.historyDays === 0) return { epoch: null, seq: 0 }
  if (base.isWhole) return base.logged ?? null
  const toJson = createRowWriter(base.columns)
  const effects = createGroupEffects()
  const rows: { rowNumber: number; json: string }[] = []
  for (const { plan } of group) {
    for (const change of plan.changes) {
      if (change.kind === 'add' || change.kind === 'insert' || !change.before) continue
      const cells = Array.from(change.before, (cell) => cell ?? null)
      rows.push({ rowNumber: effects.asRead(change.rowNumber), json: toJson(cells) })
    }
    effects.note(plan.changes)
  }
  return log.placeOf(record, await reading.knownRows(record), base.columns, rows)
}

/** The others go without them. */
function withoutPlace(group: readonly Judged[], noPlace: NoRoomFor | TooLongFor, observe: Observe) {
  const isTooLong = 'tooLong' in noPlace
  const orders = isTooLong ? noPlace.tooLong : noPlace.orders
  return group.flatMap(({ waiting }) =>
    orders.has(waiting.order)
      ? {
          waiting,
          refusal: isTooLong
            ? answerTooLong
            : noRoomForAnswer(waiting.order.accountId, noPlace.roomInMs, observe),
        }
      : [],
  )
}

/** Asks until it is known. Meanwhile the clients' time may run out; the lane waits all the same. */
function settlePrepared({ fence }: Prepared, parts: SendingParts): Promise<'applied' | 'void'> {
  const { persistence, provider, record } = parts
  return persistence.until(() => reporting(parts, () => provider.settle(record, fence)))
}

/** It is done, but nobody told where: where that was a guess, a fresh look says. */
async function afterLostAnswer(
  group: readonly Judged[],
  sent: readonly SentOrder[],
  { isExact, expectedLastRow = null }: Prepared,
  { columns: judged }: JudgedTab,
  parts: SendingParts,
): Promise<readonly SentOrder[]> {
  const { reading, persistence, record } = parts
  if (isExact) return sent
  const { snapshot } = await persistence.until(() => reading.readForWriting(record))
  const columns = { judged, now: snapshot.columns }
  const found = sent.map(({ order, answer }) => ({
    order,
    answer: withFoundNumbers(answer, snapshot, expectedLastRow),
  }))
  if (areSameColumns(judged, snapshot.columns)) return found
  const results = standingWhereExpected(group, found, sent, snapshot, expectedLastRow)
  return afterMovedColumns(group, found, results, columns, parts)
}

/** A failing read was reported by the one who read. */
async function reporting<T>(
  { observe, record: { id: sheetId, provider } }: SendingParts,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const isFailure = error instanceof ProviderFailure
    const reason = isFailure ? error.message : 'a malfunction'
    const cause = isFailure ? error.cause : error
    observe({ event: 'provider_failed', sheetId, provider, action: 'write', reason, cause })
    throw error
  }
}

function tellWritten(group: readonly Judged[], durationMs: number, { record, observe }: SendingParts): void {
  const { id: sheetId, provider } = record
  const rows = { added: 0, updated: 0, deleted: 0 }
  for (const change of group.flatMap(({ plan }) => plan.changes)) {
    if (change.kind === 'add') rows.added += change.rows.length
    else if (change.kind === 'insert') rows.added++
    else rows[change.kind === 'update' ? 'updated' : 'deleted']++
  }
  observe({ event: 'rows_written', sheetId, provider, requests: group.length, ...rows, durationMs })
}

function mark(group: readonly Judged[], isSending: boolean): void {
  for (const { waiting } of group) waiting.isSending = isSending
}

function waitingAt(group: readonly Judged[], at: number): QueuedWrite {
  const judged = group[at]
  if (!judged) throw new Error(`There is no order ${at}`)
  return judged.waiting
}

/** Whose change it is, of all in their order. */
function waitingOfChange(group: readonly Judged[], changeAt: number): QueuedWrite {
  return waitingAt(
    group,
    group.findIndex((_, at) => changeAt < stretchOf(group, at).to),
  )
}
