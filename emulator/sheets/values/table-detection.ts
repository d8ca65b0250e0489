import type { Area, Sheet } from '../model.ts'

/**
 * The table values.append continues: the last block of filled cells that the range touches.
 * A block grows as long as anything touches its edge, corners included.
 */
export function lastTableIn(sheet: Sheet, range: Area): Area | undefined {
  const seed = lastFilled(sheet, range)
  if (seed) return blockAround(sheet, seed)
  // An empty range may still lie in a hole of a table that surrounds it.
  for (const edge of filledEdges(sheet, range)) {
    const block = blockAround(sheet, edge)
    if (overlaps(block, range)) return block
  }
  return undefined
}

export function isFilled(sheet: Sheet, row: number, column: number): boolean {
  return sheet.rows[row]?.[column]?.entered !== undefined
}

function lastFilled(sheet: Sheet, range: Area): Area | undefined {
  for (let row = Math.min(range.endRow, sheet.rows.length) - 1; row >= range.startRow; row--) {
    for (let column = range.endColumn - 1; column >= range.startColumn; column--) {
      if (isFilled(sheet, row, column)) return single(row, column)
    }
  }
  return undefined
}

function blockAround(sheet: Sheet, seed: Area): Area {
  const block = { ...seed }
  for (;;) {
    // Rows first and all of them: asking the columns again after each row would cost the square of the height.
    while (rowFilled(sheet, block.startRow - 1, block)) block.startRow -= 1
    while (rowFilled(sheet, block.endRow, block)) block.endRow += 1
    const left = columnFilled(sheet, block.startColumn - 1, block)
    const right = columnFilled(sheet, block.endColumn, block)
    if (left) block.startColumn -= 1
    if (right) block.endColumn += 1
    if (!left && !right) return block
  }
}

function rowFilled(sheet: Sheet, row: number, block: Area): boolean {
  const cells = sheet.rows[row]
  if (row < 0 || !cells) return false
  for (let column = Math.max(0, block.startColumn - 1); column <= block.endColumn; column++) {
    if (cells[column]?.entered !== undefined) return true
  }
  return false
}

function columnFilled(sheet: Sheet, column: number, block: Area): boolean {
  if (column < 0) return false
  for (let row = Math.max(0, block.startRow - 1); row <= block.endRow; row++) {
    if (isFilled(sheet, row, column)) return true
  }
  return false
}

function* filledEdges(sheet: Sheet, range: Area): Generator<Area> {
  for (let row = Math.min(range.endRow, sheet.rows.length); row >= range.startRow - 1; row--) {
    for (
      let column = Math.min(range.endColumn, sheet.columnCount);
      column >= range.startColumn - 1;
      column--
    ) {
      if (isFilled(sheet, row, column)) yield single(row, column)
    }
  }
}

function single(row: number, column: number): Area {
  return { startRow: row, endRow: row + 1, startColumn: column, endColumn: column + 1 }
}

function overlaps(one: Area, other: Area): boolean {
  return (
    one.startRow < other.endRow &&
    other.startRow < one.endRow &&
    one.startColumn < other.endColumn &&
    other.startColumn < one.endColumn
  )
}
