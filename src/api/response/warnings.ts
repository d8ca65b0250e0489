import { isStaleIn, type StaleColumn } from '../../sheets/rows/stale-results.ts'

/* What a client should know beside the rows. The same members in both forms: at the top in one, in `meta` in the other. */

export function warningMember(warning: string | null | undefined): string {
  return warning ? `,"warnings":${JSON.stringify([warning])}` : ''
}

export function warningHeader(warning: string | null | undefined): string[] {
  return warning ? ['X-Rowport-Warning', warning] : []
}

/** `"stale":{"total":[5]}`: the columns in which this row has outdated results. */
export function staleMember(keys: readonly string[] | undefined, rowNumber: number): string {
  if (keys === undefined || keys.length === 0) return ''
  return `,"stale":{${keys.map((key) => `${JSON.stringify(key)}:[${rowNumber}]`).join(',')}}`
}

export function staleKeysOf(stale: readonly StaleColumn[], rowNumber: number): string[] {
  return stale.filter((column) => isStaleIn(column, rowNumber)).map(({ key }) => key)
}
