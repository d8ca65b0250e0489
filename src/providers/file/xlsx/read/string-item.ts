import { xlsxFailure } from '../container/failure.ts'
import { MAX_CELL_TEXT_CHARS } from '../container/limits.ts'

/** The text of one `<si>` or `<is>`: its own `<t>` and those of its runs, not the phonetic ones (`<rPh>`). */
export interface StringItem {
  start(): void
  /** `level` counts from the item: its children are 1. */
  open(name: string, level: number): void
  text(text: string): void
  close(): void
  value(): string
}

export function createStringItem(): StringItem {
  let whole = ''
  let piece = ''
  let inRun = false
  let inText = false
  return {
    start() {
      whole = ''
      inText = false
    },
    open(name, level) {
      if (level === 1) inRun = name === 'r'
      inText = name === 't' && (level === 1 || (level === 2 && inRun))
      piece = ''
    },
    text(text) {
      if (!inText) return
      piece += text
      if (piece.length > MAX_CELL_TEXT_CHARS) throw xlsxFailure('tooLarge', 'endless text')
    },
    close() {
      if (inText) whole += decodeXstring(piece)
      if (whole.length > MAX_CELL_TEXT_CHARS) throw xlsxFailure('tooLarge', 'endless text')
      inText = false
    },
    value: () => whole,
  }
}

/**
 * Excel writes characters that XML cannot carry as `_x000D_`, and an underscore that would begin such a
 * sequence as `_x005F_` (ECMA-376-1, 22.9.2.19 ST_Xstring): one pass from the left undoes both.
 */
export function decodeXstring(text: string): string {
  if (!text.includes('_x')) return text
  return text
    .replace(/_x([0-9a-fA-F]{4})_/g, (_all, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    .toWellFormed()
}
