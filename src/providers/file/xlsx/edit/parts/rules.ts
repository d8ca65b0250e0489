import { type FormulaPlace, type FormulaShift, shiftRangeFormula } from '../formulas/formula-shift.ts'
import { parseRange, shiftRangeList } from '../formulas/range.ts'
import type { XmlEdits } from '../xml/xml-edits.ts'
import type { XmlElement } from '../xml/xml-tree.ts'

/** An element that has its ranges in `sqref` and formulas inside that count from the first of them. */
export function shiftRanged(
  element: XmlElement,
  edits: XmlEdits,
  formulaShift: FormulaShift,
  top: XmlElement,
): void {
  const ranges = element.attribute('sqref')
  if (ranges === undefined) return
  const left = shiftRangeList(ranges, formulaShift.shift)
  if (left === '') {
    edits.removeUpTo(element, top)
    return
  }
  edits.setAttribute(element, 'sqref', left)
  shiftRuleFormulas(element, edits, formulaShift, { before: topOf(ranges), after: topOf(left) })
}

export function shiftRuleFormulas(
  element: XmlElement,
  edits: XmlEdits,
  formulaShift: FormulaShift,
  top: { before: number; after: number },
): void {
  const place: FormulaPlace = { tab: formulaShift.tab, words: 'a conditional format or a validation' }
  for (const inner of element.descendants()) {
    if (/^(?:formula[12]?|f)$/.test(inner.name) && inner.children.length === 0) {
      const shifted = shiftRangeFormula(inner.text, place, formulaShift, top)
      if (shifted !== inner.text) edits.setText(inner, shifted)
    } else if (inner.name === 'cfvo') {
      const value = inner.attribute('val')
      if (value !== undefined) {
        edits.setAttribute(inner, 'val', shiftRangeFormula(value, place, formulaShift, top))
      }
    }
  }
}

/** The row that relative references in the formulas of these ranges count from. */
export function topOf(ranges: string): number {
  return parseRange(ranges.trim().split(/\s+/)[0] ?? '')?.firstRow ?? 1
}

/** Lists that say how many they have. */
export function recount(list: XmlElement, edits: XmlEdits): void {
  if (list.attribute('count') === undefined || edits.isRemoved(list)) return
  const left = list.children.filter((child) => !edits.isRemoved(child)).length
  if (left < list.children.length) edits.setAttribute(list, 'count', String(left))
}
