import assert from 'node:assert/strict'
import { test } from 'node:test'
import { processorMs } from '../../../test/processor-time.ts'
import { nearestName } from './nearest-name.ts'

const names = ['City', 'price', 'x', 'Delivery date']

test('the name that was probably meant', () => {
  const guesses: [given: string, meant: string | null][] = [
    ['Ctiy', 'City'],
    ['citty', 'City'],
    ['PRISE', 'price'],
    [' prce ', 'price'],
    ['delivery_date', 'Delivery date'],
    ['delivry dat', 'Delivery date'],
    ['colour', null],
    ['y', null],
    ['', null],
  ]
  for (const [given, meant] of guesses) assert.equal(nearestName(given, names), meant, given)
  assert.equal(nearestName('a', []), null)
})

test('a hostile name among thousands of columns is judged in no time', async () => {
  const many = Array.from({ length: 16_000 }, (_, n) => `${'x'.repeat(1_000)}${n}`)
  const workMs = await processorMs(() => nearestName('y'.repeat(10_000), many))
  assert.ok(workMs < 500, `${workMs} ms`)
})
