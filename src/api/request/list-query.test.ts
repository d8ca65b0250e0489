import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Refusal } from '../../errors.ts'
import { resolveWish } from './list-query.ts'
import { parseParameters } from './query.ts'
import { parseReadWish } from './read-wish.ts'

const keys = ['City', 'price', 'Price [EUR]', 'limit', 'Name', 'name', 'Size, cm', '-x', 'x', '_id', 'x[gte]']

test('columns are found by their exact name, else in any case', () => {
  assert.deepEqual(filtersOf('City=Berlin&CITY[ne]=Bonn& city[gt]=a'), [
    { column: 0, operator: 'eq', values: ['Berlin'] },
    { column: 0, operator: 'ne', values: ['Bonn'] },
    { column: 0, operator: 'gt', values: ['a'] },
  ])
  assert.deepEqual(filtersOf('name=a&Name=b'), [
    { column: 5, operator: 'eq', values: ['a'] },
    { column: 4, operator: 'eq', values: ['b'] },
  ])
  assert.equal(
    detailsOf('NAME=a'),
    '"NAME" could be "Name", "name"; write it exactly as in the sheet, capitals included.',
  )
})

test('a column with the name of a parameter, a bracket or an underscore is reached all the same', () => {
  assert.deepEqual(filtersOf('limit[eq]=5'), [{ column: 3, operator: 'eq', values: ['5'] }])
  assert.deepEqual(filtersOf('Price [EUR]=5'), [{ column: 2, operator: 'eq', values: ['5'] }])
  assert.deepEqual(filtersOf('price [eur][lt]=5'), [{ column: 2, operator: 'lt', values: ['5'] }])
  assert.deepEqual(filtersOf('x[gte]=5'), [{ column: 8, operator: 'gte', values: ['5'] }])
  assert.deepEqual(filtersOf('x[gte][eq]=5'), [{ column: 10, operator: 'eq', values: ['5'] }])
  assert.deepEqual(filtersOf('_id[eq]=5'), [{ column: 9, operator: 'eq', values: ['5'] }])
  assert.deepEqual(filtersOf('_id=5'), [], 'such parameters are ignored')
  assert.match(detailsOf('_id=5&_other[eq]=5'), /no column "_other"/, 'a filter never is')
})

test('in takes a list, or one value in each repetition', () => {
  assert.deepEqual(filtersOf('City[in]=a, b,c'), [{ column: 0, operator: 'in', values: ['a', 'b', 'c'] }])
  assert.deepEqual(filtersOf('City[in]=a,b&city[in]=c'), [
    { column: 0, operator: 'in', values: ['a,b', 'c'] },
  ])
  assert.deepEqual(filtersOf('City[nin]=a,b&City[in]=c'), [
    { column: 0, operator: 'nin', values: ['a', 'b'] },
    { column: 0, operator: 'in', values: ['c'] },
  ])
})

test('a query has an end: so many filters, values and columns to sort by', () => {
  const many = (count: number, one: string) => Array.from({ length: count }, () => one)
  assert.equal(resolved(`sort=${many(10, 'price').join(',')}`).query.sort.length, 10)
  assert.equal(
    detailsOf(`sort=${many(11, 'price').join(',')}`),
    '"sort" may name 10 columns; this one names 11.',
  )
  assert.equal(filtersOf(many(50, 'City=a').join('&')).length, 50)
  assert.equal(detailsOf(many(51, 'City=a').join('&')), 'A query may have 50 filters; this one has 51.')
  assert.equal(filtersOf(`City[in]=${many(1_000, 'a').join(',')}`)[0]?.values.length, 1_000)
  assert.match(
    detailsOf(`City[in]=${many(600, 'a').join(',')}&name[nin]=${many(401, 'a').join(',')}`),
    /^A query may name 1,000 values to filter by; this one names 1001\./,
  )
})

test('sort and fields name columns, also those with a comma or a minus', () => {
  assert.deepEqual(resolved('sort=price,-city&sort=Size, cm').query.sort, [
    { column: 1, descending: false },
    { column: 0, descending: true },
    { column: 6, descending: false },
  ])
  assert.deepEqual(resolved('sort=-Size, cm').query.sort, [{ column: 6, descending: true }])
  assert.deepEqual(resolved('sort=-x,--x').query.sort, [
    { column: 7, descending: false },
    { column: 7, descending: true },
  ])
  assert.deepEqual(resolved('fields=price, city,price&fields=Size, cm').fields, [1, 0, 6])
  assert.equal(resolved('limit=1').fields, null)
})

test('what is not there is refused with what would be right', () => {
  assert.match(
    detailsOf('Ctiy=a'),
    /^There is no column "Ctiy" to filter by\. Did you mean "City"\? The columns are "City", /,
  )
  assert.match(detailsOf('limt=5'), /Did you mean "limit"\?.* Other parameters are q, sort, limit, /)
  assert.match(
    detailsOf('price[gtee]=5'),
    /^There is no operator "gtee"\. Did you mean "gte"\? The operators are eq, ne, gt, .*empty\.$/,
  )
  assert.match(detailsOf('prise[gte]=5'), /^There is no column "prise" to filter by\. Did you mean "price"\?/)
  assert.match(detailsOf('sort=-prise'), /^There is no column "-prise" for "sort"\. Did you mean "price"\?/)
  assert.match(detailsOf('fields=zzzzzzz'), /^There is no column "zzzzzzz" for "fields"\. The columns are /)
  assert.match(detailsOf('fields='), /^"fields" lacks a name\. The columns are /)
  assert.match(detailsOf('sort=price,'), /^"sort" lacks a name\./)
  assert.match(detailsOf('fields=_row'), /row_numbers=true/)
  assert.match(detailsOf('=1'), /^There is no column "" /)
  assert.match(detailsOf('[gte]=1'), /^There is no column "" /)
})

test('neither many columns nor long names fill the answer', () => {
  const many = Array.from({ length: 5_000 }, (_, n) => `${'long '.repeat(50)}${n}`)
  const details = detailsOf(`${'y'.repeat(10_000)}=1`, many)
  assert.ok(details.length < 6_000, String(details.length))
  assert.match(details, /and 4950 more/)
})

function resolved(query: string, names: readonly string[] = keys) {
  const outcome = outcomeOf(query, names)
  assert.ok(!(outcome instanceof Refusal), JSON.stringify(outcome))
  return outcome
}

function filtersOf(query: string) {
  return resolved(query).query.filters
}

function detailsOf(query: string, names: readonly string[] = keys): string {
  const outcome = outcomeOf(query, names)
  assert.ok(outcome instanceof Refusal, query)
  assert.equal(outcome.code, 'invalid_query')
  return outcome.facts.details ?? ''
}

function outcomeOf(query: string, names: readonly string[]) {
  const parameters = parseParameters(query.replaceAll(' ', '+'))
  assert.ok(!(parameters instanceof Refusal))
  const wish = parseReadWish(parameters, 'list')
  assert.ok(!(wish instanceof Refusal), JSON.stringify(wish))
  return resolveWish(
    wish,
    names.map((key, index) => ({ key, index })),
  )
}
