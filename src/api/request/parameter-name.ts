import { type FilterOperator, filterOperators } from '../../sheets/rows/query/operators.ts'

/*
 * `price[gte]`: a column and an operator. A word in brackets that is an operator always is one, so that a column called
 * `price[gte]` is still reached, as `price[gte][eq]`; any other word may be part of a name, as in `Price [EUR]`.
 */

export interface BracketedName {
  before: string
  word: string
}

export function bracketsOf(name: string): BracketedName | null {
  if (!name.endsWith(']')) return null
  const at = name.lastIndexOf('[')
  const word = name.slice(at + 1, -1)
  return at < 0 || word.includes(']') ? null : { before: name.slice(0, at), word }
}

export function isBracketed(name: string): boolean {
  return operatorIn(name) !== null
}

const operators: ReadonlySet<string> = new Set(filterOperators)

export function operatorIn(name: string): FilterOperator | null {
  const word = bracketsOf(name)?.word
  return word !== undefined && operators.has(word) ? (word as FilterOperator) : null
}

/** `fields[]`, `sku[in][0]`: as many clients write the values of a list. Null for other names. */
export function listNameIn(name: string): string | null {
  if (!name.endsWith(']')) return null
  let at = name.length - 2
  while (at >= 0 && isDigit(name.charCodeAt(at))) at--
  const digits = name.length - 2 - at
  return name[at] === '[' && digits <= mostDigits ? name.slice(0, at) : null
}

const mostDigits = 6

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39
}

/** Parameters that begin with `_` or `utm_` are nobody's business (docs/contract.md#parameters). */
export function isIgnored(name: string): boolean {
  return name.startsWith('_') || name.startsWith('utm_')
}
