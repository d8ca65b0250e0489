import assert from 'node:assert/strict'
import { test } from 'node:test'
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib'
import { systemClock } from '../clock.ts'
import type { Observation } from '../reporting/observe.ts'
import { visitorsOf } from '../shares/taker.ts'
import { type Compression, createCompression } from './compression.ts'

const mebibyte = 1024 * 1024
const unpacking = { gzip: gunzipSync, br: brotliDecompressSync, zstd: zstdDecompressSync }

test('what is compressed is whole again afterwards, at any length and in any pieces', async () => {
  const { compression } = start()
  for (const [coding, unpack] of Object.entries(unpacking))
    for (const lengths of [[1], [70_000, 3], [3 * mebibyte + 7], Array.from({ length: 50 }, () => 9_999)]) {
      const chunks = lengths.map(words)
      const whole = await compression.whole({ ...acme, chunks, coding: coding as 'gzip', isLong: true })
      assert.ok(whole)
      assert.deepEqual(unpack(Buffer.concat(whole)), Buffer.concat(chunks), `${coding} ${lengths[0]}`)
      const stream = await compression.stream({ ...acme, chunks, coding: coding as 'gzip' })
      assert.ok(stream)
      assert.deepEqual(unpack(Buffer.concat(await Array.fromAsync(stream))), Buffer.concat(chunks))
    }
})

test('of one account one long list is compressed at a time; who waits too long for it gets none', async (t) => {
  const { compression, seen } = start(20)
  const long = { coding: 'br', isLong: true } as const
  const isHalfDone = Promise.withResolvers<void>()
  const isReleased = Promise.withResolvers<void>()
  t.after(() => isReleased.resolve())
  async function* untilReleased(): AsyncGenerator<Uint8Array> {
    yield words(mebibyte)
    isHalfDone.resolve()
    await isReleased.promise
  }
  const first = compression.whole({ ...acme, ...long, chunks: untilReleased() })
  await isHalfDone.promise
  assert.equal(await compression.whole({ ...acme, ...long, chunks: [words(mebibyte)] }), null)
  assert.deepEqual(
    seen.filter(({ event }) => event === 'share_used_up'),
    [{ event: 'share_used_up', share: 'compression_at_once', accountId: 'acme' }],
  )
  const other = await compression.whole({ ...long, taker: 'other', chunks: [words(mebibyte)] })
  assert.ok(other, 'another account has its own turns')
  isReleased.resolve()
  assert.ok(await first)
  assert.ok(await compression.whole({ ...acme, ...long, chunks: [words(mebibyte)] }))
})

test('visitors who hold what their account may compress at once keep nobody with a key from it', async (t) => {
  const { compression } = start(20)
  const long = { coding: 'br', isLong: true } as const
  const isHalfDone = Promise.withResolvers<void>()
  const isReleased = Promise.withResolvers<void>()
  t.after(() => isReleased.resolve())
  async function* untilReleased(): AsyncGenerator<Uint8Array> {
    yield words(mebibyte)
    isHalfDone.resolve()
    await isReleased.promise
  }
  const visitors = { taker: visitorsOf(acme.taker) }
  const first = compression.whole({ ...visitors, ...long, chunks: untilReleased() })
  await isHalfDone.promise
  assert.equal(await compression.whole({ ...visitors, ...long, chunks: [words(mebibyte)] }), null)
  assert.ok(await compression.whole({ ...acme, ...long, chunks: [words(mebibyte)] }))
  isReleased.resolve()
  assert.ok(await first)
})

test('a reader that stopped reading a compressed stream holds no turn', async () => {
  const { compression } = start()
  const stopped = await Promise.all(
    Array.from({ length: 5 }, async () => {
      const stream = await compression.stream({ ...acme, chunks: [words(4 * mebibyte)], coding: 'gzip' })
      const reader = stream?.[Symbol.asyncIterator]()
      await reader?.next()
      return reader
    }),
  )
  assert.ok(stopped.every(Boolean))
  assert.ok(await compression.whole({ ...acme, chunks: [words(mebibyte)], coding: 'gzip', isLong: true }))
  for (const reader of stopped) await reader?.return?.()
})

test('a source that fails fails the stream, and the turn is free again', async () => {
  const { compression } = start()
  async function* failing(): AsyncGenerator<Uint8Array> {
    yield words(mebibyte)
    throw new Error('gone')
  }
  await assert.rejects(
    compression.whole({ ...acme, chunks: failing(), coding: 'zstd', isLong: true }),
    /gone/,
  )
  assert.ok(await compression.whole({ ...acme, chunks: [words(mebibyte)], coding: 'zstd', isLong: true }))
})

const acme = { taker: 'acme' }

function words(length: number): Uint8Array {
  const bytes = Buffer.alloc(length)
  // Not too easy to compress.
  for (let at = 0; at < length; at++) bytes[at] = 97 + (((at * 7919) ^ (at >>> 5)) % 26)
  return bytes
}

/** Nobody should be refused where none waits for another, on however busy a machine. */
function start(compressionWaitMs = 30_000): { compression: Compression; seen: Observation[] } {
  const seen: Observation[] = []
  const shares = { compression_at_once: 1, compression_wait_ms: compressionWaitMs }
  const observe = (observation: Observation) => void seen.push(observation)
  return { compression: createCompression({ shares, clock: systemClock, observe }), seen }
}
