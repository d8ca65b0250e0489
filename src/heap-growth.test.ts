import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { boundHeapGrowth, ownHeap } from './heap-growth.ts'

const mebibyte = 2 ** 20

const mayGrow = '--semi-space-growth-factor=2'
const mayNotGrow = '--semi-space-growth-factor=1'
const asRuntimeLikes = '--heap-growing-percent=0'
const little = '--heap-growing-percent=30'

test('heaps grow to a calm size, beyond it only after a second with much to do, and freely at the end', () => {
  const state = { share: 0.1, bytes: 2 * mebibyte }
  const flags: string[] = []
  let look = () => {}
  const end = boundHeapGrowth(
    { busyShare: () => state.share, youngBytes: () => state.bytes, setFlag: (flag) => void flags.push(flag) },
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
  assert.deepEqual(flags, ['--min-semi-space-size=4', '--external-memory-accounted-in-global-limit'])
  assert.deepEqual(looks(10), [little])
  state.bytes = 8 * mebibyte
  assert.deepEqual(looks(10), [mayNotGrow])
  state.share = 0.9
  assert.deepEqual(looks(3), [])
  assert.deepEqual(looks(3), [mayGrow, asRuntimeLikes])
  state.share = 0.1
  assert.deepEqual(looks(2), [mayNotGrow, little])
  state.bytes = 4 * mebibyte
  assert.deepEqual(looks(2), [mayGrow])
  state.bytes = 8 * mebibyte
  assert.deepEqual(looks(1), [mayNotGrow])
  end()
  assert.deepEqual(flags.slice(-2), [mayGrow, asRuntimeLikes])
  assert.deepEqual(looks(1), [])
})

test('the runtime tells how busy it is and how much room it has, and knows the flags', () => {
  const own = ownHeap()
  const endMs = performance.now() + 20
  while (performance.now() < endMs);
  assert.ok(own.youngBytes() > 2 ** 19)
  const busy = own.busyShare()
  assert.ok(busy > 0 && busy <= 1.5, `${busy}`)
  // Waiting for others is nothing to do, though the loop stands still meanwhile.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200)
  assert.ok(own.busyShare() < 0.5)
  for (const flag of [mayNotGrow, mayGrow, little, asRuntimeLikes]) own.setFlag(flag)
})

test('buffers that a calm process has dropped wait for their collection as a part of what is alive, not as a multiple', async () => {
  // Each lives long enough to count as old, as the rows of a sheet do that is written to now and then; in seconds instead of minutes, so
  // it is told that it is calm.
  const dropping = `
    import { boundHeapGrowth, ownHeap } from ${JSON.stringify(new URL('./heap-growth.ts', import.meta.url))}
    import { idleTimers } from ${JSON.stringify(new URL('./timers.ts', import.meta.url))}
    boundHeapGrowth({ ...ownHeap(), busyShare: () => 0 }, idleTimers)
    const alive = Array.from({ length: 60_000 }, (_, n) => ({ n, text: 'text ' + n }))
    const inUse = []
    let count = 0
    let most = 0
    let last = []
    const dropSome = () => {
      for (let n = 0; n < 4; n++) {
        inUse[count++ % 40] = [new Uint8Array(50_000), Array.from({ length: 300 }, (_, n) => ({ n }))]
        for (let at = 0; at < 3_000; at++) last = [at, { at }]
      }
      most = Math.max(most, process.memoryUsage().arrayBuffers)
    }
    const dropping = setInterval(dropSome, 2)
    // Until the runtime has looked once, its limit is that of a start.
    setTimeout(() => {
      most = 0
    }, 2_500)
    setTimeout(() => {
      clearInterval(dropping)
      console.log(JSON.stringify({ most, alive: alive.length + last.length }))
    }, 5_000)`
  const run = promisify(execFile)
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', dropping])
  const { most } = JSON.parse(stdout) as { most: number }
  assert.ok(most < 20 * mebibyte, `${(most / mebibyte).toFixed(1)} MiB beside 2 MB in use`)
})
