/** What groups are sorted by: a number for each, by id, NaN for those that come last in both directions. */
export interface GroupOrder {
  ranks: Float64Array
  descending: boolean
}

/** Groups that are sorted in a moment. */
const runLength = 4_096

/** Stable. Runs that are sorted at once, then merged with a pause after each. */
export function* sortGroups(
  groups: Uint32Array,
  orders: readonly GroupOrder[],
): Generator<void, Uint32Array> {
  if (orders.length === 0) return groups
  const count = groups.length
  let sorted = groups.slice()
  const compare = comparison(orders)
  for (let from = 0; from < count; from += runLength) {
    sorted.subarray(from, from + runLength).sort(compare)
    yield
  }
  let merged = new Uint32Array(count)
  for (let length = runLength; length < count; length *= 2) {
    for (let from = 0; from < count; from += 2 * length) {
      const middle = Math.min(from + length, count)
      const to = Math.min(from + 2 * length, count)
      let left = from
      let right = middle
      for (let at = from; at < to; at++) {
        const isLeft = right >= to || (left < middle && compare(sorted[left] ?? 0, sorted[right] ?? 0) <= 0)
        merged[at] = sorted[isLeft ? left++ : right++] ?? 0
        if (at % runLength === 0) yield
      }
    }
    ;[sorted, merged] = [merged, sorted]
  }
  return sorted
}

function comparison(orders: readonly GroupOrder[]): (one: number, other: number) => number {
  return (one, other) => {
    for (const { ranks, descending } of orders) {
      const left = ranks[one] ?? Number.NaN
      const right = ranks[other] ?? Number.NaN
      if (left === right) continue
      const [isLeftEmpty, isRightEmpty] = [Number.isNaN(left), Number.isNaN(right)]
      if (isLeftEmpty && isRightEmpty) continue
      if (isLeftEmpty || isRightEmpty) return isLeftEmpty ? 1 : -1
      return left < right === descending ? 1 : -1
    }
    return 0
  }
}
