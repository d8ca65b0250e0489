import type { Clock } from '../../clock.ts'
import type { Refusal } from '../../errors.ts'
import type { Observe } from '../../reporting/observe.ts'
import type { SheetRecord } from '../../store/sheets/sheets.ts'
import type { Store } from '../../store/store.ts'
import type { ChangeResult, Unfit } from '../change.ts'
import type { Committed, Prepared, Provider } from '../provider.ts'
import { OutcomeUnknown, ProviderFailure } from '../provider-failure.ts'
import type { Reading } from '../reading/reading.ts'
import { areSameColumns, type Column } from '../rows/table.ts'
import { withFoundNumbers } from './finding-rows.ts'
import { noRoomForAnswer } from './idempotency.ts'
import type { InTurns } from './in-turns.ts'
import type { BatchJournal, NoRoomFor, SentOrder } from './journal.ts'
import type { JudgedTab } from './looks/judged-tab.ts'
import { afterMovedColumns, standingWhereExpected } from './moved-columns.ts'
import { racedWarning } from './order.ts'
import { Closing, type Persistence } from './persistence.ts'
import { answerOf } from './plans/answer-of.ts'
import type { Plan } from './plans/plan.ts'
import { stretchOf } from './plans/stretches.ts'
import type { QueuedWrite } from './queued-write.ts'
import { type DeletionFate, fatesOfDeletions, sentenceAbout, withRowsThatWent } from './raced-deletions.ts'

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
  /** Nothing was done, because the sheet is another by now; or the provider says so after an answer was lost. */
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
  inTurns: InTurns
  /** Everything that was prepared is discarded in the end, when the journal has nothing open under its fence. */
  toDiscard: Prepared[]
}

/**
 * One attempt: prepare → may they still? → journal → commit → journal → answer. What it throws means that nothing was
 * done, but for `Closing`.
 */
export async function send(
  group: readonly Judged[],
  base: JudgedTab,
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

  const verdicts = await Promise.all(group.map(({ waiting }) => waiting.order.stillAdmitted()))
  const refused = verdicts.flatMap((refusal, at) =>
    refusal ? { waiting: waitingAt(group, at), refusal } : [],
  )
  const isAnyoneGone = group.some(({ waiting }) => !waiting.isOpen)
  if (refused.length > 0 || isAnyoneGone) return { kind: 'not_admitted', refused }

  mark(group, true)
  try {
    const outcome = await commit(group, base, { prepared, expected, seqBefore }, parts)
    if (outcome.kind === 'applied') tellWritten(group, clock.elapsedMs() - begunMs, parts)
    mark(group, false)
    return outcome
  } catch (error) {
    if (!(error instanceof Closing)) mark(group, false)
    throw error
  }
}

interface PreparedSending {
  prepared: Prepared
  expected: readonly SentOrder[]
  /** The sheet's number of writes before this one; null where nobody wants the tab that it leaves. */
  seqBefore: number | null
}

async function commit(
  group: readonly Judged[],
  base: JudgedTab,
  { prepared, expected, seqBefore }: PreparedSending,
  parts: SendingParts,
): Promise<SendOutcome> {
  const { journal, record, reading, clock } = parts
  const noRoom = await journal.beginSending(expected, record, prepared)
  if (noRoom) return { kind: 'not_admitted', refused: withoutRoom(group, noRoom, parts.observe) }
  const [begunMs, asOfMs] = [clock.elapsedMs(), clock.nowMs()]
  const committed = await reporting(parts, () => prepared.commit()).catch((error: unknown) => {
    const isKnown = error instanceof ProviderFailure && !(error instanceof OutcomeUnknown)
    if (isKnown) throw error
    // A bug of ours counts as a lost answer too: it says nothing about what was sent before it struck.
    return settled(prepared, parts)
  })
  if (committed === 'void') return { kind: 'void' }
  if (committed !== 'applied' && committed.outcome !== 'applied') {
    return committed.outcome === 'refused'
      ? { kind: 'refused', details: committed.details }
      : { kind: 'conflict' }
  }
  const sent =
    committed === 'applied'
      ? await afterLostAnswer(group, expected, prepared, base, parts)
      : await answersAfter(committed)
  await journal.finishApplied(sent)
  // Where columns moved, rows were perhaps put right since.
  if (seqBefore !== null && committed !== 'applied' && committed.tab && !committed.columns) {
    // The number that this write has if nobody else wrote; if somebody did, it is never shown.
    reading.takeWritten(record, committed.tab, { writeSeq: seqBefore + 1, begunMs, asOfMs })
  }
  for (const [at, { answer }] of sent.entries()) waitingAt(group, at).answer(answer)
  return { kind: 'applied' }

  /** It is done: from here on, nothing may end in an error that says otherwise. */
  async function answersAfter({
    results: told,
    columns = base.columns,
    racedAt = [],
  }: Committed & { outcome: 'applied' }): Promise<readonly SentOrder[]> {
    const fates = columns === base.columns ? await fatesAfter(racedAt) : null
    const results = fates ? withRowsThatWent(told, fates) : told
    // Where it came as foreseen, so does the answer.
    const isForeseen = results === prepared.expected && columns === base.columns
    const answered = isForeseen ? expected : ((await tryAnswersFrom(results, columns)) ?? expected)
    if (columns !== base.columns && answered !== expected)
      return afterMovedColumns(group, answered, results, { judged: base.columns, now: columns }, parts)
    return racedAt.length === 0 ? answered : answered.map((sent, at) => tellRace(sent, at, racedAt, fates))
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
      answer: await inTurns(answerOf(plan, results.slice(from, to), columns)),
    })
  }
  return sent
}

/** The others go without them. */
function withoutRoom(group: readonly Judged[], { orders, roomInMs }: NoRoomFor, observe: Observe) {
  return group.flatMap(({ waiting }) =>
    orders.has(waiting.order)
      ? { waiting, refusal: noRoomForAnswer(waiting.order.accountId, roomInMs, observe) }
      : [],
  )
}

/** Asks until it is known. Meanwhile the clients' time may run out; the lane waits all the same. */
function settled({ fence }: Prepared, parts: SendingParts): Promise<'applied' | 'void'> {
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
