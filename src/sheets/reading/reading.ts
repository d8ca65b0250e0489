import type { RowsFrom } from '../../reporting/observe.ts'
import { defaultShares, type Shares } from '../../shares/shares.ts'
import { areVisitors, type Taker } from '../../shares/taker.ts'
import type { Soon } from '../../soon.ts'
import type { SheetFacts } from '../../store/admission/admission-facts.ts'
import type { SheetRecord } from '../../store/sheets/sheets.ts'
import { idleTimers, type Timers } from '../../timers.ts'
import type {
  FetchedRows,
  FetchWish,
  FoundInColumn,
  RowsAndColumn,
  WantedInColumn,
  WantedInTall,
  WantedRows,
  WrittenTab,
} from '../provider.ts'
import { type IndexedSnapshot, positionOf, rowJson, type Snapshot } from '../rows/snapshot.ts'
import type { Column } from '../rows/table.ts'
import type { KnownRows, Logged } from '../sheet-log.ts'
import { createBackgroundRefresh } from './background-refresh.ts'
import { collectGarbageWhenCalm } from './collect-garbage.ts'
import { createFetching, type FetchingParts, knownRows, type WrittenAt } from './fetching.ts'
import { createFlights, type FlightWish, type SheetAtSeq, type WishUnderWay } from './flights.ts'
import { isFresh, mayAwaitItsTurn, reasonToOutlast } from './freshness.ts'
import { createHeldSnapshots, type HeldSnapshot, type KeptBodies, nameOf } from './held-snapshots.ts'
import { createRefreshAhead } from './refresh-ahead.ts'
import { createStandingFailures } from './standing-failures.ts'

export type { SheetAtSeq }

/** Reads sheets from memory where that is as good as asking, else from their provider, once for all who wait. */
export interface Reading {
  /** At once when memory has it. */
  read(sheet: SheetFacts, wish: ReadingWish): Soon<ReadSheet>
  /** Rows of now, for whoever wants them with their place in the log; null where the provider's ration is scarce, or where it fails. */
  readAgain(sheet: SheetFacts, taker?: Taker): Promise<ReadSheet | null>
  /**
   * Looks at the provider for nobody in particular, and logs what is new. Where its ration is scarce the sheet waits for its turn
   * behind those that somebody reads: 'queued'.
   */
  look(sheet: SheetAtSeq): Promise<'looked' | 'queued'>
  /** Like a read that asks for now, with the version that a write can be conditional on. */
  readForWriting(sheet: SheetAtSeq): Promise<HeldSnapshot>
  /** All that additions need, where the provider offers it for less than the whole tab; else null. */
  readHeader(sheet: SheetAtSeq): Promise<{ columns: Column[]; version: string } | null>
  /** All that changes of these rows need, on the same terms. */
  readRows(sheet: SheetAtSeq, wanted: readonly WantedRows[]): Promise<FetchedRows | null>
  /** Whether the copy that readers may be shown says something else of a row (its JSON text; null = blank) than is there now. */
  isShownOtherwise(sheet: SheetAtSeq, rowNumber: number, json: string | null): boolean
  /** Where values are in a column, on the same terms. Dates in it count as numbers. */
  findInColumn(sheet: SheetAtSeq, wanted: WantedInColumn): Promise<FoundInColumn | null>
  /** Both in one read, in which dates are dates. */
  readRowsAndColumn(
    sheet: SheetAtSeq,
    rows: readonly WantedRows[],
    inColumn: WantedInTall,
  ): Promise<RowsAndColumn | 'too_large' | null>
  /** What memory has, however old: it tells where to look. `isShown`: readers may be shown it. */
  lastKnown(sheet: SheetAtSeq): { indexed: IndexedSnapshot; isShown: boolean } | null
  /** What memory has, if its place in the log is known. */
  knownRows(sheet: Pick<SheetAtSeq, 'id'>): Promise<KnownRows | null>
  /** Whether readers would gain by a write that shows the whole tab, and that costs little. */
  isTabWanted(sheet: Pick<SheetRecord, 'id' | 'cacheSeconds'>): boolean
  /** What a write has shown is what readers see from then on. Where it is too much, they read for themselves. */
  takeWritten(record: SheetRecord, tab: WrittenTab, at: WrittenAt): void
}

export interface ReadingWish {
  values: Values
  /** The client sent `Cache-Control: no-cache`. */
  mustAskProvider: boolean
  /** In whose turn it is read; in the account's own unless told. */
  taker?: Taker | undefined
}

type Values = FetchWish['values']

