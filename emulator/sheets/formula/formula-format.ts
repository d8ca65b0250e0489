import type { Locale } from '../cells/locale.ts'
import { type NumberFormat, numberFormatOf } from '../cells/number-format.ts'

const TYPE_OF_FUNCTION: [RegExp, string][] = [
  [/^=\s*DATE\s*\(/i, 'DATE'],
  [/^=\s*TIME\s*\(/i, 'TIME'],
]
/** `=B2` and `=B2+7`: still a date where B2 is one. The difference of two dates is a number again. */
const REFERENCE =
  /^=\s*((?:(?:'(?:[^']|'')+'|[\p{L}_][\p{L}\p{N}_.]*)!)?\$?[A-Z]{1,3}\$?\d+)\s*(?:[-+]\s*\d+(?:\.\d+)?)?\s*$/iu

/** How a formula's result is shown where its cell has no number format of its own. */
export function formatOfFormula(
  formula: string,
  locale: Locale,
  formatOfCell: (reference: string) => NumberFormat | undefined,
): NumberFormat | undefined {
  const type = TYPE_OF_FUNCTION.find(([pattern]) => pattern.test(formula))?.[1]
  if (type) return numberFormatOf({ numberFormat: { type } }, locale)
  const reference = REFERENCE.exec(formula)?.[1]
  return reference === undefined ? undefined : formatOfCell(reference)
}
