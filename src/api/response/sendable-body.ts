import { type Compression, compressedFromBytes } from '../../http/compression.ts'
import type { Coding } from '../../http/content-coding.ts'
import type { LoopTurns } from '../../shares/loop-turns.ts'
import { areVisitors, type Taker } from '../../shares/taker.ts'
import type { KeptBodies } from '../../sheets/reading/held-snapshots.ts'
import { type Soon, then } from '../../soon.ts'
import type { Body } from './reply.ts'

/** A body, and what it was compressed with in the end. */
export interface SendableBody {
  /** null for HEAD, where it is not known without making it. */
  body: Body | null
  coding: Coding | null
}

export interface BodyWish {
  /** Bodies of one name, made of one snapshot, are the same. */
  name: string
  /** All rows of the sheet: worth keeping whatever it takes. */
  isWhole: boolean
  /** What lies in memory anyway, or what makes it bit by bit. */
  chunks: Pieces | (() => Iterable<Uint8Array>)
  /** What it is made of, and stays in memory until a long one was read. */
  sources: readonly ArrayBufferView[]
  coding: Coding | null
  bodies: KeptBodies
  /** Only its head will be sent. */
  isHead: boolean
  /** For whom it is made. */
  taker: Taker
  onFailure(error: unknown): void
}

export interface BodyParts {
  compression: Compression
  turns: LoopTurns
}

type Pieces = readonly Uint8Array[]

/**
 * Up to here a body is made in one piece, and sent so: one write costs less than three, and its length can be told. What is
 * longer goes out as fast as it is taken, also where it lies in memory: to many at once it would be one long write.
 */
const joinedUpToBytes = 256 * 1024
/** A query's result is kept up to this length; the whole list at any. */
const keptUpToBytes = 64 * 1024
/** For its head alone: enough to see whether it would be compressed, and how long a short one is. */
const madeForHeadBytes = 64 * 1024

/**
 * Makes a body of its chunks: short ones in one piece, long ones while they are sent. What many will ask for is kept
 * beside the snapshot, so that it is made, and compressed, once.
 */
export function sendableBody(wish: BodyWish, parts: BodyParts): Soon<SendableBody> {
  const { name, bodies, chunks, coding, taker, isHead } = wish
  const compressed = coding === null ? undefined : bodies.get(`${name} ${coding}`)
  if (compressed) return { body: asTaken(wish, parts, compressed), coding }
  const kept = bodies.get(name)
  if (kept) return packBody(wish, parts, kept)
  if (typeof chunks !== 'function') return packBody(wish, parts, isHead ? chunks : joinIfShort(chunks))
  return then(parts.turns.next(taker), () => {
    const rest = chunks()[Symbol.iterator]()
    const nextTurn = () => parts.turns.next(taker)
    if (isHead) return then(gatherPieces(rest, madeForHeadBytes, nextTurn), (made) => headOf(wish, made))
    return then(gatherPieces(rest, joinedUpToBytes, nextTurn), ({ pieces, bytes, isLong }) => {
      if (isLong) return long(wish, parts, joined(pieces, rest))
      const whole = [exactCopy(pieces, bytes)]
      if (wish.isWhole) bodies.keep(name, whole)
      return packBody(wish, parts, whole)
    })
  })
}

function packBody(wish: BodyWish, parts: BodyParts, pieces: Pieces): Soon<SendableBody> {
  const { coding, isHead } = wish
  const plain = { body: asTaken(wish, parts, pieces), coding: null }
  if (coding === null || lengthOf(pieces) < compressedFromBytes) return plain
  if (isHead) return { body: null, coding }
  return then(compressOnce(wish, parts, coding, pieces), (made) =>
    made ? { body: asTaken(wish, parts, made), coding } : plain,
  )
}

function asTaken({ taker, onFailure }: BodyWish, { turns }: BodyParts, pieces: Pieces): Body {
  const bytes = lengthOf(pieces)
  if (bytes <= joinedUpToBytes) return pieces
  return { chunks: pieces, bytes, holds: pieces, nextTurn: () => turns.next(taker), onFailure }
}

