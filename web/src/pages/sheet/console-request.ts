import type { ColumnView } from '../../../../src/dashboard/contract.ts'

/** What stands in the console's form. */
export interface Asked {
  method: string
  row: string
  /** null until somebody types one. */
  query: string | null
  body: string
}

export const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

/** Values that the sheet really has, so that what is sent untouched does not spoil a column. */
export function exampleBody(columns: readonly ColumnView[]): string {
  return JSON.stringify(Object.fromEntries(columns.map(({ name, example }) => [name, example])), null, 2)
}

/** The button says what it does before it is pressed. */
export function whatHappens(method: string, row: string): string {
  if (method === 'GET') return 'Send'
  if (method === 'POST') return 'Add row to spreadsheet'
  return `${method === 'DELETE' ? 'Delete' : 'Update'} row${row ? ` ${row}` : ''}`
}
