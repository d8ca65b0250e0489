import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { sized } from '../../../../test/soak.ts'
import { createMovableClock } from '../../../clock.ts'
import { buildSnapshot } from '../build-snapshot.ts'
import type { Cell } from '../grid.ts'
import type { IndexedSnapshot } from '../snapshot.ts'
import { naiveQuery } from './naive-query.fixture.ts'
import { argumentOf, type FilterOperator, filterOperators } from './operators.ts'
import type { Filter, Query } from './query.ts'
import { inSlices, runQuery, runQuerySteps } from './run-query.ts'

const seed = 20_261_115

/** Few enough that they meet, odd enough that they hurt. */
const numbers = [0, -0, 1, 9, 9.5, 10, -3, 50, 1e21, 1e-7, -1e300, 2 ** 53, 20_261_115]
const texts = [
  ...[
    'Berlin',
    'BERLIN',
    'berlin ',
    'Bern',
    'b',
    'n/a',
    '#N/A',
    ' ',
    '',
    'name',
    'true',
    'FALSE',
    'nul',
    'null',
  ],
  ...['10', '9', '007', '0050', '1e3', '+1', '.5', '-', '1E+21', '9.50'],
  ...[
    'straße',
    'STRASSE',
    'ẞ',
    'İzmir',
    'izmir',
    'ΑΣ',
    'ας',
    'ΑΣΑ',
    'a\nΣ',
    'é',
    'e\u0301',
    'É',
    '日本',
    '日',
  ],
  ...['😀', '😀b', 'ﬀ', '\uffff', '𐐀', '𐐨', 'a"b', 'a\\b', 'a\\nb', 'a\nb', '\0', 'a\0', '\u007f', '\u2028'],
  ...['2026-11-15', '2026-11-15T00:00:00', '2026-11-15t00:00:00', '2026-11-15T09:30:00', '2026-11-16'],
  ...['2026-02-30', '2026-13-01', '2026-11-15 x', '2026-11', '0099-12-31', '2024-02-29', '2023-02-29'],
  ...['2026-11-15T09:30:00.500', '09:30:00.250', '09:30:00.000', '26:30:00.250'],
  ...[
    '09:30:00',
    '9:30:00',
    '23:59:59',
    '24:00:00',
    '26:30:00',
    '100:00:00',
    '09:60:00',
    '09:30',
    '00:00:00',
  ],
]
const valuesOnly = [
  ...[
    '10.0',
    '1e1',
    '-0',
    '0.0',
    '9.50',
    'True',
    'fAlSe',
    '1e999',
    '-1e999',
    '1e-7',
    '1e+21',
    'BER',
    'ER',
    'σ',
    'ς',
    'Σ',
  ],
  ...[
    '2026-11-15T00:00',
    '2026-11-15T00:00:00.000',
    '2026-11-15T09:30',
    '2026-11-15T09:30:00.5',
    '2026-11-15T24:00',
  ],
  ...[
    '09:30:00.00',
    '09:30:00.25',
    '24:00',
    '99:00:00',
    '2026-11-15T09:30:00Z',
    '2026',
    '-',
    ':',
    '{',
    '"',
    '\\',
    'c1',
  ],
]
const text = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom(...texts) },
  { weight: 1, arbitrary: fc.string({ unit: 'grapheme', maxLength: 4 }) },
)
const cell: fc.Arbitrary<Cell> = fc.oneof(
  { weight: 4, arbitrary: text },
  { weight: 2, arbitrary: fc.constantFrom(...numbers) },
  { weight: 1, arbitrary: fc.double({ noNaN: true, noDefaultInfinity: true }) },
  { weight: 1, arbitrary: fc.boolean() },
  { weight: 2, arbitrary: fc.constant(null) },
)
/** Some columns hold anything, some only one kind, as columns mostly do. */
const columnCell = fc.constantFrom(
  cell,
  cell,
  fc.oneof(fc.constantFrom<Cell>(...numbers), fc.constant(null)),
  fc.oneof(text, fc.constant(null)),
  fc.constantFrom<Cell>('2026-11-15', '2026-11-15T00:00:00', '2026-11-15T09:30:00.500', '2026-11-16', null),
  fc.constantFrom<Cell>('09:30:00', '09:30:00.250', '23:59:59', '00:00:00', null),
  fc.constantFrom<Cell>('09:30:00', '26:30:00', '100:00:00', '20:00:00', null),
  fc.constantFrom<Cell>(true, false, null),
)
const headers = ['name', '0', 'c"1\\', '日本', '__proto__']
const table = fc.array(columnCell, { minLength: 1, maxLength: headers.length }).chain((columns) =>
  fc.array(fc.tuple(...columns) as fc.Arbitrary<Cell[]>, { maxLength: 25 }).map((rows) => ({
    columns: columns.length,
    rows: rows.filter((row) => row.some((each) => each !== null)),
  })),
)
const value = fc.oneof(text, fc.constantFrom(...numbers.map(String)), fc.constantFrom(...valuesOnly))
const filterOn = (columns: number): fc.Arbitrary<Filter> =>
  fc
    .record({ column: fc.nat(columns - 1), operator: fc.constantFrom<FilterOperator>(...filterOperators) })
    .chain((filter) =>
      fc
        .array(filter.operator === 'empty' ? fc.constantFrom('true', 'false') : value, {
          minLength: argumentOf(filter.operator).isList ? 0 : 1,
          maxLength: argumentOf(filter.operator).isList ? 4 : 1,
        })
        .map((values) => ({ ...filter, values })),
    )
