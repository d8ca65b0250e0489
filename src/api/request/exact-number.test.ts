import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { processorMs } from '../../../test/processor-time.ts'
import { isExactNumber } from './exact-number.ts'

test('a number that prints as the same decimal again is exact, however it is written', () => {
  for (const source of [
    '0',
    '-0',
    '0.0',
    '0e99',
    '1',
    '-1',
    '1.0',
    '1.50',
    '0.1',
    '1.50e3',
    '1500',
    '15E+2',
    '1e21',
    '123456789012345',
    '9007199254740992',
    '1e-7',
    '0.0000001',
    '5e-324',
    '1.7976931348623157e308',
    `1${'0'.repeat(300)}`,
  ]) {
    assert.ok(isExactNumber(source, Number(source)), source)
  }
})

test('a number that loses something is not', () => {
  for (const source of [
    '12345678901234567890',
    '9007199254740993',
    '0.1000000000000000055511151231257827',
    '1e400',
    '-1e400',
    '1e-400',
    '1.7976931348623157e309',
    '3.14159265358979323846',
    `0.${'0'.repeat(400)}1`,
  ]) {
    assert.ok(!isExactNumber(source, Number(source)), source)
  }
})

test('every number that JavaScript prints is exact, in all its notations', () => {
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
      assert.ok(isExactNumber(String(value), value))
      assert.ok(isExactNumber(value.toExponential(), value))
      assert.ok(isExactNumber(JSON.stringify(value), value))
    }),
  )
})

test('a million digits are judged at once, wherever the zeros are', async () => {
  const zeros = '0'.repeat(1_000_000)
  for (const source of [
    `0.1${zeros}1`,
    `0.${zeros}1${zeros}`,
    `1${zeros}`,
    `0.5${zeros}`,
    `0.${'1'.repeat(1_000_000)}`,
  ]) {
    const workMs = await processorMs(() => isExactNumber(source, Number(source)))
    assert.ok(workMs < 5_000, `${source.slice(0, 5)}… took ${workMs} ms`)
  }
})
