import type { Change, ChangeResult, LostWithChange } from '../../../../../sheets/change.ts'
import type { XlsxCellReader } from '../../read/cell-value.ts'
import { columnOf } from '../xml/row-xml.ts'
import { readXmlTree } from '../xml/xml-tree.ts'
import type { EditPlan } from './edit-plan.ts'
import type { SheetScan } from './sheet-scan.ts'

/** The results with what rows held that their values do not tell: dates that were written over, and formulas. */
export function withLost(
  results: readonly ChangeResult[],
  changes: readonly Change[],
  { rowsOfResults }: EditPlan,
  scan: SheetScan,
  reader: XlsxCellReader,
): ChangeResult[] {
  const rows = new Map(scan.rows.map((row) => [row.number, row]))
  const met = new Set<number>()
  return results.map((result, at) => {
    const change = changes[at]
    const number = rowsOfResults[at] ?? null
    const row = number === null ? undefined : rows.get(number)
    // A second change of a row begins with what the first has made of it.
    if (number === null || !row || met.has(number)) return result
    met.add(number)
    const written = change?.kind === 'update' ? new Set(change.cells.map((cell) => cell.columnIndex)) : null
    const lost = findLostCells(scan.text.slice(row.start, row.end), written, reader)
    return lost ? { ...result, lost } : result
  })
}

function findLostCells(
  rowText: string,
  written: ReadonlySet<number> | null,
  reader: XlsxCellReader,
): LostWithChange | null {
  const times: [number, string][] = []
  const formulas: number[] = []
  let column = -1
  for (const element of readXmlTree(rowText).children) {
    if (element.name !== 'c') continue
    column = columnOf(element, column)
    const type = element.attribute('t') ?? 'n'
    const raw = element.child('v')?.text ?? ''
    if (element.child('f')) formulas.push(column)
    else if ((type === 'n' || type === 'd') && raw !== '' && (written?.has(column) ?? true)) {
      const style = element.attribute('s')
      if (typeof reader.value(raw, type, style) === 'string') times.push([column, style ?? ''])
    }
  }
  if (times.length + formulas.length === 0) return null
  return { ...(times.length > 0 && { times }), ...(formulas.length > 0 && { formulas }) }
}
