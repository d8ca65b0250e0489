/** What JSON is made of beside its texts and numbers, for those who look at it before it is parsed. */
export const marks = {
  quote: 0x22,
  comma: 0x2c,
  openingBracket: 0x5b,
  backslash: 0x5c,
  closingBracket: 0x5d,
  openingBrace: 0x7b,
  closingBrace: 0x7d,
} as const

/** Where the quote is that ends the text whose first one is at `from`; -1 where there is none. */
export function endOfText(json: string, from: number): number {
  for (let at = json.indexOf('"', from + 1); at !== -1; at = json.indexOf('"', at + 1)) {
    let backslashes = 0
    while (json.charCodeAt(at - 1 - backslashes) === marks.backslash) backslashes++
    if (backslashes % 2 === 0) return at
  }
  return -1
}
