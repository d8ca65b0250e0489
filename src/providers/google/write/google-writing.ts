import type { Clock } from '../../../clock.ts'
import type { Observe } from '../../../reporting/observe.ts'
import type { Change, Unfit } from '../../../sheets/change.ts'
import type { FetchedRows, Provider, TabPlace, WantedRows } from '../../../sheets/provider.ts'
import type { Cell } from '../../../sheets/rows/grid.ts'
import { noTurn } from '../../../sheets/threads/no-turn.ts'
import { pause, type Timers } from '../../../timers.ts'
import type { AccessTokens } from '../../remote/access-tokens.ts'
import type { Budget } from '../../remote/rations/budget.ts'
import type { GoogleCalls } from '../client/google-call.ts'
import type { GoogleEndpoints } from '../client/google-endpoints.ts'
import type { GoogleTime } from '../client/google-time.ts'
import { parseGoogleLocation } from '../google-location.ts'
import { createGoogleLooking } from '../read/google-looking.ts'
import { mostCellsWithFormats } from '../read/grid-bounds.ts'
import { fetchedHeader } from '../read/header-read.ts'
import { joinRanges, type RowRange } from '../read/row-ranges.ts'
import { createTabHeads } from '../read/tab-heads.ts'
import { createTabMemory, headerValues } from '../read/tab-memory.ts'
import { type TabView, valuesOf } from '../read/tab-view.ts'
import { foretold } from './change-results.ts'
import type { ColumnLooks } from './column-looks.ts'
import { mayBeTouched } from './compose-batch.ts'
import { type CommitParts, commitBatch } from './google-commit.ts'
import { settleMarker } from './google-settling.ts'
import { fenceOf, newMarker, readFence } from './marker.ts'
import { createMarkerCleaning, leaveWithinMs } from './marker-cleaning.ts'
import { createRowLooks } from './row-looks.ts'
import { followRows, type RowTurns } from './row-turns.ts'
import { firstUnfit, tooManyCells } from './unfit-values.ts'

export type GoogleWriting = Required<
  Pick<Provider, 'fetchHeader' | 'fetchRows' | 'fetchRowsAndColumn' | 'untilTurn' | 'prepare' | 'settle'>
>

export interface GoogleWritingParts {
  calls: GoogleCalls
  endpoints: GoogleEndpoints
  tokens: Pick<AccessTokens, 'subjectOf'>
  budget: Pick<Budget, 'opensInMs'>
  columnLooks: ColumnLooks
  time: Pick<GoogleTime, 'nowMs'>
  /** Names the journal, for all servers that share it. */
  journalTag: string
  clock: Clock
  timers: Timers
  observe: Observe
}

/** A look at some rows, and at the end of the tab where that is known. */
interface SeenRows {
  view: TabView
  ranges: readonly RowRange[]
  end: RowRange | null
  seenAtMs: number
}

/** As long as Google takes for a small read. */
const lookMs = 300
/** Who waits longer than this is told by the budget itself. */
const longestTurnMs = 5_000

/**
 * Writing to Google: one `spreadsheets.batchUpdate` for a batch, which Google applies as a whole or not at all. With
 * it goes a marker of which there can be only one, so that a batch can happen once at most, however late it arrives
 * (docs/decisions/011-what-google-leaves-open.md).
 */
