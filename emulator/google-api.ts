/** The seam between the HTTP side of the emulator and the spreadsheets behind it. */

export type Cell = string | number | boolean | null

/** Who calls, and how far their token reaches. */
export interface Caller {
  /** Owner of the token. */
  user: string
  /** Number of the project that the calling app belongs to: what it creates is open to it. */
  project?: string
  /** drive.file alone: only files that the app created, or that the person picked for it. */
  onlyPicked?: boolean
}

/** One call of Sheets v4 or Drive v3, past authentication and faults. */
export interface GoogleCall extends Caller {
  method: string
  /** Raw path without query, still percent-encoded: /v4/spreadsheets/ID/values/Sheet1%21A1:append */
  path: string
  query: URLSearchParams
  /** Parsed JSON, or undefined where the request had no body. */
  body: unknown
  /** What was uploaded, in the place of a body. */
  media?: { mimeType: string; text: string }
  /** Hold strict data validation against writes of the API, too. */
  strictValidation?: boolean
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
  | { op: 'insertColumn'; column: number; header?: Cell }
  | { op: 'deleteColumn'; column: number }
  /** `to` is where it stands afterwards. */
  | { op: 'moveColumn'; column: number; to: number }
  | { op: 'sort'; column: number; descending?: boolean }
)

export interface NewSpreadsheet {
  title: string
  owner: string
  tabs: { title: string; values: Cell[][] }[]
  /** Whose drive.file tokens see it; without it, those of its owner. */
  pickedBy?: string[]
}

export interface Protection {
  spreadsheetId: string
  tab: string
  /** In A1 notation without a tab; the whole tab without it. */
  range?: string
  /** Besides the owner, who may always edit. */
  editors: string[]
  warningOnly?: boolean
}

/** What the authorization page needs of the files, in the place of Google's Picker. */
export interface Picker {
  spreadsheetsOf(user: string): { spreadsheetId: string; title: string }[]
  /** For the apps of one project, or of all. Throws an Error with a readable message where the user has no such file. */
  pick(user: string, spreadsheetId: string, project?: string): void
}

/** All spreadsheets of the emulator. */
export interface GoogleWorld extends Picker {
  /** Synchronous and atomic. Never throws: malformed calls get Google's error body. */
  call(call: GoogleCall): GoogleAnswer
  createSpreadsheet(options: NewSpreadsheet): { spreadsheetId: string }
  /** Title, tabs with cells (as entered and as shown), developer metadata; undefined for an unknown id. */
  dump(spreadsheetId: string): unknown
  /** Throws an Error with a readable message for an unknown spreadsheet, tab or row. */
  edit(edit: HumanEdit): void
  /** As the owner would in the browser: with an address, or with `anyone` who has the link. Throws as `edit` does. */
  share(spreadsheetId: string, whom: string, role: 'reader' | 'writer'): void
  /** As the owner would in the browser. Throws as `edit` does. */
  protect(protection: Protection): { protectedRangeId: number }
  /** Whether the call counts against the write ration or the read ration; null for Drive, which counts neither. */
  isWrite(call: Pick<GoogleCall, 'method' | 'path'>): boolean | null
}
