import type { Clock } from '../clock.ts'
import type { Observe } from '../reporting/observe.ts'
import type { LoopTurns } from '../shares/loop-turns.ts'
import { chunksOfChanges, isFullChunk, readChanges } from '../sheets/logged-change.ts'
import type { ReadingTurn } from '../sheets/provider.ts'
import type { Decoding } from '../sheets/reading/decoding.ts'
import type { Snapshot } from '../sheets/rows/snapshot.ts'
import type { KnownRows, Logged, LookBegun, OperationHistory, SheetLog } from '../sheets/sheet-log.ts'
import { ownBuffer } from '../sheets/threads/thread-jobs.ts'
import type { ChangeChunk, LogPosition } from '../store/changes/change-log.ts'
import { newLogEpoch } from '../store/changes/log-epoch.ts'
import type { SheetRecord } from '../store/sheets/sheets.ts'
import type { Store } from '../store/store.ts'
import { idleTimers, type Timers } from '../timers.ts'
import { isExplainedByAdditions } from './compare/additions.ts'
import { type Compared, compare, compareJob } from './compare/compare-job.ts'
import { handToCompare, type ToCompare } from './compare/handed-rows.ts'
import { isMoment, lastRowOf } from './compare/moment.ts'
import { stateOfRows } from './compare/state-text.ts'
import type { RowsOfSnapshot } from './compare/tab-rows.ts'
import type { Following } from './following.ts'
import { createLoggedSince, type LoggedSince } from './logged-since.ts'
import { bytesOf, nullIfGone, readWhole } from './read-entries.ts'
import type { Retention } from './retention.ts'

export interface ChangeLogParts {
  store: Pick<
    Store,
    | 'changeLogOf'
    | 'loggedState'
    | 'loggedChanges'
    | 'chunkOfOperation'
    | 'logSeen'
    | 'noteContent'
    | 'wantLook'
  >
  decoding: Pick<Decoding, 'inTurn'>
  turns: Pick<LoopTurns, 'next'>
  clock: Pick<Clock, 'nowMs'>
  observe: Observe
  following: Pick<Following, 'noteChange'>
  retention: Pick<Retention, 'noteBytes'>
  timers?: Timers
}

/** Up to this, comparing takes a moment, as far as there are few rows as well. */
const inlineBytes = 32 * 1024
const inlineRows = 4_096
const inline = { bytes: inlineBytes, rows: inlineRows }
/** What a blank row takes when it is compared. */
const bytesOfPlace = 8
/** Two who saw the same difference: the second one looks again. */
const maxTries = 4
/** Rows that were read while a write was on its way are perhaps those that it left: that is waited for. */
const writeEndsWithinMs = 1_000
const askAgainMs = 50
/** What people did may wait so long for a pause between writes; then the next write looks at all of the tab before it is sent. */
const lookWantedWithinMs = 10_000
/** More changes since the rows in memory are not held against new rows on the thread that answers everybody. */
const maxSinceBytes = 256 * 1024
/** More is not gone through to find the rows of a write again. */
const maxHistoryCharacters = 16 * 1024 * 1024
const leastStateBytes = 64 * 1024
const readTogetherBytes = 512 * 1024
/** Rows that a write is about, held against the log in a fraction of a millisecond. */
const rowsInATurn = 100

const nothingLogged = { epoch: null, seq: 0 }

interface Begun extends LookBegun {
  position: LogPosition
}

