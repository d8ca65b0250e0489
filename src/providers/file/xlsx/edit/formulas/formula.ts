import { MAX_COLUMNS, MAX_ROWS } from '../../container/limits.ts'
import { columnLetters } from '../../read/cell-reference.ts'
import { columnNumber } from './range.ts'

/** One corner of a reference, from 1; 0 where it has none (`A:A` has no rows). `$` fixes it. */
export interface ReferencePoint {
  column: number
  columnIsFixed: boolean
  row: number
  rowIsFixed: boolean
}

/** A reference to cells in a formula. */
export interface FormulaReference {
  /** The tab it names; undefined = the formula's own. */
  tab: string | undefined
  /** In another workbook, or through several tabs (`Jan:Dec!A1`). */
  reach: 'tab' | 'workbook' | 'tabs'
  first: ReferencePoint
  /** Absent for a single cell. */
  last: ReferencePoint | undefined
}

type Corners = Pick<FormulaReference, 'first' | 'last'>

const AFTER_REFERENCE = String.raw`(?![\p{L}\p{N}_.\\(!\[])`
const TEXT = /"[^"]*(?:""[^"]*)*"?/y
const ERROR =
  /#(?:REF!|N\/A|DIV\/0!|VALUE!|NAME\?|NUM!|NULL!|SPILL!|CALC!|FIELD!|BLOCKED!|CONNECT!|UNKNOWN!|BUSY!|PYTHON!|EXTERNAL!|GETTING_DATA)/iy
/** A name in quotes; with `!` behind it the name of a tab. */
const QUOTED = /'[^']*(?:''[^']*)*'?!?/y
const BARE_TAB = /((?:\[[^\]]*\])?(?:[\p{L}\p{N}_.\\?]+(?::[\p{L}\p{N}_.\\?]+)?)?)!/uy
const CELLS = new RegExp(
  String.raw`(\$?)([A-Za-z]{1,3})(\$?)([1-9]\d{0,6})(?::(\$?)([A-Za-z]{1,3})(\$?)([1-9]\d{0,6}))?${AFTER_REFERENCE}`,
  'uy',
)
const COLUMNS = new RegExp(String.raw`(\$?)([A-Za-z]{1,3}):(\$?)([A-Za-z]{1,3})${AFTER_REFERENCE}`, 'uy')
const ROWS = new RegExp(String.raw`(\$?)([1-9]\d{0,6}):(\$?)([1-9]\d{0,6})${AFTER_REFERENCE}`, 'uy')
/** Functions, names and numbers. */
const WORD = /[\p{L}\p{N}_.\\?$]+/uy

/**
 * The formula with each reference replaced by what `replace` says; undefined leaves one as it is written. Texts,
 * functions, names and the columns of tables (`Orders[Price]`) are passed over. `between` is told the characters that are no part of
 * any of these, such as a `:` that makes a range of two references.
 */
export function replaceReferences(
  formula: string,
  replace: (reference: FormulaReference) => Corners | undefined,
  between: (character: string) => void = () => {},
): string {
  let result = ''
  let copied = 0
  let at = 0
  const match = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at
    return pattern.exec(formula)
  }
  while (at < formula.length) {
    const quoted = match(QUOTED)
    const passed = match(TEXT) ?? match(ERROR) ?? (quoted?.[0].endsWith('!') ? null : quoted)
    if (passed) {
      at += passed[0].length
      continue
    }
    const tab = readTab((quoted ?? match(BARE_TAB))?.[0])
    at += tab.length
    const reference = readCorners(match)
    if (reference) {
      const corners = replace({ ...tab.target, ...reference.corners })
      if (corners) {
        result += formula.slice(copied, at) + writeCorners(corners)
        copied = at + reference.length
      }
      at += reference.length
      continue
    }
    if (tab.length > 0) continue
    const word = match(WORD)
    if (word) at += word[0].length
    else if (formula[at] === '[') at = endOfBrackets(formula, at)
    else between(formula[at++] ?? '')
  }
  return copied === 0 ? formula : result + formula.slice(copied)
}

function readTab(written: string | undefined): {
  length: number
  target: Pick<FormulaReference, 'tab' | 'reach'>
} {
  if (written === undefined) return { length: 0, target: { tab: undefined, reach: 'tab' } }
  const isQuoted = written.startsWith("'")
  const name = isQuoted ? written.slice(1, -2).replaceAll("''", "'") : written.slice(0, -1)
  // Neither : nor [ can be in the name of a tab.
  const reach = name.includes('[') ? 'workbook' : name.includes(':') ? 'tabs' : 'tab'
  return { length: written.length, target: { tab: name, reach } }
}

function readCorners(
  match: (pattern: RegExp) => RegExpExecArray | null,
): { length: number; corners: Corners } | undefined {
  const cells = match(CELLS)
  if (cells) {
    const [, c1, column1 = '', r1, row1, c2, column2, r2, row2] = cells
    const first = point(column1, c1, row1, r1)
    const last = column2 === undefined ? undefined : point(column2, c2, row2, r2)
    // LOG10 and ABCD1 are no cells, nor is XFE1, which is past the last column.
    if (isInSheet(first) && (last === undefined || isInSheet(last))) {
      return { length: cells[0].length, corners: { first, last } }
    }
    return undefined
  }
  const columns = match(COLUMNS)
  if (columns) {
    const [, c1, column1 = '', c2, column2 = ''] = columns
    const first = point(column1, c1, '0', '')
    const last = point(column2, c2, '0', '')
    return first.column > 0 && last.column > 0
      ? { length: columns[0].length, corners: { first, last } }
      : undefined
  }
  const rows = match(ROWS)
  if (rows) {
    const [, r1, row1, r2, row2] = rows
    return {
      length: rows[0].length,
      corners: { first: point('', '', row1, r1), last: point('', '', row2, r2) },
    }
  }
  return undefined
}

function point(
  letters: string,
  columnFix: string | undefined,
  row: string | undefined,
  rowFix: string | undefined,
) {
  return {
    column: letters === '' ? 0 : columnNumber(letters),
    columnIsFixed: columnFix === '$',
    row: Number(row),
    rowIsFixed: rowFix === '$',
  }
}

function isInSheet({ column, row }: ReferencePoint): boolean {
  return column >= 1 && column <= MAX_COLUMNS && row <= MAX_ROWS
}

function writeCorners({ first, last }: Corners): string {
  return last === undefined ? writePoint(first) : `${writePoint(first)}:${writePoint(last)}`
}

function writePoint({ column, columnIsFixed, row, rowIsFixed }: ReferencePoint): string {
  const letters = column === 0 ? '' : `${columnIsFixed ? '$' : ''}${columnLetters(column - 1)}`
  return row === 0 ? letters : `${letters}${rowIsFixed ? '$' : ''}${row}`
}

/** `[[#This Row],[a]]`; inside, an apostrophe takes the next character's meaning away. */
function endOfBrackets(formula: string, start: number): number {
  let depth = 0
  for (let at = start; at < formula.length; at++) {
    const character = formula[at]
    if (character === "'") at++
    else if (character === '[') depth++
    else if (character === ']' && --depth === 0) return at + 1
  }
  return formula.length
}
