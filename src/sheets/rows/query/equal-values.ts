import { foldText } from './text-order.ts'
import { cellTextsAt, timeKeyOfValue } from './time-key.ts'

const jsonNumber = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:e[+-]?\d+)?$/i

export function numberIn(value: string): number | null {
  return jsonNumber.test(value) ? Number(value) : null
}

/** All folded texts that equal a value: its own, and those of the same time. */
export function equalTexts(value: string): ReadonlySet<string> {
  const text = foldText(value)
  const key = timeKeyOfValue(text)
  return new Set([text, ...(key === null ? [] : cellTextsAt(key))])
}

/** Two values of which one cell could equal both have one of these in common. */
export function equalityKeys(value: string): string[] {
  const number = numberIn(value)
  const keys = Array.from(equalTexts(value), (text) => `t${text}`)
  // Of zero there are two, and they are equal.
  if (number !== null) keys.push(`n${number === 0 ? 0 : number}`)
  return keys
}
