import { MAX_COLUMNS, MAX_ROWS } from '../container/limits.ts'

/** `B7` as row * MAX_COLUMNS + column, both from 0: one number instead of one object per cell; -1 = no such cell. */
export function parseCellReference(reference: string): number {
  let at = 0
  let column = 0
  for (; at < 3; at++) {
    const letter = reference.charCodeAt(at) & ~0x20
    if (!(letter >= 65 && letter <= 90)) break
    column = column * 26 + letter - 64
  }
  const row = parseRowNumber(reference.slice(at))
  if (at === 0 || column > MAX_COLUMNS || row === -1) return -1
  return row * MAX_COLUMNS + column - 1
}

/** `7` as 6; -1 = no such row. */
export function parseRowNumber(digits: string): number {
  if (digits.length === 0 || digits.length > 7) return -1
  let row = 0
  for (let at = 0; at < digits.length; at++) {
    const digit = digits.charCodeAt(at) - 48
    if (!(digit >= 0 && digit <= 9)) return -1
    row = row * 10 + digit
  }
  return row <= MAX_ROWS ? row - 1 : -1
}

/** `B7` from row 6 and column 1, both from 0. */
export function writeCellReference(row: number, column: number): string {
  return `${columnLetters(column)}${row + 1}`
}

/** `B` from 1. */
export function columnLetters(column: number): string {
  let letters = ''
  for (let rest = column + 1; rest > 0; rest = Math.floor((rest - 1) / 26)) {
    letters = String.fromCharCode(65 + ((rest - 1) % 26)) + letters
  }
  return letters
}
