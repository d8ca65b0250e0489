import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { systemClock } from '../../clock.ts'
import { createCompression } from '../../http/compression.ts'
import { createLoopTurns } from '../../shares/loop-turns.ts'
import { defaultShares } from '../../shares/shares.ts'
import type { KeptBodies } from '../../sheets/reading/held-snapshots.ts'
import { type BodyWish, sendableBody as sendableBodyWith } from './sendable-body.ts'

const kibibyte = 1_024

const parts = {
  compression: createCompression({ shares: defaultShares, clock: systemClock, observe: () => {} }),
  turns: createLoopTurns(systemClock),
}
const sendableBody = (wish: BodyWish) => sendableBodyWith(wish, parts)

test('a body is compressed once for all who ask at the same time, and kept for those who ask later', async () => {
  for (const kibibytes of [20, 2_000]) {
    const { bodies, kept } = keepAll()
    const ask = () => sendableBody({ ...wish(kibibytes), bodies, isWhole: true, coding: 'gzip' })
    const answers = await Promise.all(Array.from({ length: 20 }, ask))
    const [first] = answers
    assert.ok(answers.every(({ body }) => body === first?.body))
    assert.equal(first?.coding, 'gzip')
    assert.deepEqual(unpacked(first?.body), contentOf(kibibytes))
    const later = ask()
    assert.ok(!(later instanceof Promise), 'at once')
    assert.equal(later.body, first?.body)
    assert.ok(kept.has('list gzip'))
  }
})

test('what is short comes in one piece, what is long bit by bit', async () => {
  const { bodies, kept } = keepAll()
  const short = await sendableBody({ ...wish(20), bodies, isWhole: true })
  assert.ok(Array.isArray(short.body) && short.body.length === 1)
  assert.ok(kept.has('list'), 'joined once')
  const long = await sendableBody({ ...wish(2_000), name: 'long', bodies, isWhole: true })
  assert.ok(long.body !== null && typeof long.body === 'object' && 'chunks' in long.body)
  assert.equal(Buffer.concat(await Array.fromAsync(long.body.chunks)).length, 2_000 * kibibyte)
  assert.deepEqual([...kept.keys()], ['list'], 'what is made anew in no time is not kept')
})

test('the result of a query is kept when it is short; a long one is compressed on its way', async () => {
  const { bodies, kept } = keepAll()
  await sendableBody({ ...wish(20), bodies, coding: 'gzip' })
  assert.deepEqual([...kept.keys()], ['list gzip'])
  const long = await sendableBody({ ...wish(2_000), name: 'long', bodies, coding: 'gzip' })
  assert.ok(long.body !== null && typeof long.body === 'object' && 'chunks' in long.body)
  assert.deepEqual(gunzipSync(Buffer.concat(await Array.fromAsync(long.body.chunks))), contentOf(2_000))
  assert.deepEqual([...kept.keys()], ['list gzip'])
})

test('what is long goes out as fast as it is taken, also where it lies in memory, and its length is told', async () => {
  const { bodies, kept } = keepAll()
  const list = randomBytes(1_000 * kibibyte)
  const ask = (coding: 'gzip' | null) =>
    sendableBody({ ...wish(0), chunks: [list], bodies, isWhole: true, coding })
  for (const { body } of [await ask(null), await ask('gzip'), await ask('gzip')]) {
    assert.ok(body !== null && typeof body === 'object' && 'chunks' in body)
    const sent = Buffer.concat(await Array.fromAsync(body.chunks))
    assert.equal(body.bytes, sent.length)
    assert.ok(sent.equals(list) || gunzipSync(sent).equals(list))
  }
  assert.deepEqual([...kept.keys()], ['list gzip'])
})

test('whoever waited for what another one had compressed takes a turn before being answered', async () => {
  const { bodies } = keepAll()
  let turns = 0
  const counted = { ...parts, turns: { next: () => void turns++, isNow: () => false } }
  const chunks = [Buffer.concat(Array.from({ length: 200 }, (_, n) => pieceAt(n)))]
  const ask = () => sendableBodyWith({ ...wish(0), chunks, bodies, coding: 'gzip' }, counted)
  await Promise.all(Array.from({ length: 20 }, ask))
  assert.equal(turns, 19)
})

test('below a kilobyte nothing is compressed', async () => {
  const { bodies } = keepAll()
  const tiny = { ...wish(0), chunks: [Buffer.alloc(1_023, 'x')], bodies, coding: 'zstd' as const }
  assert.equal((await sendableBody(tiny)).coding, null)
  assert.equal((await sendableBody({ ...tiny, chunks: [Buffer.alloc(1_024, 'x')] })).coding, 'zstd')
})

test('a kept body holds on to no more memory than its length', async () => {
  const { bodies, kept } = keepAll()
  await sendableBody({ ...wish(20), bodies, isWhole: true })
  await sendableBody({ ...wish(20), bodies, isWhole: true, coding: 'br' })
  for (const pieces of kept.values())
    for (const piece of pieces) assert.equal(piece.buffer.byteLength, piece.byteLength)
})

test('for HEAD nothing is compressed, and no more is made than shows what GET would say', async () => {
  const { bodies, kept } = keepAll()
  let made = 0
  function* counted(): Generator<Uint8Array> {
    for (const chunk of wish(2_000).chunks()) {
      made++
      yield chunk
    }
  }
  const head = { ...wish(0), bodies, isWhole: true, isHead: true }
  const long = await sendableBody({ ...head, chunks: counted, coding: 'br' })
  assert.deepEqual(long, { body: null, coding: 'br' })
  assert.ok(made < 100, `${made} KiB`)
  const short = await sendableBody({ ...head, chunks: wish(2).chunks })
  assert.ok(Array.isArray(short.body))
  assert.equal(
    Buffer.concat(short.body as Uint8Array[]).length,
    2 * kibibyte,
    'the length of a short one is known',
  )
  assert.equal(kept.size, 0)
})

function wish(kibibytes: number) {
  function* chunks(): Generator<Uint8Array> {
    for (let n = 0; n < kibibytes; n++) yield pieceAt(n)
  }
  const forWhom = { isHead: false, taker: 'acme', sources: [] }
  return { name: 'list', isWhole: false, chunks, coding: null, onFailure: () => {}, ...forWhom }
}

function pieceAt(n: number): Buffer {
  return Buffer.alloc(kibibyte, `some words, ${n}; `)
}

function contentOf(kibibytes: number): Buffer {
  return Buffer.concat(Array.from({ length: kibibytes }, (_, n) => pieceAt(n)))
}

function unpacked(body: unknown): Buffer {
  assert.ok(Array.isArray(body))
  return gunzipSync(Buffer.concat(body as Uint8Array[]))
}

function keepAll() {
  const kept = new Map<string, readonly Uint8Array[]>()
  const bodies: KeptBodies = {
    bytes: 0,
    get: (name) => kept.get(name),
    keep: (name, pieces) => void kept.set(name, pieces),
  }
  return { bodies, kept }
}
