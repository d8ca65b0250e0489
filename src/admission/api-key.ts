import { hash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { randomBase62, toBase62 } from '../secrets/random-base62.ts'
import type { KeyMode } from '../store/sql/schema.ts'

const randomLength = 26
const checksumLength = 6
const shape = /^[sp]k_(?:live|test)_[0-9A-Za-z]{32}$/

/** Secret keys begin with `sk_`; publishable ones, which are made to be seen, with `pk_`. */
export type KeyKind = 'secret' | 'publishable'

/** A new key. The checksum is for secret scanners, and spares a look-up where strangers try one key after the other. */
export function generateApiKey(mode: KeyMode, kind: KeyKind = 'secret'): string {
  const body = `${kind === 'secret' ? 'sk' : 'pk'}_${mode}_${randomBase62(randomLength)}`
  return body + toBase62(crc32(body), checksumLength)
}

/** False for what was never made by us: its end is not the checksum of the rest. Nothing is looked up to tell. */
export function mayBeApiKey(text: string): boolean {
  const body = text.slice(0, -checksumLength)
  return shape.test(text) && text.endsWith(toBase62(crc32(body), checksumLength))
}

/** Not an SHA-256 in hex, so no stored key has it: a misshapen key is looked up like any other and not found. */
export const hashOfNoKey = ''

/** What the store holds of a key; null for a text that no key can be. */
export function hashApiKey(text: string): string | null {
  return shape.test(text) ? hash('sha256', text, 'hex') : null
}

/** Start and end, for people to tell keys apart; the end is checksum digits and costs no secrecy. */
export function shownParts(apiKey: string): { shownStart: string; shownEnd: string } {
  return { shownStart: apiKey.slice(0, 'sk_live_'.length + 4), shownEnd: apiKey.slice(-4) }
}