export interface ReadSheet {
  snapshot: Snapshot
  /** For those who filter, sort or describe. */
  indexed: Soon<IndexedSnapshot>
  /** When the rows were first seen like this. */
  asOfMs: number
  /** Seconds since the provider was last asked. */
  ageSeconds: number
  source: RowsFrom
  /** Only some rows or columns: how old the rest is, is not told either. */
  isPart?: true
  /** What was made of this snapshot and may be kept with it. */
  bodies: KeptBodies
  /** The place in the log that has exactly these rows; null where there is none. */
  logged: Soon<Logged | null>
  /** As in `HeldSnapshot`. */
  promised: Logged | null
}

export interface ReadingParts extends Omit<FetchingParts, 'held' | 'sharing'> {
  maxHeldBytes: number
  shares?: Pick<Shares, 'snapshot_percent'>
  sharing?: FetchingParts['sharing']
  timers?: Timers
}

export function createReading({
  maxHeldBytes,
  shares = defaultShares,
  sharing = null,
  timers = idleTimers,
  ...parts
}: ReadingParts): Reading {
  const { clock, observe } = parts
  const held = createHeldSnapshots({
    maxBytes: maxHeldBytes,
    maxAccountBytes: (maxHeldBytes * shares.snapshot_percent) / 100,
    observe,
    collectDropped: collectGarbageWhenCalm,
  })
  const failures = createStandingFailures()
  const background = createBackgroundRefresh()
  const ahead = createRefreshAhead({ held, clock, timers })
  const flights = createFlights()
  const fetching = createFetching({ ...parts, held, sharing })

  return {
    read(sheet, wish) {
      const name = nameOf(sheet.id, wish.values)
      const known = held.get(name)
      if (known && !wish.mustAskProvider) {
        const nowMs = clock.elapsedMs()
        known.lastUsedMs = nowMs
        if (isFresh(known, sheet, nowMs)) {
          // A file is looked at in no time.
          if (known.origin.provider.isTight) noteUse(known, name, sheet, wish, nowMs)
          return answer(known, 'hit', nowMs)
        }
        if (mayAwaitItsTurn(known, sheet, nowMs) && isTight(known)) {
          refreshInTurn(sheet, wish, known, false)
          return answer(known, 'rationed', nowMs)
        }
      }
      return refreshSheet(sheet, wish, known ? 'stale' : 'miss')
    },
    async readAgain(sheet, taker) {
      const known = held.get(nameOf(sheet.id, 'typed'))
      if (known && isTight(known)) return null
      const isForVisitors = isForVisitorsOnly({ taker })
      const how = { mustBeginNow: true, isUrgent: false, isAhead: false, isForVisitors }
      const read = await ask(sheet, 'typed', how).catch(() => null)
      return read && answer(read, 'stale', clock.elapsedMs())
    },
    async look(sheet) {
      const known = held.get(nameOf(sheet.id, 'typed'))
      if (known && isTight(known)) {
        refreshInTurn(sheet, { values: 'typed' }, known, false)
        return 'queued'
      }
      const how = { mustBeginNow: true, isUrgent: false, isAhead: false, isForVisitors: false }
      const { logged } = await ask(sheet, 'typed', how)
      await logged
      return 'looked'
    },
    readForWriting: (sheet) =>
      ask(sheet, 'typed', { mustBeginNow: true, isUrgent: true, isAhead: false, isForVisitors: false }),
    readHeader: ({ id }) => fetching.fetchHeader(id),
    readRows: ({ id }, wanted) => fetching.fetchRows(id, wanted),
    isShownOtherwise({ id, writeSeq }, rowNumber, json) {
      const known = held.get(nameOf(id, 'typed'))
      if (known?.writeSeq !== writeSeq) return false
      const position = positionOf(known.snapshot, rowNumber)
      return json !== (position === null ? null : rowJson(known.snapshot, position))
    },
    findInColumn: ({ id }, wanted) => fetching.findInColumn(id, wanted),
    readRowsAndColumn: ({ id }, rows, inColumn) => fetching.fetchRowsAndColumn(id, rows, inColumn),
    lastKnown({ id, writeSeq }) {
      const known = held.get(nameOf(id, 'typed'))
      if (!known?.indexed || known.indexed instanceof Promise) return null
      return { indexed: known.indexed, isShown: known.writeSeq === writeSeq }
    },
    knownRows: ({ id }) => knownRows(held.get(nameOf(id, 'typed'))),
    isTabWanted({ id, cacheSeconds }) {
      const known = held.get(nameOf(id, 'typed'))
      if (!known || cacheSeconds === 0 || !known.origin.provider.isTight) return false
      const { columns, rowNumbers, listJson } = known.snapshot
      const isSmall = columns.length * rowNumbers.length <= mostCellsShown
      return (
        isSmall &&
        listJson.byteLength <= mostBytesShown &&
        clock.elapsedMs() - known.lastUsedMs <= readLatelyMs
      )
    },
    takeWritten(record, tab, at) {
      const { rows } = tab.grid
      const cells = rows.reduce((sum, row) => sum + row.length, 0)
      // It may have grown by what was just written.
      if (cells > 2 * mostCellsShown) return
      try {
        fetching.takeWritten(record, tab, at)
      } catch {
        // Too long, or a header that cannot be served: whoever reads is told.
      }
    },
  }

  async function refreshSheet(
    sheet: SheetFacts,
    wish: ReadingWish,
    source: 'miss' | 'stale',
  ): Promise<ReadSheet> {
    const { values, mustAskProvider } = wish
    try {
      const mustBeginNow = mustAskProvider || sheet.cacheSeconds === 0
      const isForVisitors = isForVisitorsOnly(wish)
      const how = { mustBeginNow, isUrgent: mustAskProvider, isAhead: false, isForVisitors }
      const read = await ask(sheet, values, how)
      return answer(read, source, clock.elapsedMs())
    } catch (error) {
      const copy = held.get(nameOf(sheet.id, values))
      // Whoever insists on now would rather hear that it cannot be had.
      if (!copy || mustAskProvider) throw error
      const nowMs = clock.elapsedMs()
      const reason = reasonToOutlast(error, copy, sheet, { isTight: isTight(copy), nowMs })
      if (reason === null) throw error
      return answer(copy, reason, nowMs)
    }
  }

  function answer(known: HeldSnapshot, source: RowsFrom, nowMs: number): ReadSheet {
    const { snapshot, indexed, asOfMs, checkedAtMs, bodies, logged, promised } = known
    const ageSeconds = Math.max(0, Math.floor((nowMs - checkedAtMs) / 1_000))
    return { snapshot, indexed, asOfMs, ageSeconds, source, bodies, logged, promised }
  }

  function noteUse(
    known: HeldSnapshot,
    name: string,
    sheet: SheetFacts,
    wish: AskedOfSheet,
    nowMs: number,
  ): void {
    if (known.refreshAtMs !== null && nowMs < known.refreshAtMs) return
    const isForVisitors = isForVisitorsOnly(wish)
    const aheadOf = { mustBeginNow: false, isUrgent: false, isAhead: true, isForVisitors }
    const refresh = async (copy: HeldSnapshot) => {
      if (isTight(copy)) refreshInTurn(sheet, wish, copy, true)
      else await ask(sheet, wish.values, aheadOf)
    }
    ahead.noteUse(known, { name, sheet, nowMs, refresh })
  }

  function refreshInTurn(
    sheet: SheetAtSeq,
    wish: AskedOfSheet,
    { checkedAtMs, origin }: HeldSnapshot,
    isAhead: boolean,
  ): void {
    const { values } = wish
    const name = nameOf(sheet.id, values)
    // What is rationed without a credential is shared by accounts, and none of them waits for another's sheets.
    const group = origin.place.credentialId ?? origin.place.accountId
    const how = { mustBeginNow: false, isUrgent: false, isAhead, isForVisitors: isForVisitorsOnly(wish) }
    const refresh = () => ask(sheet, values, how)
    background.ask({ name, group, checkedAtMs, refresh })
  }

  function ask(
    { id, writeSeq }: SheetAtSeq,
    values: Values,
    how: Omit<FlightWish, 'writeSeq'>,
  ): Promise<HeldSnapshot> {
    const name = nameOf(id, values)
    return flights.join(name, { ...how, writeSeq }, (wish) => fetchUnlessFailed(name, id, values, wish))
  }

  async function fetchUnlessFailed(
    name: string,
    sheetId: string,
    values: Values,
    wish: WishUnderWay,
  ): Promise<HeldSnapshot> {
    const failure = failures.standing(name, wish, clock.elapsedMs())
    if (failure) throw failure.error
    const { writeSeq } = wish
    try {
      const read = await fetching.fetch(sheetId, values, wish)
      failures.forget(name)
      void settleIndexes(name, sheetId, values, read)
      return read
    } catch (error) {
      failures.noteFailure(name, writeSeq, error, clock.elapsedMs())
      throw error
    }
  }

  /** Without indexes a copy answers no query, and would go on doing so while nothing changes. */
  async function settleIndexes(
    name: string,
    sheetId: string,
    values: Values,
    read: HeldSnapshot,
  ): Promise<void> {
    const broken = await fetching.settleIndexes(sheetId, values, read)
    if (broken) failures.noteFailure(name, read.writeSeq, broken.error, clock.elapsedMs())
  }
}

type AskedOfSheet = Pick<ReadingWish, 'values' | 'taker'>

function isForVisitorsOnly({ taker }: Pick<ReadingWish, 'taker'>): boolean {
  return taker !== undefined && areVisitors(taker)
}

/** They are gone through on the thread that answers everybody: a few milliseconds. */
const mostCellsShown = 2_000
const mostBytesShown = 256 * 1024
const readLatelyMs = 30_000

function isTight({ origin: { provider, place } }: HeldSnapshot): boolean {
  return provider.isTight?.(place) === true
}
