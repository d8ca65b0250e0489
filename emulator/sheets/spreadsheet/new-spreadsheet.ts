import { defaultProperties } from '../cells/default-format.ts'
import { newSheet, type Spreadsheet } from '../model.ts'

/** As Google makes it: one empty sheet of 1000 rows and 26 columns, with the id 0. */
export function newSpreadsheet(spreadsheetId: string, title: string, owner: string): Spreadsheet {
  return {
    spreadsheetId,
    owner,
    properties: defaultProperties(title),
    sheets: [newSheet(0, 'Sheet1')],
    namedRanges: [],
    metadata: [],
  }
}
