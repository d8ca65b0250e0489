import type { FileStore } from '../drive/file-store.ts'
import type { GoogleAnswer, GoogleCall } from '../google-api.ts'
import { answerMask, shapedBySheets } from './answer-fields.ts'
import { GoogleError, invalidArgument, sheetsErrorAnswer } from './google-error.ts'
import { methodOf } from './methods.ts'
import { draftOf, type Spreadsheet } from './model.ts'
import { openFile, type SpreadsheetFile } from './open-file.ts'
import type { SheetsCall, SheetsMethod } from './sheets-method.ts'
import { spreadsheetMethods } from './spreadsheet-methods.ts'
import { valuesMethods } from './values-methods.ts'

const METHODS: Record<string, SheetsMethod> = { ...spreadsheetMethods, ...valuesMethods }

export function sheetsApi(store: FileStore, call: GoogleCall): GoogleAnswer {
  try {
    const found = methodOf(call)
    const method = found && METHODS[found.name]
    if (!found || !method) throw new GoogleError(404, 'NOT_FOUND', 'Method not found.')
    const newId = () => store.newNumber()
    const { query, body, user } = call
    const mask = answerMask(found.name, query.get('fields'))
    const sheetsCall: SheetsCall = { query, body, user, target: found.target, mask, newId, store }
    method.checkBody?.(sheetsCall)
    const answer =
      found.spreadsheetId === undefined
        ? method.run(NO_SPREADSHEET, sheetsCall)
        : runOn(store, openFile(store, found.spreadsheetId, user, method.writes), method, sheetsCall)
    return { status: 200, body: shapedBySheets(answer, mask) }
  } catch (error) {
    if (error instanceof GoogleError) return sheetsErrorAnswer(error)
    if (error instanceof URIError)
      return sheetsErrorAnswer(invalidArgument('Request contains an invalid argument.'))
    throw error
  }
}

const NO_SPREADSHEET: Spreadsheet = {
  spreadsheetId: '',
  owner: '',
  properties: {},
  sheets: [],
  namedRanges: [],
  metadata: [],
}

function runOn(store: FileStore, file: SpreadsheetFile, method: SheetsMethod, call: SheetsCall): unknown {
  if (!method.writes) return method.run(file.spreadsheet, call)
  const draft = draftOf(file.spreadsheet)
  const answer = method.run(draft, call)
  store.commit(file, draft)
  return answer
}
