import { isStaleIn, type StaleColumn } from '../../sheets/rows/stale-results.ts'

/* What a client should know beside the rows. The same members in both forms: at the top in one, in `meta` in the other. */

export function warningMember(warning: string | null | undefined): string {
  return warning ? `,"warnings":${JSON.stringify([warning])}` : ''
}

export function warningHeader(warning: string | null | undefined): string[] {
  return warning ? ['X-Rowport-Warning', warning] : []
}

/** `"stale":{"total":[5]}`: by column, the rows of the answer that have outdated results there. */
export function staleMember(
  stale: readonly { key: string; rowNumbers: readonly number[] }[] | undefined,
): string {
  if (stale === undefined || stale.length === 0) return ''
  return `,"stale":{${stale.map(({ key, rowNumbers }) => `${JSON.stringify(key)}:[${rowNumbers}]`).join(',')}}`
}

export function staleKeysOf(stale: readonly StaleColumn[], rowNumber: number): string[] {
  return stale.filter((column) => isStaleIn(column, rowNumber)).map(({ key }) => key)
}
