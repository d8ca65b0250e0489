import { stylesOfRow } from '../xml/row-xml.ts'
import type { RowWrite } from './edit-plan.ts'
import type { SheetRewrite } from './sheet-rewrite.ts'
import type { SheetScan } from './sheet-scan.ts'
import type { Styles } from './styles.ts'

/**
 * How written cells look. One that is there keeps its style; a new one takes that of its row or column; an added row
 * looks like the row with data above it, its empty cells too, unless that is the header.
 */
export function createCellStyles(
  scan: SheetScan,
  styles: Styles,
  headerWidth: number,
): Pick<SheetRewrite, 'look' | 'emptyCellsOf'> {
  const models = new Map<number, ReadonlyMap<number, string>>()
  const columnStyles = (scan.root.child('cols')?.children ?? [])
    .map((column) => ({
      first: Number(column.attribute('min')) - 1,
      last: Number(column.attribute('max')) - 1,
      style: column.attribute('style'),
    }))
    .filter(({ style }) => style !== undefined)

  function modelOf({ isAdded, modelRow }: RowWrite): ReadonlyMap<number, string> {
    if (!isAdded || modelRow <= 1) return new Map()
    const known = models.get(modelRow)
    if (known) return known
    const row = scan.rows.find(({ number }) => number === modelRow)
    const model = row ? stylesOfRow(scan.text.slice(row.start, row.end)) : new Map<number, string>()
    models.set(modelRow, model)
    return model
  }

  return {
    look: {
      fitting(cell, style) {
        if (typeof cell === 'number') return { cell, style: styles.forNumber(cell, style) }
        return typeof cell === 'object' && cell !== null ? styles.forTime(cell, style) : { cell, style }
      },
      styleOf: (write, column) =>
        modelOf(write).get(column) ??
        columnStyles.find(({ first, last }) => column >= first && column <= last)?.style,
    },
    emptyCellsOf: (write) => [...modelOf(write).keys()].filter((column) => column < headerWidth),
  }
}