/** As much of a body as tells what its head says: its length where it is short, else only how it would be sent. */
function headOf({ coding }: BodyWish, { pieces, bytes, isLong }: Gathered): SendableBody {
  if (isLong) return { body: null, coding }
  return bytes < compressedFromBytes || coding === null
    ? { body: pieces, coding: null }
    : { body: null, coding }
}

function joinIfShort(pieces: Pieces): Pieces {
  return pieces.length > 1 && lengthOf(pieces) <= joinedUpToBytes ? [Buffer.concat(pieces)] : pieces
}

interface Gathered {
  pieces: Pieces
  bytes: number
  /** There may be more. */
  isLong: boolean
}

/** As much as there is up to `maxBytes`, and at most one piece more. An empty piece says that much was done for it. */
function gatherPieces(
  rest: Iterator<Uint8Array>,
  maxBytes: number,
  nextTurn: () => Soon<void>,
  pieces: Uint8Array[] = [],
  gatheredBytes = 0,
): Soon<Gathered> {
  let bytes = gatheredBytes
  for (let next = rest.next(); !next.done; next = rest.next()) {
    if (next.value.byteLength === 0) {
      const turn = nextTurn()
      if (turn instanceof Promise)
        return turn.then(() => gatherPieces(rest, maxBytes, nextTurn, pieces, bytes))
      continue
    }
    pieces.push(next.value)
    bytes += next.value.byteLength
    if (bytes > maxBytes) return { pieces, bytes, isLong: true }
  }
  return { pieces, bytes, isLong: false }
}

async function long(wish: BodyWish, parts: BodyParts, chunks: Iterable<Uint8Array>): Promise<SendableBody> {
  const { coding, isWhole, taker, sources: holds, onFailure } = wish
  const nextTurn = () => parts.turns.next(taker)
  const streamed = { bytes: null, holds, nextTurn, onFailure }
  const inTurns = takingTurns(chunks, nextTurn)
  if (coding !== null && isWhole) {
    const made = await compressOnce(wish, parts, coding, inTurns)
    if (made) return { body: asTaken(wish, parts, made), coding }
  } else if (coding !== null) {
    const stream = await parts.compression.stream({ taker, chunks: inTurns, coding })
    if (stream) return { body: { ...streamed, chunks: stream }, coding }
  }
  return { body: { ...streamed, chunks: inTurns }, coding: null }
}

/** Each chunk is made when its reader is ready for it, and its account has a turn. */
async function* takingTurns(
  chunks: Iterable<Uint8Array>,
  nextTurn: () => Soon<void>,
): AsyncGenerator<Uint8Array> {
  const rest = chunks[Symbol.iterator]()
  for (let next = rest.next(); !next.done; next = rest.next()) {
    // An empty piece says only that much was done for it.
    if (next.value.byteLength > 0) yield next.value
    const turn = nextTurn()
    if (turn instanceof Promise) await turn
  }
}

const underWay = new WeakMap<KeptBodies, Map<string, Promise<Pieces | null>>>()

/**
 * However many ask for it at once; null where no turn at compressing came in time. Nobody with a key waits for what visitors have begun:
 * that goes by their turns.
 */
async function compressOnce(
  { name, bodies, isWhole, taker }: BodyWish,
  { compression, turns }: BodyParts,
  coding: Coding,
  chunks: Pieces | AsyncIterable<Uint8Array>,
): Promise<Pieces | null> {
  const nameHere = `${name} ${coding}`
  const nameOfMaking = areVisitors(taker) ? `${nameHere} visitors` : nameHere
  const making = underWay.get(bodies) ?? new Map<string, Promise<Pieces | null>>()
  underWay.set(bodies, making)
  const known = making.get(nameHere) ?? making.get(nameOfMaking)
  if (known) {
    const made = await known
    // All who wait for it hear of it in the same moment, and each would be answered before anyone else is looked at.
    await turns.next(taker)
    return made
  }
  const made = make()
  making.set(nameOfMaking, made)
  try {
    return await made
  } finally {
    making.delete(nameOfMaking)
  }

  async function make(): Promise<Pieces | null> {
    const isLong = !Array.isArray(chunks) || lengthOf(chunks) > joinedUpToBytes
    const pieces = await compression.whole({ taker, chunks, coding, isLong })
    if (!pieces) return null
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
