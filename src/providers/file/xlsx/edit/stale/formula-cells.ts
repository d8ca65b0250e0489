import { MAX_COLUMNS } from '../../container/limits.ts'
import { createXmlScanner } from '../../container/xml.ts'
import type { XmlAttributes } from '../../container/xml-attributes.ts'
import { parseCellReference, parseRowNumber } from '../../read/cell-reference.ts'
import { moveFormula } from '../formulas/formula-shift.ts'
import { type CellRange, parseRange } from '../formulas/range.ts'
import { scanText } from '../xml/xml-tree.ts'

/** A cell of a worksheet that is calculated. */
export interface FormulaCell {
  /** From 1. */
  row: number
  column: number
  /** As this cell has it, also where it shares another one's. */
  formula: string
  /** The cells that its result fills: itself, or all of an array formula. */
  fills: CellRange
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
const ANY_FORMULA = /<(?:[\w.-]+:)?f[\s/>]/

/** All of a worksheet, from the top. */
export function formulaCellsIn(text: string): FormulaCell[] {
  if (!ANY_FORMULA.test(text)) return []
  const cells: FormulaCell[] = []
  const shared = new Map<string, FormulaCell>()
  let row = 0
  let column = 0
  let current: FormulaCell | undefined
  let sharedIndex: string | undefined

  function startFormula(attributes: XmlAttributes): void {
    const { tagStart, tagEnd } = scanner
    const tag = text.slice(tagStart, tagEnd)
    const former = FORMER_MARK.exec(tag)
    const markAt = former?.index ?? tag.search(/[\s/>]/)
    const own = { firstRow: row, lastRow: row, firstColumn: column, lastColumn: column }
    const type = attributes.get('t')
    const isFilling = type === 'array' || type === 'dataTable'
    current = {
      row,
      column,
      formula: '',
      fills: (isFilling ? parseRange(attributes.get('ref') ?? '') : undefined) ?? own,
      isOfDataTable: type === 'dataTable',
      markFrom: tagStart + markAt,
      markTo: tagStart + markAt + (former?.[0].length ?? 0),
      isMarked: isTrue(attributes.get('ca')),
    }
    sharedIndex = type === 'shared' ? attributes.get('si') : undefined
    cells.push(current)
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
      } else if (depth === CELL_DEPTH && name === 'c') {
        const place = parseCellReference(attributes.get('r') ?? '')
        column = place === -1 ? column + 1 : (place % MAX_COLUMNS) + 1
      } else if (depth === CONTENT_DEPTH && name === 'f') startFormula(attributes)
    },
    text(piece, depth) {
      if (depth === CONTENT_DEPTH && current) current.formula += piece
    },
    close(_name, depth) {
      if (depth !== CONTENT_DEPTH || !current) return
      endFormula(current)
      current = undefined
    },
  })
  scanText(scanner, text)
  return cells
}

function isTrue(value: string | undefined): boolean {
  return value === '1' || value === 'true'
}
