import type { KeptBodies } from '../sheets/held-snapshots.ts'
import type { Soon } from '../soon.ts'
import {
  compressedChunks,
  compressedFromBytes,
  compressedWhole,
  createCompressionQueue,
} from './compression.ts'
import type { Coding } from './content-coding.ts'
import type { Body } from './reply.ts'

/** A body, and what it was compressed with in the end. */
export interface SendableBody {
  body: Body
  coding: Coding | null
}

export interface BodyWish {
  /** Bodies of one name, made of one snapshot, are the same. */
  name: string
  /** All rows of the sheet: worth keeping whatever it takes. */
  isWhole: boolean
  /** What lies in memory anyway, or what makes it bit by bit. */
  chunks: Pieces | (() => Iterable<Uint8Array>)
  coding: Coding | null
  bodies: KeptBodies
  onFailure(error: unknown): void
}

type Pieces = readonly Uint8Array[]

/** Up to here a body is made in one piece: one write costs less than three, and its length can be told. */
const joinedUpToBytes = 256 * 1024
/** Of a query's result; the whole list is kept at any length. */
const keptUpToBytes = 64 * 1024

/**
 * Makes a body of its chunks: short ones in one piece, long ones while they are sent. What many will ask for is kept
 * beside the snapshot, so that it is made, and compressed, once.
 */
export function sendableBody(wish: BodyWish): Soon<SendableBody> {
  const { name, bodies, coding } = wish
  const compressed = coding === null ? undefined : bodies.get(`${name} ${coding}`)
  if (compressed) return { body: compressed, coding }
  const kept = bodies.get(name)
  const { pieces, rest } = kept ? { pieces: kept, rest: null } : begun(wish)
  if (rest) return long(wish, joined(pieces, rest))
  if (coding === null || lengthOf(pieces) < compressedFromBytes) return { body: pieces, coding: null }
  return compressedOnce(wish, coding, pieces)
}

/** As much as makes a short body, and what is left if it is a long one. */
function begun({ name, isWhole, chunks, bodies }: BodyWish): {
  pieces: Pieces
  rest: Iterator<Uint8Array> | null
} {
  if (typeof chunks !== 'function') {
    const isShort = chunks.length > 1 && lengthOf(chunks) <= joinedUpToBytes
    return { pieces: isShort ? [Buffer.concat(chunks)] : chunks, rest: null }
  }
  const rest = chunks()[Symbol.iterator]()
  const pieces: Uint8Array[] = []
  let length = 0
  for (let next = rest.next(); !next.done; next = rest.next()) {
    pieces.push(next.value)
    length += next.value.byteLength
    if (length > joinedUpToBytes) return { pieces, rest }
  }
  const whole = [exactCopy(pieces, length)]
  if (isWhole) bodies.keep(name, whole)
  return { pieces: whole, rest: null }
}

function long(wish: BodyWish, chunks: Iterable<Uint8Array>): Soon<SendableBody> {
  const { coding, isWhole, onFailure } = wish
  if (coding === null) return { body: { chunks, onFailure }, coding }
  if (isWhole) return compressedOnce(wish, coding, chunks)
  return { body: { chunks: compressedChunks(chunks, coding), onFailure }, coding }
}

const underWay = new WeakMap<KeptBodies, Map<string, Promise<Pieces>>>()
const inTurn = createCompressionQueue()

/** However many ask for it at once. */
async function compressedOnce(
  { name, bodies, isWhole }: BodyWish,
  coding: Coding,
  chunks: Iterable<Uint8Array>,
): Promise<SendableBody> {
  const nameHere = `${name} ${coding}`
  const making = underWay.get(bodies) ?? new Map<string, Promise<Pieces>>()
  underWay.set(bodies, making)
  const known = making.get(nameHere)
  if (known) return { body: await known, coding }
  const made = make()
  making.set(nameHere, made)
  try {
    return { body: await made, coding }
  } finally {
    making.delete(nameHere)
  }

  async function make(): Promise<Pieces> {
    const work = () => compressedWhole(chunks, coding)
    const isLong = !Array.isArray(chunks) || lengthOf(chunks) > joinedUpToBytes
    const pieces = await (isLong ? inTurn(work) : work())
    const length = lengthOf(pieces)
    const whole = length <= joinedUpToBytes ? [exactCopy(pieces, length)] : pieces
    if (isWhole || length <= keptUpToBytes) bodies.keep(nameHere, whole)
    return whole
  }
}

/** Pieces may be small parts of large buffers, which would be kept with them. */
function exactCopy(pieces: Pieces, length: number): Uint8Array {
  const copy = Buffer.allocUnsafeSlow(length)
  let at = 0
  for (const piece of pieces) {
    copy.set(piece, at)
    at += piece.byteLength
  }
  return copy
}

function* joined(pieces: Pieces, rest: Iterator<Uint8Array>): Generator<Uint8Array> {
  yield* pieces
  for (let next = rest.next(); !next.done; next = rest.next()) yield next.value
}

function lengthOf(pieces: Pieces): number {
  return pieces.reduce((sum, piece) => sum + piece.byteLength, 0)
}
