import type { LoggedChange } from '../../sheets/logged-change.ts'
import type { Cell } from '../../sheets/rows/grid.ts'
import { createRowWriter } from '../../sheets/rows/row-json.ts'
import { holds, likeness, rowHitInstead } from './hit-instead.ts'
import { blankOf, columnsNamed, type TabRows } from './tab-rows.ts'

/** A write of which nobody knew where it landed. */
export interface Written {
  /** Under the names that columns have now. */
  change: LoggedChange
  /** What it wrote: of an addition the whole row. */
  cells: WrittenCells
  /** Cells by the places that columns had, under the names that stand there now; null where no column moved. */
  cellsByPlace: WrittenCells | null
}

export type WrittenCells = readonly (readonly [name: string, value: Cell])[]

export interface AsWritten {
  /** With the rows that they belong to. */
  told: LoggedChange[]
  /** Those whose row nobody knows. */
  left: Written[]
  /** The rows that were known, with the writes. */
  tab: TabRows
  /** How many rows that are seen these do not lead to. */
  unexplained: number
}

/**
 * What was written nobody knew where, and somebody did something as well: each write as it was acknowledged, on the rows as they were known, so
 * that only what is left between these and `next` is somebody else's. A row that is seen as it was before a write was not hit by it: another one was.
 * Where columns moved in the instant of the write, its cells are perhaps under other names than was meant: whichever leaves less to
 * somebody else.
 */
export function asWritten(
  known: TabRows,
  written: readonly Written[],
  next: TabRows,
  keyOf: ((row: string) => string | null) | null,
): AsWritten {
  if (written.length === 0)
    return { told: [], left: [], tab: keyOf ? withoutBlank(known) : known, unexplained: 0 }
  const asMeant = placeWrites(known, written, next, keyOf, false)
  if (asMeant.unexplained === 0 || written.every(({ cellsByPlace }) => cellsByPlace === null)) return asMeant
  const byPlace = placeWrites(known, written, next, keyOf, true)
  return byPlace.unexplained < asMeant.unexplained ? byPlace : asMeant
}

function placeWrites(
  { names, rows: knownRows }: TabRows,
  written: readonly Written[],
  next: TabRows,
  keyOf: ((row: string) => string | null) | null,
  isRatherByPlace: boolean,
): AsWritten {
  const tab: TabRows = { names, rows: [...knownRows] }
  const seen = timesOf(next.rows)
  const known = timesOf(tab.rows)
  const rows = keyOf ? rowsByKey(tab, keyOf) : rowsByPosition(tab, known)
  const withCells = createCellWriter(tab.names)
  const comeAtFirst = [...seen.keys()].filter(isCome)
  const changes: LoggedChange[] = []
  const missed: Written[] = []
  for (const write of written) {
    const { change } = write
    if (change.kind === 'added') {
      const after = ledTo(change.after, blankOf(tab), write)
      // Its columns are gone. Where rows are told by key, a blank one is none.
      if (keyOf && after === blankOf(tab)) continue
      changes.push(rows.add({ ...change, ...(after !== undefined && { after }) }))
      count(after, 1)
      continue
    }
    if (isPerhapsElsewhere(write) || !isToldWhereMeant(write)) missed.push(write)
  }
  const left = missed.filter((write) => !isToldElsewhere(write) && !isToldWhereMeant(write))
  rows.end()
  const unexplained = [...seen.keys()].filter(isCome).length
  return { told: changes, left, tab, unexplained }

  function isToldWhereMeant(write: Written): boolean {
    const { change } = write
    const at = change.before === undefined ? racedRow(change) : isHit(write) ? rows.find(change) : null
    const before = at === null ? undefined : tab.rows[at]
    if (at === null || before === undefined) return false
    const isAsFound = change.before === undefined || change.before === before
    const after = isAsFound ? change.after : change.after && withCells(before, write.cells)
    tell(change, at, ledTo(after, before, write))
    return true
  }

  /** Neither the row that was meant is seen, nor one like it with these cells: somebody deleted or changed it, before the write or after. */
  function isPerhapsElsewhere({ change: { kind, before, after }, cells, cellsByPlace }: Written): boolean {
    if (kind !== 'updated' || before === undefined || after === undefined) return false
    if (isCome(after) || timesSeen(before) > 0 || before === blankOf(tab)) return false
    if (cellsByPlace !== null && isCome(withCells(before, cellsByPlace))) return false
    return !comeAtFirst.some((other) => holds(other, cells) && likeness(before, other, keyOf) !== null)
  }

  function tell(change: LoggedChange, at: number, after: string | undefined): void {
    const before = tab.rows[at] ?? ''
    // Somebody else did the same before.
    if (before === after) return
    changes.push({ ...change, before, ...(after !== undefined && { after }), ...rows.put(at, after) })
    count(before, -1)
    count(after, 1)
  }

  /** What a write made of a row: as it was meant, or by place. */
  function ledTo(asMeant: string | undefined, row: string, { cellsByPlace }: Written): string | undefined {
    if (asMeant === undefined || cellsByPlace === null) return asMeant
    const byPlace = withCells(row, cellsByPlace)
    const [rather, instead] = isRatherByPlace ? [byPlace, asMeant] : [asMeant, byPlace]
    return !isCome(rather) && isCome(instead) ? instead : rather
  }

  function isToldElsewhere(write: Written): boolean {
    const { change } = write
    const blank = blankOf(tab)
    const gone = tab.rows.flatMap((text, at) =>
      text !== '' && text !== blank && timesSeen(text) < timesKnown(text) ? { at, text } : [],
    )
    const come = comeAtFirst.filter(isCome)
    const cells = (isRatherByPlace ? write.cellsByPlace : null) ?? write.cells
    const isKnown = change.kind === 'updated' || timesKnown(change.before ?? '') > 0
    const hit = rowHitInstead({ change, cells, isKnown }, { gone, come, keyOf, withCells, isCome })
    if (!hit) return false
    const { kind, operation, by, undoes } = change
    const whose = {
      ...(operation !== undefined && { operation }),
      ...(by !== undefined && { by }),
      ...(undoes !== undefined && { undoes }),
    }
    const key = keyOf?.(tab.rows[hit.at] ?? '') ?? null
    tell({ kind, ...(key === null ? { isByPosition: true } : { key }), ...whose }, hit.at, hit.after)
    return true
  }

  /** The answer told what became of the row that was hit, and not which one it was: the one that is so but for the cells of the write. */
  function racedRow({ kind, after, wrote = [] }: LoggedChange): number | null {
    if (kind !== 'updated' || after === undefined || wrote.length === 0) return null
    const isIt = (text: string) => text !== after && withCells(text, cellsOf(after, wrote)) === after
    const places = tab.rows.flatMap((text, at) => (text !== '' && isIt(text) ? at : []))
    return places.length === 1 ? (places[0] ?? null) : null
  }

  function isHit({ change: { before, after }, cellsByPlace }: Written): boolean {
    if (before === undefined) return false
    if (after !== undefined && isCome(after)) return true
    if (cellsByPlace !== null && after !== undefined && isCome(withCells(before, cellsByPlace))) return true
    return before === blankOf(tab) || timesSeen(before) < Math.max(timesKnown(before), 1)
  }

  function isCome(text: string): boolean {
    return timesSeen(text) > timesKnown(text)
  }

  function timesSeen(text: string): number {
    return seen.get(text) ?? 0
  }

  function timesKnown(text: string): number {
    return known.get(text) ?? 0
  }

  function count(text: string | undefined, more: number): void {
    if (text !== undefined) known.set(text, timesKnown(text) + more)
  }
}

