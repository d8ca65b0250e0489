import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Cell } from '../../src/sheets/rows/grid.ts'
import { naiveQuery } from '../../src/sheets/rows/query/naive-query.fixture.ts'
import { argumentOf, filterOperators } from '../../src/sheets/rows/query/operators.ts'
import type { Filter, Query } from '../../src/sheets/rows/query/query.ts'
import { startRowport } from '../harness.ts'
import { sized, times } from '../soak.ts'
import { connectMoody, createMoodyProvider } from './freshness-provider.ts'

/*
 * Any table, any query, through the front door: the answer is what the rules of docs/contract.md#reading give row by
 * row, in both forms and every format.
 */

const seed = 20261115
const headers = ['City', 'price', 'a,b', 'limit', 'x [y]', '2024', 'Höhe', '_id', '&=%+?#', 'constructor']
const texts = [
  'Berlin',
  'BERLIN',
  'bonn',
  'a,b',
  '7',
  'true',
  '2026-11-15',
  '2026-11-15T09:30:00',
  '"',
  'ß\n',
  '😀',
]
const values = [
  ...texts,
  '0',
  '7.0',
  '-1',
  '1e3',
  '2026-11-15T00:00',
  '09:30',
  'FALSE',
  '',
  ' ',
  'n/a',
  '%',
  '&x=1',
]

const cell: fc.Arbitrary<Cell> = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...texts) },
  { weight: 3, arbitrary: fc.constantFrom(0, 7, -1, 1_000, 0.5, 1e21) },
  { weight: 1, arbitrary: fc.boolean() },
  { weight: 2, arbitrary: fc.constant(null) },
)
const value = fc.constantFrom(...values)
const tables = fc.integer({ min: 1, max: headers.length }).chain((columns) =>
  fc.record({
    columns: fc.constant(columns),
    rows: fc.array(fc.array(cell, { minLength: columns, maxLength: columns }), { maxLength: 15 }),
    asks: fc.array(askOf(columns), { minLength: 4, maxLength: 4 }),
  }),
)

interface Ask {
  query: Query
  fields: number[] | null
  rowNumbers: boolean
  format: 'json' | 'csv' | 'ndjson'
  /** Names in capitals, where a client may write them so. */
  isLoud: boolean
}

function askOf(columns: number): fc.Arbitrary<Ask> {
  const column = fc.nat(columns - 1)
  const filter: fc.Arbitrary<Filter> = fc
    .record({ column, operator: fc.constantFrom(...filterOperators) })
    .chain(({ column: at, operator }) => {
      const several = argumentOf(operator).isList
      const given = operator === 'empty' ? fc.constantFrom('true', 'false') : value
      return fc
        .array(given, { minLength: several ? 2 : 1, maxLength: several ? 3 : 1 })
        .map((each) => ({ column: at, operator, values: each }))
    })
  return fc.record({
    query: fc.record({
      filters: fc.uniqueArray(filter, {
        maxLength: 2,
        selector: ({ column: at, operator }) => `${at} ${operator}`,
      }),
      search: fc.option(value, { freq: 3 }),
      sort: fc.array(fc.record({ column, descending: fc.boolean() }), { maxLength: 2 }),
      limit: fc.option(fc.nat(8)),
      offset: fc.oneof(fc.constant(0), fc.nat(8)),
    }),
    fields: fc.option(fc.uniqueArray(column, { minLength: 1 }), { freq: 2 }),
    rowNumbers: fc.boolean(),
    format: fc.constantFrom('json' as const, 'json' as const, 'csv' as const, 'ndjson' as const),
    isLoud: fc.boolean(),
  })
}

