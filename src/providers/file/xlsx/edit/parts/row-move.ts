import { decodeXmlEntities } from '../../container/xml-entities.ts'
import { escapeText } from '../xml/xml-edits.ts'
import type { ScannedRow } from './sheet-scan.ts'

const ROW = /^(<[^\s>]+\s(?:[^>]*?\s)?r=")(\d+)"/
const CELL_OR_FORMULA =
  /(<(?:[\w.-]+:)?c\s(?:[^>]*?\s)?r=")([A-Z]{1,3})(\d+)"|(<(?:[\w.-]+:)?f(?:\s[^>]*)?>)([^<]*)/g
const FORMULA = /<(?:[\w.-]+:)?f(?:\s[^>]*)?>([^<]*)/g

/**
 * A row under another number, with nothing else changed but its formulas. By patterns, which is several times as fast
 * as taking it apart, and there may be a hundred thousand of them. What they find is held against what the scan has
 * counted: undefined when it is not just that, and the row has to be taken apart.
 */
export function moveRow(
  rowText: string,
  row: ScannedRow,
  newNumber: number,
  changeFormula: (formula: string, cell: string) => string,
): string | undefined {
  // Comments and CDATA could hold anything.
  if (rowText.includes('<!')) return undefined
  const oldNumber = String(row.number)
  let cells = 0
  let formulas = 0
  let reference = ''
  const moved = rowText.replace(
    CELL_OR_FORMULA,
    (all: string, cellTag: string, letters: string, number: string, formulaTag: string, formula: string) => {
      if (cellTag !== undefined) {
        if (number === oldNumber) cells++
        reference = letters + number
        return `${cellTag}${letters}${newNumber}"`
      }
      formulas++
      const text = decodeXmlEntities(formula)
      const changed = changeFormula(text, reference)
      return changed === text ? all : formulaTag + escapeText(changed)
    },
  )
  if (cells !== row.cells || formulas !== row.formulas) return undefined
  if (ROW.exec(rowText)?.[2] !== oldNumber) return undefined
  return moved.replace(ROW, (_all, tag: string) => `${tag}${newNumber}"`)
}

/** The text of all formulas in a row, to look for numbers in. */
export function formulasIn(rowText: string): string {
  if (rowText.includes('<!')) return rowText
  return Array.from(rowText.matchAll(FORMULA), ([, formula]) => formula).join(' ')
}
