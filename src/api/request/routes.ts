import type { SheetAddress } from '../../admission/judge.ts'
import type { ErrorForm } from '../../errors.ts'

/** What an address means. The two forms differ in nothing else (docs/contract.md#two-forms). */
export type Route =
  | { kind: 'rows'; address: SheetAddress; rowText: string | null; named?: NamedInPath }
  | { kind: 'description'; address: SheetAddress; what: 'schema' | 'openapi' | 'types' }
  | { kind: 'changes'; address: SheetAddress }
  | { kind: 'refresh'; address: SheetAddress }
  | { kind: 'undo'; address: SheetAddress; undoneId: string }
  | { kind: 'sheets' }
  | { kind: 'api-description' }

/** `…/by/{column}/{value}`: a row by what it holds. */
export interface NamedInPath {
  column: string
  value: string
}

export const rowsMethods = 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS'
export const rowMethods = 'GET, HEAD, PUT, PATCH, DELETE, OPTIONS'
export const refreshMethods = 'POST, OPTIONS'
export const readMethods = 'GET, HEAD, OPTIONS'
export const undoMethods = 'POST, OPTIONS'

/**
 * `/api/sheets/{account}/{sheet}[/{row} | /by/{column}/{value} | /operations/{id}/undo]` · `/v1/sheets` · `/v1/sheets/{id}[…]` ·
 * `/openapi.json`. A row is a number, so the names of descriptions take nothing away.
 */
export function findRoute(segments: readonly string[]): Route | null {
  const [version, collection, first, second] = segments
  if (version === 'openapi.json' && segments.length === 1) return { kind: 'api-description' }
  if (collection !== 'sheets' || segments.includes('')) return null
  if (version === 'api' && first !== undefined && second !== undefined) {
    return sheetRoute({ form: 'a', accountSlug: first, sheetSlug: second }, segments.slice(4))
  }
  if (version !== 'v1') return null
  if (first === undefined) return { kind: 'sheets' }
  return sheetRoute({ form: 'b', sheetId: first }, segments.slice(3))
}

function sheetRoute(address: SheetAddress, [below, column, value, ...rest]: readonly string[]): Route | null {
  if (below === 'operations') {
    const isUndo = column !== undefined && value === 'undo' && rest.length === 0
    return isUndo ? { kind: 'undo', address, undoneId: column } : null
  }
  if (column !== undefined) {
    const isNamed = below === 'by' && value !== undefined && rest.length === 0
    return isNamed ? { kind: 'rows', address, rowText: null, named: { column, value } } : null
  }
  if (below === 'changes') return { kind: 'changes', address }
  if (below === 'refresh') return { kind: 'refresh', address }
  if (below === 'schema') return { kind: 'description', address, what: 'schema' }
  if (below === 'types.ts') return { kind: 'description', address, what: 'types' }
  if (below === 'openapi.json') return { kind: 'description', address, what: 'openapi' }
  return { kind: 'rows', address, rowText: below ?? null }
}

/** The address itself, without host and query: what `Location` and `Link` begin with. */
export function pathOf(address: SheetAddress): string {
  return address.form === 'a'
    ? `/api/sheets/${address.accountSlug}/${address.sheetSlug}`
    : `/v1/sheets/${address.sheetId}`
}

/** Which body form a target speaks: everything under `/v1` is nested, also when the rest of it cannot be read. */
export function errorFormOf(url: string): ErrorForm {
  return underV1.test(url) ? 'nested' : 'flat'
}

const underV1 = /^(?:https?:\/\/[^/?#]*)?\/v1(?:[/?#]|$)/
