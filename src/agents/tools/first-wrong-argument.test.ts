import assert from 'node:assert/strict'
import { test } from 'node:test'
import { z } from 'zod'
import { holdsOfFive } from '../../../test/measured-twice.ts'
import { processorMs } from '../../../test/processor-time.ts'
import { firstWrongArgument } from './first-wrong-argument.ts'

const input = z.object({
  sheet: z.string(),
  fields: z.array(z.string()).optional(),
  rows: z.array(z.record(z.string(), z.union([z.string(), z.number()]))).optional(),
})

test('of a long list the first that is wrong is told, and no other looked at', async () => {
  const fields = Array.from({ length: 20_000 }, (_, nth) => (nth < 3 ? 'a' : nth))
  const told = () => firstWrongArgument(input, { sheet: 's', fields }, '') ?? ''
  assert.match(told(), /expected string.*\n.*fields\[3\]/)
  await holdsOfFive(
    () => processorMs(told),
    (workMs) => (workMs < 5 ? null : `${workMs.toFixed(1)} ms`),
  )
})

test('the same in a row of many cells, and in rows one after the other', () => {
  const row = Object.fromEntries(Array.from({ length: 1_600 }, (_, nth) => [`c${nth}`, []]))
  assert.match(
    firstWrongArgument(input, { sheet: 's', rows: [{ a: 1 }, row, row] }, '') ?? '',
    /rows\[1\]\[c0\]/,
  )
})

test('what is right, or short, is left to the schema', () => {
  assert.equal(firstWrongArgument(input, { sheet: 's', fields: Array(1_000).fill('a') }, ''), null)
  assert.equal(firstWrongArgument(input, { sheet: 's', fields: [1, 2] }, ''), null)
  assert.equal(firstWrongArgument(input, { sheet: 's', more: 1 }, ''), null)
  assert.equal(firstWrongArgument(input, 'no object', ''), null)
})
