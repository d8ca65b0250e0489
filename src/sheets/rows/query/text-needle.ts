/** Up to here the runtime's own search is fast whatever the text is: beyond, it compares the whole needle at each letter of some. */
const shortUnits = 24

/** Looks for one text in others, which may come in pieces; in a time that grows with their length alone. */
export interface TextNeedle {
  isIn(text: string): boolean
  /** For a text that comes in pieces: whether what came so far contains it. */
  search(): (piece: string) => boolean
}

export function createTextNeedle(needle: string): TextNeedle {
  const length = needle.length
  if (length <= shortUnits) return { isIn: (text) => text.includes(needle), search: searchWithTail }
  const fallBack = fallBacksOf(needle)
  return { isIn: (text) => text.length >= length && searchByUnit()(text), search: searchByUnit }

  function searchWithTail(): (piece: string) => boolean {
    let tail = ''
    return (piece) => {
      const text = tail + piece
      tail = length > 1 ? text.slice(1 - length) : ''
      return text.includes(needle)
    }
  }

  /** Knuth, Morris and Pratt: no unit of the text is looked at again. */
  function searchByUnit(): (piece: string) => boolean {
    let matched = 0
    return (piece) => {
      for (let at = 0; at < piece.length; at++) {
        const unit = piece.charCodeAt(at)
        while (matched > 0 && needle.charCodeAt(matched) !== unit) matched = fallBack[matched - 1] ?? 0
        if (needle.charCodeAt(matched) === unit) matched++
        if (matched === length) return true
      }
      return false
    }
  }
}

/** How much of the needle's beginning is also the end of its first n + 1 units, without being all of them. */
function fallBacksOf(needle: string): Uint32Array {
  const fallBack = new Uint32Array(needle.length)
  let matched = 0
  for (let at = 1; at < needle.length; at++) {
    const unit = needle.charCodeAt(at)
    while (matched > 0 && needle.charCodeAt(matched) !== unit) matched = fallBack[matched - 1] ?? 0
    if (needle.charCodeAt(matched) === unit) matched++
    fallBack[at] = matched
  }
  return fallBack
}
