import { type FormulaShift, shiftFormula } from '../formulas/formula-shift.ts'
import { isOneCell, parseRange, shiftRange, shiftRangeList, writeRange } from '../formulas/range.ts'
import type { RowShift } from '../formulas/row-shift.ts'
import type { XmlEdits } from '../xml/xml-edits.ts'
import type { XmlElement } from '../xml/xml-tree.ts'
import { shiftExtension } from './extensions.ts'
import { recount, shiftRanged } from './rules.ts'

/** Parts of a worksheet that know no row, or whose rows are seen to elsewhere. */
const WITHOUT_ROWS = new Set(
  [
    'sheetPr dimension sheetViews sheetFormatPr cols sheetData sheetCalcPr sheetProtection phoneticPr printOptions',
    'pageMargins pageSetup headerFooter colBreaks customProperties drawing legacyDrawing legacyDrawingHF drawingHF',
    'picture tableParts',
  ].flatMap((names) => names.split(' ')),
)

/** Parts that name rows in ways we do not follow. Any other part is unknown, and stands in the way too. */
const IN_THE_WAY: ReadonlyMap<string, string> = new Map([
  ['scenarios', 'the tab has scenarios'],
  ['dataConsolidate', 'the tab consolidates other data'],
  ['customSheetViews', 'the tab has custom views'],
  ['cellWatches', 'the tab has watched cells'],
  ['smartTags', 'the tab has smart tags'],
  ['oleObjects', 'the tab has embedded objects'],
  ['controls', 'the tab has form controls'],
  ['webPublishItems', 'the tab has parts that are published as web pages'],
  ['AlternateContent', 'the tab has form controls or embedded objects'],
])

/** Lets everything on the tab itself that names rows follow when rows go, or says what stands in the way. */
export function shiftSections(worksheet: XmlElement, edits: XmlEdits, formulaShift: FormulaShift): void {
  const { shift } = formulaShift
  for (const section of worksheet.children) {
    switch (section.name) {
      case 'conditionalFormatting':
        shiftRanged(section, edits, formulaShift, section)
        break
      case 'dataValidations':
      case 'protectedRanges':
      case 'ignoredErrors':
        for (const item of section.children) shiftRanged(item, edits, formulaShift, section)
        recount(section, edits)
        break
      case 'mergeCells':
        for (const item of section.children) shiftMerge(item, edits, shift, section)
        recount(section, edits)
        break
      case 'hyperlinks':
        for (const item of section.children) shiftHyperlink(item, edits, shift, section)
        break
      case 'autoFilter':
      case 'sortState':
        shiftReferences(section, edits, shift, 'the filter of the tab')
        break
      case 'extLst':
        for (const extension of section.children) shiftExtension(extension, edits, formulaShift, section)
        break
      case 'rowBreaks':
        if (section.children.some((pageBreak) => Number(pageBreak.attribute('id')) >= shift.firstRow)) {
          throw shift.obstacle('the tab has page breaks at or below it')
        }
        break
      default:
        if (WITHOUT_ROWS.has(section.name)) break
        throw shift.obstacle(
          IN_THE_WAY.get(section.name) ?? `the tab has something unknown to Rowport (${section.name})`,
        )
    }
  }
}

/** Formulas outside of the cells of another tab, where only those change that name the edited one. */
export function shiftForeignSections(
  worksheet: XmlElement,
  edits: XmlEdits,
  tab: string,
  formulaShift: FormulaShift,
): void {
  const place = { tab, words: `a rule or a validation on the tab ${tab}` }
  for (const element of worksheet.descendants()) {
    if (!/^(?:formula[12]?|f)$/.test(element.name)) continue
    const { text } = element
    const shifted = shiftFormula(text, place, formulaShift)
    if (shifted !== text) edits.setText(element, shifted)
  }
}

function shiftMerge(merge: XmlElement, edits: XmlEdits, shift: RowShift, top: XmlElement): void {
  const range = parseRange(merge.attribute('ref') ?? '')
  if (range === undefined) return
  const left = shiftRange(range, shift)
  if (left === null || isOneCell(left)) edits.removeUpTo(merge, top)
  else edits.setAttribute(merge, 'ref', writeRange(left))
}

/** Where a link inside the workbook leads stays as it is written: Excel does not move that either. */
function shiftHyperlink(link: XmlElement, edits: XmlEdits, shift: RowShift, top: XmlElement): void {
  const left = shiftRangeList(link.attribute('ref') ?? '', shift)
  if (left === '') edits.removeUpTo(link, top)
  else edits.setAttribute(link, 'ref', left)
}

/** The attribute `ref` of an element and of all inside. */
function shiftReferences(element: XmlElement, edits: XmlEdits, shift: RowShift, words: string): void {
  for (const inner of [element, ...element.descendants()]) {
    const range = parseRange(inner.attribute('ref') ?? '')
    if (range === undefined) continue
    const left = shiftRange(range, shift)
    // A filter without its header row would take the next row for one.
    if (left === null || (inner.name === 'autoFilter' && shift.isDeleted(range.firstRow))) {
      throw shift.obstacle(`${words} begins in it`, range.firstRow, range.lastRow)
    }
    edits.setAttribute(inner, 'ref', writeRange(left))
  }
}
