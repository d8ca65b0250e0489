import { deserialize, serialize } from 'node:v8'
import { ownBuffer } from './thread-jobs.ts'

/**
 * A long list on its way to a thread or back. As a message it would be copied in one go on the thread that answers everybody; packed in
 * pieces it is handed over, and made or read piece by piece, in turns.
 */
export type PackedList = Uint8Array<ArrayBuffer>[]

/** With twenty cells each, a piece takes half a millisecond. */
const itemsInAPiece = 200
/** Long items are fewer in a piece: to read so much takes well below a millisecond. */
const bytesInAPiece = 256 * 1024

/** A step for each piece. */
export function* packSteps(list: readonly unknown[]): Generator<void, PackedList> {
  const pieces: PackedList = []
  let count = itemsInAPiece
  for (let from = 0; from < list.length; ) {
    const piece = serialize(list.slice(from, from + count))
    if (piece.byteLength > bytesInAPiece && count > 1) {
      count = Math.ceil(count / 4)
    } else {
      pieces.push(ownBuffer(piece))
      from += count
      count = Math.min(itemsInAPiece, count * 2)
    }
    yield
  }
  return pieces
}

export function* unpackSteps<Item>(pieces: PackedList): Generator<void, Item[]> {
  const list: Item[] = []
  for (const piece of pieces) {
    for (const item of deserialize(piece) as Item[]) list.push(item)
    yield
  }
  return list
}

/** For those who keep nobody waiting. */
export function allAtOnce<T>(steps: Generator<void, T>): T {
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
  }
}
