import { MAX_COLUMNS, MAX_ROWS } from '../../container/limits.ts'
import { callArguments } from '../formulas/call-arguments.ts'
import { type FormulaReference, replaceReferences } from '../formulas/formula.ts'
import { type CellRange, columnNumber } from '../formulas/range.ts'

/** Cells of a tab, by its name in small letters. `anyTab` stands for formulas that go through several. */
export interface TabRange extends CellRange {
  tab: string
  /** What changes is that a row comes in before this one, so only what reaches across is another. */
  isGap?: boolean
}

export const anyTab = '*'

export interface Precedents {
  ranges: TabRange[]
  /** What it rests on is not all in its text: it may rest on anything. */
  isUnclear: boolean
  /** Its result says where cells are, so it is another once they have moved. */
  tellsPlaces: boolean
}

/** What words in formulas can mean, in small letters. */
export interface WorkbookNames {
  /** Formulas by the names that they were given. */
  formulas: ReadonlyMap<string, string>
  tabs: ReadonlySet<string>
}

const TEXT = /"[^"]*(?:""[^"]*)*"?/g
const TAB_NAME = /(?:'[^']*(?:''[^']*)*'|(?:\[[^\]]*\])?[\p{L}\p{N}_.\\?]+(?::[\p{L}\p{N}_.\\?]+)?)!/gu
const ERROR_VALUE = /#[A-Z0-9_/]+[!?]?/gi
const REFERENCE = /\$?[A-Z]{1,3}\$?[1-9]\d{0,6}(?![\p{L}\p{N}_.(])|\$?\b[A-Z]{1,3}:\$?[A-Z]{1,3}\b/giu
const THIS_ROW = /[\p{L}\p{N}_.\\]*\[\[#This Row\](?:,\[[^[\]']*\](?::\[[^[\]']*\])?)?\]/giu
const COMPUTES_REFERENCES = /\b(?:INDIRECT|OFFSET|CELL|INFO|GETPIVOTDATA|RTD|CUBE\w*)\s*\(/i
const TELLS_PLACES = /\b(?:ROW|FORMULATEXT)\s*\(/i
/** Their last range is as large as another one, however it is written. */
const STRETCHES_RANGES = /\b(SUMIF|AVERAGEIF|LOOKUP)\s*\(/gi
const NAME = /(?<![\p{L}\p{N}_.$\\])[\p{L}_\\][\p{L}\p{N}_.\\?]*(?![\p{L}\p{N}_.\\?]|\s*\()/gu
const NAMES_WITHIN_NAMES = 5
/** Names and arguments that are looked into for one formula; one with more counts as unclear. */
const MAX_PARTS = 200

/** The cells that a formula on this row of this tab looks at, so far as its text says. */
export function precedentsOf(formula: string, tab: string, row: number, names: WorkbookNames): Precedents {
  const simple = precedentsOfSimple(formula, tab)
  if (simple) return simple
  const found: Precedents = { ranges: [], isUnclear: false, tellsPlaces: false }
  let parts = 0
  found.ranges = rangesIn(formula, NAMES_WITHIN_NAMES)
  return found

  function rangesIn(text: string, depth: number): TabRange[] {
    if (++parts > MAX_PARTS) {
      found.isUnclear = true
      return []
    }
    const ranges: TabRange[] = []
    const isOfName = depth < NAMES_WITHIN_NAMES
    let joinsReferences = false
    replaceReferences(
      text,
      (reference) => {
        if (reference.reach !== 'workbook') ranges.push(rangeOf(reference, tab, isOfName))
        // `first:Data!C9` begins with a name or a cell where it is not that of a tab.
        if (reference.reach === 'tabs' && !beginsWithTab(reference)) found.isUnclear = true
        return undefined
      },
      (character) => {
        if (character === ':') joinsReferences = true
      },
    )
    const withoutTexts = text.replace(TEXT, '""')
    if (COMPUTES_REFERENCES.test(withoutTexts)) found.isUnclear = true
    if (TELLS_PLACES.test(withoutTexts)) found.tellsPlaces = true
    let rest = withoutTexts.replace(TAB_NAME, '').replace(THIS_ROW, () => {
      ranges.push({ tab, firstRow: row, lastRow: row, firstColumn: 1, lastColumn: MAX_COLUMNS })
      return ''
    })
    rest = rest.replace(ERROR_VALUE, '')
    // Of a table: which rows that are is in another part.
    if (rest.includes('[')) found.isUnclear = true
    const words = rest.replace(REFERENCE, '').matchAll(NAME)
    for (const name of new Set(Array.from(words, ([word]) => word.toLowerCase()))) {
      if (name === 'true' || name === 'false') continue
      const meaning = names.formulas.get(name)
      if (meaning === undefined || depth === 0) found.isUnclear = true
      else ranges.push(...rangesIn(meaning, depth - 1))
    }
    const all = joinsReferences ? boxesAround(ranges) : ranges
    return [...all, ...stretchedRanges(withoutTexts, depth)]
  }

  function beginsWithTab({ tab: tabs = '' }: FormulaReference): boolean {
    return names.tabs.has(tabs.slice(0, tabs.indexOf(':')).toLowerCase())
  }

  /** What `SUMIF(A2:A9, …, C2)` adds up is C2:C9, and `LOOKUP` takes as many results as it has values to look for. */
  function stretchedRanges(text: string, depth: number): TabRange[] {
    const stretched: TabRange[] = []
    STRETCHES_RANGES.lastIndex = 0
    const calls: { name: string; texts: string[] }[] = []
    for (let call = STRETCHES_RANGES.exec(text); call; call = STRETCHES_RANGES.exec(text)) {
      const { texts, end } = callArguments(text, STRETCHES_RANGES.lastIndex)
      calls.push({ name: (call[1] ?? '').toUpperCase(), texts })
      STRETCHES_RANGES.lastIndex = end
    }
    for (const { name, texts } of calls) {
      const [first = [], second = [], third = []] = texts.map((argument) => rangesIn(argument, depth))
      const isComputed = /[\w.]\s*\(/.test(texts[2] ?? '')
      const model = name === 'LOOKUP' ? second : first
      stretched.push(...first, ...second)
      for (const range of third) stretched.push(stretchModels(model, range, name === 'LOOKUP', !isComputed))
    }
    return stretched
  }
}

/** All cells between references, on each of their tabs: the end of `Data!C2 : C9` is on that of its beginning. */
function boxesAround(ranges: readonly TabRange[]): TabRange[] {
  const box: CellRange = {
    firstRow: Math.min(...ranges.map(({ firstRow }) => firstRow)),
    lastRow: Math.max(...ranges.map(({ lastRow }) => lastRow)),
    firstColumn: Math.min(...ranges.map(({ firstColumn }) => firstColumn)),
    lastColumn: Math.max(...ranges.map(({ lastColumn }) => lastColumn)),
  }
  return [...new Set(ranges.map(({ tab }) => tab))].map((tab) => ({ tab, ...box }))
}

/** The range with as many rows and columns as the largest of `models`, from its first cell or from any cell of it. */
function stretchModels(
  models: readonly TabRange[],
  range: TabRange,
  isEitherWay: boolean,
  isFromFirstCell: boolean,
): TabRange {
  let rows = Math.max(1, ...models.map(({ firstRow, lastRow }) => lastRow - firstRow + 1))
  let columns = Math.max(1, ...models.map(({ firstColumn, lastColumn }) => lastColumn - firstColumn + 1))
  const ownRows = range.lastRow - range.firstRow + 1
  const ownColumns = range.lastColumn - range.firstColumn + 1
  if (isEitherWay) {
    const length = Math.max(rows, columns)
    if (isFromFirstCell && Math.max(ownRows, ownColumns) >= length) return range
    rows = length
    columns = length
  }
  const more = isFromFirstCell ? [0, 0] : [ownRows - 1, ownColumns - 1]
  return {
    ...range,
    lastRow: Math.min(MAX_ROWS, Math.max(range.lastRow, range.firstRow + rows - 1 + (more[0] ?? 0))),
    lastColumn: Math.min(
      MAX_COLUMNS,
      Math.max(range.lastColumn, range.firstColumn + columns - 1 + (more[1] ?? 0)),
    ),
  }
}

/** A function, cells, a number, or what stands between them. */
const SIMPLE_TOKEN =
  /(?<word>[A-Z][A-Z0-9.]*)\(|\$?(?<column>[A-Z]{1,3})\$?(?<row>[1-9]\d{0,6})(?::\$?(?<lastColumn>[A-Z]{1,3})\$?(?<lastRow>[1-9]\d{0,6}))?(?![A-Z0-9_.(![#:])|\d+(?:\.\d+)?(?![A-Z0-9_.(![:])|[-+*/^&=<>(),% ]/y
const NOT_SIMPLE = /^(?:INDIRECT|OFFSET|CELL|INFO|GETPIVOTDATA|RTD|CUBE.*|SUMIF|AVERAGEIF|LOOKUP|ROW)$/

/** Nearly all formulas of long columns are such, and are read thirty times as fast this way; undefined for others. */
function precedentsOfSimple(formula: string, tab: string): Precedents | undefined {
  const ranges: TabRange[] = []
  SIMPLE_TOKEN.lastIndex = 0
  while (SIMPLE_TOKEN.lastIndex < formula.length) {
    const groups = SIMPLE_TOKEN.exec(formula)?.groups
    if (groups === undefined) return undefined
    const { word, column, row, lastColumn = column, lastRow = row } = groups
    if (word !== undefined && NOT_SIMPLE.test(word)) return undefined
    if (column === undefined || lastColumn === undefined) continue
    const columns = [columnNumber(column), columnNumber(lastColumn)]
    const rows = [Number(row), Number(lastRow)]
    if (Math.min(...columns) < 1 || Math.max(...rows) > MAX_ROWS) return undefined
    ranges.push({
      tab,
      firstRow: Math.min(...rows),
      lastRow: Math.max(...rows),
      firstColumn: Math.min(...columns),
      lastColumn: Math.max(...columns),
    })
  }
  return { ranges, isUnclear: false, tellsPlaces: false }
}

function rangeOf(
  { tab, reach, first, last = first }: FormulaReference,
  own: string,
  isOfName: boolean,
): TabRange {
  // What a name says without `$` is counted from wherever the name is used.
  const isAnyRow = first.row === 0 || (isOfName && !(first.rowIsFixed && last.rowIsFixed))
  const isAnyColumn = first.column === 0 || (isOfName && !(first.columnIsFixed && last.columnIsFixed))
  const rows = isAnyRow ? [1, MAX_ROWS] : [first.row, last.row]
  const columns = isAnyColumn ? [1, MAX_COLUMNS] : [first.column, last.column]
  return {
    tab: reach === 'tabs' ? anyTab : (tab ?? own).toLowerCase(),
    firstRow: Math.min(...rows),
    lastRow: Math.max(...rows),
    firstColumn: Math.min(...columns),
    lastColumn: Math.max(...columns),
  }
}
