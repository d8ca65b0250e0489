import type { Clock } from '../../../clock.ts'
import type { AccountPlace, FoundInColumn, ReadingTurn, WantedInColumn } from '../../../sheets/provider.ts'
import { ownBuffer } from '../../../sheets/threads/thread-jobs.ts'
import type { Timers } from '../../../timers.ts'
import { createDeadline } from '../../remote/deadline.ts'
import type { CallLimits } from '../../remote/remote-calls.ts'
import type { GoogleCalls } from '../client/google-call.ts'
import type { GoogleEndpoints } from '../client/google-endpoints.ts'
import { RefusedByGoogle } from '../client/google-errors.ts'
import { parseGoogleLocation } from '../google-location.ts'
import type { AnswerRooms } from '../read/answer-room.ts'
import type { GoogleComparing } from '../read/google-comparing.ts'
import type { RowRange } from '../read/row-ranges.ts'
import { createTabReads } from '../read/tab-reads.ts'
import { type TabView, viewOf } from '../read/tab-view.ts'

/** Rows with all that a write must know of them, and where values are in one column: one read, all of one moment. */
export interface ColumnLooks {
  /** 'outside' when a range or the column begins beyond the end of the grid; 'too_large' when that is too much for one answer. */
  look(
    place: AccountPlace,
    ranges: readonly RowRange[],
    wanted: WantedInColumn,
    turn: ReadingTurn,
  ): Promise<ColumnLook | 'outside' | 'too_large'>
}

export interface ColumnLook {
  view: TabView
  inColumn: FoundInColumn
  /** When the answer was there; reading it takes a while longer. */
  seenAtMs: number
}

export interface ColumnLooksParts {
  calls: GoogleCalls
  endpoints: GoogleEndpoints
  comparing: Pick<GoogleComparing, 'findWithRows'>
  fetches: AnswerRooms
  clock: Clock
  timers: Timers
  limits: CallLimits
}

const maxRemembered = 1_000

export function createColumnLooks(parts: ColumnLooksParts): ColumnLooks {
  const { calls, endpoints, comparing, fetches, clock, timers, limits } = parts
  const reads = createTabReads(calls, endpoints)
  /** Who was once too large is not tried again. */
  const tooLarge = new Set<string>()
  return {
    async look(place, ranges, { columnIndex, values, isMarked = false }, turn) {
      const key = `${place.location} ${columnIndex}`
      if (tooLarge.has(key)) return 'too_large'
      const deadline = createDeadline(clock, timers, limits.readMs)
      const room = fetches.roomOf(place.accountId)
      try {
        const body = await reads.rowsAndColumn(place, { ranges, columnIndex }, { deadline, room })
        if (!body) {
          if (tooLarge.size === maxRemembered) tooLarge.clear()
          tooLarge.add(key)
          return 'too_large'
        }
        const seenAtMs = clock.elapsedMs()
        await turn.begin(body.byteLength)
        const { tabId } = parseGoogleLocation(place.location)
        const toFind = { body: ownBuffer(body), tabId, ranges, columnIndex, values, isMarked }
        const { tab, inColumn } = await comparing.findWithRows(toFind, turn)
        return { view: viewOf(tab), inColumn, seenAtMs }
      } catch (error) {
        if (error instanceof RefusedByGoogle && error.isAboutGrid) return 'outside'
        throw error
      } finally {
        room.end()
        deadline.end()
      }
    },
  }
}
