import { foldTexts } from '../folded-texts.ts'
import { sortTexts } from '../sort-texts.ts'
import { timeShape } from '../time-key.ts'
import { seen } from './column-index.ts'

/** Cells by their order among each other: those that compare as equal have the same rank, and ranks have no gaps. */
export interface Ranked {
  ranks: Uint32Array
  count: number
  /** Bits of `seen`. */
  kinds: number
}

export function rankNumbers(numbers: readonly number[]): Ranked {
  const sorted = Float64Array.from(numbers).sort()
  let count = 0
  let kinds = 0
  for (let at = 0; at < sorted.length; at++) {
    const number = sorted[at] ?? 0
    if (count > 0 && number === sorted[count - 1]) continue
    kinds |= Number.isInteger(number) ? seen.integer : seen.fraction
    sorted[count++] = number
  }
  const rankOf = createRankOf(sorted.subarray(0, count))
  const ranks = new Uint32Array(numbers.length)
  for (let at = 0; at < numbers.length; at++) ranks[at] = rankOf(numbers[at] ?? 0)
  return { ranks, count, kinds }
}

/** Numbers are mostly spread evenly, so where one is can be guessed; the search is over what the guess leaves. */
function createRankOf(sorted: Float64Array): (number: number) => number {
  const lowest = sorted[0] ?? 0
  const span = (sorted.at(-1) ?? 0) - lowest
  // Where the span is infinite, or next to nothing, all guesses are 0 and the search is over everything.
  const perUnit = span > 0 ? (sorted.length - 1) / span : 0
  const guess = (number: number) => ((number - lowest) * perUnit) | 0
  // By guess, the first number that has it or a higher one.
  const starts = new Uint32Array(sorted.length + 2).fill(sorted.length)
  for (let at = sorted.length - 1; at >= 0; at--) starts[guess(sorted[at] ?? 0)] = at
  for (let at = sorted.length - 1; at >= 0; at--) starts[at] = Math.min(starts[at] ?? 0, starts[at + 1] ?? 0)
  return (number) => {
    const guessed = guess(number)
    let low = starts[guessed] ?? 0
    let high = (starts[guessed + 1] ?? 0) - 1
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((sorted[middle] ?? 0) < number) low = middle + 1
      else high = middle
    }
    return low
  }
}

export function rankTexts(texts: readonly string[]): Ranked {
  const { order, isNew } = sortTexts(foldTexts(texts))
  const ranks = new Uint32Array(texts.length)
  let count = 0
  for (let at = 0; at < order.length; at++) {
    count += isNew[at] ?? 0
    ranks[order[at] ?? 0] = count - 1
  }
  let kinds = 0
  for (const text of texts) kinds |= kindOf(text)
  return { ranks, count, kinds }
}

function kindOf(text: string): number {
  switch (timeShape(text)) {
    case null:
      return seen.plainText
    case 'date':
      return seen.date
    case 'date-time':
      return seen.dateTime
    case 'time':
      return seen.time
    case 'duration':
      return seen.duration
  }
}