const queryOn = (columns: number): fc.Arbitrary<Query> =>
  fc.record({
    filters: fc.array(filterOn(columns), { maxLength: 3, size: 'small' }),
    search: fc.option(value, { freq: 4 }),
    sort: fc.array(fc.record({ column: fc.nat(columns - 1), descending: fc.boolean() }), { maxLength: 3 }),
    limit: fc.option(fc.nat(30)),
    offset: fc.oneof(fc.constant(0), fc.nat(30), fc.constant(1e100)),
  })

test('any query on any table gives what comparing cell by cell gives', () => {
  const cases = table.chain(({ columns, rows }) =>
    fc.record({
      columns: fc.constant(columns),
      rows: fc.constant(rows),
      queries: fc.array(queryOn(columns), { minLength: 4, maxLength: 4 }),
    }),
  )
  fc.assert(
    fc.property(cases, ({ columns, rows, queries }) => {
      const snapshot = buildSnapshot({ rows: [headers.slice(0, columns), ...rows] })
      const cells = cellsIn(snapshot)
      for (const query of queries) assertSame(snapshot, cells, query)
    }),
    { seed, numRuns: sized(300, 1_000) },
  )
})

test('one operator on one column, all of them in turn', () => {
  const cases = columnCell.chain((of) =>
    fc.record({ column: fc.array(of, { minLength: 1, maxLength: 30 }), value }),
  )
  fc.assert(
    fc.property(cases, ({ column, value }) => {
      const snapshot = buildSnapshot({ rows: [['id', 'c'], ...column.map((each, at) => [at, each])] })
      const cells = cellsIn(snapshot)
      for (const operator of filterOperators) {
        const values = [operator === 'empty' ? 'true' : value]
        assertSame(snapshot, cells, { ...everything, filters: [{ column: 1, operator, values }] })
      }
      for (const descending of [false, true])
        assertSame(snapshot, cells, { ...everything, search: value, sort: [{ column: 1, descending }] })
    }),
    { seed, numRuns: sized(200, 600) },
  )
})

const everything: Query = { filters: [], search: null, sort: [], limit: null, offset: 0 }

