import { driveApi } from '../drive/drive-api.ts'
import { FileStore, SPREADSHEET_MIME } from '../drive/file-store.ts'
import type { GoogleAnswer, GoogleCall, GoogleWorld } from '../google-api.ts'
import { dumpOf } from './dump.ts'
import { GoogleError, sheetsErrorAnswer } from './google-error.ts'
import { applyHumanEdit } from './human-edit.ts'
import { isSheetsWrite } from './methods.ts'
import { draftOf, newSheet } from './model.ts'
import { newSpreadsheet } from './new-spreadsheet.ts'
import { sheetsApi } from './sheets-api.ts'
import { writeAt } from './write-values.ts'

/** Rows and columns a seeded tab has at least: the grid of a new sheet. */
const GRID = { rows: 1000, columns: 26 }

export function createGoogleWorld(clock: { now(): number; random(): number }): GoogleWorld {
  const store = new FileStore(clock)
  return {
    call: (call) => answer(store, call),

    createSpreadsheet({ title, owner, tabs }) {
      const file = store.add({ name: title, mimeType: SPREADSHEET_MIME, owner })
      const spreadsheet = newSpreadsheet(file.id, title, owner)
      if (tabs.length > 0) {
        spreadsheet.sheets = tabs.map((tab, index) => {
          const width = Math.max(GRID.columns, ...tab.values.map((row) => row.length))
          const sheetId = index === 0 ? 0 : store.newNumber()
          return newSheet(sheetId, tab.title, Math.max(GRID.rows, tab.values.length), width)
        })
      }
      for (const [index, tab] of tabs.entries()) {
        const sheet = spreadsheet.sheets[index]
        const values = { range: undefined, majorDimension: 'ROWS' as const, rows: tab.values }
        if (sheet) writeAt(spreadsheet, sheet, 0, 0, values, 'USER_ENTERED')
      }
      file.spreadsheet = spreadsheet
      return { spreadsheetId: file.id }
    },

    dump(spreadsheetId) {
      const spreadsheet = store.find(spreadsheetId)?.spreadsheet
      return spreadsheet && dumpOf(spreadsheet)
    },

    edit(edit) {
      const file = store.find(edit.spreadsheetId)
      if (!file?.spreadsheet) throw new Error(`There is no spreadsheet ${edit.spreadsheetId}`)
      const draft = draftOf(file.spreadsheet)
      applyHumanEdit(draft, edit)
      store.commit(file, draft)
    },

    isWrite: (call) => (call.path.startsWith('/v4/spreadsheets') ? isSheetsWrite(call) : null),
  }
}

function answer(store: FileStore, call: GoogleCall): GoogleAnswer {
  try {
    return call.path.startsWith('/drive/') ? driveApi(store, call) : sheetsApi(store, call)
  } catch {
    return sheetsErrorAnswer(new GoogleError(500, 'INTERNAL', 'Internal error encountered.'))
  }
}
