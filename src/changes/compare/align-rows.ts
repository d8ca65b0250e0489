/** What leads from one list of rows to another, from the top down. */
export type AlignStep =
  | { kind: 'same'; count: number }
  | { kind: 'changed'; before: string; after: string }
  | { kind: 'gone'; before: string }
  | { kind: 'new'; after: string }

/**
 * Rows that read alike at both ends stay; in between, rows that are there just once on both sides, as many as keep their order; and
 * between two of these, first by the same ends again, then by position.
 */
export function* alignRows(known: readonly string[], next: readonly string[]): Generator<AlignStep> {
  const all = trimStretches({ from: 0, to: known.length }, { from: 0, to: next.length }, known, next)
  yield* same(all.head)
  let [knownAt, nextAt] = [all.known.from, all.next.from]
  for (const [anchorKnown, anchorNext] of anchors(known, next, all)) {
    yield* between({ from: knownAt, to: anchorKnown }, { from: nextAt, to: anchorNext }, known, next)
    yield { kind: 'same', count: 1 }
    knownAt = anchorKnown + 1
    nextAt = anchorNext + 1
  }
  yield* between({ from: knownAt, to: all.known.to }, { from: nextAt, to: all.next.to }, known, next)
  yield* same(all.tail)
}

interface Stretch {
  from: number
  to: number
}

interface Trimmed {
  head: number
  tail: number
  known: Stretch
  next: Stretch
}

function trimStretches(
  { from: knownFrom, to: knownEnd }: Stretch,
  { from: nextFrom, to: nextEnd }: Stretch,
  known: readonly string[],
  next: readonly string[],
): Trimmed {
  const most = Math.min(knownEnd - knownFrom, nextEnd - nextFrom)
  let head = 0
  while (head < most && known[knownFrom + head] === next[nextFrom + head]) head++
  let tail = 0
  while (tail < most - head && known[knownEnd - 1 - tail] === next[nextEnd - 1 - tail]) tail++
  return {
    head,
    tail,
    known: { from: knownFrom + head, to: knownEnd - tail },
    next: { from: nextFrom + head, to: nextEnd - tail },
  }
}

function* same(count: number): Generator<AlignStep> {
  if (count > 0) yield { kind: 'same', count }
}

function* between(
  ofKnown: Stretch,
  ofNext: Stretch,
  known: readonly string[],
  next: readonly string[],
): Generator<AlignStep> {
  const rest = trimStretches(ofKnown, ofNext, known, next)
  yield* same(rest.head)
  let [knownAt, nextAt] = [rest.known.from, rest.next.from]
  while (knownAt < rest.known.to && nextAt < rest.next.to) {
    const [before = '', after = ''] = [known[knownAt++], next[nextAt++]]
    yield before === after ? { kind: 'same', count: 1 } : { kind: 'changed', before, after }
  }
  while (knownAt < rest.known.to) yield { kind: 'gone', before: known[knownAt++] ?? '' }
  while (nextAt < rest.next.to) yield { kind: 'new', after: next[nextAt++] ?? '' }
  yield* same(rest.tail)
}

/** Pairs of places, ascending on both sides: the longest such row of those that are there once. */
function anchors(
  known: readonly string[],
  next: readonly string[],
  { known: ofKnown, next: ofNext }: Trimmed,
): [number, number][] {
  const several = -1
  const placesIn = (rows: readonly string[], { from, to }: Stretch) => {
    const places = new Map<string, number>()
    for (let at = from; at < to; at++) {
      const text = rows[at] ?? ''
      places.set(text, places.has(text) ? several : at)
    }
    return places
  }
  if (ofKnown.from === ofKnown.to || ofNext.from === ofNext.to) return []
  const inNext = placesIn(next, ofNext)
  const pairs: [number, number][] = []
  for (const [text, at] of placesIn(known, ofKnown)) {
    const there = at === several ? undefined : inNext.get(text)
    if (there !== undefined && there !== several) pairs.push([at, there])
  }
  pairs.sort(([one], [other]) => one - other)
  return longestAscending(pairs)
}

function longestAscending(pairs: readonly [number, number][]): [number, number][] {
  /** The last pair of the best row of each length, and what comes before each pair. */
  const ends: number[] = []
  const former = new Int32Array(pairs.length).fill(-1)
  const second = (at: number | undefined) => pairs[at ?? -1]?.[1] ?? -1
  for (const [at, [, place]] of pairs.entries()) {
    let [low, high] = [0, ends.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if (second(ends[middle]) < place) low = middle + 1
      else high = middle
    }
    former[at] = low === 0 ? -1 : (ends[low - 1] ?? -1)
    ends[low] = at
  }
  const longest: [number, number][] = []
  for (let at = ends.at(-1) ?? -1; at !== -1; at = former[at] ?? -1) {
    const pair = pairs[at]
    if (pair) longest.push(pair)
  }
  return longest.reverse()
}
