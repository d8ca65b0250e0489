import { CellDisplay } from '../cells/cell-display.ts'
import { localeOf } from '../cells/locale.ts'
import { cellWith } from '../cells/value-input.ts'
import { invalidArgument } from '../google-error.ts'
import { cellAt, isObject, putCell, type Sheet, type SheetCell, type Spreadsheet } from '../model.ts'
import { indexOr, type Place, placeOfGridRange, sheetById } from '../resolve-range.ts'
import { wholeSheet } from '../spreadsheet/spreadsheet-json.ts'
import { forEachCell } from './cell-requests.ts'
import { objectIn, type RequestHandler } from './request.ts'

/** What people have in the menus "Data" and "Edit": requests that rewrite the contents of cells. */
export const textRequests: Record<string, RequestHandler> = {
  pasteData({ draft }, request) {
    const { sheetId, rowIndex, columnIndex } = objectIn(request, 'coordinate')
    const sheet = sheetById(draft, sheetId)
    const delimiter = typeof request.delimiter === 'string' ? request.delimiter : '\t'
    const lines = String(request.data ?? '').split(/\r?\n/)
    const cells = lines.map((line) =>
      request.html === true ? [line.replaceAll(/<[^>]*>/g, '')] : line.split(delimiter),
    )
    typeInto(draft, sheet, indexOr(rowIndex, 0), indexOr(columnIndex, 0), cells)
    return {}
  },

  textToColumns({ draft }, request) {
    const place = placeOfGridRange(draft, request.source)
    const { sheet, area } = place
    if (area.endColumn - area.startColumn !== 1) throw invalidArgument('The source must be one column wide.')
    const display = new CellDisplay(draft)
    for (let row = area.startRow; row < Math.min(area.endRow, sheet.rows.length); row++) {
      const text = textOf(display, sheet, cellAt(sheet, row, area.startColumn))
      if (text !== '') typeInto(draft, sheet, row, area.startColumn, [text.split(delimiterOf(request, text))])
    }
    return {}
  },

  trimWhitespace({ draft }, request) {
    let cellsChangedCount = 0
    eachText(placeOfGridRange(draft, request.range), (text) => {
      const trimmed = text.trim().replaceAll(/\s+/g, ' ')
      if (trimmed === text) return null
      cellsChangedCount += 1
      return trimmed
    })
    return { trimWhitespace: cellsChangedCount > 0 ? { cellsChangedCount } : {} }
  },

  deleteDuplicates({ draft }, request) {
    const { sheet, area } = placeOfGridRange(draft, request.range)
    const given = Array.isArray(request.comparisonColumns) ? request.comparisonColumns : []
    const compared = given.map((one: unknown) => indexOr(isObject(one) ? one.startIndex : 0, 0))
    const display = new CellDisplay(draft)
    const rows = rowsIn({ sheet, area })
    const seen = new Set<string>()
    const kept = rows.filter((cells) => {
      const columns = compared.length > 0 ? compared.map((column) => column - area.startColumn) : cells.keys()
      const key = JSON.stringify([...columns].map((at) => textOf(display, sheet, cells[at]).toLowerCase()))
      if (cells.every((cell) => !cell?.entered)) return true
      return seen.has(key) ? false : seen.add(key)
    })
    putRows({ sheet, area }, kept, rows.length)
    const duplicatesRemovedCount = rows.length - kept.length
    return { deleteDuplicates: duplicatesRemovedCount > 0 ? { duplicatesRemovedCount } : {} }
  },

  autoFill({ draft }, request) {
    const told = objectIn(request, 'sourceAndDestination')
    if (told.source === undefined) return fillFromFilled(draft, request.range)
    const { sheet, area } = placeOfGridRange(draft, told.source)
    const length = Number(told.fillLength ?? 0)
    const isDown = told.dimension === 'ROWS'
    const width = isDown ? area.endColumn - area.startColumn : area.endRow - area.startRow
    for (let line = 0; line < width; line++) {
      const at = (n: number): [row: number, column: number] =>
        isDown ? [area.startRow + n, area.startColumn + line] : [area.startRow + line, area.startColumn + n]
      const size = isDown ? area.endRow - area.startRow : area.endColumn - area.startColumn
      const source = Array.from({ length: size }, (_, n) => cellAt(sheet, ...at(n)))
      for (let n = 0; n < Math.abs(length); n++) {
        const place = length > 0 ? size + n : -1 - n
        const [row, column] = at(place)
        if (row >= 0 && column >= 0 && row < sheet.rowCount && column < sheet.columnCount)
          putCell(sheet, row, column, continued(source, place))
      }
    }
    return {}
  },

  findReplace({ draft }, request) {
    const places = request.allSheets === true ? draft.sheets.map(wholeSheet) : [searched(draft, request)]
    const pattern = patternOf(request)
    const replacement = String(request.replacement ?? '')
    const told = {
      valuesChanged: 0,
      formulasChanged: 0,
      rowsChanged: 0,
      sheetsChanged: 0,
      occurrencesChanged: 0,
    }
    for (const place of places) {
      const rows = new Set<number>()
      eachText(
        place,
        (text, row, isFormula) => {
          const found = text.match(pattern)?.length ?? 0
          if (found === 0) return null
          rows.add(row)
          told.occurrencesChanged += found
          told[isFormula ? 'formulasChanged' : 'valuesChanged'] += 1
          // Without a regular expression, a dollar sign in the replacement is one.
          return request.searchByRegex === true
            ? text.replace(pattern, replacement)
            : text.replace(pattern, () => replacement)
        },
        request.includeFormulas === true,
      )
      told.rowsChanged += rows.size
      if (rows.size > 0) told.sheetsChanged += 1
    }
    return { findReplace: Object.fromEntries(Object.entries(told).filter(([, count]) => count > 0)) }
  },

  randomizeRange({ draft }, request) {
    const place = placeOfGridRange(draft, request.range)
    const rows = rowsIn(place)
    for (let last = rows.length - 1; last > 0; last--) {
      const other = Math.floor(Math.random() * (last + 1))
      const [one = [], two = []] = [rows[last], rows[other]]
      rows[last] = two
      rows[other] = one
    }
    putRows(place, rows, rows.length)
    return {}
  },
}

