import type { FileStore } from '../drive/file-store.ts'
import type { Caller } from '../google-api.ts'
import type { Mask } from './fields-mask.ts'
import type { Spreadsheet } from './model.ts'

export interface SheetsCall extends Caller {
  query: URLSearchParams
  body: unknown
  /** From the path: the range, sheet or metadata id, decoded. */
  target: string
  mask: Mask | undefined
  newId: () => number
  store: FileStore
  strictValidation?: boolean
}

/** Read methods get the spreadsheet as it is, write methods a draft that is kept only if they return. */
export interface SheetsMethod {
  writes: boolean
  /** The answer depends on the spreadsheet, on who asks and on what is asked alone. */
  repeatable?: boolean
  /** Refuses a body Google's parser would refuse, before the spreadsheet is looked up. */
  checkBody?(call: SheetsCall): void
  run(spreadsheet: Spreadsheet, call: SheetsCall): unknown
}
