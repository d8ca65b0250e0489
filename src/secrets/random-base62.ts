import { randomFillSync } from 'node:crypto'

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
/** The largest multiple of 62 in a byte: what lies above is thrown away, so that every character is equally likely. */
const unbiasedBelow = 248

/** Asking for random bytes costs far more than the bytes, so many are asked for at once. Each is used once, and then gone from here. */
const drawn = new Uint8Array(1_024)
let nextAt = drawn.length

export function randomBase62(length: number): string {
  let text = ''
  while (text.length < length) {
    const byte = drawByte()
    if (byte < unbiasedBelow) text += alphabet[byte % 62]
  }
  return text
}

function drawByte(): number {
  if (nextAt === drawn.length) {
    randomFillSync(drawn)
    nextAt = 0
  }
  const byte = drawn[nextAt] ?? 0
  drawn[nextAt++] = 0
  return byte
}

/** The last `length` base62 digits of a number, with leading zeros. */
export function toBase62(value: number, length: number): string {
  let text = ''
  for (let rest = value; text.length < length; rest = Math.floor(rest / 62)) text = alphabet[rest % 62] + text
  return text
}
