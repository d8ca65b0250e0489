import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { Refusal } from '../../errors.ts'
import { noParameters, parseParameters } from './query.ts'
import { parseReadWish, type Readable, wholeList } from './read-wish.ts'

const seed = 20261115

test('what can be judged without the sheet is taken apart', () => {
  assert.deepEqual(wishOf('limit=10&offset=0&row_numbers=true'), {
    ...wholeList,
    limit: 10,
    rowNumbers: true,
  })
  assert.deepEqual(wishOf('q=oak&values=formatted&format=csv&sort=a,-b&sort=c&fields=x&City=B&p[gte]=1'), {
    ...wholeList,
    search: 'oak',
    values: 'formatted',
    format: 'csv',
    sort: ['a,-b', 'c'],
    fields: ['x'],
    filters: [
      ['City', 'B'],
      ['p[gte]', '1'],
    ],
  })
  assert.equal(parseReadWish(noParameters, 'list'), wholeList, 'the plain list costs nothing')
})

test('what is nobody’s business is ignored, unless it filters a column', () => {
  assert.deepEqual(wishOf('_=1&utm_source=x&api_key=y&row=3&q='), wholeList)
  assert.deepEqual(wishOf('_id[eq]=5'), { ...wholeList, filters: [['_id[eq]', '5']] })
})

test('a value that means nothing is refused, and the answer says what would', () => {
  for (const query of [
    'limit=',
    'limit=-1',
    'limit=1.5',
    'limit=1e3',
    'limit=0x1',
    'limit=01',
    'offset=+1',
  ]) {
    assert.match(refusedDetails(wishOf(query)), /must be a whole number/, query)
  }
  assert.equal(refusedDetails(wishOf('row_numbers=TRUE')), '"row_numbers" must be "false" or "true".')
  assert.equal(refusedDetails(wishOf('values=raw')), '"values" must be "typed" or "formatted".')
  assert.equal(refusedDetails(wishOf('format=xml')), '"format" must be "json", "csv" or "ndjson".')
  assert.equal(refusedDetails(wishOf('escape_formulas=1')), '"escape_formulas" must be "false" or "true".')
  assert.equal(refusedDetails(wishOf('City[empty]=1')), '"City[empty]" must be "true" or "false".')
  assert.equal(refusedDetails(wishOf('limit=1&limit=2')), '"limit" was given twice with different values.')
  assert.deepEqual(wishOf('limit=1&limit=1'), { ...wholeList, limit: 1 })
})

test('one row and a description take fewer parameters, and name them', () => {
  assert.deepEqual(wishOf('fields=a&row_numbers=true&_=1', 'row'), {
    ...wholeList,
    fields: ['a'],
    rowNumbers: true,
  })
  for (const query of ['limit=1', 'q=x', 'sort=a', 'City=Berlin', 'City[gt]=1'])
    assert.match(
      refusedDetails(wishOf(query, 'row')),
      /takes fields, row_numbers, values, format, escape_formulas, bom\.$/,
      query,
    )
  assert.match(refusedDetails(wishOf('format=csv', 'description')), /takes row_numbers, values\.$/)
})

test('a hostile name fills neither the answer nor the log', () => {
  assert.ok(refusedDetails(wishOf(`${'x'.repeat(10_000)}=1`, 'row')).length < 250)
})

test('no query is too odd to be judged', () => {
  const unit = fc.oneof(fc.constantFrom('&', '=', '%', '+', 'limit', 'row', '[', '%5B', '%00'), fc.string())
  fc.assert(
    fc.property(fc.array(unit), (units) => {
      const wish = wishOf(units.join(''))
      assert.ok(wish instanceof Refusal || wish.offset >= 0)
    }),
    { seed },
  )
})

function wishOf(query: string, readable: Readable = 'list') {
  const parameters = parseParameters(query)
  return parameters instanceof Refusal ? parameters : parseReadWish(parameters, readable)
}

function refusedDetails(outcome: unknown): string {
  assert.ok(outcome instanceof Refusal)
  assert.equal(outcome.code, 'invalid_query')
  return outcome.facts.details ?? ''
}
