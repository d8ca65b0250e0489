import type { LoggedChange } from '../sheets/logged-change.ts'
import { positionOf, rowJson } from '../sheets/rows/snapshot.ts'
import type { KnownRows, Logged } from '../sheets/sheet-log.ts'
import { type ChangeChunk, lengthOfEntries } from '../store/changes/change-log.ts'
import type { ReadEntries } from './read-entries.ts'

/**
 * What the log says of single rows: those of a copy in memory, with all that was logged since. It is kept with the copy and takes each
 * change once, so that many writes one after the other do not each go through the changes of all before them.
 */
export interface LoggedSince {
  /** Whether it began at this place. */
  isFrom(place: Logged): boolean
  /** The last change that it has. */
  seq(): number
  /** False where it would be too much, and need not be read. */
  hasRoomFor(chunk: ChangeChunk): boolean
  /**
   * What follows, as it was read; null where it is too much. False where rows cannot be told any more: the columns are others, changes are
   * missing, or it would be too much.
   */
  take(chunk: Pick<ChangeChunk, 'firstSeq' | 'lastSeq'>, its: ReadEntries<LoggedChange> | null): boolean
  /** The JSON text of a row as the log says it last; null for a blank one. */
  textOf(rowNumber: number): string | null
}

/** Rows that were written since they moved last. */
interface Stretch {
  /** What moved the rows at its beginning; null for those of the copy. */
  movedBy: { kind: 'added' | 'deleted'; row: number } | null
  /** By number, null for those that are blank now; absent where there are none. */
  texts?: Map<number, string | null>
}

/**
 * The log is taken up to this length beside a short tab, and beside a long one up to half of its rows. Then the tab has to be looked at:
 * whoever looks later goes through all that was logged since the copy, and the log wants the state of the rows anew (docs/decisions/032).
 */
const charactersBesideShort = 256 * 1024
const partOfRows = 1 / 2
/** It is memory that nobody counts. */
const mostCharacters = 4 * 1024 * 1024
/** A letter is one or two characters of a text, and up to four bytes. */
const mostBytesOfCharacter = 3

export function createLoggedSince({ snapshot, logged }: KnownRows): LoggedSince {
  const { listJson, blankRowJson } = snapshot
  const besideRows = Math.max(charactersBesideShort, listJson.byteLength * partOfRows)
  const mostTakenCharacters = Math.min(mostCharacters, besideRows)
  let stretches: Stretch[] = [{ movedBy: null }]
  let lastRowNumber = snapshot.lastRowNumber
  let seq = logged.seq
  let takenCharacters = 0
  let isTold = true

  return {
    isFrom: (place) => place.epoch === logged.epoch && place.seq === logged.seq,
    seq: () => seq,
    hasRoomFor: (chunk) =>
      takenCharacters + lengthOfEntries(chunk) / mostBytesOfCharacter <= mostTakenCharacters,
    take({ firstSeq, lastSeq }, its) {
      if (isTold && lastSeq > seq) isTold = its !== null && firstSeq <= seq + 1 && takeChanges(firstSeq, its)
      if (isTold) seq = Math.max(seq, lastSeq)
      else stretches = []
      return isTold
    },
    textOf(rowNumber) {
      let row = rowNumber
      for (let nth = stretches.length - 1; nth >= 0; nth--) {
        const { movedBy, texts } = stretches[nth] as Stretch
        const text = texts?.get(row)
        if (text !== undefined) return text
        if (movedBy?.kind === 'deleted' && movedBy.row <= row) row++
        else if (movedBy?.kind === 'added' && movedBy.row < row) row--
      }
      const position = positionOf(snapshot, row)
      return position === null ? null : rowJson(snapshot, position)
    },
  }

  function takeChanges(firstSeq: number, { changes, characters }: ReadEntries<LoggedChange>): boolean {
    takenCharacters += characters
    if (takenCharacters > mostTakenCharacters) return false
    for (const [nth, { kind, row, after = null, isInPlace }] of changes.entries()) {
      // Of a chunk that the copy has the beginning of, only the rest is new.
      if (firstSeq + nth <= seq) continue
      // Of a row that was not to be told nobody knows which it is.
      if (kind === 'columns_changed' || kind === 'reset' || row === undefined) return false
      if (kind === 'deleted' && !isInPlace) {
        stretches.push({ movedBy: { kind, row } })
        if (row <= lastRowNumber) lastRowNumber--
      } else {
        // Past the end there is nothing that could be moved.
        if (kind === 'added' && !isInPlace && row <= lastRowNumber) {
          stretches.push({ movedBy: { kind, row } })
          lastRowNumber++
        }
        lastRowNumber = Math.max(lastRowNumber, row)
        note(row, after === blankRowJson ? null : after)
      }
    }
    return true
  }

  function note(row: number, text: string | null): void {
    const stretch = stretches.at(-1) as Stretch
    stretch.texts ??= new Map()
    stretch.texts.set(row, text)
  }
}
