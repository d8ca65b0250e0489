/** Columns by position, from `from` on and before `to`. */
export interface ColumnRange {
  from: number
  to: number
}

/** Some columns, ascending and apart from each other, or all. */
export type Columns = readonly ColumnRange[] | 'all'

/** A request names each range. */
const mostRanges = 8

/** All where there are none to name, or too many. */
export function columnsOf(positions: Iterable<number>): Columns {
  const ranges: ColumnRange[] = []
  for (const position of [...positions].sort((one, other) => one - other)) {
    const last = ranges.at(-1)
    if (last?.to === position) last.to++
    else ranges.push({ from: position, to: position + 1 })
  }
  return ranges.length === 0 || ranges.length > mostRanges ? 'all' : ranges
}

/** With these as well. */
export function withColumns(columns: Columns, positions: readonly number[]): Columns {
  if (columns === 'all') return columns
  const known = columns.flatMap(({ from, to }) => Array.from({ length: to - from }, (_, nth) => from + nth))
  return columnsOf(new Set([...known, ...positions]))
}

/** As part of a version: `3-6_9-10`. */
export function columnsText(columns: Columns): string {
  return columns === 'all' ? columns : columns.map(({ from, to }) => `${from}-${to}`).join('_')
}

/** null where a version does not name any. */
export function columnsIn(text: string | undefined): Columns | null {
  if (text === undefined) return null
  if (text === 'all') return text
  return text.split('_').map((range) => {
    const [from = 0, to = 0] = range.split('-').map(Number)
    return { from, to }
  })
}

const lettersOfRange = /(?:^|!)\$?([A-Z]{1,3})\$?\d*(?::\$?([A-Z]{1,3})\$?\d*)?$/

/** The columns of a range in A1 notation, with or without a title; null where it is something else. */
export function columnsOfA1(range: string): ColumnRange | null {
  const [, first, last = first] = lettersOfRange.exec(range) ?? []
  if (first === undefined || last === undefined) return null
  return { from: positionOf(first), to: positionOf(last) + 1 }
}

function positionOf(letters: string): number {
  let position = 0
  for (const letter of letters) position = position * 26 + letter.charCodeAt(0) - 64
  return position - 1
}