/** Logs what became of rows (docs/decisions/032). */
export function createChangeLog(parts: ChangeLogParts): SheetLog {
  const { store, decoding, turns, clock, observe, following, retention, timers = idleTimers } = parts
  /** By the rows in memory, and let go of with them. */
  const sinceRows = new WeakMap<Snapshot, LoggedSince>()

  return {
    async beforeLook(record) {
      if (record.historyDays === 0) return null
      const position = await store.changeLogOf(record.id)
      if (!position) return null
      const begun: Begun = { position, seq: position.head, writeSeq: position.writeSeq, mayLog: true }
      return begun
    },
    async afterLook(begun, record, rows, known, promise) {
      try {
        return await afterLook(begun as Begun, record, rows, known, promise)
      } catch (cause) {
        observe({ event: 'changes_not_logged', sheetId: record.id, cause })
        return null
      }
    },
    async placeOf(record, known, columns, rows) {
      const { id, accountId } = record
      const position = await store.changeLogOf(id)
      if (!position) return nothingLogged
      const place = { epoch: position.epoch, seq: position.head }
      // Where no look was logged yet, there is nothing to be held against.
      if (position.stateSeq === null) return place
      if ((position.lookWantedForMs ?? 0) > lookWantedWithinMs) return null
      if (!known || known.logged.epoch !== position.epoch || position.unplaced !== null) return null
      const names = (list: readonly { key: string }[]) => list.map(({ key }) => key).join('\n')
      if (names(known.snapshot.columns) !== names(columns)) return null
      const since = await loggedSince(record, known, position.head)
      if (!since) return null
      for (const [nth, { rowNumber, json }] of rows.entries()) {
        if (nth % rowsInATurn === 0) await turns.next(accountId)
        if (since.textOf(rowNumber) !== json) return null
      }
      return place
    },
    async historyOf({ id, accountId }, operationId) {
      const first = await store.chunkOfOperation(id, operationId)
      if (!first) return null
      const told: OperationHistory['chunks'][number][] = []
      let characters = 0
      for (let after = first.firstSeq - 1; characters < maxHistoryCharacters; ) {
        const chunks = await store.loggedChanges(id, after, readTogetherBytes)
        for (const { lastSeq, atMs, entries } of chunks) {
          if (characters >= maxHistoryCharacters) break
          const its = await nullIfGone(readWhole(entries, () => turns.next(accountId)))
          if (its === null) return null
          characters += its.characters
          const isFull = isFullChunk(its.characters, its.changes.length)
          told.push({ changes: its.changes, atMs, isFull })
          after = lastSeq
        }
        if (chunks.length === 0) break
      }
      return { operationId, chunks: told, isCut: characters >= maxHistoryCharacters }
    },
    noteWritten: (sheetId) => following.noteChange(sheetId),
  }

  /** What was logged from the rows in memory up to this place; null where it is too much, or leads elsewhere. */
  async function loggedSince(
    { id, accountId }: SheetRecord,
    known: KnownRows,
    head: number,
  ): Promise<LoggedSince | null> {
    let since = sinceRows.get(known.snapshot)
    if (!since?.isFrom(known.logged)) {
      since = createLoggedSince(known)
      sinceRows.set(known.snapshot, since)
    }
    while (since.seq() < head) {
      const chunks = await store.loggedChanges(id, since.seq(), readTogetherBytes, head)
      if (chunks.length === 0) return null
      for (const chunk of chunks) {
        await turns.next(accountId)
        const isNews = chunk.lastSeq > since.seq()
        const reading =
          isNews && since.hasRoomFor(chunk) && readWhole(chunk.entries, () => turns.next(accountId))
        const its = reading ? await nullIfGone(reading) : null
        if (!since.take(chunk, its)) return null
      }
    }
    return since.seq() === head ? since : null
  }

  async function afterLook(
    { position: begunAt, mayLog }: Begun,
    record: SheetRecord,
    rows: Snapshot,
    known: KnownRows | null,
    promise?: (place: Logged) => void,
  ): Promise<Logged | null> {
    const { id: sheetId, accountId, source, keyColumn } = record
    const firstEpoch = newLogEpoch()
    const isFirstOfLog = begunAt.epoch === null && begunAt.head === 0 && mayLog
    if (isFirstOfLog && rows.listJson.byteLength > inlineBytes) promise?.({ epoch: firstEpoch, seq: 0 })
    for (let [tries, position] = [0, begunAt]; tries < maxTries; tries++) {
      if (isAsLogged(position)) return { epoch: position.epoch, seq: position.head }
      const compared = await compareWith(position, record, rows, known)
      if (compared === 'overtaken') {
        const now = await store.changeLogOf(sheetId)
        if (!now) return null
        position = now
        continue
      }
      const { epoch, head } = position
      const isNothingNew = compared.chunks.length === 0 && position.unplaced === null
      const isNothingToTell = isNothingNew && compared.state === null && position.lookWantedForMs === null
      if (isNothingToTell && epoch !== null) {
        const place = { epoch, seq: head }
        // They were compared with what the store has, which is dear: the next time their hash will do.
        if (known?.logged.epoch !== epoch) await store.noteContent(sheetId, place, rows.contentHash)
        return place
      }
      // Whoever was overtaken may have seen something older: then only what is logged already is recognised.
      if (!mayLog || position !== begunAt) {
        if (isNothingNew && epoch !== null) return { epoch, seq: head }
        const first = mayLog || epoch !== null ? null : await afterFirstLook(sheetId)
        if (first) {
          position = first
          continue
        }
        if (mayLog) await store.wantLook(sheetId)
        return null
      }
      const identity = keyColumn ?? ''
      const atMs = clock.nowMs()
      const chunks = compared.chunks.map((chunk) => ({ ...chunk, atMs }))
      const { state } = compared
      const { contentHash } = rows
      const seen = { sheetId, accountId, source, position, chunks, identity, state, contentHash, firstEpoch }
      const outcome = await store.logSeen(seen)
      if (typeof outcome === 'number') {
        retention.noteBytes(lengthOf([...chunks.map(({ entries }) => entries), ...(state ?? [])]))
        if (chunks.length > 0) following.noteChange(sheetId)
        const logEpoch = epoch ?? (await store.changeLogOf(sheetId))?.epoch
        return logEpoch ? { epoch: logEpoch, seq: outcome } : null
      }
      if (isNothingNew && epoch !== null) return { epoch, seq: head }
      const now = await afterWriting(sheetId, position, outcome)
      if (now === 'writing' && epoch !== null) await store.wantLook(sheetId)
      if (!now || now === 'writing') return null
      position = now
    }
    await store.wantLook(sheetId)
    return null

    /** Without a look at all rows: they are those in memory that have this place, or have the hash that was noted with it. */
    function isAsLogged(position: LogPosition): position is LogPosition & { epoch: string } {
      const { epoch, head, identity, isBroken, contentHash, unplaced, lookWantedForMs } = position
      if (epoch === null || identity !== (keyColumn ?? '')) return false
      if (unplaced !== null || lookWantedForMs !== null) return false
      const isKnownPlace = known?.logged.epoch === epoch && known.logged.seq === head
      if (isKnownPlace && known.snapshot.contentHash === rows.contentHash) return true
      return contentHash === rows.contentHash && !isBroken
    }
  }

  /**
   * Where the log stands once it has begun. Whoever has read these rows for all instances is about to log them, and rows without a place
   * would be read once more at the provider.
   */
  async function afterFirstLook(sheetId: string): Promise<LogPosition | null> {
    for (let waitedMs = 0; waitedMs < writeEndsWithinMs; waitedMs += askAgainMs) {
      await new Promise<void>((resolve) => void timers.after(askAgainMs, resolve))
      const now = await store.changeLogOf(sheetId)
      if (!now || now.epoch !== null) return now
    }
    return null
  }

  /** Where the log stands when it, or the number of writes, has moved on; 'writing' where neither does for long. */
  async function afterWriting(
    sheetId: string,
    before: LogPosition,
    outcome: 'overtaken' | 'writing',
  ): Promise<LogPosition | 'writing' | null> {
    for (let waitedMs = 0; ; waitedMs += askAgainMs) {
      const now = await store.changeLogOf(sheetId)
      const isOther =
        now?.head !== before.head || now.epoch !== before.epoch || now.writeSeq !== before.writeSeq
      if (!now || isOther || outcome === 'overtaken') return now
      if (waitedMs >= writeEndsWithinMs) return 'writing'
      await new Promise<void>((resolve) => void timers.after(askAgainMs, resolve))
    }
  }

  async function compareWith(
    position: LogPosition,
    { id: sheetId, accountId, keyColumn }: SheetRecord,
    next: Snapshot,
    known: KnownRows | null,
  ): Promise<Compared | 'overtaken'> {
    const { epoch, head, floor, stateSeq, sinceStateBytes, identity, isBroken, unplaced } = position
    const isSameLog = known !== null && known.logged.epoch === epoch
    const isInMemory = isSameLog && known.logged.seq <= head && known.logged.seq >= floor
    const isOtherwiseTold = stateSeq !== null && identity !== (keyColumn ?? '')
    const mustReset = isBroken || isOtherwiseTold
    const isFirst = stateSeq === null && !isBroken
    // Both as text: of a wide sheet the state is a hundredth when compressed, and would be written anew with every row.
    const wantsState = sinceStateBytes > Math.max(leastStateBytes, next.listJson.byteLength / 2)
    if (mustReset || isFirst) return compareFrom(null, null)
    if (isInMemory) return compareFrom(known, null)
    if (next.listJson.byteLength <= inlineBytes) return compareFrom(await store.loggedState(sheetId), null)
    // Read when its turn has come, which is asked for at once: while these rows wait, no others are to be read for the account.
    return decoding.inTurn(accountId, async (turn) => {
      await turn.begin(next.listJson.byteLength, true)
      return compareFrom(await store.loggedState(sheetId), turn)
    })

    async function compareFrom(
      from: KnownRows | Awaited<ReturnType<typeof store.loggedState>>,
      begunTurn: ReadingTurn | null,
    ): Promise<Compared | 'overtaken'> {
      // The rows were written anew since: at this place they were others.
      if (from && 'stateSeq' in from && from.stateSeq > head) return 'overtaken'
      const fromSeq = from === null ? head : 'stateSeq' in from ? from.stateSeq : from.logged.seq
      const since = from === null ? [] : await textsBetween(fromSeq, head)
      if (since === 'forgotten') return 'overtaken'
      const isShort = since.reduce((sum, { byteLength }) => sum + byteLength, 0) <= maxSinceBytes
      if (from && 'snapshot' in from && !wantsState && unplaced === null && isShort) {
        const changes = since.flatMap((chunk) => readChanges(Buffer.from(chunk.buffer).toString()))
        if (await isExplainedByAdditions(from.snapshot, changes, next, nextTurn))
          return { chunks: [], state: null }
      }
      if (from === null && (next.listJson.byteLength > inlineBytes || lastRowOf(next) > inlineRows)) {
        const chunks = mustReset ? [...chunksOfChanges([{ kind: 'reset' }])] : []
        return { chunks, state: await stateOfRows(next, keyColumn !== null) }
      }
      const input: ToCompare = {
        known: from === null ? null : 'state' in from ? from.state : rowsOf(from.snapshot),
        since,
        next: rowsOf(next),
        keyColumn,
        unplaced,
        mustReset,
        wantsState,
      }
      if (isMoment(input, inline)) return compare(input)
      if (begunTurn) return compareInTurn(begunTurn)
      const knownBytes =
        from === null ? 0 : 'state' in from ? lengthOf(from.state) * 8 : from.snapshot.listJson.byteLength
      const bytes = knownBytes + next.listJson.byteLength + lastRowOf(next) * bytesOfPlace
      return decoding.inTurn(accountId, async (turn) => {
        await turn.begin(bytes, true)
        return compareInTurn(turn)
      })

      async function compareInTurn(turn: ReadingTurn): Promise<Compared> {
        const handed = await handToCompare(input, nextTurn)
        return (await turn.run(compareJob, handed.input, handed.handOver)).reply
      }
    }

    async function nextTurn(): Promise<void> {
      await turns.next(accountId)
    }

    /** What was logged between two places, as it is: to be read by whoever compares. Some of it may be forgotten meanwhile. */
    async function textsBetween(
      afterSeq: number,
      upToSeq: number,
    ): Promise<Uint8Array<ArrayBuffer>[] | 'forgotten'> {
      const texts: Uint8Array<ArrayBuffer>[] = []
      for (let after = afterSeq; after < upToSeq; ) {
        const chunks = await store.loggedChanges(sheetId, after, readTogetherBytes, upToSeq)
        if (chunks.length === 0) return 'forgotten'
        for (const chunk of chunks) {
          if (chunk.firstSeq > after + 1) return 'forgotten'
          after = chunk.lastSeq
          if (chunk.lastSeq > upToSeq) break
          const isCut = chunk.firstSeq <= afterSeq
          const text = await nullIfGone(isCut ? textAfter(chunk, afterSeq) : bytesOf(chunk.entries, nextTurn))
          if (text === null) return 'forgotten'
          texts.push(text)
        }
        await turns.next(accountId)
      }
      return texts
    }

    async function textAfter(
      { firstSeq, entries }: ChangeChunk,
      seq: number,
    ): Promise<Uint8Array<ArrayBuffer>> {
      const { changes } = await readWhole(entries, nextTurn)
      return ownBuffer(Buffer.from(JSON.stringify(changes.filter((_, nth) => firstSeq + nth > seq))))
    }
  }
}

function lengthOf(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + text.length, 0)
}

/** Without what else a snapshot has: it is copied to the thread. */
function rowsOf({ columns, listJson, rowStarts, rowNumbers }: Snapshot): RowsOfSnapshot {
  return { columns, listJson, rowStarts, rowNumbers }
}
