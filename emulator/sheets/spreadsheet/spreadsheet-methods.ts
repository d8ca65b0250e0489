import { openingBy, SPREADSHEET_MIME } from '../../drive/file-store.ts'
import { readRequests, runBatch } from '../batch-update.ts'
import { maskFor } from '../fields-mask.ts'
import { entityNotFound } from '../google-error.ts'
import { copyOfSheet, draftOf, isObject, newSheet, type Spreadsheet } from '../model.ts'
import { applySheetProperties, refuseTitle } from '../requests/sheet-properties.ts'
import { resolveA1, sheetById } from '../resolve-range.ts'
import type { SheetsCall, SheetsMethod } from '../sheets-method.ts'
import { metadataOfFilter, placesOfFilter } from '../values/data-filter.ts'
import { metadataJson } from './developer-metadata.ts'
import { newSpreadsheet } from './new-spreadsheet.ts'
import { openFile } from './open-file.ts'
import { sheetProperties, spreadsheetJson } from './spreadsheet-json.ts'

export const spreadsheetMethods: Record<string, SheetsMethod> = {
  'spreadsheets.create': { writes: true, run: (_none, call) => createSpreadsheet(call) },

  'spreadsheets.get': {
    writes: false,
    run(spreadsheet, call) {
      const places = call.query.getAll('ranges').map((range) => resolveA1(spreadsheet, range))
      const asked = call.query.get('includeGridData')?.toLowerCase() === 'true'
      return spreadsheetJson(spreadsheet, {
        user: call.user,
        withData: wantsData(call, asked),
        ...(places.length > 0 && { places }),
      })
    },
  },

  'spreadsheets.getByDataFilter': {
    writes: false,
    repeatable: true,
    run(spreadsheet, call) {
      const body = isObject(call.body) ? call.body : {}
      const filters = Array.isArray(body.dataFilters) ? body.dataFilters : []
      const places = filters.flatMap((filter) => placesOfFilter(spreadsheet, filter))
      const withData = wantsData(call, body.includeGridData === true)
      return spreadsheetJson(spreadsheet, {
        user: call.user,
        withData,
        ...(filters.length > 0 && { places }),
      })
    },
  },

  'spreadsheets.batchUpdate': {
    writes: true,
    checkBody: (call) => void readRequests(call.body),
    run(draft, call) {
      const body = isObject(call.body) ? call.body : {}
      const asked = body.responseIncludeGridData === true
      const withData = call.mask
        ? maskFor(call.mask, 'updatedSpreadsheet', 'sheets', 'data') !== undefined
        : asked
      return runBatch(
        draft,
        { ...body, responseIncludeGridData: withData },
        {
          user: call.user,
          newId: freeId(draft, call),
        },
      )
    },
  },

  'spreadsheets.sheets.copyTo': {
    writes: false,
    run(spreadsheet, call) {
      const destination = isObject(call.body) ? String(call.body.destinationSpreadsheetId ?? '') : ''
      const file = openFile(call.store, destination, call, true)
      const draft = draftOf(file.spreadsheet)
      const source = sheetById(spreadsheet, Number(call.target))
      const title = `Copy of ${source.title}`
      const sheet = { ...copyOfSheet(source), sheetId: freeId(draft, call)(), title }
      refuseTitle(draft, sheet, title)
      draft.sheets.push(sheet)
      call.store.commit(file, draft)
      return sheetProperties(draft, sheet)
    },
  },

  'spreadsheets.developerMetadata.get': {
    writes: false,
    run(spreadsheet, call) {
      const entry = spreadsheet.metadata.find(({ metadataId }) => metadataId === Number(call.target))
      if (!entry) throw entityNotFound()
      return metadataJson(entry)
    },
  },

  'spreadsheets.developerMetadata.search': {
    writes: false,
    run(spreadsheet, call) {
      const filters = isObject(call.body) && Array.isArray(call.body.dataFilters) ? call.body.dataFilters : []
      const found = new Map<object, unknown[]>()
      for (const filter of filters) {
        for (const entry of metadataOfFilter(spreadsheet, filter)) {
          found.set(entry, [...(found.get(entry) ?? []), filter])
        }
      }
      if (found.size === 0) return {}
      const matched = spreadsheet.metadata.filter((entry) => found.has(entry))
      return {
        matchedDeveloperMetadata: matched.map((entry) => ({
          developerMetadata: metadataJson(entry),
          dataFilters: found.get(entry),
        })),
      }
    },
  },
}

/** A field mask decides alone; includeGridData counts only without one. */
function wantsData(call: SheetsCall, asked: boolean): boolean {
  return call.mask ? maskFor(call.mask, 'sheets', 'data') !== undefined : asked
}

function freeId(draft: Spreadsheet, call: SheetsCall): () => number {
  return () => {
    for (;;) {
      const id = call.newId()
      const isTaken = draft.sheets.some((sheet) => sheet.sheetId === id)
      if (!isTaken && !draft.metadata.some((entry) => entry.metadataId === id)) return id
    }
  }
}

function createSpreadsheet(call: SheetsCall): unknown {
  const body = isObject(call.body) ? call.body : {}
  const properties = isObject(body.properties) ? body.properties : {}
  const title = typeof properties.title === 'string' ? properties.title : 'Untitled spreadsheet'
  const id = call.store.newFileId()
  const spreadsheet = newSpreadsheet(id, title, call.user)
  for (const name of ['locale', 'timeZone', 'autoRecalc']) {
    const value = properties[name]
    if (typeof value === 'string') spreadsheet.properties[name] = value
  }
  const sheets = Array.isArray(body.sheets) ? body.sheets.filter(isObject) : []
  if (sheets.length > 0) {
    spreadsheet.sheets = []
    for (const [index, given] of sheets.entries()) {
      const own = isObject(given.properties) ? given.properties : {}
      const { index: _index, ...others } = own
      const sheetId = typeof own.sheetId === 'number' ? own.sheetId : index === 0 ? 0 : call.newId()
      const sheet = newSheet(sheetId, `Sheet${index + 1}`)
      spreadsheet.sheets.push(sheet)
      applySheetProperties(spreadsheet, sheet, others, 'all')
    }
  }
  const file = call.store.add({
    id,
    name: title,
    mimeType: SPREADSHEET_MIME,
    owner: call.user,
    openedBy: [openingBy(call)],
  })
  file.spreadsheet = spreadsheet
  return spreadsheetJson(spreadsheet, { user: call.user, withData: false })
}
