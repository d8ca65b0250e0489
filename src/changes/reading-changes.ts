import { type LoggedChange, readChanges } from '../sheets/logged-change.ts'
import type { Logged } from '../sheets/sheet-log.ts'
import type { LogPosition } from '../store/changes/change-log.ts'
import type { Store } from '../store/store.ts'
import { cursorText } from './cursor.ts'
import type { Following } from './following.ts'

/** Reads the log of a sheet, for whoever may. */
export interface ReadingChanges {
  /** Where the log stands; null where none is kept. */
  positionOf(sheetId: string): Promise<LogPosition | null>
  /** What comes after a place, as much as was asked for. The place is one of this log and still kept. */
  after(sheetId: string, place: Logged, wish: ChangesWish): Promise<ChangesRead>
  /** Waits, where there is nothing yet, until there is something or `waitMs` are over. */
  await(sheetId: string, place: Logged, wish: ChangesWish, wait: ChangesWait): Promise<ChangesRead>
}

export interface ChangesWish {
  limit: number
  matches(change: LoggedChange): boolean
}

export interface ChangesWait {
  waitMs: number
  left: AbortSignal
}

export interface ChangesRead {
  changes: ToldChange[]
  /** Where to go on: also what does not match is behind it. */
  next: Logged
  /** Whether there is more already. */
  hasMore: boolean
  /** Why nothing comes after it: the log no longer reaches back to the place, or is another one now, or none is kept. */
  over?: 'expired' | 'no_log'
}

export interface ToldChange {
  cursor: string
  atMs: number
  change: LoggedChange
}

const readBytes = 1024 * 1024

export interface ReadingChangesParts {
  store: Pick<Store, 'changeLogOf' | 'loggedChanges'>
  following: Pick<Following, 'waitFor'>
  clock: { elapsedMs(): number }
}

export function createReadingChanges({ store, following, clock }: ReadingChangesParts): ReadingChanges {
  return {
    positionOf: (sheetId) => store.changeLogOf(sheetId),
    after,
    async await(sheetId, place, wish, { waitMs, left }) {
      const endMs = clock.elapsedMs() + waitMs
      for (let [from, isOver] = [place, false]; ; ) {
        const read = await after(sheetId, from, wish)
        const leftMs = endMs - clock.elapsedMs()
        if (read.changes.length > 0 || read.over || isOver || leftMs <= 0) return read
        from = read.next
        if (read.hasMore) continue
        isOver = (await following.waitFor(sheetId, from.seq, leftMs, left)) !== 'woken'
      }
    },
  }

  async function after(
    sheetId: string,
    place: Logged,
    { limit, matches }: ChangesWish,
  ): Promise<ChangesRead> {
    const chunks = await store.loggedChanges(sheetId, place.seq, readBytes)
    const changes: ToldChange[] = []
    let seq = place.seq
    let isCut = false
    for (const { firstSeq, atMs, entries } of chunks) {
      for (const [nth, change] of readChanges(entries).entries()) {
        const its = firstSeq + nth
        if (its <= place.seq) continue
        if (changes.length === limit) {
          isCut = true
          break
        }
        seq = its
        if (matches(change)) changes.push({ cursor: cursorText({ epoch: place.epoch, seq }), atMs, change })
      }
    }
    // Asked afterwards: what was forgotten before the chunks were read is known by now.
    const position = await store.changeLogOf(sheetId)
    const over = reasonWhyOver(position, place)
    if (over) return { changes: [], next: place, hasMore: false, over }
    const bytes = chunks.reduce((sum, { entries }) => sum + entries.length, 0)
    return { changes, next: { epoch: place.epoch, seq }, hasMore: isCut || bytes >= readBytes }
  }
}

function reasonWhyOver(position: LogPosition | null, place: Logged): ChangesRead['over'] {
  if (!position) return 'no_log'
  return position.epoch === place.epoch && position.floor <= place.seq ? undefined : 'expired'
}
