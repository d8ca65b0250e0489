import type { FormulaCell } from './formula-cells.ts'
import { anyTab, type Precedents, precedentsOf, type TabRange, type WorkbookNames } from './precedents.ts'

export interface TabFormulas {
  tab: string
  cells: readonly FormulaCell[]
}

/** All rows of a tab below this one stand elsewhere after the change. */
export interface MovedRows {
  tab: string
  below: number
}

/** References of so few rows are found by their rows; the others are looked through. */
const FEW_ROWS = 16
/** Some seconds. Beyond that, every formula counts as resting on what was changed. */
const MAX_STEPS = 30_000_000

interface Reference extends TabRange {
  dependent: number
}

/**
 * The formulas that rest on changed cells, directly or through others, of each tab. What is in doubt rests on them: a result
 * that is called outdated and is not does less harm than the reverse.
 */
export function dependentsOf(
  changed: readonly TabRange[],
  tabs: readonly TabFormulas[],
  names: WorkbookNames,
  moved?: MovedRows,
): ReadonlySet<FormulaCell> {
  const formulas = tabs.flatMap(({ tab, cells }) => cells.map((cell) => ({ tab: tab.toLowerCase(), cell })))
  const isDependent = new Uint8Array(formulas.length)
  const byTab = new Map<string, References>()
  const queue: TabRange[] = [...changed]
  let steps = 0

  const referencesOf = (tab: string): References => {
    const known = byTab.get(tab) ?? { few: new Map<number, Reference[]>(), many: [] }
    byTab.set(tab, known)
    return known
  }
  const reach = (dependent: number): void => {
    const formula = formulas[dependent]
    if (isDependent[dependent] === 1 || formula === undefined) return
    isDependent[dependent] = 1
    queue.push({ tab: formula.tab, ...formula.cell.fills })
  }
  const followReference = (reference: Reference, range: TabRange): void => {
    steps++
    if (overlaps(reference, range)) reach(reference.dependent)
  }

  if (queue.length === 0) return new Set()
  for (const [dependent, { tab, cell }] of formulas.entries()) {
    const precedents = precedentsOf(cell.formula, tab, cell.row, names)
    const isUnclear = cell.isOfDataTable || precedents.isUnclear
    if (isUnclear || (moved && tellsMoved(precedents, tab, cell.row, moved))) reach(dependent)
    else for (const range of precedents.ranges) note(referencesOf(range.tab), { ...range, dependent })
  }
  for (let at = 0; at < queue.length; at++) {
    const range = queue[at]
    if (range === undefined || steps > MAX_STEPS) break
    for (const references of [byTab.get(range.tab), byTab.get(anyTab)]) {
      if (references === undefined) continue
      for (const few of rowsOf(references, range))
        for (const reference of few) followReference(reference, range)
      for (const reference of references.many) followReference(reference, range)
      references.many = references.many.filter(({ dependent }) => isDependent[dependent] === 0)
    }
  }
  const isTooMuch = steps > MAX_STEPS
  return new Set(formulas.filter((_, at) => isTooMuch || isDependent[at] === 1).map(({ cell }) => cell))
}

/** `ROW()` of a row that moves, and `ROW(A9)` of one, which nothing else is about to change. */
function tellsMoved(
  { tellsPlaces, ranges }: Precedents,
  ownTab: string,
  ownRow: number,
  moved: MovedRows,
): boolean {
  if (!tellsPlaces) return false
  const isMoved = (tab: string, row: number): boolean =>
    (tab === anyTab || tab === moved.tab.toLowerCase()) && row > moved.below
  return isMoved(ownTab, ownRow) || ranges.some(({ tab, lastRow }) => isMoved(tab, lastRow))
}

interface References {
  /** By each row that they name. */
  few: Map<number, Reference[]>
  many: Reference[]
}

function note(references: References, reference: Reference): void {
  const { firstRow, lastRow } = reference
  if (lastRow - firstRow >= FEW_ROWS) {
    references.many.push(reference)
    return
  }
  for (let row = firstRow; row <= lastRow; row++) {
    const known = references.few.get(row)
    if (known) known.push(reference)
    else references.few.set(row, [reference])
  }
}

function* rowsOf({ few }: References, { firstRow, lastRow }: TabRange): Generator<Reference[]> {
  if (lastRow - firstRow > few.size) {
    yield* few.values()
    return
  }
  for (let row = firstRow; row <= lastRow; row++) {
    const references = few.get(row)
    if (references) yield references
  }
}

function overlaps(one: TabRange, other: TabRange): boolean {
  return (
    (other.isGap ? one.firstRow < other.firstRow : one.firstRow <= other.lastRow) &&
    one.lastRow >= other.firstRow &&
    one.firstColumn <= other.lastColumn &&
    one.lastColumn >= other.firstColumn
  )
}
