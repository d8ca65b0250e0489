/** A few hundred pages of memory: the system takes as long to find and clear one as a thousand numbers take to be written. */
const numbersPerStep = 65_536

/** In steps, because memory that is new costs most where it is first written to. */
export function* filledNumbers(
  length: number,
  numberAt: (at: number) => number,
): Generator<void, Float64Array> {
  const numbers = new Float64Array(length)
  for (let from = 0; from < length; from += numbersPerStep) {
    const to = Math.min(from + numbersPerStep, length)
    for (let at = from; at < to; at++) numbers[at] = numberAt(at)
    yield
  }
  return numbers
}

export function* sameNumbers(length: number, number: number): Generator<void, Float64Array> {
  const numbers = new Float64Array(length)
  for (let from = 0; from < length; from += numbersPerStep) {
    numbers.fill(number, from, from + numbersPerStep)
    yield
  }
  return numbers
}
