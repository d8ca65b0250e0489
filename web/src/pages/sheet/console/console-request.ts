import type { ColumnView } from '../../../../../src/dashboard/contract.ts'

/** What stands in the console's form. */
export interface Asked {
  method: string
  row: string
  /** The column whose value `row` is; null where it is the row's number. */
  rowBy: string | null
  /** null until somebody types one. */
  query: string | null
  /** null until somebody types one: what is suggested may only be known later. */
  body: string | null
}

export const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

/** Values that the sheet really has, so that what is sent untouched does not spoil a column. */
export function exampleBody(columns: readonly ColumnView[]): string {
  return JSON.stringify(Object.fromEntries(columns.map(({ name, example }) => [name, example])), null, 2)
}

export const queryExamples: Record<string, string> = {
  GET: 'price[gte]=10&sort=-price&limit=10',
  POST: 'upsert=sku&dry_run=true',
  PUT: 'dry_run=true',
  PATCH: 'price[gte]=10&dry_run=true',
  DELETE: 'price[gte]=10&dry_run=true',
}

/** What follows the address of the sheet. */
export function pathToRow(row: string, rowBy: string | null): string {
  if (row === '') return ''
  return rowBy === null ? `/${row}` : `/by/${encodeURIComponent(rowBy)}/${encodeURIComponent(row)}`
}

export function isTrial(query: string): boolean {
  return new URLSearchParams(query).get('dry_run') === 'true'
}

/** Whether a write is of all rows that its query leaves, where no row is named. */
export function isOfMany(method: string, query: string): boolean {
  const names = [...new URLSearchParams(query).keys()]
  return (
    ['PATCH', 'DELETE'].includes(method) &&
    names.some((name) => !['dry_run', 'max_rows', 'row'].includes(name))
  )
}

/** The button says what it does before it is pressed. */
export function whatHappens({ method, row, query }: Asked): string {
  if (method === 'GET') return 'Send'
  const search = query ?? ''
  if (isTrial(search)) return 'Send dry run'
  if (method === 'POST') {
    return new URLSearchParams(search).has('upsert') ? 'Add or update rows' : 'Add row to spreadsheet'
  }
  const verb = method === 'DELETE' ? 'Delete' : 'Update'
  if (row === '' && isOfMany(method, search)) return `${verb} all matching rows`
  return `${verb} row${row ? ` ${row}` : ''}`
}
