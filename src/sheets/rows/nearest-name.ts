/** Beyond so many pairs of letters, some milliseconds, a suggestion is not worth its time. */
const maxCompared = 150_000
/** Longer names are compared and shown by their beginning: a hostile one can fill neither the answer nor a second. */
const maxCharacters = 80

/** The name that was probably meant, or null where none is near. */
export function nearestName(given: string, names: readonly string[]): string | null {
  const wanted = given.trim().toLowerCase()
  let nearest: string | null = null
  let nearestDistance = Number.POSITIVE_INFINITY
  let compared = 0
  for (const name of names) {
    compared += Math.min(wanted.length, maxCharacters) * Math.min(name.length, maxCharacters)
    if (compared > maxCompared) break
    const distance = editDistance(wanted, name.trim().toLowerCase())
    const isNear = distance <= Math.max(1, Math.floor(name.length / 3)) && distance < name.length
    if (isNear && distance < nearestDistance) {
      nearest = name
      nearestDistance = distance
    }
  }
  return nearest
}

/** Letters missing, added, wrong or swapped with their neighbour (Damerau and Levenshtein, the simple kind). */
function editDistance(one: string, other: string): number {
  const left = one.slice(0, maxCharacters)
  const right = other.slice(0, maxCharacters)
  let beforeFormer: number[] = []
  let former = Array.from({ length: right.length + 1 }, (_, at) => at)
  for (let row = 1; row <= left.length; row++) {
    const current = [row]
    for (let at = 1; at <= right.length; at++) {
      const replaced = (former[at - 1] ?? 0) + (left[row - 1] === right[at - 1] ? 0 : 1)
      let least = Math.min(replaced, (former[at] ?? 0) + 1, (current[at - 1] ?? 0) + 1)
      const isSwapped = left[row - 1] === right[at - 2] && left[row - 2] === right[at - 1]
      if (row > 1 && at > 1 && isSwapped) least = Math.min(least, (beforeFormer[at - 2] ?? 0) + 1)
      current.push(least)
    }
    beforeFormer = former
    former = current
  }
  return former[right.length] ?? 0
}
