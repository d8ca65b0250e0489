import { ProviderFailure } from '../../../../../sheets/provider-failure.ts'
import { MAX_COLUMNS, MAX_INFLATED_BYTES, MAX_ROWS } from '../../container/limits.ts'
import { readPartText, type XmlPart } from '../../container/part.ts'
import type { ZipArchive } from '../../container/zip.ts'
import type { Workbook, WorkbookTab } from '../../read/workbook.ts'
import { isOneCell } from '../formulas/range.ts'
import type { EditPlan } from '../parts/edit-plan.ts'
import { XmlEdits } from '../xml/xml-edits.ts'
import { dependentsOf } from './dependents.ts'
import { type FormulaCell, formulaCellsIn, type StoredResult } from './formula-cells.ts'
import type { TabRange } from './precedents.ts'

/** Which results a change leaves behind, and the parts that say so. */
export interface StaleMarks {
  /** How many cells of the workbook rest on what is changed. */
  cells: number
  /** Not all tabs could be looked through, so any result may be one of them. */
  isUnbounded: boolean
  /** The columns with a name, from 0, whose results in this row of the edited tab, as it was, are outdated by now. */
  columnsOf(row: number): number[]
  /** The edited tab's text with its marks and without those results. */
  text: string
  /** The cells of that tab, from 1, that have lost a result. */
  emptied: readonly { row: number; column: number }[]
  /** Other tabs with theirs, by path. */
  otherTabs: ReadonlyMap<string, XmlPart>
}

/**
 * A stored result that rests on a changed cell is wrong until somebody calculates it. We do not (docs/decisions/029), so it goes, and the file
 * says which those are, in OOXML's own words: `ca` at the formula, "needs to be calculated the next time calculation is performed"
 * (ECMA-376-1, 18.3.1.40). Whoever calculates and saves takes the marks away; LibreOffice calculates only what has no result.
 */
export async function markStale(
  archive: ZipArchive,
  workbook: Workbook,
  tab: WorkbookTab,
  part: XmlPart,
  definedNames: ReadonlyMap<string, string>,
  plan: EditPlan,
  namedColumns: readonly number[],
): Promise<StaleMarks> {
  const own = formulaCellsIn(part.text)
  const others: { tab: string; part: XmlPart; cells: FormulaCell[] }[] = []
  const unread: string[] = []
  for (const other of workbook.tabs) {
    if (other.path === tab.path || !archive.has(other.path)) continue
    try {
      const otherPart = await readPartText(archive, other.path, MAX_INFLATED_BYTES)
      const cells = formulaCellsIn(otherPart.text)
      if (cells.length > 0) others.push({ tab: other.name, part: otherPart, cells })
    } catch (error) {
      if (!(error instanceof ProviderFailure)) throw error
      unread.push(other.name)
    }
  }
  const written = changedRanges(tab.name, plan)
  const changed = written.length === 0 ? [] : [...written, ...unread.map(allOf)]
  const names = { formulas: definedNames, tabs: new Set(workbook.tabs.map(({ name }) => name.toLowerCase())) }
  const { rows, gaps, isEmpty } = plan.shift
  const above = Math.min(rows[0] ?? MAX_ROWS, (gaps[0] ?? MAX_ROWS) - 1)
  const moved = isEmpty ? undefined : { tab: tab.name, below: above }
  const dependents = dependentsOf(changed, [{ tab: tab.name, cells: own }, ...others], names, moved)
  const isLeft = ({ row, column }: FormulaCell): boolean =>
    !plan.shift.isDeleted(row) && !plan.writes.get(row)?.cells.has(column - 1)
  const { staleResults } = workbook
  const isOutdated = ({ isMarked, results }: FormulaCell): boolean =>
    results.length === 0 || staleResults === 'any' || (staleResults === 'marked' && isMarked)
  const ownStale = own.filter((cell) => dependents.has(cell) && isLeft(cell))
  const othersStale = others.map(({ part: otherPart, cells }) => ({
    part: otherPart,
    stale: cells.filter((cell) => dependents.has(cell)),
  }))
  return {
    cells: [ownStale, ...othersStale.map(({ stale }) => stale)].reduce((sum, stale) => sum + stale.length, 0),
    isUnbounded: unread.length > 0 && changed.length > 0,
    columnsOf: columnsByRow(
      own.filter((cell) => isLeft(cell) && (isOutdated(cell) || dependents.has(cell))),
      namedColumns,
    ),
    text: withMarks(part.text, ownStale),
    emptied: ownStale.flatMap(outdatedResults),
    otherTabs: new Map(
      othersStale
        .map(({ part: otherPart, stale }) => ({
          ...otherPart,
          former: otherPart.text,
          text: withMarks(otherPart.text, stale),
        }))
        .filter(({ former, text }) => text !== former)
        .map(({ former: _former, ...marked }) => [marked.path, marked]),
    ),
  }
}