test('random tables and queries give what the rules give', async (t) => {
  const rowport = await startRowport(t)
  const provider = createMoodyProvider()
  const { id, path } = await connectMoody(rowport, provider, 's', [])
  let asked = 0
  await fc.assert(
    fc.asyncProperty(tables, async ({ columns, rows, asks }) => {
      provider.cells.set('s', [headers.slice(0, columns), ...rows])
      rowport.clock.advanceMs(3_600_000)
      for (const ask of asks) {
        const text = queryString(ask)
        const flat = await rowport.get(`${path}?${text}`)
        const nested = await rowport.get(`/v1/sheets/${id}?${text}`)
        const bodies = [await flat.text(), await nested.text()]
        assert.equal(flat.status, 200, String(bodies[0]))
        const { total, list, rowNumbers } = expected(ask, headers.slice(0, columns), rows)
        assert.equal(flat.headers.get('x-total-count'), String(total))
        assert.equal(nested.headers.get('x-total-count'), String(total))
        assert.equal(nested.headers.get('etag'), flat.headers.get('etag'))
        assert.equal(bodies[0], list)
        if (ask.format !== 'json') assert.equal(bodies[1], list)
        else {
          assert.ok(bodies[1]?.startsWith(`{"data":${list},"meta":`))
          const { meta } = JSON.parse(bodies[1] ?? '') as { meta: { rows: number[]; total: number } }
          assert.deepEqual([meta.rows, meta.total], [rowNumbers, total])
        }
        asked++
      }
    }),
    { seed, numRuns: sized(20, times(50, 1_000)) },
  )
  t.diagnostic(`${asked} queries in both forms`)
})

function expected(ask: Ask, keys: readonly string[], rows: readonly Cell[][]) {
  const listed = rows
    .map((row, at) => ({ row, number: at + 2 }))
    .filter(({ row }) => row.some((c) => c !== null))
  const { positions, total } = naiveQuery(
    listed.map(({ row }) => row),
    ask.query,
  )
  const chosen = positions.flatMap((position) => listed[position] ?? [])
  const shown = ask.fields ?? keys.map((_, at) => at)
  const names = [...(ask.rowNumbers ? ['_row'] : []), ...shown.map((at) => keys[at] ?? '')]
  const cells = chosen.map(({ row, number }) => [
    ...(ask.rowNumbers ? [number] : []),
    ...shown.map((at) => row[at] ?? null),
  ])
  return { total, rowNumbers: chosen.map(({ number }) => number), list: listText(ask.format, names, cells) }
}

function listText(format: Ask['format'], names: readonly string[], cells: readonly Cell[][]): string {
  if (format === 'csv') return [names, ...cells].map((line) => `${csvLine(line)}\r\n`).join('')
  const objects = cells.map(
    (row) => `{${row.map((each, at) => `${JSON.stringify(names[at])}:${JSON.stringify(each)}`).join(',')}}`,
  )
  return format === 'json' ? `[${objects.join(',')}]` : objects.map((each) => `${each}\n`).join('')
}

function csvLine(cells: readonly Cell[]): string {
  const fields = cells.map((each) => {
    if (each === null) return ''
    if (typeof each !== 'string')
      return String(each).replace(/^(?:true|false)$/, (word) => word.toUpperCase())
    const isPlain = /^[^",;\t\r\n]*$/.test(each) && !/^[-+.\d\s]|\s$|^(?:true|false)$/i.test(each)
    return isPlain ? each : `"${each.replaceAll('"', '""')}"`
  })
  return fields.length === 1 && fields[0] === '' ? '""' : fields.join(',')
}

function queryString({ query, fields, rowNumbers, format, isLoud }: Ask): string {
  const nameOf = (column: number) => (isLoud ? headers[column]?.toUpperCase() : headers[column]) ?? ''
  const pairs: [string, string][] = []
  for (const { column, operator, values: given } of query.filters) {
    const name = nameOf(column)
    const isReserved = ['limit', '_id'].includes(headers[column] ?? '')
    const isShort = operator === 'eq' && !isReserved
    for (const each of given) pairs.push([isShort ? name : `${name}[${operator}]`, each])
  }
  if (query.search !== null) pairs.push(['q', query.search])
  for (const { column, descending } of query.sort)
    pairs.push(['sort', `${descending ? '-' : ''}${nameOf(column)}`])
  for (const column of fields ?? []) pairs.push(['fields', nameOf(column)])
  if (query.limit !== null) pairs.push(['limit', String(query.limit)])
  if (query.offset > 0) pairs.push(['offset', String(query.offset)])
  if (rowNumbers) pairs.push(['row_numbers', 'true'])
  if (format !== 'json') pairs.push(['format', format])
  return pairs.map(([name, each]) => `${encodeURIComponent(name)}=${encodeURIComponent(each)}`).join('&')
}