test('many rows, with columns of every size of code', () => {
  const draw = draws(7)
  const rows = Array.from({ length: 66_500 }, (_, at): Cell[] => [
    at * 3,
    `Person ${draw(1_000_000_000)}`,
    draw(3) === 0 ? null : `City ${draw(40)}`,
    draw(2_000) / 4,
    draw(5) === 0 ? texts[draw(texts.length)] || null : draw(100_000),
  ])
  const snapshot = buildSnapshot({ rows: [['id', 'name', 'city', 'price', 'any'], ...rows] })
  // The comparing one takes its time to sort, so not all rows are left to it.
  const upTo = (price: string): Filter[] => [{ column: 3, operator: 'lte', values: [price] }]
  const queries: Partial<Query>[] = [
    { filters: upTo('100'), sort: [{ column: 1, descending: false }] },
    { sort: [{ column: 0, descending: true }] },
    {
      filters: upTo('100'),
      sort: [
        { column: 4, descending: true },
        { column: 1, descending: false },
      ],
    },
    {
      filters: upTo('200'),
      sort: [
        { column: 2, descending: true },
        { column: 3, descending: false },
        { column: 1, descending: true },
      ],
    },
    {
      filters: [
        { column: 0, operator: 'gte', values: ['150000'] },
        { column: 1, operator: 'contains', values: ['77'] },
      ],
    },
    {
      filters: [{ column: 1, operator: 'starts', values: ['PERSON 12'] }],
      sort: [{ column: 3, descending: true }],
    },
    // Rows are passed over many at once, to the last, where most cells differ and where few do.
    { filters: [{ column: 1, operator: 'contains', values: ['99', 'person 1'] }] },
    { filters: [{ column: 0, operator: 'ends', values: ['9497'] }] },
    { filters: [{ column: 2, operator: 'contains', values: ['y 39'] }] },
    { search: '199497' },
    { filters: [{ column: 4, operator: 'in', values: ['berlin', '7', '2026-11-15', 'TRUE'] }] },
    {
      filters: [
        { column: 4, operator: 'gte', values: ['2026-11-15'] },
        { column: 2, operator: 'ne', values: ['city 5'] },
      ],
    },
    { filters: upTo('4'), sort: [{ column: 4, descending: false }] },
    { search: 'CITY 39', filters: [{ column: 3, operator: 'lt', values: ['100'] }], limit: 50, offset: 20 },
  ]
  for (const query of queries) assertSame(snapshot, rows, { ...everything, ...query })
})

test('a long query lets others have their turn, and gives the same', async () => {
  const draw = draws(11)
  const rows = Array.from({ length: 60_000 }, (): Cell[] => [`Note ${draw(1_000_000_000)}`, draw(9)])
  const snapshot = buildSnapshot({ rows: [['note', 'n'], ...rows] })
  const query: Query = { ...everything, search: '99', sort: [{ column: 0, descending: false }], limit: 10 }
  const steps = [...runQuerySteps(snapshot, query)].length
  assert.ok(steps > 5, `${steps} steps`)

  const clock = createMovableClock(0)
  const slow = {
    elapsedMs() {
      clock.advanceMs(5)
      return clock.elapsedMs()
    },
  }
  const slices = inSlices(runQuerySteps(snapshot, query), slow)
  let count = 1
  let slice = slices.next()
  for (; !slice.done; slice = slices.next()) count++
  assert.deepEqual(slice.value, runQuery(snapshot, query))
  assert.ok(count > 2, `${count} slices`)
  const atOnce = inSlices(runQuerySteps(snapshot, query), clock).next()
  assert.deepEqual(atOnce, { done: true, value: runQuery(snapshot, query) })
})

test('a list of values to filter by is looked up in slices too', () => {
  const rows = Array.from({ length: 2_000 }, (_, n) => [`word ${n}`])
  const snapshot = buildSnapshot({ rows: [['note'], ...rows] })
  const values = Array.from({ length: 1_000 }, (_, n) => `word ${n * 2}`)
  const query: Query = { ...everything, filters: [{ column: 0, operator: 'in', values }] }
  const steps = [...runQuerySteps(snapshot, query)].length
  assert.ok(steps > 50, `${steps} steps`)
  assert.equal(runQuery(snapshot, query).total, 1_000)
})