export function cellsOf(row: string, names: readonly string[]): [string, Cell][] {
  const cells = JSON.parse(row) as Record<string, Cell>
  return names.map((name) => [name, cells[name] ?? null])
}

/** A row with these cells in place of its own. */
function createCellWriter(names: readonly string[]): (row: string, cells: WrittenCells) => string {
  const toJson = createRowWriter(columnsNamed(names))
  return (row, cells) => {
    const is = JSON.parse(row) as Record<string, Cell>
    const wrote = new Map(cells)
    return toJson(names.map((name) => (wrote.has(name) ? wrote.get(name) : is[name]) ?? null))
  }
}

interface RowLocator {
  /** Its place; null where nobody knows. */
  find(change: LoggedChange): number | null
  add(change: LoggedChange): LoggedChange
  /** Nothing instead of it where it is gone. Returns its number, where rows have one. */
  put(at: number, text: string | undefined): Pick<LoggedChange, 'row'>
  end(): void
}

function rowsByKey(tab: TabRows, keyOf: (row: string) => string | null): RowLocator {
  const [byText, byKey] = [new Map<string, Set<number>>(), new Map<string, Set<number>>()]
  for (const at of tab.rows.keys()) note(at)
  return {
    find({ before = '', key }) {
      const [same] = byText.get(before) ?? []
      if (same !== undefined) return same
      const named = key === undefined ? undefined : byKey.get(key)
      const [only] = named ?? []
      return named?.size === 1 && only !== undefined ? only : null
    },
    add(change) {
      note(tab.rows.push(change.after ?? '') - 1)
      return change
    },
    put(at, text) {
      for (const [places, name] of namesOf(at)) places.get(name)?.delete(at)
      tab.rows[at] = text ?? ''
      if (text !== undefined) note(at)
      return {}
    },
    end() {
      tab.rows = withoutBlank(tab).rows
    },
  }

  function note(at: number): void {
    for (const [places, name] of namesOf(at)) {
      const known = places.get(name)
      if (known) known.add(at)
      else places.set(name, new Set([at]))
    }
  }

  function namesOf(at: number): [places: Map<string, Set<number>>, name: string][] {
    const text = tab.rows[at] ?? ''
    const key = keyOf(text)
    return key === null
      ? [[byText, text]]
      : [
          [byText, text],
          [byKey, key],
        ]
  }
}

function withoutBlank(tab: TabRows): TabRows {
  const blank = blankOf(tab)
  return { names: tab.names, rows: tab.rows.filter((text) => text !== '' && text !== blank) }
}

/** The tab is a list that changes with each; `known`: how often each row is in it. */
function rowsByPosition(tab: TabRows, known: ReadonlyMap<string, number>): RowLocator {
  const blank = blankOf(tab)
  return {
    find({ row = 0, before = '' }) {
      if (tab.rows[row - 2] === before) return row - 2
      return known.get(before) === 1 ? tab.rows.indexOf(before) : null
    },
    add(change) {
      const end = tab.rows.length + 2
      const row = Math.min(change.row ?? end, end)
      tab.rows.splice(row - 2, 0, change.after ?? blank)
      return { ...change, row }
    },
    put(at, text) {
      tab.rows.splice(at, 1, ...(text === undefined ? [] : [text]))
      while (tab.rows.length > 0 && tab.rows.at(-1) === blank) tab.rows.pop()
      return { row: at + 2 }
    },
    end() {},
  }
}

function timesOf(rows: readonly string[]): Map<string, number> {
  const times = new Map<string, number>()
  for (const row of rows) times.set(row, (times.get(row) ?? 0) + 1)
  return times
}
