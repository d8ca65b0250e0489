import type { JoinedTaker } from '../shares/taker.ts'
import type { Change, ChangeResult, Unfit } from './change.ts'
import type { Cell, Grid } from './rows/grid.ts'
import type { Column } from './rows/table.ts'
import type { ThreadTurn } from './threads/thread-pool.ts'

/** Where a tab is, in its provider's own words, and whose access opens it. */
export interface TabPlace {
  /** JSON, as the store keeps it. */
  location: string
  /** null where none is needed. */
  credentialId: string | null
  /** For whom, where that is known: what many accounts use without a credential is still told apart by it. */
  accountId?: string
}

/** A place, for somebody whose share the work there takes. */
export interface AccountPlace extends TabPlace {
  accountId: string
  /** Where it is not the account itself. */
  taker?: JoinedTaker
}

/** At the threads, for what is to be decoded and what has to be done before. */
export type ReadingTurn = Pick<ThreadTurn, 'begin' | 'run' | 'end'>

/**
 * Where spreadsheets live. A provider moves bytes and knows one kind of place; making rows of the bytes is a
 * decoder's work and happens in a worker. Every method throws `ProviderFailure` when the place fails it, and
 * `CredentialExpired` when only the owner can help.
 */
export interface Provider {
  /**
   * The whole tab as it is now. `knownVersion` is the version a former fetch of the same values gave: when the
   * provider can tell that nothing changed since, it answers 'unchanged'. `turn` is one at the threads that decode: it is
   * begun before what can be taken from a disk at any time is taken into memory, and while a network is waited for it is not.
   */
  fetch(place: AccountPlace, wish: FetchWish, turn?: ReadingTurn): Promise<Fetched | 'unchanged'>

  /**
   * Whether reads here are rationed and the ration is nearly used up: known rows are then shown a little longer, and
   * refreshed one after the other. Told at once, from memory.
   */
  isTight?(place: TabPlace): boolean

  /**
   * Row 1 alone, where a whole read is dear: all that additions need. Its version is good for `prepare` of additions
   * and of nothing else. null for a place where it costs as much as the whole.
   */
  fetchHeader?(place: AccountPlace, turn?: ReadingTurn): Promise<Fetched | null>

  /** Row 1 without reading it, on the same terms, where it surely is as it was when we last wrote to the tab; else null. */
  knownHeader?(place: AccountPlace): Promise<KnownHeader | null>

  /**
   * Row 1 and these rows as they are now, where a whole read is dear: all that changes of these rows need. Its version
   * is good for `prepare` of such changes and of nothing else. null where one of them is beyond the end.
   */
  fetchRows?(place: AccountPlace, wanted: readonly WantedRows[]): Promise<FetchedRows | null>

  /**
   * Where these values are in one column as it is now, where a whole read is dear. Only values are read, so what is a date there is
   * a number here. null where the tab is not that wide.
   */
  findInColumn?(
    place: AccountPlace,
    wanted: WantedInColumn,
    turn?: ReadingTurn,
  ): Promise<FoundInColumn | null>

  /**
   * `fetchRows` and `findInColumn` in one read, all of one moment, with dates told from numbers. null where either would be,
   * 'too_large' where it is too much for one answer, or better made apart.
   */
  fetchRowsAndColumn?(
    place: AccountPlace,
    rows: readonly WantedRows[],
    inColumn: WantedInTall,
    turn?: ReadingTurn,
  ): Promise<RowsAndColumn | 'too_large' | null>

  /**
   * Resolves when a write could leave at once, where writes are rationed: whoever comes until then goes along with
   * it. Never throws, and not for long: who waits may lose patience.
   */
  untilTurn?(place: TabPlace): Promise<void>

  /**
   * Makes ready to apply `changes`, all or none, to the tab as `version` knows it, without touching it. 'conflict'
   * when the tab is known to be another by now; `Unfit` names the first change that this place cannot hold.
   * `columns` are those that the changes were judged on: a place without conditional writes looks at its header once
   * more, as late as it can, and holds the columns that the changes touch against them. `isTabWanted`: who writes would
   * like to hear how the whole tab looks then, where that comes with the answer.
   */
  prepare(
    place: AccountPlace,
    changes: readonly Change[],
    version: string,
    columns?: readonly Column[],
    isTabWanted?: boolean,
  ): Promise<Prepared | 'conflict' | Unfit>

