import type { JsonObject, Sheet, Spreadsheet } from '../model.ts'
import { protectedRangeJson, protectedRangesOf } from '../protection.ts'
import type { Place } from '../resolve-range.ts'
import { metadataJson } from './developer-metadata.ts'
import { gridData } from './grid-data.ts'
import { areaJson } from './grid-range-json.ts'

/** The Spreadsheet resource. With ranges, only the sheets they lie on; grid data only where asked for. */
export function spreadsheetJson(
  spreadsheet: Spreadsheet,
  options: { user: string; places?: Place[]; withData: boolean },
): Record<string, unknown> {
  const { user, places, withData } = options
  const shown = places
    ? spreadsheet.sheets.filter((sheet) => places.some((place) => place.sheet === sheet))
    : spreadsheet.sheets
  const metadata = spreadsheet.metadata.filter((entry) => entry.place.kind === 'SPREADSHEET')
  return {
    spreadsheetId: spreadsheet.spreadsheetId,
    properties: spreadsheet.properties,
    sheets: shown.map((sheet) =>
      sheetJson(spreadsheet, sheet, user, withData ? (places ?? [wholeSheet(sheet)]) : undefined),
    ),
    ...(spreadsheet.namedRanges.length > 0 && { namedRanges: spreadsheet.namedRanges }),
    spreadsheetUrl: `https://docs.google.com/spreadsheets/d/${spreadsheet.spreadsheetId}/edit`,
    ...(metadata.length > 0 && { developerMetadata: metadata.map(metadataJson) }),
  }
}

function sheetJson(
  spreadsheet: Spreadsheet,
  sheet: Sheet,
  user: string,
  dataPlaces: Place[] | undefined,
): Record<string, unknown> {
  const metadata = spreadsheet.metadata.filter(
    (entry) => entry.place.kind === 'SHEET' && entry.place.sheetId === sheet.sheetId,
  )
  const protectedRanges = protectedRangesOf(sheet).map((range) =>
    protectedRangeJson(range, spreadsheet.owner, user),
  )
  return {
    properties: sheetProperties(spreadsheet, sheet),
    ...(dataPlaces && {
      data: dataPlaces.filter((place) => place.sheet === sheet).map((place) => gridData(spreadsheet, place)),
    }),
    ...(sheet.merges.length > 0 && { merges: sheet.merges.map((area) => areaJson(sheet.sheetId, area)) }),
    ...sheet.attachments,
    ...(protectedRanges.length > 0 && { protectedRanges }),
    ...(metadata.length > 0 && { developerMetadata: metadata.map(metadataJson) }),
  }
}

export function sheetProperties(spreadsheet: Spreadsheet, sheet: Sheet): JsonObject {
  return {
    sheetId: sheet.sheetId,
    title: sheet.title,
    index: spreadsheet.sheets.indexOf(sheet),
    sheetType: sheet.sheetType,
    gridProperties: { rowCount: sheet.rowCount, columnCount: sheet.columnCount, ...sheet.gridProperties },
    ...(sheet.hidden && { hidden: true }),
    ...sheet.otherProperties,
  }
}

export function wholeSheet(sheet: Sheet): Place {
  return {
    sheet,
    area: { startRow: 0, startColumn: 0, endRow: sheet.rowCount, endColumn: sheet.columnCount },
  }
}
