import { MAX_COLUMNS, MAX_ROWS } from '../../container/limits.ts'
import { type FormulaReference, replaceReferences } from '../formulas/formula.ts'
import { type CellRange, columnNumber } from '../formulas/range.ts'

/** Cells of a tab, by its name in small letters. `anyTab` stands for formulas that go through several. */
export interface TabRange extends CellRange {
  tab: string
}

export const anyTab = '*'

export interface Precedents {
  ranges: TabRange[]
  /** What it rests on is not all in its text: it may rest on anything. */
  isUnclear: boolean
}

/** Formulas by the names that they were given, in small letters. */
export type DefinedNames = ReadonlyMap<string, string>

const TEXT = /"[^"]*(?:""[^"]*)*"?/g
const TAB_NAME = /(?:'[^']*(?:''[^']*)*'|(?:\[[^\]]*\])?[\p{L}\p{N}_.\\?]+(?::[\p{L}\p{N}_.\\?]+)?)!/gu
const ERROR_VALUE = /#[A-Z0-9_/]+[!?]?/gi
const REFERENCE = /\$?[A-Z]{1,3}\$?[1-9]\d{0,6}(?![\p{L}\p{N}_.(])|\$?\b[A-Z]{1,3}:\$?[A-Z]{1,3}\b/giu
const THIS_ROW = /[\p{L}\p{N}_.\\]*\[\[#This Row\](?:,\[[^[\]']*\](?::\[[^[\]']*\])?)?\]/giu
const COMPUTES_REFERENCES = /\b(?:INDIRECT|OFFSET|CELL|INFO|GETPIVOTDATA|RTD|CUBE\w*)\s*\(/i
/** Their last range is as large as their first, however it is written. */
const STRETCHES_RANGES = /\b(?:SUMIF|AVERAGEIF)\s*\(/i
const NAME = /(?<![\p{L}\p{N}_.$\\])[\p{L}_\\][\p{L}\p{N}_.\\?]*(?![\p{L}\p{N}_.\\?]|\s*\()/gu
const NAMES_WITHIN_NAMES = 5

/** The cells that a formula on this row of this tab looks at, so far as its text says. */
export function precedentsOf(formula: string, tab: string, row: number, names: DefinedNames): Precedents {
  const simple = precedentsOfSimple(formula, tab)
  if (simple) return simple
  const found: Precedents = { ranges: [], isUnclear: false }
  collect(formula, NAMES_WITHIN_NAMES)
  return found

  function collect(text: string, depth: number): void {
    const stretches = STRETCHES_RANGES.test(text)
    replaceReferences(text, (reference) => {
      if (reference.reach !== 'workbook') found.ranges.push(rangeOf(reference, tab, stretches))
      return undefined
    })
    let rest = text.replace(TEXT, '""')
    if (COMPUTES_REFERENCES.test(rest)) found.isUnclear = true
    rest = rest.replace(TAB_NAME, '').replace(THIS_ROW, () => {
      found.ranges.push({ tab, firstRow: row, lastRow: row, firstColumn: 1, lastColumn: MAX_COLUMNS })
      return ''
    })
    rest = rest.replace(ERROR_VALUE, '')
    // Of a table: which rows that are is in another part.
    if (rest.includes('[')) found.isUnclear = true
    for (const [name] of rest.replace(REFERENCE, '').matchAll(NAME)) {
      if (/^(?:true|false)$/i.test(name)) continue
      const meaning = names.get(name.toLowerCase())
      if (meaning === undefined || depth === 0) found.isUnclear = true
      else collect(meaning, depth - 1)
    }
  }
}

/** A function, cells, a number, or what stands between them. */
const SIMPLE_TOKEN =
  /(?<word>[A-Z][A-Z0-9.]*)\(|\$?(?<column>[A-Z]{1,3})\$?(?<row>[1-9]\d{0,6})(?::\$?(?<lastColumn>[A-Z]{1,3})\$?(?<lastRow>[1-9]\d{0,6}))?(?![A-Z0-9_.(![#:])|\d+(?:\.\d+)?(?![A-Z0-9_.(![:])|[-+*/^&=<>(),% ]/y
const NOT_SIMPLE = /^(?:INDIRECT|OFFSET|CELL|INFO|GETPIVOTDATA|RTD|CUBE.*|SUMIF|AVERAGEIF)$/

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
  return { ranges, isUnclear: false }
}

function rangeOf(
  { tab, reach, first, last = first }: FormulaReference,
  own: string,
  stretches: boolean,
): TabRange {
  const isCell = last === first && first.row > 0 && first.column > 0
  const rows = first.row === 0 ? [1, MAX_ROWS] : [first.row, isCell && stretches ? MAX_ROWS : last.row]
  const columns =
    first.column === 0 ? [1, MAX_COLUMNS] : [first.column, isCell && stretches ? MAX_COLUMNS : last.column]
  return {
    tab: reach === 'tabs' ? anyTab : (tab ?? own).toLowerCase(),
    firstRow: Math.min(...rows),
    lastRow: Math.max(...rows),
    firstColumn: Math.min(...columns),
    lastColumn: Math.max(...columns),
  }
}
