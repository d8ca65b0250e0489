import type { Cell } from '../grid.ts'

const primes = [0x01000193, 0x85ebca6b] as const
const offsets = [0x811c9dc5, 0x9747b28c] as const
/** The bits of the second half; together with the first, what a number holds exactly. */
const lowBits = 21

/** A number that two different cells have in common so rarely that it stands for the cell; 0 for an empty one. */
export function cellMark(cell: Cell): number {
  if (cell === null || cell === '') return 0
  const text = `${typeof cell}${cell}`
  let [high, low]: [number, number] = [offsets[0], offsets[1]]
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    high = Math.imul(high ^ unit, primes[0])
    low = Math.imul(low ^ unit, primes[1])
    low ^= low >>> 15
  }
  return (high >>> 0) * 2 ** lowBits + (low >>> (32 - lowBits)) + 1
}
