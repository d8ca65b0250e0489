/** Beyond so many pairs of letters, half a millisecond, a suggestion is not worth its time. */
const maxCompared = 60_000
/** Longer names are compared and shown by their beginning: a hostile one can fill neither the answer nor a second. */
const maxCharacters = 80

/** The name that was probably meant, or null where none is near. */
export function nearestName(given: string, names: readonly string[]): string | null {
  const wanted = beginningOf(given).toLowerCase()
  let nearest: string | null = null
  let nearestDistance = Number.POSITIVE_INFINITY
  let compared = 0
  for (const name of names) {
    const most = Math.min(Math.max(1, Math.floor(name.length / 3)), name.length - 1, nearestDistance - 1)
    const other = beginningOf(name)
    // Names of a sheet with thousands of columns are mostly ruled out by their lengths.
    if (Math.abs(wanted.length - other.length) > most) continue
    compared += wanted.length * other.length
    if (compared > maxCompared) break
    const distance = editDistance(wanted, other.toLowerCase())
    if (distance > most) continue
    nearest = name
    nearestDistance = distance
  }
  return nearest
}

/** Some more than is compared: what stands in front of it may be blanks. */
function beginningOf(name: string): string {
  return name
    .slice(0, 2 * maxCharacters)
    .trim()
    .slice(0, maxCharacters)
}

/** The row of the letter before, the one before that, and the one that is being filled: no name has more letters. */
let former = new Uint8Array(maxCharacters * 4)
let beforeFormer = new Uint8Array(maxCharacters * 4)
let current = new Uint8Array(maxCharacters * 4)

/** Letters missing, added, wrong or swapped with their neighbor (Damerau and Levenshtein, the simple kind). */
function editDistance(left: string, right: string): number {
  for (let at = 0; at <= right.length; at++) former[at] = at
  for (let row = 1; row <= left.length; row++) {
    current[0] = row
    const letter = left.charCodeAt(row - 1)
    const letterBefore = row > 1 ? left.charCodeAt(row - 2) : -1
    for (let at = 1; at <= right.length; at++) {
      const other = right.charCodeAt(at - 1)
      let least = (former[at - 1] as number) + (letter === other ? 0 : 1)
      least = Math.min(least, (former[at] as number) + 1, (current[at - 1] as number) + 1)
      const isSwapped = at > 1 && letterBefore === other && letter === right.charCodeAt(at - 2)
      if (isSwapped) least = Math.min(least, (beforeFormer[at - 2] as number) + 1)
      current[at] = least
    }
    ;[beforeFormer, former, current] = [former, current, beforeFormer]
  }
  return former[right.length] as number
}
