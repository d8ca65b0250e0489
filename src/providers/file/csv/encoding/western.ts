/** A megabyte is looked at; letters are spread evenly enough. */
const SAMPLE_BYTES = 1024 * 1024
/** In French, German or Spanish two bytes that are not ASCII stand together at times (créée, Füße), three hardly ever. */
const FOREIGN_RUN = 3
/** Letters of a hundred that are not ASCII may be odd: names and typing mistakes. */
const ODD_PERCENT = 4
/** In Czech, Slovak or Croatian one in five is š or ž; in Finnish and Estonian they are for words from elsewhere. */
const SLAVIC_PERCENT = 8

const SMALL = 1
const CAPITAL = 2
const SIGN = 3
/** Signs that stand within words: apostrophes, dashes, a soft hyphen, the point of Catalan, and what is behind a number. */
const WORD_SIGN = 4
const NOTHING = 5

const kindOfByte = new Uint8Array(256)
for (let byte = 0x80; byte < 0x100; byte++)
  kindOfByte[byte] = byte < 0xc0 ? SIGN : byte < 0xdf ? CAPITAL : SMALL
for (const byte of [0x9a, 0x9c, 0x9e]) kindOfByte[byte] = SMALL
for (const byte of [0x8a, 0x8c, 0x8e, 0x9f]) kindOfByte[byte] = CAPITAL
for (const byte of [0x91, 0x92, 0x96, 0x97, 0xaa, 0xad, 0xb0, 0xb4, 0xb7, 0xba, 0xa0, 0xd7, 0xf7])
  kindOfByte[byte] = WORD_SIGN
for (const byte of [0x81, 0x8d, 0x8f, 0x90, 0x9d]) kindOfByte[byte] = NOTHING

/** Letters by their bytes in Windows-1252, small ones: what is rare in it and common in the encodings that look like it. */
const LETTER = {
  aAcute: 0xe1,
  aTilde: 0xe3,
  cCedilla: 0xe7,
  iAcute: 0xed,
  eth: 0xf0,
  oAcute: 0xf3,
  oTilde: 0xf5,
  uAcute: 0xfa,
  uUmlaut: 0xfc,
  yAcute: 0xfd,
  thorn: 0xfe,
  sCaron: 0x9a,
  zCaron: 0x9e,
} as const
/** The sign of a currency that nobody uses: in ISO-8859-15 it is the euro. */
const CURRENCY_SIGN = 0xa4

/**
 * Whether bytes that are no UTF-8 look like Windows-1252, which Excel writes on Western systems. Everything can be read as
 * that, so this is for what speaks against it: other scripts (whole words of letters that are not ASCII), other code pages of Latin
 * letters (signs or capitals in the middle of words), UTF-8 that is damaged, and the letters of Turkish, Czech, Polish or Hungarian. In doubt it says no: a
 * file that is refused can be set right, one that is misread is served.
 */
export function looksWestern(bytes: Uint8Array): boolean {
  const counts = new Uint32Array(256)
  let letters = 0
  let odd = 0
  let run = 0
  const length = Math.min(bytes.length, SAMPLE_BYTES)
  for (let at = 0; at < length; at++) {
    const byte = bytes[at] ?? 0
    if (byte < 0x80) {
      run = 0
      continue
    }
    const kind = kindOfByte[byte]
    if (kind === NOTHING || byte === CURRENCY_SIGN) return false
    if (kind === WORD_SIGN) {
      run = 0
      continue
    }
    const before = bytes[at - 1] ?? 0
    const after = bytes[at + 1] ?? 0
    // A row of points or stars is no word.
    if (byte !== before) run++
    if (isPairOfUtf8(before, byte)) odd++
    if (run >= FOREIGN_RUN) odd += run === FOREIGN_RUN ? FOREIGN_RUN : 1
    else if (kind === SIGN ? isAsciiLetter(before) && isAsciiLetter(after) : isOddCapital(kind, before)) odd++
    if (kind === SIGN) continue
    letters++
    const small = smallOf(byte)
    counts[small] = (counts[small] ?? 0) + 1
  }
  if (isLeadOfUtf8(bytes.at(-1) ?? 0)) return false
  return odd * 100 <= (letters + odd) * ODD_PERCENT && hasWesternLetters(counts, letters)
}

function hasWesternLetters(counts: Uint32Array, letters: number): boolean {
  const of = (...bytes: number[]): number => bytes.reduce((sum, byte) => sum + (counts[byte] ?? 0), 0)
  const isMany = (count: number, percent = ODD_PERCENT): boolean => count * 100 > letters * percent
  const acute = of(LETTER.aAcute, LETTER.iAcute, LETTER.oAcute, LETTER.uAcute)
  // Czech, Slovak, Croatian: š and ž have the same bytes in Windows-1250, what stands beside them has not.
  if (isMany(of(LETTER.sCaron, LETTER.zCaron), SLAVIC_PERCENT)) return false
  // þ, ð and ý are Icelandic, or the ş, ğ and ı of Turkish, which has ç and ü where Icelandic has á, í, ó and ú.
  if (isMany(of(LETTER.thorn, LETTER.eth, LETTER.yAcute))) {
    return acute > of(LETTER.cCedilla, LETTER.uUmlaut)
  }
  // õ is Portuguese, with ã, or Estonian, without á; with á and without ã it is the ő of Hungarian.
  return !(isMany(of(LETTER.oTilde)) && of(LETTER.aTilde) === 0 && acute > 0)
}

/** The small form of a letter; the capital of ÿ is far from it. */
function smallOf(byte: number): number {
  if (byte === 0x9f) return 0xff
  if (kindOfByte[byte] !== CAPITAL) return byte
  return byte < 0xc0 ? byte + 0x10 : byte + 0x20
}

/** UTF-8 that is damaged or cut is no Windows-1252. The most common of its first bytes are capitals with a tilde or a hat. */
function isLeadOfUtf8(byte: number): boolean {
  return byte >= 0xc2 && byte <= 0xc5
}

function isPairOfUtf8(first: number, second: number): boolean {
  return first >= 0xc2 && first <= 0xdf && second >= 0x80 && second <= 0xbf
}

/** In the middle of a word. */
function isOddCapital(kind: number | undefined, before: number): boolean {
  return kind === CAPITAL && isSmallAscii(before)
}

function isAsciiLetter(byte: number): boolean {
  return isSmallAscii(byte | 0x20)
}

function isSmallAscii(byte: number): boolean {
  return byte >= 0x61 && byte <= 0x7a
}
