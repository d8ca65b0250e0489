import type { LoopTurns } from '../shares/loop-turns.ts'
import { createOneAfterAnother } from '../shares/one-after-another.ts'
import type { LoggedChange } from '../sheets/logged-change.ts'
import { type ChangeChunk, lengthOfEntries } from '../store/changes/change-log.ts'
import type { Store } from '../store/store.ts'
import { lengthOfText, type ReadChange } from './read-change.ts'
import { nullIfGone, readLong, readShort } from './read-entries.ts'

/**
 * What became of a sheet, or of one of its rows, from the newest change to the oldest, in pages of some length: what is long takes more of
 * them, and is parsed in turns.
 */
export interface LookingBack {
  /** null where no log is kept. */
  before(sheet: SheetWithLog, wish: LookingBackWish): Promise<LookedBack | null>
}

export interface SheetWithLog {
  id: string
  accountId: string
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

export interface PastChange extends ReadChange {
  seq: number
  atMs: number
}

/** Nothing may have become of a row for long: what is older is looked through the next time. */
const mostLookedThrough = 5_000
const mostLookedThroughCharacters = 4 * 1024 * 1024
/** What one page tells at most, beside its last change. */
const pageCharacters = 256 * 1024
/** What is read and parsed in one go, beside a chunk that alone is longer. */
const stepCharacters = 256 * 1024
const mostOfStep = 200
const growth = 4

export interface LookingBackParts {
  store: Pick<Store, 'changeLogOf' | 'loggedChanges'>
  turns: Pick<LoopTurns, 'next'>
}

export function createLookingBack({ store, turns }: LookingBackParts): LookingBack {
  const pages = createOneAfterAnother()

  return { before: (sheet, wish) => pages.whenItsTurnComes(sheet.accountId, () => pageBefore(sheet, wish)) }

  async function pageBefore(
    { id, accountId }: SheetWithLog,
    { place, of, limit }: LookingBackWish,
  ): Promise<LookedBack | null> {
    const position = await store.changeLogOf(id)
    if (!position) return null
    const { floor, head } = position
    const changes: PastChange[] = []
    const follow = createFollow(of, place?.row ?? null)
    let end = Math.min(place?.seq ?? Number.POSITIVE_INFINITY, head + 1)
    const last = Math.max(floor, end - mostLookedThrough)
    let [toldCharacters, lookedThroughCharacters] = [0, 0]
    const steps = createSteps(id, accountId)
    while (end > last + 1 && lookedThroughCharacters < mostLookedThroughCharacters) {
      const { begin, chunks, characters } = await steps.before(end, last)
      // Once more, right before they are parsed: the turn in which the store was asked may be long over.
      await turns.next(accountId)
      for (const chunk of chunks.reverse()) {
        const its = await changesIn(chunk, accountId, last, end)
        if (its === null) return { changes, next: null }
        for (const past of its) {
          end = past.seq
          const verdict = follow.meet(past.change)
          if (verdict !== 'other') {
            changes.push(past)
            toldCharacters += lengthOfText(past, 'before') + lengthOfText(past, 'after')
          }
          if (verdict === 'first') return { changes, next: null }
          if (changes.length === limit || toldCharacters >= pageCharacters)
            return { changes, next: placeAt(end) }
        }
      }
      end = Math.max(last + 1, Math.min(end, begin))
      lookedThroughCharacters += characters
    }
    return { changes, next: placeAt(end) }

    function placeAt(seq: number): PlaceBack | null {
      return seq <= floor + 1 ? null : { seq, row: follow.row() }
    }
  }

  /**
   * The log is read forwards, so what comes before a place is asked for by a guess at how many changes are a step: one at first, which
   * is the chunk that it is in, more while they are short, and one again where they were too long to be read in one go.
   */
  function createSteps(sheetId: string, accountId: string) {
    let count = 1
    return {
      async before(end: number, last: number): Promise<Step> {
        for (;;) {
          await turns.next(accountId)
          const from = Math.max(last, end - 1 - count)
          const chunks = await store.loggedChanges(sheetId, from, stepCharacters, end - 1)
          const characters = chunks.reduce((sum, chunk) => sum + lengthOfEntries(chunk), 0)
          const isCut = (chunks.at(-1)?.lastSeq ?? end) < end - 1
          const isLong = characters >= stepCharacters / growth
          count = isCut ? 1 : isLong ? Math.max(1, Math.floor(count / growth)) : count * growth
          count = Math.min(count, mostOfStep)
          if (isCut) continue
          return { begin: Math.min(from + 1, chunks[0]?.firstSeq ?? end), chunks, characters }
        }
      },
    }
  }

  /** The newest first; null where they were forgotten meanwhile, with all before them. */
  async function changesIn(
    { firstSeq, atMs, entries }: ChangeChunk,
    accountId: string,
    last: number,
    end: number,
  ): Promise<PastChange[] | null> {
    const nextTurn = () => turns.next(accountId)
    const read =
      typeof entries === 'string' ? readShort(entries) : await nullIfGone(readLong(entries, nextTurn))
    if (read === null) return null
    return read.changes
      .map((read, nth) => ({ seq: firstSeq + nth, atMs, ...read }))
      .filter(({ seq }) => seq > last && seq < end)
      .reverse()
  }
}

interface Step {
  /** The first change that it looked through. */
  begin: number
  chunks: ChangeChunk[]
  characters: number
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
