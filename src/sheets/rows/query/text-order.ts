/**
 * Text as it is compared: in any case, by one rule for every locale. A final sigma is a sigma, as in Unicode's own folding: so
 * each letter folds by itself, and a long text can be folded piece by piece.
 */
export function foldText(text: string): string {
  const lower = text.toLowerCase()
  return lower.includes('ς') ? lower.replaceAll('ς', 'σ') : lower
}

/** Compares by code point. (`<` is by UTF-16 unit, and puts an emoji before `ﬀ`.) */
export function compareTexts(one: string, other: string): number {
  const shorter = Math.min(one.length, other.length)
  for (let at = 0; at < shorter; at++) {
    const left = one.charCodeAt(at)
    const right = other.charCodeAt(at)
    if (left !== right) return unitRank(left) - unitRank(right)
  }
  return one.length - other.length
}

/** Surrogates stand for the highest code points, yet lie below 0xE000: put last, units sort as code points do. */
export function unitRank(unit: number): number {
  if (unit < 0xd800) return unit
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800
}
