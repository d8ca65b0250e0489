import type { CellDisplay } from './cells/cell-display.ts'
import { movedByRows } from './formula/formula-references.ts'
import { type Area, cellAt, type EffectiveValue, type Sheet, type SheetCell } from './model.ts'

/** The rows of an area in order: numbers, then text, then booleans, empty cells always last. */
export function sortedRows(
  display: CellDisplay,
  sheet: Sheet,
  area: Area,
  keys: { column: number; descending: boolean }[],
): (SheetCell | undefined)[][] {
  const height = Math.min(area.endRow, sheet.rows.length) - area.startRow
  const rows = Array.from({ length: Math.max(0, height) }, (_, offset) => area.startRow + offset)
  const order = rows.toSorted((one, other) => {
    for (const { column, descending } of keys) {
      const a = display.effective(sheet, cellAt(sheet, one, column))
      const b = display.effective(sheet, cellAt(sheet, other, column))
      if (a === undefined && b === undefined) continue
      if (a === undefined) return 1
      if (b === undefined) return -1
      const verdict = compareValues(a, b)
      if (verdict !== 0) return descending ? -verdict : verdict
    }
    return one - other
  })
  return order.map((row, position) =>
    Array.from({ length: area.endColumn - area.startColumn }, (_, offset) =>
      movedByRows(cellAt(sheet, row, area.startColumn + offset), area.startRow + position - row),
    ),
  )
}

function compareValues(one: EffectiveValue, other: EffectiveValue): number {
  const [a, b] = [sortKey(one), sortKey(other)]
  if (a.rank !== b.rank) return a.rank - b.rank
  if (typeof a.key === 'number' && typeof b.key === 'number') return a.key - b.key
  return String(a.key).localeCompare(String(b.key), 'en', { sensitivity: 'base' })
}

function sortKey(value: EffectiveValue): { rank: number; key: number | string } {
  if ('numberValue' in value) return { rank: 0, key: value.numberValue }
  if ('stringValue' in value) return { rank: 1, key: value.stringValue }
  if ('boolValue' in value) return { rank: 2, key: Number(value.boolValue) }
  return { rank: 3, key: value.errorValue.type }
}
