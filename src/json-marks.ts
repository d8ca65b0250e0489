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
