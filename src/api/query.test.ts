import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { Refusal } from '../errors.ts'
import { noParameters, parseListWish, parseParameters, parseRowNumber, wholeList } from './query.ts'

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

test('a list is cut by whole numbers only', () => {
  assert.deepEqual(wishOf('limit=10&offset=0&row_numbers=true'), { limit: 10, offset: 0, rowNumbers: true })
  assert.deepEqual(wishOf('_=1&utm_source=x&api_key=y&row=3'), wholeList)
  assert.equal(parseListWish(noParameters), wholeList)
  for (const query of [
    'limit=',
    'limit=-1',
    'limit=1.5',
    'limit=1e3',
    'limit=0x1',
    'limit=01',
    'offset=+1',
    'limit=%201',
  ]) {
    assert.equal(codeOf(wishOf(query)), 'invalid_query', query)
  }
  for (const query of ['row_numbers=', 'row_numbers=TRUE', 'limits=1', 'constructor=1', 'Row=2']) {
    assert.equal(codeOf(wishOf(query)), 'invalid_query', query)
  }
})

test('a hostile name fills neither the answer nor the log', () => {
  const refused = wishOf(`${'x'.repeat(10_000)}=1`)
  assert.ok(refused instanceof Refusal)
  assert.ok((refused.facts.details?.length ?? 0) < 250)
})

test('a row number stands in the path or in the query, and is the same in both', () => {
  const rowOf = (inPath: string | null, query: string) => {
    const parameters = parseParameters(query)
    assert.ok(!(parameters instanceof Refusal))
    return parseRowNumber(inPath, parameters)
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

test('no query is too odd to be judged', () => {
  const unit = fc.oneof(fc.constantFrom('&', '=', '%', '+', 'limit', 'row', '[', '%5B', '%00'), fc.string())
  fc.assert(
    fc.property(fc.array(unit), (units) => {
      const wish = wishOf(units.join(''))
      assert.ok(wish instanceof Refusal || wish.offset >= 0)
    }),
  )
})

function wishOf(query: string) {
  const parameters = parseParameters(query)
  return parameters instanceof Refusal ? parameters : parseListWish(parameters)
}

function codeOf(outcome: unknown): string | null {
  return outcome instanceof Refusal ? outcome.code : null
}
