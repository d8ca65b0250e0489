import assert from 'node:assert/strict'
import { test } from 'node:test'
import { holdsOfTwo } from './measured-twice.ts'

const above50 = (ms: number) => (ms > 50 ? `${ms} ms` : null)

async function measured(...figures: number[]): Promise<{ held: number; measurements: number }> {
  let measurements = 0
  const held = await holdsOfTwo(async () => figures[measurements++] ?? 0, above50)
  return { held, measurements }
}

test('what holds is measured once, what misses a second time, and what misses twice fails with both figures', async () => {
  assert.deepEqual(await measured(20), { held: 20, measurements: 1 })
  assert.deepEqual(await measured(70, 30), { held: 30, measurements: 2 })
  await assert.rejects(measured(70, 80, 10), /missed twice: first 70 ms; then 80 ms/)
})
