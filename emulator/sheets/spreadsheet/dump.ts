import { CellDisplay } from '../cells/cell-display.ts'
import type { EffectiveValue, EnteredValue, Spreadsheet } from '../model.ts'
import { metadataJson } from './developer-metadata.ts'

/** Everything in a spreadsheet, for tests to look at from the side. */
export function dumpOf(spreadsheet: Spreadsheet): unknown {
  const display = new CellDisplay(spreadsheet)
  return {
    spreadsheetId: spreadsheet.spreadsheetId,
    title: spreadsheet.properties.title,
    owner: spreadsheet.owner,
    tabs: spreadsheet.sheets.map((sheet) => ({
      sheetId: sheet.sheetId,
      title: sheet.title,
      rowCount: sheet.rowCount,
      columnCount: sheet.columnCount,
      values: sheet.rows.map((row) => Array.from(row, (cell) => plain(display.effective(sheet, cell)))),
      cells: sheet.rows.map((row) =>
        Array.from(row, (cell) => {
          if (!cell) return null
          return {
            entered: plain(cell.entered),
            effective: plain(display.effective(sheet, cell)),
            formatted: display.formatted(sheet, cell) ?? '',
            ...(cell.note !== undefined && { note: cell.note }),
          }
        }),
      ),
    })),
    developerMetadata: spreadsheet.metadata.map(metadataJson),
  }
}

function plain(value: EnteredValue | EffectiveValue | undefined): unknown {
  if (!value) return null
  if ('errorValue' in value) return { error: value.errorValue.type }
  return Object.values(value)[0] ?? null
}