function allOf(tab: string): TabRange {
  return { tab: tab.toLowerCase(), firstRow: 1, lastRow: MAX_ROWS, firstColumn: 1, lastColumn: MAX_COLUMNS }
}

/** A cell that gets the value it has leaves every result as it is. */
function changedRanges(tabName: string, { writes, shift }: EditPlan): TabRange[] {
  const tab = tabName.toLowerCase()
  const wholeRow = (row: number) => ({
    tab,
    firstRow: row,
    lastRow: row,
    firstColumn: 1,
    lastColumn: MAX_COLUMNS,
  })
  const ranges: TabRange[] = [
    ...shift.rows.map(wholeRow),
    ...shift.gaps.map((gap) => ({ ...wholeRow(gap), isGap: true })),
  ]
  for (const [row, { cells, formerCells }] of writes) {
    for (const [column, { value }] of cells) {
      if ((formerCells[column] ?? null) === value) continue
      ranges.push({ tab, firstRow: row, lastRow: row, firstColumn: column + 1, lastColumn: column + 1 })
    }
  }
  return ranges
}

function withMarks(text: string, stale: readonly FormulaCell[]): string {
  const edits = new XmlEdits(text)
  for (const cell of stale) {
    if (!cell.isMarked) edits.replace(cell.markFrom, cell.markTo, ' ca="1"')
    for (const { from, to, typeFrom, typeTo } of outdatedResults(cell)) {
      edits.replace(from, to, '')
      if (typeTo > typeFrom) edits.replace(typeFrom, typeTo, '')
    }
  }
  return edits.isEmpty ? text : edits.toText()
}

/** A text in the first row is the name of a column: without it, the column would be gone for all clients. */
function outdatedResults({ results }: FormulaCell): StoredResult[] {
  return results.filter(({ row, isText }) => !(row === 1 && isText))
}

/** Each column once, and only those that are named: a formula may fill sixteen thousand, and hundreds may fill the same. */
function columnsByRow(
  cells: readonly FormulaCell[],
  namedColumns: readonly number[],
): (row: number) => number[] {
  const alone = Map.groupBy(
    cells.filter(({ fills }) => isOneCell(fills)),
    ({ row }) => row,
  )
  const filling = cells.filter(({ fills }) => !isOneCell(fills))
  return (row) => {
    const own = new Set((alone.get(row) ?? []).map(({ column }) => column - 1))
    const fills = joinRanges(
      filling.filter(({ fills }) => row >= fills.firstRow && row <= fills.lastRow).map(({ fills }) => fills),
    )
    let nth = 0
    return namedColumns.filter((column) => {
      while (nth < fills.length && (fills[nth]?.lastColumn ?? 0) < column + 1) nth++
      return own.has(column) || (fills[nth]?.firstColumn ?? Number.POSITIVE_INFINITY) <= column + 1
    })
  }
}

type ColumnRange = Pick<FormulaCell['fills'], 'firstColumn' | 'lastColumn'>

/** Ascending, and no two that overlap. */
function joinRanges(ranges: readonly ColumnRange[]): ColumnRange[] {
  const joined: ColumnRange[] = []
  for (const range of ranges.toSorted((one, other) => one.firstColumn - other.firstColumn)) {
    const last = joined.at(-1)
    if (!last || range.firstColumn > last.lastColumn) joined.push({ ...range })
    else if (range.lastColumn > last.lastColumn) last.lastColumn = range.lastColumn
  }
  return joined
}
