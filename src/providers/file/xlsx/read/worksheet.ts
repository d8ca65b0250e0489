import type { Grid } from '../../../../sheets/rows/grid.ts'
import { xlsxFailure } from '../container/failure.ts'
import { MAX_CELL_TEXT_CHARS, MAX_COLUMNS, MAX_INFLATED_BYTES, MAX_ROWS } from '../container/limits.ts'
import { readXmlPart } from '../container/part.ts'
import type { XmlHandler } from '../container/xml.ts'
import type { XmlAttributes } from '../container/xml-attributes.ts'
import type { ZipArchive } from '../container/zip.ts'
import { parseCellReference, parseRowNumber } from './cell-reference.ts'
import type { XlsxCellReader } from './cell-value.ts'
import { createGridBuilder, type GridBuilder } from './grid-builder.ts'
import { createStringItem } from './string-item.ts'
import type { StaleResults } from './workbook.ts'

// worksheet > sheetData > row > c > v, or is > t, or is > r > t
const ROOT_DEPTH = 1
const SHEET_DATA_DEPTH = 2
const ROW_DEPTH = 3
const CELL_DEPTH = 4
const CONTENT_DEPTH = 5

export async function readWorksheet(
  archive: ZipArchive,
  path: string,
  reader: XlsxCellReader,
  staleResults: StaleResults,
): Promise<Grid> {
  const grid = createGridBuilder()
  const handler = createWorksheetHandler(grid, reader, staleResults)
  await readXmlPart(archive, path, MAX_INFLATED_BYTES, handler)
  return grid.finish()
}

/** What takes a worksheet's XML apart; the values go to `grid` as they come. */
export function createWorksheetHandler(
  grid: Pick<GridBuilder, 'set' | 'noteStale' | 'noteUncalculated'>,
  reader: XlsxCellReader,
  staleResults: StaleResults = 'none',
): XmlHandler {
  const inlineString = createStringItem()
  let inSheetData = false
  let inRow = false
  let inCell = false
  let content: 'value' | 'inline' | 'other' = 'other'
  let row = -1
  let column = -1
  let type: string | undefined
  let style: string | undefined
  let rawValue = ''
  let hasInlineString = false
  let hasFormula = false
  let hasValue = false
  let isStale = false
  /** What the cell's formula fills beside it. */
  let fills: string | undefined

  function startRow(attributes: XmlAttributes): void {
    const number = attributes.get('r')
    row = number === undefined ? row + 1 : parseRowNumber(number)
    if (row < 0 || row >= MAX_ROWS) throw xlsxFailure('damaged', 'a row with an impossible number')
    column = -1
  }

  function startCell(attributes: XmlAttributes): void {
    const reference = attributes.get('r')
    if (reference === undefined) {
      column++
      if (column === MAX_COLUMNS) throw xlsxFailure('damaged', 'a row with too many cells')
    } else {
      const position = parseCellReference(reference)
      if (position === -1) throw xlsxFailure('damaged', 'a cell with an impossible reference')
      row = Math.floor(position / MAX_COLUMNS)
      column = position % MAX_COLUMNS
    }
    type = attributes.get('t')
    style = attributes.get('s')
    rawValue = ''
    hasInlineString = false
    hasFormula = false
    hasValue = false
    isStale = false
    fills = undefined
  }

  function startFormula(attributes: XmlAttributes): void {
    hasFormula = true
    const mark = attributes.get('ca')
    isStale = staleResults === 'any' || (staleResults === 'marked' && (mark === '1' || mark === 'true'))
    const kind = attributes.get('t')
    if (kind === 'array' || kind === 'dataTable') fills = attributes.get('ref')
  }

  function startContent(name: string, attributes: XmlAttributes): void {
    if (name === 'f') startFormula(attributes)
    else if (name === 'v') hasValue = true
    content = name === 'v' ? 'value' : name === 'is' ? 'inline' : 'other'
    if (content !== 'inline') return
    hasInlineString = true
    inlineString.start()
  }

  /**
   * One that nobody has calculated since a write, or ever, has none, or an empty one as openpyxl writes it; only a text can be
   * empty for real.
   */
  function hasResult(): boolean {
    return hasInlineString || rawValue.trim() !== '' || (hasValue && type === 'str')
  }

  function endCell(): void {
    if (hasFormula && (isStale || !hasResult())) grid.noteStale(row, column, fills)
    // One of a text may have had an empty one: rows of formulas are often prepared so for data to come (docs/decisions/029).
    if (hasFormula && !hasResult() && type !== 'str') grid.noteUncalculated(row)
    grid.set(
      row,
      column,
      hasInlineString ? reader.inlineText(inlineString.value(), style) : reader.value(rawValue, type, style),
    )
  }

  return {
    open(name, depth, attributes) {
      switch (depth) {
        case ROOT_DEPTH:
          if (name !== 'worksheet') throw xlsxFailure('damaged', 'a tab that is no worksheet')
          return
        case SHEET_DATA_DEPTH:
          inSheetData = name === 'sheetData'
          return
        case ROW_DEPTH:
          inRow = inSheetData && name === 'row'
          if (inRow) startRow(attributes)
          return
        case CELL_DEPTH:
          inCell = inRow && name === 'c'
          if (inCell) startCell(attributes)
          return
        case CONTENT_DEPTH:
          if (inCell) startContent(name, attributes)
          return
        default:
          if (inCell && content === 'inline') inlineString.open(name, depth - CONTENT_DEPTH)
      }
    },
    text(text, depth) {
      if (!inCell) return
      if (content === 'inline') inlineString.text(text)
      else if (content === 'value' && depth === CONTENT_DEPTH) {
        rawValue += text
        if (rawValue.length > MAX_CELL_TEXT_CHARS) throw xlsxFailure('tooLarge', 'endless text')
      }
    },
    close(_name, depth) {
      if (!inCell) return
      if (depth > CONTENT_DEPTH && content === 'inline') inlineString.close()
      if (depth > CELL_DEPTH) return
      endCell()
      inCell = false
    },
  }
}
