import { equalTexts, numberIn } from '../query/equal-values.ts'
import { foldText } from '../query/text-order.ts'

/** Which of some values a cell equals, as the filter `eq` has it, by their places in the list. For cells that have no index. */
export function createEqualityTest(
  values: readonly string[],
): (cell: string | number | boolean) => readonly number[] {
  const numbers = new Map<number, number[]>()
  const texts = new Map<string, number[]>()
  const booleans = new Map<boolean, number[]>()
  for (const [at, value] of values.entries()) {
    if (value === '') continue
    const number = numberIn(value)
    // Of zero there are two, and a Map takes them for one.
    if (number !== null) note(numbers, number, at)
    for (const text of equalTexts(value)) note(texts, text, at)
    const text = foldText(value)
    if (text === 'true' || text === 'false') note(booleans, text === 'true', at)
  }
  return (cell) => {
    if (typeof cell === 'string') return texts.get(foldText(cell)) ?? none
    return (typeof cell === 'number' ? numbers.get(cell) : booleans.get(cell)) ?? none
  }
}

const none: readonly number[] = []

function note<Key>(places: Map<Key, number[]>, key: Key, at: number): void {
  const known = places.get(key)
  if (known) known.push(at)
  else places.set(key, [at])
}
