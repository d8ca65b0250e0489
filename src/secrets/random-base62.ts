import { randomBytes } from 'node:crypto'

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
/** The largest multiple of 62 in a byte: what lies above is thrown away, so that every character is equally likely. */
const unbiasedBelow = 248

export function randomBase62(length: number): string {
  let text = ''
  while (text.length < length) {
    for (const byte of randomBytes(length)) {
      if (byte < unbiasedBelow && text.length < length) text += alphabet[byte % 62]
    }
  }
  return text
}

/** The last `length` base62 digits of a number, with leading zeros. */
export function toBase62(value: number, length: number): string {
  let text = ''
  for (let rest = value; text.length < length; rest = Math.floor(rest / 62)) text = alphabet[rest % 62] + text
  return text
}
