import { xlsxFailure } from '../../container/failure.ts'
import { MAX_COLUMNS } from '../../container/limits.ts'
import { createXmlScanner } from '../../container/xml.ts'
import type { XmlAttributes } from '../../container/xml-attributes.ts'
import { parseCellReference, parseRowNumber } from '../../read/cell-reference.ts'
import { moveFormula } from '../formulas/formula-shift.ts'
import { type CellRange, contains, isOneCell, parseRange } from '../formulas/range.ts'
import { scanText } from '../xml/xml-tree.ts'

/** Where the result of a formula stands: its element, and the word of its type in the cell's tag. */
export interface StoredResult {
  /** From 1. */
  row: number
  column: number
  from: number
  to: number
  typeFrom: number
  typeTo: number
  isText: boolean
}

/** A cell of a worksheet that is calculated. */
export interface FormulaCell {
  /** From 1. */
  row: number
  column: number
  /** As this cell has it, also where it shares another one's. */
  formula: string
  /** The cells that its result fills: itself, or all of an array formula. */
  fills: CellRange
  /** The result in each cell that it fills and that has one. */
  results: StoredResult[]
  /** It is calculated from formulas and cells that it does not name. */
  isOfDataTable: boolean
  /** In its `<f` tag: where the mark is to be put, over one that says the opposite. */
  markFrom: number
  markTo: number
  /** It says already that it has to be calculated. */
  isMarked: boolean
}

const ROW_DEPTH = 3
const CELL_DEPTH = 4
const CONTENT_DEPTH = 5
const FORMER_MARK = /\sca\s*=\s*(?:"[^"]*"|'[^']*')/
const TYPE = /\st\s*=\s*(?:"[^"]*"|'[^']*')/
/** Real ones do not overlap, and hardly ever stand so close to each other. */
const MAX_FILLING_AT_ONCE = 1000
const ANY_FORMULA = /<(?:[\w.-]+:)?f[\s/>]/

/** All of a worksheet, from the top. */
export function formulaCellsIn(text: string): FormulaCell[] {
  if (!ANY_FORMULA.test(text)) return []
  const cells: FormulaCell[] = []
  const shared = new Map<string, FormulaCell>()
  let row = 0
  let column = 0
  let current: FormulaCell | undefined
  /** That of the cell that is being read. */
  let own: FormulaCell | undefined
  /** Those that fill cells of this row and of rows below. */
  let filling: FormulaCell[] = []
  let cell = { tagStart: 0, tagEnd: 0, isText: false }
  let result: { from: number; hasText: boolean } | undefined
  let sharedIndex: string | undefined

  function startFormula(attributes: XmlAttributes): void {
    const { tagStart, tagEnd } = scanner
    const tag = text.slice(tagStart, tagEnd)
    const former = FORMER_MARK.exec(tag)
    const markAt = former?.index ?? tag.search(/[\s/>]/)
    const itself = { firstRow: row, lastRow: row, firstColumn: column, lastColumn: column }
    const type = attributes.get('t')
    const isFilling = type === 'array' || type === 'dataTable'
    current = {
      row,
      column,
      formula: '',
      fills: (isFilling ? parseRange(attributes.get('ref') ?? '') : undefined) ?? itself,
      results: [],
      isOfDataTable: type === 'dataTable',
      markFrom: tagStart + markAt,
      markTo: tagStart + markAt + (former?.[0].length ?? 0),
      isMarked: isTrue(attributes.get('ca')),
    }
    sharedIndex = type === 'shared' ? attributes.get('si') : undefined
    cells.push(current)
    own = current
    if (isOneCell(current.fills)) return
    filling.push(current)
    if (filling.length > MAX_FILLING_AT_ONCE)
      throw xlsxFailure('tooLarge', 'too many formulas that fill cells')
  }

  function endResult({ from, hasText }: { from: number; hasText: boolean }): void {
    const owner = own ?? filling.find(({ fills }) => contains(fills, row, column))
    // What openpyxl writes for a formula that it does not calculate; a text can be empty.
    if (owner === undefined || !(hasText || cell.isText)) return
    const { tagStart, tagEnd, isText } = cell
    // A row that is prepared for data, with formulas that show nothing yet, must not look like one that is in use.
    const type = hasText ? TYPE.exec(text.slice(tagStart, tagEnd)) : null
    const typeFrom = tagStart + (type?.index ?? 0)
    const typeTo = typeFrom + (type?.[0].length ?? 0)
    owner.results.push({ row, column, from, to: scanner.tagEnd, typeFrom, typeTo, isText })
  }

  function endFormula(cell: FormulaCell): void {
    if (sharedIndex === undefined) return
    const model = shared.get(sharedIndex)
    if (cell.formula !== '') shared.set(sharedIndex, cell)
    else if (model) {
      cell.formula = moveFormula(model.formula, cell.row - model.row, cell.column - model.column)
    }
  }

  const scanner = createXmlScanner({
    open(name, depth, attributes) {
      if (depth === ROW_DEPTH && name === 'row') {
        const written = attributes.get('r')
        row = written === undefined ? row + 1 : parseRowNumber(written) + 1
        column = 0
        if (filling.length > 0) filling = filling.filter(({ fills }) => fills.lastRow >= row)
      } else if (depth === CELL_DEPTH && name === 'c') {
        const place = parseCellReference(attributes.get('r') ?? '')
        column = place === -1 ? column + 1 : (place % MAX_COLUMNS) + 1
        own = undefined
        const type = attributes.get('t')
        cell = {
          tagStart: scanner.tagStart,
          tagEnd: scanner.tagEnd,
          isText: type === 'str' || type === 'inlineStr',
        }
      } else if (depth === CONTENT_DEPTH && name === 'f') startFormula(attributes)
      else if (depth === CONTENT_DEPTH && (name === 'v' || name === 'is')) {
        result = { from: scanner.tagStart, hasText: false }
      }
    },
    text(piece, depth) {
      if (result && piece.trim() !== '') result.hasText = true
      if (depth === CONTENT_DEPTH && current) current.formula += piece
    },
    close(_name, depth) {
      if (depth !== CONTENT_DEPTH) return
      if (current) endFormula(current)
      if (result) endResult(result)
      current = undefined
      result = undefined
    },
  })
  scanText(scanner, text)
  return cells
}

function isTrue(value: string | undefined): boolean {
  return value === '1' || value === 'true'
}
