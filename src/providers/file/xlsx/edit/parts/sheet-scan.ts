import { xlsxFailure } from '../../container/failure.ts'
import { MAX_COLUMNS } from '../../container/limits.ts'
import { createXmlScanner, type XmlHandler } from '../../container/xml.ts'
import type { XmlAttributes } from '../../container/xml-attributes.ts'
import { parseCellReference, parseRowNumber } from '../../read/cell-reference.ts'
import { type CellRange, parseRange } from '../formulas/range.ts'
import { createXmlTreeBuilder, scanText, type XmlElement } from '../xml/xml-tree.ts'

/** A row element and where it stands. Rows are counted from 1. */
export interface ScannedRow {
  number: number
  start: number
  end: number
  cells: number
  formulas: number
  /** Every cell says where it is, and no formula more than its text: what `moveRow` can rely on. */
  isPlain: boolean
  /** One of its formulas has no result, as nobody has calculated it yet. */
  isUncalculated: boolean
  /** It says its number itself, which it need not (ECMA-376-1, 18.3.1.73). */
  isNumbered: boolean
}

export interface SharedFormula {
  /** The row of the cell that has the text, from 1. */
  row: number
  column: number
  /** The last row that shares it. */
  lastRow: number
  text: string
}

/** A worksheet part taken apart as far as editing needs it: rows by their places, all else as elements. */
export interface SheetScan {
  text: string
  root: XmlElement
  /** Without its rows. */
  sheetData: XmlElement
  rows: ScannedRow[]
  sharedFormulas: Map<string, SharedFormula>
  /** What one array formula or data table fills. */
  filledByOneFormula: CellRange[]
  hasDataTables: boolean
  hasFormulas: boolean
}

const SHEET_DATA_DEPTH = 2
const ROW_DEPTH = 3
const CELL_DEPTH = 4
const CONTENT_DEPTH = 5

/** `values` is told the same as a scanner for reading would. */
export function scanSheet(text: string, values: XmlHandler = {}): SheetScan {
  const tree = createXmlTreeBuilder(text)
  const rows: ScannedRow[] = []
  const sharedFormulas = new Map<string, SharedFormula>()
  const filledByOneFormula: CellRange[] = []
  let sheetData: XmlElement | undefined
  let inSheetData = false
  let row: ScannedRow | undefined
  let column = 0
  let inCell = false
  let content = ''
  let formula: SharedFormula | undefined
  let hasFormulas = false
  let hasDataTables = false
  let cell = { isText: false, hasFormula: false, hasResult: false }

  function startRow(attributes: XmlAttributes): void {
    const written = attributes.get('r')
    const former = rows.at(-1)?.number ?? 0
    const number = written === undefined ? former + 1 : parseRowNumber(written) + 1
    if (number <= former) throw xlsxFailure('disordered', `row ${number} after row ${former}`)
    const isNumbered = written !== undefined
    const { tagStart: start, tagEnd: end } = scanner
    row = {
      number,
      start,
      end,
      cells: 0,
      formulas: 0,
      isPlain: isNumbered,
      isUncalculated: false,
      isNumbered,
    }
    rows.push(row)
    column = 0
  }

  function startCell(attributes: XmlAttributes, inRow: ScannedRow): void {
    inRow.cells++
    cell = { isText: attributes.get('t') === 'str', hasFormula: false, hasResult: false }
    const reference = attributes.get('r')
    const place = reference === undefined ? undefined : parseCellReference(reference)
    const former = column
    column = place === undefined ? former + 1 : (place % MAX_COLUMNS) + 1
    if (place === undefined) inRow.isPlain = false
    const isElsewhere = place !== undefined && Math.floor(place / MAX_COLUMNS) + 1 !== inRow.number
    if (column <= former || isElsewhere) throw xlsxFailure('disordered', `cell ${reference}`)
  }

  function startFormula(attributes: XmlAttributes, inRow: ScannedRow): void {
    cell.hasFormula = true
    inRow.formulas++
    hasFormulas = true
    const type = attributes.get('t')
    if (type !== undefined) inRow.isPlain = false
    if (type === 'dataTable') hasDataTables = true
    const range = parseRange(attributes.get('ref') ?? '')
    if ((type === 'array' || type === 'dataTable') && range) filledByOneFormula.push(range)
    const index = attributes.get('si')
    if (type !== 'shared' || index === undefined || range === undefined) return
    formula = { row: inRow.number, column, lastRow: range.lastRow, text: '' }
    sharedFormulas.set(index, formula)
  }

  const scanner = createXmlScanner({
    open(name, depth, attributes) {
      values.open?.(name, depth, attributes)
      if (depth <= SHEET_DATA_DEPTH || !inSheetData) {
        const element = tree.open(name, scanner)
        if (depth !== SHEET_DATA_DEPTH) return
        inSheetData = name === 'sheetData'
        if (!inSheetData) return
        if (sheetData) throw xlsxFailure('disordered', 'two lists of rows')
        sheetData = element
      } else if (depth === ROW_DEPTH) {
        row = undefined
        if (name === 'row') startRow(attributes)
      } else if (depth === CELL_DEPTH) {
        inCell = row !== undefined && name === 'c'
        if (inCell && row) startCell(attributes, row)
      } else if (depth === CONTENT_DEPTH && inCell && row) {
        content = name
        if (name === 'f') startFormula(attributes, row)
      }
    },
    text(text, depth) {
      values.text?.(text, depth)
      if (depth !== CONTENT_DEPTH || !inCell) return
      if (formula) formula.text += text
      else if (content === 'v') cell.hasResult = true
    },
    close(name, depth) {
      values.close?.(name, depth)
      if (depth === CONTENT_DEPTH) formula = undefined
      if (depth === CELL_DEPTH && inCell && row) {
        if (cell.hasFormula && !cell.hasResult && !cell.isText) row.isUncalculated = true
        inCell = false
      }
      if (depth === ROW_DEPTH && inSheetData && row) row.end = scanner.tagEnd
      if (depth <= SHEET_DATA_DEPTH || !inSheetData) tree.close(scanner)
    },
  })
  scanText(scanner, text)
  const root = tree.root()
  if (sheetData === undefined) throw xlsxFailure('disordered', 'no list of rows')
  return { text, root, sheetData, rows, sharedFormulas, filledByOneFormula, hasDataTables, hasFormulas }
}
