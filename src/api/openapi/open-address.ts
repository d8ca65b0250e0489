import { randomBase62 } from '../../secrets/random-base62.ts'

/**
 * Stands for the address of this server in a description, until somebody has asked for it under one: to make a long one takes ten
 * milliseconds and more, and anybody may ask under any name. No sheet has it in its cells, because nobody is ever told it.
 */
export const openAddress = `http://${randomBase62(22)}.invalid`

/** What stands around it. */
export function aroundOpenAddress(text: string): readonly Uint8Array[] {
  const bytes = Buffer.from(text)
  const around: Uint8Array[] = []
  let from = 0
  for (let at = bytes.indexOf(openAddress); at >= 0; at = bytes.indexOf(openAddress, from)) {
    around.push(bytes.subarray(from, at))
    from = at + openAddress.length
  }
  return [...around, bytes.subarray(from)]
}

/** The description as it is told at an address: a list of pieces, of which none is copied. */
export function withAddress(around: readonly Uint8Array[], address: string): readonly Uint8Array[] {
  const between = Buffer.from(JSON.stringify(address).slice(1, -1))
  return around.flatMap((piece, nth) => (nth === 0 ? [piece] : [between, piece]))
}
