/** Rows and columns of a tab, empty ones included. */
export interface GridSize {
  rows: number
  columns: number
}

/** Up to here one read with formats is better than two without (docs/decisions/026-nobody-waits.md). */
export const mostCellsWithFormats = 52_000
/** The bounds of a tab of which nothing is known: as many rows as a new one has, and twice the columns. */
const firstBounds: GridSize = { rows: 1_000, columns: 52 }

const prefix = 'grid'

/** Names what a read with formats has shown, and how large the tab was. */
export function gridVersion({ rows, columns }: GridSize, hash: string): string {
  return `${prefix}.${rows}.${columns}.${hash}`
}

/** The version of a tab that a write has shown: no read has an equal one. */
export function writtenVersion(size: GridSize): string {
  return gridVersion(size, '-')
}

/** How much to ask for of a tab that was seen like this; null when it was too large. */
export function boundsAfter(knownVersion: string | null): GridSize | null {
  if (knownVersion === null) return firstBounds
  const [kind, rows, columns] = knownVersion.split('.')
  return kind === prefix ? boundsFor({ rows: Number(rows), columns: Number(columns) }) : null
}

/** Bounds in which a tab may grow a little and is still seen whole; null when it is too large. */
export function boundsFor({ rows, columns }: GridSize): GridSize | null {
  if (rows * columns > mostCellsWithFormats) return null
  if (isWithin({ rows, columns }, firstBounds)) return firstBounds
  return { rows: Math.floor(mostCellsWithFormats / columns), columns }
}

export function isWithin(size: GridSize, bounds: GridSize): boolean {
  return size.rows <= bounds.rows && size.columns <= bounds.columns
}

/** Both stand in the tab's properties, which come before its cells; a quote within a text is escaped. */
const headBytes = 4_096
const rowCount = /"rowCount"\s*:\s*(\d+)/
const columnCount = /"columnCount"\s*:\s*(\d+)/

/** null where the answer is something else. */
export function gridSizeIn(body: Buffer): GridSize | null {
  const head = body.toString('latin1', 0, headBytes)
  const [, rows] = rowCount.exec(head) ?? []
  const [, columns] = columnCount.exec(head) ?? []
  return rows === undefined || columns === undefined ? null : { rows: Number(rows), columns: Number(columns) }
}
