import type { XmlPart } from '../../container/part.ts'
import type { StaleResults } from '../../read/workbook.ts'
import { type FormulaShift, shiftFormula } from '../formulas/formula-shift.ts'
import { XmlEdits } from '../xml/xml-edits.ts'
import { readXmlTree, type XmlElement } from '../xml/xml-tree.ts'

/** Elements of a workbook part that stand before `calcPr` (ECMA-376-1, 18.2.27), the last ones of them. */
const BEFORE_CALCULATION = new Set(['sheets', 'functionGroups', 'externalReferences', 'definedNames'])

export interface WorkbookPartChange {
  /** Results that were stored may be outdated: whoever opens the workbook calculates them anew. */
  recalculates: boolean
  /** Which of them are, where some are. */
  stale: Exclude<StaleResults, 'none'> | null
  formulaShift: FormulaShift
}

/** The workbook part after a change to a tab; undefined when it stays as it is. */
export function changeWorkbookPart(part: XmlPart, change: WorkbookPartChange): XmlPart | undefined {
  const root = readXmlTree(part.text)
  const edits = new XmlEdits(part.text)
  if (change.recalculates) recalculateOnOpening(root, edits, change.stale)
  if (!change.formulaShift.shift.isEmpty) shiftNames(root, edits, change.formulaShift)
  return edits.isEmpty ? undefined : { ...part, text: edits.toText() }
}

function recalculateOnOpening(root: XmlElement, edits: XmlEdits, stale: WorkbookPartChange['stale']): void {
  const calculation = root.child('calcPr')
  const completed = stale === 'any' ? 'false' : '0'
  if (calculation) {
    if (calculation.attribute('fullCalcOnLoad') !== 'true')
      edits.setAttribute(calculation, 'fullCalcOnLoad', '1')
    if (stale !== null && calculation.attribute('calcCompleted') !== 'false')
      edits.setAttribute(calculation, 'calcCompleted', completed)
    return
  }
  const before = root.children.findLast(({ name }) => BEFORE_CALCULATION.has(name))
  const mark = stale === null ? '' : ` calcCompleted="${completed}"`
  if (before) edits.insertAfter(before, `<${root.prefix}calcPr fullCalcOnLoad="1"${mark}/>`)
}

/** Formulas by the names that the workbook gives them, in small letters. A name that tabs have for themselves means all of theirs. */
export function readDefinedNames({ text }: XmlPart): Map<string, string> {
  const names = readXmlTree(text).child('definedNames')?.children ?? []
  const formulas = new Map<string, string>()
  for (const element of names) {
    const name = element.attribute('name')?.toLowerCase() ?? ''
    const other = formulas.get(name)
    formulas.set(name, other === undefined ? element.text : `${other},${element.text}`)
  }
  return formulas
}

function shiftNames(root: XmlElement, edits: XmlEdits, formulaShift: FormulaShift): void {
  for (const element of root.child('definedNames')?.children ?? []) {
    const { text } = element
    const words = `the name ${element.attribute('name')}`
    const shifted = shiftFormula(text, { tab: undefined, words }, formulaShift)
    if (shifted !== text) edits.setText(element, shifted)
  }
}

/** A part of relationships or of content types without what it says of one part. */
export function withoutPart(part: XmlPart, isMeant: (element: XmlElement) => boolean): XmlPart {
  const edits = new XmlEdits(part.text)
  for (const element of readXmlTree(part.text).children) if (isMeant(element)) edits.remove(element)
  return { ...part, text: edits.toText() }
}
