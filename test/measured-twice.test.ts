import assert from 'node:assert/strict'
import { test } from 'node:test'
import { holdsOfFive, holdsOfTwo } from './measured-twice.ts'

const above50 = (ms: number) => (ms > 50 ? `${ms} ms` : null)

async function measured(...figures: number[]) {
  return measuredBy(holdsOfTwo, ...figures)
}

async function measuredBy(holds: typeof holdsOfTwo<number>, ...figures: number[]) {
  let measurements = 0
  const held = await holds(async () => figures[measurements++] ?? 0, above50)
  return { held, measurements }
}

test('what holds is measured once, what misses a second time, and what misses twice fails with both figures', async () => {
  assert.deepEqual(await measured(20), { held: 20, measurements: 1 })
  assert.deepEqual(await measured(70, 30), { held: 30, measurements: 2 })
  await assert.rejects(measured(70, 80, 10), /missed each of 2 times: 70 ms; then 80 ms/)
})

test('what takes a moment is measured five times before it fails', async () => {
  assert.deepEqual(await measuredBy(holdsOfFive, 70, 80, 60, 90, 20), { held: 20, measurements: 5 })
  await assert.rejects(
    measuredBy(holdsOfFive, 70, 80, 60, 90, 70, 10),
    /missed each of 5 times: .*; then 70 ms/,
  )
})
