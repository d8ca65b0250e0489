import assert from 'node:assert/strict'
import { test } from 'node:test'
import { boundYoungGeneration, ownYoungGeneration } from './young-generation.ts'

const mebibyte = 2 ** 20

test('room for new objects grows to a calm size, beyond it only after a second with much to do, and freely at the end', () => {
  const state = { share: 0.1, bytes: 2 * mebibyte }
  const flags: string[] = []
  let look = () => {}
  const end = boundYoungGeneration(
    { busyShare: () => state.share, bytes: () => state.bytes, setFlag: (flag) => void flags.push(flag) },
    {
      after(_delayMs, work) {
        look = work
        return () => {
          look = () => {}
        }
      },
    },
  )
  const looks = (count: number) => {
    const from = flags.length
    for (let n = 0; n < count; n++) look()
    return flags.slice(from)
  }
  assert.deepEqual(flags, ['--min-semi-space-size=4'])
  assert.deepEqual(looks(10), [])
  state.bytes = 16 * mebibyte
  assert.deepEqual(looks(10), ['--semi-space-growth-factor=1'])
  state.share = 0.9
  assert.deepEqual(looks(3), [])
  assert.deepEqual(looks(3), ['--semi-space-growth-factor=2'])
  state.share = 0.1
  assert.deepEqual(looks(2), ['--semi-space-growth-factor=1'])
  state.bytes = 8 * mebibyte
  assert.deepEqual(looks(2), ['--semi-space-growth-factor=2'])
  state.bytes = 16 * mebibyte
  looks(1)
  end()
  assert.equal(flags.at(-1), '--semi-space-growth-factor=2')
  assert.deepEqual(looks(1), [])
})

test('the runtime tells how busy it is and how much room it has, and knows the flags', () => {
  const own = ownYoungGeneration()
  const endMs = performance.now() + 20
  while (performance.now() < endMs);
  assert.ok(own.bytes() > 2 ** 19)
  assert.ok(own.busyShare() >= 0)
  for (const factor of [1, 2]) own.setFlag(`--semi-space-growth-factor=${factor}`)
})
