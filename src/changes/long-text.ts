import { marks } from '../json-marks.ts'
import type { Soon } from '../soon.ts'
import type { LongEntries } from '../store/changes/change-log.ts'

/** A text of a change that stays in the store, and is told a piece at a time. */
export interface LongText {
  characters: number
  /** Each piece in its turn; whoever tells it has one of them in memory. */
  pieces(nextTurn: () => Soon<void>): AsyncGenerator<Uint8Array>
}

/** Slow readers hold one each, at places of their own, and an account may have hundreds of them. */
const pieceBytes = 64 * 1024
/** What a reader has of it in memory at a time: from the store, as it is told, and on its way. */
export const heldBytes = 4 * pieceBytes

interface Piece {
  bytes: Uint8Array
  /** Where the next one begins. */
  end: number
}

/** A JSON text from `from` to `to` in entries, without its quotes. */
export function longText(
  entries: LongEntries,
  { from, to, characters }: { from: number; to: number; characters: number },
): LongText {
  /** Those who tell the same change at the same time are mostly at the same place of it. */
  let last: { at: number; piece: Promise<Piece> } | null = null

  return {
    characters,
    async *pieces(nextTurn) {
      try {
        for (let at = from; at < to; ) {
          await nextTurn()
          const { bytes, end } = await pieceAt(at, nextTurn)
          at = end
          yield bytes
        }
      } finally {
        // Whoever leaves in the middle was perhaps the only one. Others at the same place read it anew.
        last = null
      }
    },
  }

  async function pieceAt(at: number, nextTurn: () => Soon<void>): Promise<Piece> {
    last = last?.at === at ? last : { at, piece: readPiece(at, nextTurn) }
    return last.piece
  }

  async function readPiece(at: number, nextTurn: () => Soon<void>): Promise<Piece> {
    const slice = await entries.slice(at, Math.min(pieceBytes, to - at))
    await nextTurn()
    const isLast = at + slice.byteLength >= to
    const end = isLast ? slice.byteLength : lastCut(slice)
    const json = Buffer.from(slice.buffer, slice.byteOffset, end).toString()
    return { bytes: Buffer.from(JSON.parse(`"${json}"`) as string), end: at + end }
  }
}

export type TextPart = string | LongText

/** What is made of such parts, one after the other. */
export async function* piecesOf(
  parts: Iterable<TextPart>,
  nextTurn: () => Soon<void>,
): AsyncGenerator<Uint8Array> {
  let text = ''
  for (const part of parts) {
    if (typeof part === 'string') {
      text += part
      continue
    }
    yield Buffer.from(text)
    text = ''
    yield* part.pieces(nextTurn)
  }
  if (text !== '') yield Buffer.from(text)
}

export async function textOf(text: LongText, nextTurn: () => Soon<void>): Promise<string> {
  let whole = ''
  for await (const piece of text.pieces(nextTurn)) whole += Buffer.from(piece).toString()
  return whole
}

const longestEscape = 6

/** The last place at which neither a letter nor an escape is cut in two. */
function lastCut(slice: Uint8Array): number {
  let cut = slice.byteLength
  for (let back = 1; back < longestEscape; back++) {
    const at = cut - back
    if (slice[at] !== marks.backslash || !isOdd(backslashesUpTo(slice, at))) continue
    if (back < (slice[at + 1] === smallU ? longestEscape : 2)) cut = at
    break
  }
  // The last letter may go on in the next slice; where it is whole, it goes with the next one too.
  while (cut > 1 && ((slice[cut - 1] as number) & 0xc0) === 0x80) cut--
  return (slice[cut - 1] as number) >= 0xc0 ? cut - 1 : cut
}

/** It begins behind a whole letter, so backslashes come in pairs from its beginning on. */
function backslashesUpTo(slice: Uint8Array, at: number): number {
  let count = 0
  while (at - count >= 0 && slice[at - count] === marks.backslash) count++
  return count
}

function isOdd(count: number): boolean {
  return count % 2 === 1
}

const smallU = 0x75
