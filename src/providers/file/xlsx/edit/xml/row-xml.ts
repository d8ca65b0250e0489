import type { Cell } from '../../../../../sheets/rows/grid.ts'
import { MAX_COLUMNS } from '../../container/limits.ts'
import { parseCellReference, writeCellReference } from '../../read/cell-reference.ts'
import { type CellToWrite, writeCellXml } from './cell-xml.ts'
import { XmlEdits } from './xml-edits.ts'
import { readXmlTree, type XmlElement } from './xml-tree.ts'

/** What a row is to become. Rows from 1, columns from 0. */
export interface RowRewrite {
  newNumber: number
  /** The values to be written, by column. */
  cells: ReadonlyMap<number, CellToWrite>
  /** What the row held, to leave alone what is there already. */
  formerCells: readonly Cell[]
  /** The style of a cell that the row does not have yet. */
  styleOf(column: number): string | undefined
  /** What is written, with a style near the one given in which it reads back as itself. */
  fitting(cell: CellToWrite, style: string | undefined): { cell: Cell; style: string | undefined }
  /** A formula that stays; changes its element. */
  moveFormula?(formula: XmlElement, column: number, edits: XmlEdits): void
}

/** The row element with its cells changed, everything else in it as it stands. */
export function rewriteRow(rowText: string, rewrite: RowRewrite): string {
  const row = readXmlTree(rowText)
  const edits = new XmlEdits(rowText)
  const cells = row.children.filter(({ name }) => name === 'c')
  const { prefix } = row
  const rowStyle = isTrue(row.attribute('customFormat')) ? row.attribute('s') : undefined
  edits.setAttribute(row, 'r', String(rewrite.newNumber))

  const write = (column: number, given: CellToWrite, givenStyle: string | undefined): string => {
    const { cell, style } = rewrite.fitting(given, givenStyle)
    return writeCellXml(writeCellReference(rewrite.newNumber - 1, column), cell, style, prefix)
  }

  const columns: number[] = []
  for (const element of cells) {
    const column = columnOf(element, columns.at(-1) ?? -1)
    columns.push(column)
    const cell = rewrite.cells.get(column)
    const formula = element.child('f')
    const isThere = formula === undefined && cell === (rewrite.formerCells[column] ?? null)
    if (cell !== undefined && !isThere) {
      edits.replace(element.start, element.end, write(column, cell, element.attribute('s')))
      continue
    }
    edits.setAttribute(element, 'r', writeCellReference(rewrite.newNumber - 1, column))
    if (formula) rewrite.moveFormula?.(formula, column, edits)
  }

  const present = new Set(columns)
  const added = [...rewrite.cells]
    .filter(([column]) => !present.has(column))
    .sort(([one], [other]) => one - other)
  let last: string[] = []
  for (const [column, cell] of added) {
    const xml = write(column, cell, rowStyle ?? rewrite.styleOf(column))
    const next = columns.findIndex((other) => other > column)
    const before = cells[next]
    if (before) edits.insertBefore(before, xml)
    else last.push(xml)
  }
  last = last.filter((xml) => xml !== '')
  const end = cells.at(-1)
  if (end) edits.insertAfter(end, last.join(''))
  else if (last.length > 0 && row.closesItself) edits.append(row, last.join(''))
  else edits.replace(row.openEnd, row.openEnd, last.join(''))
  // Only a hint for readers, and wrong once the row is wider.
  if (added.length > 0) edits.setAttribute(row, 'spans', undefined)
  return edits.toText()
}

/** A row that the sheet has no element for. */
export function newRow(
  number: number,
  cells: ReadonlyMap<number, CellToWrite>,
  prefix: string,
  rewrite: Pick<RowRewrite, 'styleOf' | 'fitting'>,
): string {
  const written = [...cells]
    .sort(([one], [other]) => one - other)
    .map(([column, given]) => {
      const { cell, style } = rewrite.fitting(given, rewrite.styleOf(column))
      return writeCellXml(writeCellReference(number - 1, column), cell, style, prefix)
    })
  return `<${prefix}row r="${number}">${written.join('')}</${prefix}row>`
}

/** The style of each cell of a row element that has one, by column. */
export function stylesOfRow(rowText: string): Map<number, string> {
  const styles = new Map<number, string>()
  let column = -1
  for (const element of readXmlTree(rowText).children) {
    if (element.name !== 'c') continue
    column = columnOf(element, column)
    const style = element.attribute('s')
    if (style !== undefined) styles.set(column, style)
  }
  return styles
}

/** The column of a cell, from 0; one without a reference follows the cell before. */
export function columnOf(cell: XmlElement, formerColumn: number): number {
  const reference = cell.attribute('r')
  return reference === undefined ? formerColumn + 1 : parseCellReference(reference) % MAX_COLUMNS
}

function isTrue(value: string | undefined): boolean {
  return value === '1' || value === 'true'
}