export function createGoogleWriting(googleParts: GoogleWritingParts): GoogleWriting {
  const { calls, endpoints, tokens, budget, columnLooks, time, journalTag, clock, timers, observe } =
    googleParts
  const looking = createGoogleLooking(calls, endpoints)
  const memory = createTabMemory(clock)
  const heads = createTabHeads(looking, memory)
  const looks = createRowLooks(clock)
  const cleaning = createMarkerCleaning({ clock, time, journalTag })
  const parts: CommitParts = { calls, endpoints, looking, heads, memory, looks, cleaning, observe }

  return {
    async fetchHeader(place) {
      findOldMarkers(place)
      // Never what a former write's answer showed: a person may have moved a column since, and those who wait for this
      // one came after that.
      const { header } = await heads.lookAtHead(place)
      return fetchedHeader(header)
    },

    async fetchRows(place, wanted) {
      findOldMarkers(place)
      const ranges = rangesFor(wanted)
      const end = heads.whereToLook(place)
      const view = await looking.readTabRanges(place, end ? [...ranges, end] : ranges)
      if (view === 'outside') {
        memory.forget(place)
        return null
      }
      return fetchedRows(place, { view, ranges, end, seenAtMs: clock.elapsedMs() })
    },

    async fetchRowsAndColumn(place, wanted, wantedInColumn, turn = noTurn) {
      const tall = Math.max(memory.get(place)?.rowCount ?? 0, wantedInColumn.lastRowKnown)
      // Two small answers are there sooner than one with an object for each cell.
      if (tall > mostCellsWithFormats) return 'too_large'
      findOldMarkers(place)
      const ranges = rangesFor(wanted)
      const end = heads.whereToLook(place)
      const all = end ? [...ranges, end] : ranges
      const look = await columnLooks.look(place, all, wantedInColumn, turn)
      if (look === 'too_large') return look
      if (look === 'outside') {
        memory.forget(place)
        return null
      }
      const { inColumn, ...seen } = look
      return { rows: fetchedRows(place, { ...seen, ranges, end }), inColumn }
    },

    async untilTurn({ credentialId }) {
      const subject = credentialId === null ? null : tokens.subjectOf(credentialId)
      if (subject === null) return
      // Each batch begins with a look: a read, while which the place of the write may come free.
      const readMs = budget.opensInMs({ subject, kind: 'read' })
      const waitMs = Math.max(readMs, budget.opensInMs({ subject, kind: 'write' }) - lookMs)
      if (waitMs > 0) await pause(timers, Math.min(waitMs, longestTurnMs), new AbortController().signal)
    },

    async prepare(place, changes, version, columns, isTabWanted = false) {
      if (place.credentialId === null) return readOnly
      findOldMarkers(place)
      const unfit = firstUnfit(changes)
      if (unfit) return unfit
      const turns = followRows(changes)
      const rows = await rowsBefore(place, changes, version, turns)
      if ('changeAt' in rows) return rows
      const isAdding = changes.some(({ kind }) => kind === 'add')
      const head = isAdding ? memory.get(place) : null
      const full = head && tooManyCells(changes, head)
      if (full) return full
      const firstAdded = head ? head.lastRow - turns.deletions + 1 : null
      const added = changes.reduce((sum, change) => sum + (change.kind === 'add' ? change.rows.length : 0), 0)
      const marker = newMarker(journalTag, time.nowMs())
      const leaveBeforeMs = clock.elapsedMs() + leaveWithinMs
      return {
        fence: fenceOf(marker),
        expected: foretold(changes, turns, rows.row, firstAdded),
        // Google has no conditional write: after a lost answer a look must tell under which columns it was done.
        isExact: false,
        // Numbers are told as of each one's turn, and a deletion after it moves the row: no end is foretold then.
        expectedLastRow: firstAdded === null || turns.deletions > 0 ? null : firstAdded + added - 1,
        async commit() {
          if (clock.elapsedMs() > leaveBeforeMs) return { outcome: 'conflict' }
          const judged = { columns: columns ?? null, version }
          return commitBatch({ place, changes, turns, ...judged, marker, isTabWanted }, parts)
        },
        async discard() {},
      }
    },

    async settle(place, fence) {
      const marker = readFence(fence)
      memory.forget(place)
      cleaning.noteNew(parseGoogleLocation(place.location).spreadsheetId, marker)
      return settleMarker(place, marker, parts)
    },
  }

  /** The batch that follows is made from what was seen, while that is young enough. */
  function fetchedRows(place: TabPlace, { end, ...look }: SeenRows): FetchedRows {
    const { view, seenAtMs } = look
    if (end) heads.keepIfSeen(place, view, end, seenAtMs)
    return {
      version: looks.keep(place, look),
      header: headerValues(view.row(1)),
      row: (rowNumber) => valuesOf(view.row(rowNumber)),
    }
  }

  /** As the changes were judged on them; who does not tell is looked up. */
  async function rowsBefore(
    place: TabPlace,
    changes: readonly Change[],
    version: string,
    turns: RowTurns,
  ): Promise<{ row(rowNumber: number): readonly Cell[] } | Unfit> {
    const known = new Map<number, readonly Cell[]>()
    const unknown = new Map<number, number>()
    changes.forEach((change, changeAt) => {
      const row = turns.before(changeAt)
      if (change.kind === 'add' || change.kind === 'insert' || row === null) return
      // Whoever judges knows nothing of what stands under columns without a name; with a row that goes, that goes.
      const seen = change.kind === 'delete' ? looks.find(place, version, [{ from: row, to: row }]) : null
      if (seen) known.set(row, valuesOf(seen.row(row)))
      else if (change.before && !(change.kind === 'delete' && change.unnamed)) {
        known.set(
          row,
          Array.from(change.before, (cell) => cell ?? null),
        )
      } else unknown.set(row, changeAt)
    })
    if (unknown.size > 0) {
      const view = await looking.readTabRanges(
        place,
        [...unknown.keys()].map((row) => ({ from: row, to: row })),
      )
      const missing = [...unknown].find(([row]) => view === 'outside' || row > view.rowCount)
      if (missing) return { changeAt: missing[1], reason: 'row', details: 'The row is not there.' }
      if (view !== 'outside') for (const row of unknown.keys()) known.set(row, valuesOf(view.row(row)))
    }
    return { row: (rowNumber) => known.get(rowNumber) ?? [] }
  }

  /** Those that other processes left behind; nobody waits for it. */
  function findOldMarkers(place: TabPlace): void {
    const { spreadsheetId } = parseGoogleLocation(place.location)
    if (place.credentialId === null || !cleaning.mustSearch(spreadsheetId)) return
    looking.allMarkers(place).then(
      (found) => cleaning.noteFound(spreadsheetId, found),
      () => cleaning.searchAgain(spreadsheetId),
    )
  }
}

/** An API key names a project and nobody in it, and Google lets nobody write. */
const readOnly: Unfit = {
  changeAt: 0,
  reason: 'read_only',
  details:
    'This spreadsheet is read by its public link and cannot be written to. Connect it by a Google account or a service account to write.',
}

function rangesFor(wanted: readonly WantedRows[]): RowRange[] {
  return joinRanges([{ from: 1, to: 1 }, ...mayBeTouched(wanted)])
}
