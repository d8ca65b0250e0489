import { type FormulaShift, shiftFormula } from '../formulas/formula-shift.ts'
import { shiftRangeList } from '../formulas/range.ts'
import type { XmlEdits } from '../xml/xml-edits.ts'
import type { XmlElement } from '../xml/xml-tree.ts'
import { recount, shiftRuleFormulas, topOf } from './rules.ts'

/** Those extensions that Excel adds to a worksheet which hold ranges and formulas the same way, or none. */
const KNOWN_EXTENSIONS = new Set([
  'conditionalFormattings',
  'dataValidations',
  'ignoredErrors',
  // How Excel for Mac shows the page.
  'PLV',
  'protectedRanges',
  'slicerList',
  'sparklineGroups',
  'timelineRefs',
])

/** Extensions have ranges and formulas as elements (`xm:sqref`, `xm:f`). */
export function shiftExtension(
  extension: XmlElement,
  edits: XmlEdits,
  formulaShift: FormulaShift,
  list: XmlElement,
): void {
  const unknown = extension.children.find(({ name }) => !KNOWN_EXTENSIONS.has(name))
  if (unknown) {
    throw formulaShift.shift.obstacle(`the tab has something unknown to Rowport (${unknown.name})`)
  }
  for (const element of extension.descendants()) {
    if (element.name === 'sparklineGroup') shiftOwnFormula(element, edits, formulaShift)
    const ranges = element.child('sqref')
    if (ranges === undefined) continue
    const left = shiftRangeList(ranges.text, formulaShift.shift)
    if (left === '') {
      edits.removeUpTo(element, list)
      continue
    }
    if (left !== ranges.text) edits.setText(ranges, left)
    if (element.name === 'sparkline') shiftOwnFormula(element, edits, formulaShift)
    else shiftRuleFormulas(element, edits, formulaShift, { before: topOf(ranges.text), after: topOf(left) })
  }
  for (const element of extension.descendants()) recount(element, edits)
}

function shiftOwnFormula(element: XmlElement, edits: XmlEdits, formulaShift: FormulaShift): void {
  const formula = element.child('f')
  if (formula === undefined) return
  const { text } = formula
  const shifted = shiftFormula(text, { tab: formulaShift.tab, words: 'a sparkline' }, formulaShift)
  if (shifted !== text) edits.setText(formula, shifted)
}