test('what a value means depends on the cells it meets', () => {
  const dates: Cell[] = [
    '2026-11-14',
    '2026-11-15',
    '2026-11-15T00:00:00',
    '2026-11-15T09:30:00',
    '09:30:00',
    'TBD',
  ]
  const found: [column: Cell[], operator: FilterOperator, value: string, cells: Cell[]][] = [
    [[5, 10, 25, 'n/a', null], 'gte', '10', [10, 25]],
    [[5, 10, 25, 'n/a', null], 'ne', '10', [5, 25, 'n/a', null]],
    [['5', '10', '25', null], 'gte', '10', ['5', '10', '25']],
    [[10, '10', '10.0', '010'], 'eq', '10.0', [10, '10.0']],
    [['0050', 50], 'eq', '0050', ['0050']],
    [[true, 'true', 'TRUE', 1, false], 'eq', 'True', [true, 'true', 'TRUE']],
    [[true, false, 'x'], 'lt', 'true', [false]],
    [['Straße', 'STRASSE', 'straße'], 'eq', 'STRAßE', ['Straße', 'straße']],
    [dates, 'eq', '2026-11-15', ['2026-11-15', '2026-11-15T00:00:00']],
    [dates, 'gt', '2026-11-15', ['2026-11-15T09:30:00']],
    [dates, 'lt', '2026-11-15T09:30', ['2026-11-14', '2026-11-15', '2026-11-15T00:00:00']],
    [dates, 'gte', '09:30', ['09:30:00']],
    [dates, 'gte', 'a', ['TBD']],
    [dates, 'contains', 't0', ['2026-11-15T00:00:00', '2026-11-15T09:30:00']],
    [['08:00:00', '26:30:00', '100:00:00'], 'gte', '26:30', ['26:30:00', '100:00:00']],
    [[1e21, 12.5, 'e+'], 'contains', 'E+', [1e21, 'e+']],
    [[12, 123, '12x', 312], 'starts', '12', [12, 123, '12x']],
    [['x', null], 'eq', '', []],
    [['x', null], 'gte', '', []],
    [['x', null], 'contains', '', ['x']],
    [['x', null], 'empty', 'true', [null]],
    [['x', null], 'empty', 'false', ['x']],
  ]
  for (const [column, operator, value, cells] of found) {
    const snapshot = buildSnapshot({ rows: [['id', 'c'], ...column.map((each, at) => [at, each])] })
    const filters: Filter[] = [{ column: 1, operator, values: [value] }]
    const { positions } = runQuery(snapshot, { ...everything, filters })
    const shown = Array.from(positions, (at) => column[at])
    assert.deepEqual(shown, cells, `${JSON.stringify(column)} ${operator} ${value}`)
  }
})

test('numbers come before text and text before booleans, empty cells last both ways, equals as in the sheet', () => {
  const column: Cell[] = [null, true, 'b', 10, 'B', 'a', 9, false, null, '2026-11-15', -1]
  const snapshot = buildSnapshot({ rows: [['id', 'c'], ...column.map((each, at) => [at, each])] })
  const sorted = (descending: boolean) => {
    const { positions } = runQuery(snapshot, { ...everything, sort: [{ column: 1, descending }] })
    return Array.from(positions, (at) => column[at])
  }
  assert.deepEqual(sorted(false), [-1, 9, 10, '2026-11-15', 'a', 'b', 'B', false, true, null, null])
  assert.deepEqual(sorted(true), [true, false, 'b', 'B', 'a', '2026-11-15', 10, 9, -1, null, null])
})

test('half a surrogate pair is found where it is', () => {
  const snapshot = buildSnapshot({ rows: [['a'], ['x\ud83d'], ['😀'], ['y']] })
  const found = runQuery(snapshot, { ...everything, search: '\ud83d' })
  assert.deepEqual([...found.positions], [0, 1])
})

function assertSame(snapshot: IndexedSnapshot, cells: readonly Cell[][], query: Query): void {
  const { positions, total } = runQuery(snapshot, query)
  assert.deepEqual({ positions: [...positions], total }, naiveQuery(cells, query), JSON.stringify(query))
}

function cellsIn(snapshot: IndexedSnapshot): Cell[][] {
  const rows = JSON.parse(Buffer.from(snapshot.listJson).toString()) as Record<string, Cell>[]
  return rows.map((row) =>
    snapshot.columns.map(({ key }) => Object.getOwnPropertyDescriptor(row, key)?.value as Cell),
  )
}

function draws(start: number): (below: number) => number {
  let state = start
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}
