/** Rows from the first to the last, both included. */
export interface RowRange {
  from: number
  to: number
}

/** The ranges in ascending order, made one where they touch. */
export function joinRanges(ranges: readonly RowRange[]): RowRange[] {
  const all: RowRange[] = []
  for (const { from, to } of ranges.toSorted((one, other) => one.from - other.from)) {
    const last = all.at(-1)
    if (last && from <= last.to + 1) last.to = Math.max(last.to, to)
    else all.push({ from, to })
  }
  return all
}

/** Tells whether rows lie within the ranges, all of them. There may be thousands of either. */
export function createRangeCheck(ranges: readonly RowRange[]): (from: number, to: number) => boolean {
  const all = joinRanges(ranges)
  return (from, to) => {
    let low = 0
    let high = all.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((all[middle]?.to ?? 0) < from) low = middle + 1
      else high = middle
    }
    const range = all[low]
    return range !== undefined && range.from <= from && to <= range.to
  }
}
