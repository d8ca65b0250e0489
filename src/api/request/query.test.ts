import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Refusal } from '../../errors.ts'
import {
  noParameters,
  type Parameters,
  parseParameters,
  parseRowNumber,
  readableParameters,
} from './query.ts'

test('parameters keep their order and their repetitions, decoded', () => {
  assert.deepEqual(parseParameters('a=1&b=2&a=3'), [
    ['a', '1'],
    ['b', '2'],
    ['a', '3'],
  ])
  assert.deepEqual(parseParameters('a+b=c+d%2B&%C3%A9='), [
    ['a b', 'c d+'],
    ['é', ''],
  ])
  assert.deepEqual(parseParameters('a&=b&&c=d=e'), [
    ['a', ''],
    ['', 'b'],
    ['c', 'd=e'],
  ])
  assert.deepEqual(parseParameters('__proto__=1&constructor=2'), [
    ['__proto__', '1'],
    ['constructor', '2'],
  ])
  assert.equal(parseParameters(null), noParameters)
  assert.equal(parseParameters(''), noParameters)
})

test('broken percent-encoding is refused, in names and in values', () => {
  for (const query of ['a=%', '%zz=1', 'a=1&b=%E0%A4', 'a=%ff']) {
    assert.equal(codeOf(parseParameters(query)), 'invalid_query', query)
  }
})

test('a row number stands in the path or in the query, and is the same in both', () => {
  const rowOf = (inPath: string | null, query: string) => {
    const parameters = parseParameters(query)
    assert.ok(!(parameters instanceof Refusal))
    return parseRowNumber({ rowText: inPath }, parameters)
  }
  assert.equal(rowOf(null, ''), undefined)
  assert.equal(rowOf('5', ''), 5)
  assert.equal(rowOf(null, 'row=5'), 5)
  assert.equal(rowOf('5', 'row=5&row=5'), 5)
  assert.equal(rowOf('9'.repeat(99), ''), 1e99, 'too large to exist, and so not found later')
  for (const [inPath, query] of [
    ['5', 'row=6'],
    [null, 'row=5&row=6'],
    ['1', ''],
    ['0', ''],
    ['-5', ''],
    ['5.0', ''],
    ['05', ''],
    ['', ''],
    ['1e1', ''],
    [null, 'row='],
    ['5', 'row=five'],
    ['٥', ''],
    ['9'.repeat(101), ''],
  ] as const) {
    assert.equal(codeOf(rowOf(inPath, query)), 'invalid_row_number', `${inPath} ${query}`)
  }
})

test('a query may have 1,200 parameters, empty ones too', () => {
  const most = Array.from({ length: 1_200 }, (_, n) => `a[in][${n}]=x`)
  assert.equal((parseParameters(most.join('&')) as Parameters).length, 1_200)
  assert.equal(codeOf(parseParameters([...most, 'b=1'].join('&'))), 'invalid_query')
  assert.equal(codeOf(parseParameters(`${'&'.repeat(5_000)}b=1`)), 'invalid_query')
  assert.equal(readableParameters(`api_key=k&${most.join('&')}`)[0]?.[1], 'k', 'a key in front is judged')
})

function codeOf(outcome: unknown): string | null {
  return outcome instanceof Refusal ? outcome.code : null
}