/** As a person would type it. */
function typeInto(draft: Spreadsheet, sheet: Sheet, row: number, column: number, lines: string[][]): void {
  const locale = localeOf(draft.properties.locale)
  for (const [down, line] of lines.entries())
    for (const [right, text] of line.entries()) {
      const [atRow, atColumn] = [row + down, column + right]
      sheet.rowCount = Math.max(sheet.rowCount, atRow + 1)
      sheet.columnCount = Math.max(sheet.columnCount, atColumn + 1)
      putCell(sheet, atRow, atColumn, cellWith(cellAt(sheet, atRow, atColumn), text, 'USER_ENTERED', locale))
    }
}

const delimiters: Record<string, string> = { COMMA: ',', SEMICOLON: ';', PERIOD: '.', SPACE: ' ' }

function delimiterOf(request: Record<string, unknown>, text: string): string {
  if (typeof request.delimiter === 'string' && request.delimiter !== '') return request.delimiter
  const named = delimiters[String(request.delimiterType ?? '')]
  return named ?? Object.values(delimiters).find((each) => text.includes(each)) ?? ','
}

function textOf(display: CellDisplay, sheet: Sheet, cell: SheetCell | undefined): string {
  return cell ? (display.formatted(sheet, cell) ?? '') : ''
}

/** Every text of the place, or formula where asked for; `change` answers with what it becomes, or null. */
function eachText(
  { sheet, area }: Place,
  change: (text: string, row: number, isFormula: boolean) => string | null,
  withFormulas = false,
): void {
  const endRow = Math.min(area.endRow, sheet.rows.length)
  forEachCell({ ...area, endRow }, (row, column) => {
    const cell = cellAt(sheet, row, column)
    const entered = cell?.entered
    if (!entered || 'boolValue' in entered) return
    const isFormula = 'formulaValue' in entered
    if (isFormula && !withFormulas) return
    const text = isFormula
      ? entered.formulaValue
      : 'stringValue' in entered
        ? entered.stringValue
        : String(entered.numberValue)
    const next = change(text, row, isFormula)
    if (next === null) return
    const asNumber = 'numberValue' in entered && next !== '' && Number.isFinite(Number(next))
    const value = isFormula
      ? { formulaValue: next }
      : asNumber
        ? { numberValue: Number(next) }
        : { stringValue: next }
    putCell(sheet, row, column, { ...cell, entered: value })
  })
}

function rowsIn({ sheet, area }: Place): (SheetCell | undefined)[][] {
  const endRow = Math.min(area.endRow, sheet.rows.length)
  return Array.from({ length: Math.max(0, endRow - area.startRow) }, (_, row) =>
    Array.from({ length: area.endColumn - area.startColumn }, (_, column) =>
      cellAt(sheet, area.startRow + row, area.startColumn + column),
    ),
  )
}

/** Those that are fewer than before leave empty cells at the end. */
function putRows({ sheet, area }: Place, rows: readonly (SheetCell | undefined)[][], before: number): void {
  for (let row = 0; row < before; row++)
    for (let column = 0; column < area.endColumn - area.startColumn; column++)
      putCell(sheet, area.startRow + row, area.startColumn + column, rows[row]?.[column])
}

function searched(draft: Spreadsheet, request: Record<string, unknown>): Place {
  return request.range === undefined
    ? wholeSheet(sheetById(draft, request.sheetId))
    : placeOfGridRange(draft, request.range)
}

function patternOf(request: Record<string, unknown>): RegExp {
  const given = String(request.find ?? '')
  if (given === '') throw invalidArgument('No find string specified.')
  const source = request.searchByRegex === true ? given : RegExp.escape(given)
  const whole = request.matchEntireCell === true ? `^(?:${source})$` : source
  try {
    return new RegExp(whole, request.matchCase === true ? 'gu' : 'giu')
  } catch {
    throw invalidArgument(`Invalid regular expression: ${given}`)
  }
}

/** A series of numbers goes on by its step; whatever else there is comes again. */
function continued(source: readonly (SheetCell | undefined)[], place: number): SheetCell | undefined {
  const size = source.length
  const numbers = source.map((cell) =>
    cell?.entered && 'numberValue' in cell.entered ? cell.entered.numberValue : Number.NaN,
  )
  const model = source[((place % size) + size) % size]
  const [first = Number.NaN, second = Number.NaN] = numbers
  if (size < 2 || numbers.some(Number.isNaN)) return model
  return { ...model, entered: { numberValue: first + (second - first) * place } }
}

/** Without a source, what is filled at the beginning of the range goes on to its end. */
function fillFromFilled(draft: Spreadsheet, range: unknown): Record<string, never> {
  const { sheet, area } = placeOfGridRange(draft, range)
  for (let column = area.startColumn; column < area.endColumn; column++) {
    const cells = Array.from({ length: area.endRow - area.startRow }, (_, n) =>
      cellAt(sheet, area.startRow + n, column),
    )
    const size = cells.findIndex((cell) => !cell?.entered)
    if (size < 1) continue
    for (let place = size; place < cells.length; place++)
      putCell(sheet, area.startRow + place, column, continued(cells.slice(0, size), place))
  }
  return {}
}
