import type { EffectiveValue } from '../model.ts'

/** What a formula reckons with. */
export type Operand = EffectiveValue | undefined

export class FormulaError extends Error {
  readonly value: { type: string; message?: string }
  constructor(type: string, message?: string) {
    super(message ?? type)
    this.value = message === undefined ? { type } : { type, message }
  }
}

/** Raises an error in a cell, which is the error of every formula that looks at it. */
export function raise(value: Operand): void {
  if (value && 'errorValue' in value) throw new FormulaError(value.errorValue.type, value.errorValue.message)
}

export function numberOf(value: Operand, name: string, position: number): number {
  raise(value)
  if (!value) return 0
  if ('numberValue' in value) return value.numberValue
  if ('boolValue' in value) return value.boolValue ? 1 : 0
  const text = textOf(value)
  if (text.trim() !== '' && Number.isFinite(Number(text))) return Number(text)
  throw new FormulaError(
    'VALUE',
    `Function ${name} parameter ${position} expects number values. But '${text}' is a text and cannot be coerced to a number.`,
  )
}

export function textOf(value: Operand): string {
  raise(value)
  if (!value || 'errorValue' in value) return ''
  if ('boolValue' in value) return value.boolValue ? 'TRUE' : 'FALSE'
  return 'numberValue' in value ? String(Number(value.numberValue.toPrecision(15))) : value.stringValue
}
