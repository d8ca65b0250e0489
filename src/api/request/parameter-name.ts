import { type FilterOperator, filterOperators } from '../../sheets/rows/query/operators.ts'

/*
 * `price[gte]`: a column and an operator. A word in brackets that is an operator always is one, so that a column called
 * `price[gte]` is still reached, as `price[gte][eq]`; any other word may be part of a name, as in `Price [EUR]`.
 */

const bracketed = /^(.*)\[([^\][]*)\]$/s

export interface BracketedName {
  before: string
  word: string
}

export function bracketsOf(name: string): BracketedName | null {
  const parts = bracketed.exec(name)
  return parts && { before: parts[1] ?? '', word: parts[2] ?? '' }
}

export function isBracketed(name: string): boolean {
  return operatorIn(name) !== null
}

export function operatorIn(name: string): FilterOperator | null {
  const word = bracketsOf(name)?.word
  return filterOperators.find((operator) => operator === word) ?? null
}

/** `fields[]`, `sku[in][0]`: as many clients write the values of a list. Null for other names. */
export function listNameIn(name: string): string | null {
  const brackets = bracketsOf(name)
  return brackets && /^\d{0,6}$/.test(brackets.word) ? brackets.before : null
}

/** Parameters that begin with `_` or `utm_` are nobody's business (docs/contract.md#parameters). */
export function isIgnored(name: string): boolean {
  return name.startsWith('_') || name.startsWith('utm_')
}
