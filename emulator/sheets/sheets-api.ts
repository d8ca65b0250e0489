import type { FileStore } from '../drive/file-store.ts'
import type { GoogleAnswer, GoogleCall } from '../google-api.ts'
import { answerMask, shapedBySheets } from './answer-fields.ts'
import { GoogleError, invalidArgument, sheetsErrorAnswer } from './google-error.ts'
import { methodOf } from './methods.ts'
import { draftOf, type Spreadsheet } from './model.ts'
import { answerOnce } from './repeated-answers.ts'
import type { SheetsCall, SheetsMethod } from './sheets-method.ts'
import { openFile, type SpreadsheetFile } from './spreadsheet/open-file.ts'
import { spreadsheetMethods } from './spreadsheet/spreadsheet-methods.ts'
import { refuseInvalid } from './strict-validation.ts'
import { valuesMethods } from './values/values-methods.ts'

const METHODS: Record<string, SheetsMethod> = { ...spreadsheetMethods, ...valuesMethods }

export function sheetsApi(store: FileStore, call: GoogleCall): GoogleAnswer {
  try {
    const found = methodOf(call)
    const method = found && METHODS[found.name]
    if (!found || !method) throw new GoogleError(404, 'NOT_FOUND', 'Method not found.')
    const newId = () => store.newNumber()
    const { query, body, method: _method, path: _path, ...caller } = call
    const mask = answerMask(found.name, query.get('fields'))
    const sheetsCall: SheetsCall = {
      ...caller,
      query,
      body,
      target: found.target,
      mask,
      newId,
      store,
    }
    method.checkBody?.(sheetsCall)
    if (found.spreadsheetId === undefined) {
      return { status: 200, body: shapedBySheets(method.run(NO_SPREADSHEET, sheetsCall), mask) }
    }
    const file = openFile(store, found.spreadsheetId, call, method.writes)
    const answer = (): unknown => shapedBySheets(runOn(store, file, method, sheetsCall), mask)
    const answered = method.repeatable
      ? answerOnce(
          file.spreadsheet,
          { name: found.name, target: found.target, query, body, user: call.user },
          answer,
        )
      : answer()
    return { status: 200, body: answered }
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
  if (call.strictValidation) refuseInvalid(file.spreadsheet, draft)
  store.commit(file, draft)
  return answer
}
