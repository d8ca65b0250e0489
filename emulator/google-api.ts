/** The seam between the HTTP side of the emulator and the spreadsheets behind it. */

export type Cell = string | number | boolean | null

/** One call of Sheets v4 or Drive v3, past authentication and faults. */
export interface GoogleCall {
  method: string
  /** Raw path without query, still percent-encoded: /v4/spreadsheets/ID/values/Sheet1%21A1:append */
  path: string
  query: URLSearchParams
  /** Parsed JSON, or undefined where the request had no body. */
  body: unknown
  /** Owner of the token. */
  user: string
}

export interface GoogleAnswer {
  status: number
  /** JSON; a string is text to send as it is (export), undefined an empty body (204). */
  body: unknown
}

/** As a person in the browser would: rows and columns count from 1. */
export type HumanEdit = { spreadsheetId: string; tab: string } & (
  | { op: 'set'; row: number; column: number; value: Cell }
  | { op: 'insertRow'; row: number; values?: Cell[] }
  | { op: 'deleteRow'; row: number }
  | { op: 'sort'; column: number; descending?: boolean }
)

/** All spreadsheets of the emulator. */
export interface GoogleWorld {
  /** Synchronous and atomic. Never throws: malformed calls get Google's error body. */
  call(call: GoogleCall): GoogleAnswer
  createSpreadsheet(options: { title: string; owner: string; tabs: { title: string; values: Cell[][] }[] }): {
    spreadsheetId: string
  }
  /** Title, tabs with cells (as entered and as shown), developer metadata; undefined for an unknown id. */
  dump(spreadsheetId: string): unknown
  /** Throws an Error with a readable message for an unknown spreadsheet, tab or row. */
  edit(edit: HumanEdit): void
  /** Whether the call counts against the write ration or the read ration; null for Drive, which counts neither. */
  isWrite(call: Pick<GoogleCall, 'method' | 'path'>): boolean | null
}