  /**
   * What became of a write whose outcome is not known, asked by whoever finds its fence in the journal: also after a
   * crash, also twice. 'void' means: not done, and from now on it cannot happen any more. Throws when it cannot tell
   * yet; it will be asked again. Nobody may ask while `commit` of the same fence is still under way in this process.
   */
  settle(place: TabPlace, fence: string): Promise<'applied' | 'void'>
}

/**
 * One attempt at a write. In this order: `prepare`, the journal says "sending" with its fence, `commit`, the journal
 * says how it ended, and only then `discard`: what `discard` clears away may be what `settle` goes by.
 */
export interface Prepared {
  /** Names this attempt for ever: journalled before `commit`, handed to `settle` after a crash. */
  fence: string
  /**
   * What each change will have made, in their order: the answer that holds when `settle` says 'applied' and nobody
   * heard from `commit`.
   */
  expected: ChangeResult[]
  /**
   * Whether `expected` is certain. Where it is not (row numbers of additions that were guessed, or left empty), they
   * are looked up in a fresh read before a client is told.
   */
  isExact: boolean
  /** Where `expected` is a guess: the last row with data after the changes, if the guess is right. */
  expectedLastRow?: number | null
  /**
   * Called once. Durable when it resolves 'applied'. 'refused': the place will not take these changes, whoever asks
   * (a protected range, a validation rule); words for the client. Throws `OutcomeUnknown` when the write was sent
   * and its answer is lost; any other throw means that nothing was done and nothing will be.
   */
  commit(): Promise<Committed>
  /** Frees what is held for it; called once, whatever became of it. Never throws. */
  discard(): Promise<void>
}

export type Committed =
  /**
   * `columns`: as they were when it was applied, where they are not those that the changes were judged on. `racedAt`: the
   * changes that may have hit another row, because somebody was quicker. `tab`: all of it, in the moment at which it was
   * applied.
   */
  | {
      outcome: 'applied'
      results: ChangeResult[]
      columns?: readonly Column[]
      racedAt?: readonly number[]
      tab?: WrittenTab
    }
  | { outcome: 'conflict' }
  | { outcome: 'refused'; details: string }

export interface KnownHeader {
  version: string
  header: readonly Cell[]
}

export interface WrittenTab {
  /** For the next `fetch`, which never finds it unchanged. */
  version: string
  grid: Grid
}

/** Rows of which one is to be changed, both ends included: which one, depends on what becomes of deletions before it. */
export interface WantedRows {
  kind: 'update' | 'delete'
  from: number
  to: number
}

export interface FetchedRows {
  version: string
  /** Typed, as all cells here; empty for a row that is blank or was not asked for. */
  header: readonly Cell[]
  row(rowNumber: number): readonly Cell[]
}

export interface WantedInColumn {
  /** Position in the sheet, from 0. */
  columnIndex: number
  values: readonly string[]
  /** Whether it matters which cells there are, also those that equal no value. */
  isMarked?: boolean
}

export interface WantedInTall extends WantedInColumn {
  /** The end of the last copy: how tall the tab is likely to be. */
  lastRowKnown: number
}

export interface FoundInColumn {
  /** Its cell in row 1. */
  header: Cell
  /** For each value: the cells that equal it as the filter `eq` has it, from the first row to the last. */
  cells: readonly (readonly FoundCell[])[]
  /** The mark of each cell from row 2 on, where they were asked for. */
  marks?: Float64Array
}

export interface RowsAndColumn {
  rows: FetchedRows
  inColumn: FoundInColumn
}

export interface FoundCell {
  rowNumber: number
  cell: Cell
}

export interface FetchWish {
  /** Typed JSON values, or every cell as a person sees it (docs/contract.md#values-as-displayed). */
  values: 'typed' | 'formatted'
  knownVersion: string | null
}

export interface Fetched {
  bytes: Uint8Array
  version: string
  decoder: Decoder
}

/** A function `(bytes, options) → Grid` by name, so that a worker can load it. */
export interface Decoder {
  module: string
  name: string
  /** One `(bytes, options, emptyCell) → ListedRows | null`, where the list can be had sooner than the cells. */
  lister?: { module: string; name: string }
  options: unknown
}
