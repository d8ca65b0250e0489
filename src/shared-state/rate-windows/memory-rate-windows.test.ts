import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { sized } from '../../../test/soak.ts'
import { createMovableClock } from '../../clock.ts'
import { createMemoryRateWindows } from './memory-rate-windows.ts'
import { rateWindowsContract } from './rate-windows.contract.ts'

rateWindowsContract(
  'memory',
  async () => {
    const clock = createMovableClock(Date.UTC(2026, 10, 15))
    return {
      windows: createMemoryRateWindows(clock),
      nowMs: async () => clock.nowMs(),
      passMs: async (ms) => clock.advanceMs(ms),
    }
  },
  false,
)

test('no more windows are kept than may be, and the oldest are forgotten first', async () => {
  const clock = createMovableClock(Date.UTC(2026, 10, 15))
  const windows = createMemoryRateWindows(clock, 3)
  const leftOf = async (name: string) => (await windows.readWindow(name, 10, 60_000)).remaining
  for (const name of ['a', 'b', 'c', 'a']) await windows.takeFromWindow(name, 10, 60_000)
  await windows.takeFromWindow('d', 10, 60_000)
  assert.deepEqual(await Promise.all(['a', 'b', 'c', 'd'].map(leftOf)), [10, 9, 9, 9])
  clock.advanceMs(60_000)
  await windows.takeFromWindow('b', 10, 60_000)
  await windows.takeFromWindow('e', 10, 60_000)
  await windows.takeFromWindow('f', 10, 60_000)
  assert.deepEqual(
    await Promise.all(['b', 'e', 'f'].map(leftOf)),
    [9, 9, 9],
    'one that is over is no older one',
  )
})

test('however many networks come, so many are remembered', async () => {
  const clock = createMovableClock(Date.UTC(2026, 10, 15))
  const most = sized(10_000, 50_000)
  const windows = createMemoryRateWindows(clock, most)
  const name = (n: number) => `ip 2001:db8:${(n >> 16).toString(16)}:${(n & 0xffff).toString(16)}`
  const tookMs: number[] = []
  for (let part = 0; part < 4; part++) {
    const startedMs = performance.now()
    for (let n = part * most; n < (part + 1) * most; n++) await windows.takeFromWindow(name(n), 600, 60_000)
    tookMs.push(performance.now() - startedMs)
  }
  const [roomyMs = 0, ...fullMs] = tookMs
  assert.ok(Math.min(...fullMs) < 8 * roomyMs, `to forget one costs as much as to remember one: ${tookMs} ms`)
  let kept = 0
  for (let n = 0; n < 4 * most; n++)
    if ((await windows.readWindow(name(n), 600, 60_000)).remaining < 600) kept++
  assert.equal(kept, most)
})

test('windows that are over leave nothing behind, however often they begin anew', () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const usedBytes = () => {
    collect()
    return process.memoryUsage().heapUsed
  }
  const most = 100
  // With room for more, in use to the last, and with newcomers for whom others go.
  for (const [inUse, newcomers] of [
    [most / 2, 0],
    [most, 0],
    [most, 1],
  ] as const) {
    const clock = createMovableClock(Date.UTC(2026, 10, 15))
    const windows = createMemoryRateWindows(clock, most)
    const begin = (count: number) => {
      for (let n = 0; n < count; n++) {
        if (n % inUse === 0) clock.advanceMs(60_000)
        windows.takeFromWindow(`key ${n % inUse}`, 10, 60_000)
        if (newcomers > 0 && n % inUse === 0) windows.takeFromWindow(`ip ${n}`, 10, 60_000)
      }
    }
    // The newcomer comes once, and the iterator that made room for it may stand still from then on.
    for (let n = 0; n < most + 1; n++) windows.takeFromWindow(`before ${n}`, 10, 60_000)
    begin(10_000)
    const beforeBytes = usedBytes()
    begin(200_000)
    const leftBytes = usedBytes() - beforeBytes
    windows.takeFromWindow('a', 10, 60_000)
    assert.ok(leftBytes < 2_000_000, `${leftBytes} bytes with ${inUse} in use and ${newcomers} newcomers`)
  }
})
