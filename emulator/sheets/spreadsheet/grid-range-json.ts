import type { Area, JsonObject } from '../model.ts'

/** A GridRange as Google writes it. */
export function areaJson(sheetId: number, area: Area): JsonObject {
  return {
    ...(sheetId !== 0 && { sheetId }),
    startRowIndex: area.startRow,
    endRowIndex: area.endRow,
    startColumnIndex: area.startColumn,
    endColumnIndex: area.endColumn,
  }
}
