import { serviceOf } from '../api-method.ts'
import { driveApi } from '../drive/drive-api.ts'
import { accessOf, FileStore, openingBy, permissionId, SPREADSHEET_MIME } from '../drive/file-store.ts'
import type { GoogleAnswer, GoogleCall, GoogleWorld } from '../google-api.ts'
import { GoogleError, sheetsErrorAnswer } from './google-error.ts'
import { addProtection, applyHumanEdit } from './human-edit.ts'
import { isSheetsWrite } from './methods.ts'
import { draftOf, newSheet } from './model.ts'
import { sheetsApi } from './sheets-api.ts'
import { dumpOf } from './spreadsheet/dump.ts'
import { newSpreadsheet } from './spreadsheet/new-spreadsheet.ts'
import { hasSpreadsheet, type SpreadsheetFile } from './spreadsheet/open-file.ts'
import { writeAt } from './values/write-values.ts'

/** Rows and columns a seeded tab has at least: the grid of a new sheet. */
const GRID = { rows: 1000, columns: 26 }

export function createGoogleWorld(clock: { now(): number; random(): number }): GoogleWorld {
  const store = new FileStore(clock)
  return {
    call: (call) => answer(store, call),

    createSpreadsheet({ title, owner, tabs, pickedBy = [owner] }) {
      const file = store.add({ name: title, mimeType: SPREADSHEET_MIME, owner, openedBy: pickedBy })
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
        if (sheet) writeAt(spreadsheet, sheet, 0, 0, values, { input: 'USER_ENTERED', editor: undefined })
      }
      file.spreadsheet = spreadsheet
      return { spreadsheetId: file.id }
    },

    dump(spreadsheetId) {
      const spreadsheet = store.find(spreadsheetId)?.spreadsheet
      return spreadsheet && dumpOf(spreadsheet)
    },

    edit(edit) {
      const file = spreadsheetFile(store, edit.spreadsheetId)
      const draft = draftOf(file.spreadsheet)
      applyHumanEdit(draft, edit)
      store.commit(file, draft)
    },

    share(spreadsheetId, whom, role) {
      const file = spreadsheetFile(store, spreadsheetId)
      const sharing =
        whom === 'anyone'
          ? { id: 'anyoneWithLink', type: whom, role }
          : { id: permissionId(whom), type: 'user', emailAddress: whom, role }
      file.permissions = [...file.permissions.filter(({ id }) => id !== sharing.id), sharing]
      store.touch(file)
    },

    protect(protection) {
      const file = spreadsheetFile(store, protection.spreadsheetId)
      const draft = draftOf(file.spreadsheet)
      const protectedRangeId = store.newNumber()
      addProtection(draft, protectedRangeId, protection)
      store.commit(file, draft)
      return { protectedRangeId }
    },

    spreadsheetsOf: (user) =>
      store
        .all()
        .filter((file) => file.spreadsheet && !file.trashed && accessOf(file, user) !== 'none')
        .map((file) => ({ spreadsheetId: file.id, title: file.name })),

    pick(user, spreadsheetId, project) {
      const file = spreadsheetFile(store, spreadsheetId)
      if (accessOf(file, user) === 'none') throw new Error(`${user} has no access to ${spreadsheetId}`)
      file.openedBy.add(project === undefined ? user : openingBy({ user, project }))
    },

    isWrite: (call) => (call.path.startsWith('/v4/spreadsheets') ? isSheetsWrite(call) : null),
  }
}

function spreadsheetFile(store: FileStore, spreadsheetId: string): SpreadsheetFile {
  const file = store.find(spreadsheetId)
  if (!file || !hasSpreadsheet(file)) throw new Error(`There is no spreadsheet ${spreadsheetId}`)
  return file
}

function answer(store: FileStore, call: GoogleCall): GoogleAnswer {
  try {
    return serviceOf(call.path) === 'drive' ? driveApi(store, call) : sheetsApi(store, call)
  } catch {
    return sheetsErrorAnswer(new GoogleError(500, 'INTERNAL', 'Internal error encountered.'))
  }
}
