import { isStaleIn, type StaleColumn } from '../../sheets/rows/stale-results.ts'

/* What a client should know beside the rows. The same members in both forms: at the top in one, in `meta` in the other. */

type MaybeWarning = string | null | undefined

export function warningMember(...warnings: readonly MaybeWarning[]): string {
  const told = warnings.filter(isTold)
  return told.length > 0 ? `,"warnings":${JSON.stringify(told)}` : ''
}

/** They are sentences, so they can stand one after the other. */
export function warningHeader(...warnings: readonly MaybeWarning[]): string[] {
  const told = warnings.filter(isTold)
  return told.length > 0 ? ['X-Rowport-Warning', told.join(' ')] : []
}

function isTold(warning: MaybeWarning): warning is string {
  return warning !== null && warning !== undefined
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
