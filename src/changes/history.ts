import { type LoggedChange, readChanges } from '../sheets/logged-change.ts'
import type { Store } from '../store/store.ts'

/** What became of a sheet, or of one of its rows, from the newest change to the oldest. */
export interface LookingBack {
  /** null where no log is kept. */
  before(sheetId: string, wish: LookingBackWish): Promise<LookedBack | null>
}

export interface LookingBackWish {
  /** Where to go on; null for the newest. */
  place: PlaceBack | null
  /** The row to follow, as it is numbered now or by the JSON text of its key; null for all. */
  of: { row: number } | { key: string } | null
  limit: number
}

/** Before a change; `row`: the number that the row has there. */
export interface PlaceBack {
  seq: number
  row: number | null
}

export interface LookedBack {
  changes: PastChange[]
  /** null at the beginning of what is kept. */
  next: PlaceBack | null
}

export interface PastChange {
  seq: number
  atMs: number
  change: LoggedChange
}

const changesTogether = 200
/** Nothing may have become of a row for long: what is older is looked through the next time. */
const mostLookedThrough = 5_000

export function createLookingBack({
  store,
}: {
  store: Pick<Store, 'changeLogOf' | 'loggedChanges'>
}): LookingBack {
  return {
    async before(sheetId, { place, of, limit }) {
      const position = await store.changeLogOf(sheetId)
      if (!position) return null
      const changes: PastChange[] = []
      const follow = createFollow(of, place?.row ?? null)
      let end = Math.min(place?.seq ?? Number.POSITIVE_INFINITY, position.head + 1)
      const last = Math.max(position.floor, end - mostLookedThrough)
      while (end > last + 1) {
        const from = Math.max(last, end - 1 - changesTogether)
        const chunks = await store.loggedChanges(sheetId, from, Number.POSITIVE_INFINITY, end - 1)
        const some = chunks
          .flatMap(({ firstSeq, atMs, entries }) =>
            readChanges(entries).map((change, nth) => ({ seq: firstSeq + nth, atMs, change })),
          )
          .filter(({ seq }) => seq > from && seq < end)
        for (const past of some.reverse()) {
          end = past.seq
          const verdict = follow.meet(past.change)
          if (verdict !== 'other') changes.push(past)
          if (verdict === 'first') return { changes, next: null }
          if (changes.length === limit) return { changes, next: placeAt(end) }
        }
        end = from + 1
      }
      return { changes, next: placeAt(end) }

      function placeAt(seq: number): PlaceBack | null {
        return seq <= (position?.floor ?? 0) + 1 ? null : { seq, row: follow.row() }
      }
    },
  }
}

/** Backwards: what was added above a row moves it up, what was deleted there moves it down. */
function createFollow(of: LookingBackWish['of'], rowThere: number | null) {
  let row = rowThere ?? (of && 'row' in of ? of.row : null)
  return {
    row: () => row,
    meet(change: LoggedChange): 'own' | 'first' | 'other' {
      if (of === null) return 'own'
      if (change.kind === 'reset') return 'first'
      if (change.kind === 'columns_changed') return 'other'
      if ('key' in of) return change.key === of.key ? 'own' : 'other'
      const its = change.row
      if (its === undefined || row === null) return 'other'
      if (change.kind === 'updated') return its === row ? 'own' : 'other'
      if (change.isInPlace) return its === row ? 'own' : 'other'
      if (change.kind === 'added') {
        if (its === row) return 'first'
        if (its < row) row--
      } else if (its <= row) row++
      return 'other'
    },
  }
}
