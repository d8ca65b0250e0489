import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { sized } from '../../../../test/soak.ts'
import { buildSnapshot } from '../build-snapshot.ts'
import type { Cell } from '../grid.ts'
import type { Filter } from '../query/query.ts'
import { cellsAt } from '../query/row-cells.ts'
import type { IndexedSnapshot } from '../snapshot.ts'
import { naiveSums } from './naive-sums.fixture.ts'
import { runSumsSteps, type SumsMade } from './run-sums.ts'
import { dateParts, folds, resultNames, type SumsQuery } from './sums.ts'
import type { TooLong } from './sums-bytes.ts'
import { resultColumns } from './sums-snapshot.ts'

const seed = 20_261_116
const texts = [
  ...['Berlin', 'BERLIN', 'bonn', '7', 'true', '', 'n/a', 'ΑΣ', 'ας', '😀', 'ﬀ'],
  ...['2026-11-15', '2026-11-15T09:30:00', '2026-11-16', '2025-01-31', '2026-02-30', '0099-12-31'],
  ...['09:30:00', '23:59:59', '26:30:00', '100:00:00'],
]
const cell: fc.Arbitrary<Cell> = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...texts.map((text) => text || null)) },
  { weight: 4, arbitrary: fc.constantFrom(0, 7, -1, 1_000, 0.1, 0.2, 0.3, 12.34, 999_999_999.999) },
  { weight: 1, arbitrary: fc.boolean() },
)
/** Most columns of a sheet have one kind of cell. */
const columnKinds: readonly fc.Arbitrary<Cell>[] = [
  cell,
  fc.constantFrom(0.1, 0.2, 5, null),
  fc.constantFrom('2026-11-15', '2026-11-15T09:30:00', '2025-01-31', null),
  fc.constantFrom('09:30:00', '26:30:00', '100:00:00', 'late'),
  fc.constantFrom('Berlin', 'BERLIN', 'bonn', null),
]
const width = 4

const tables = fc
  .tuple(...Array.from({ length: width }, () => fc.nat(columnKinds.length - 1)))
  .chain((kinds) => fc.array(fc.tuple(...kinds.map((kind) => columnKinds[kind] ?? cell)), { maxLength: 30 }))

const column = fc.nat(width - 1)
const filter: fc.Arbitrary<Filter> = fc.record({
  column,
  operator: fc.constantFrom('eq' as const, 'ne' as const, 'gte' as const),
  values: fc.constantFrom(['Berlin'], ['0.2'], ['2026-01-01']),
})
const queries: fc.Arbitrary<SumsQuery> = fc
  .record({
    groupBy: fc.uniqueArray(
      fc.record({ column, part: fc.option(fc.constantFrom(...dateParts), { freq: 2 }) }),
      {
        maxLength: 3,
        selector: (key) => JSON.stringify(key),
      },
    ),
    aggregates: fc.uniqueArray(fc.record({ fold: fc.constantFrom(...folds), column }), {
      minLength: 1,
      maxLength: 5,
      selector: (each) => JSON.stringify(each),
    }),
    ofRows: fc.boolean(),
  })
  .chain(({ groupBy, aggregates, ofRows }) => {
    const all = ofRows ? [{ fold: 'count' as const, column: null }, ...aggregates] : aggregates
    return fc.record({
      filters: fc.array(filter, { maxLength: 1 }),
      search: fc.option(fc.constantFrom('b', '0'), { freq: 4 }),
      sums: fc.constant({ groupBy, aggregates: all }),
      sort: fc.array(
        fc.record({ column: fc.nat(groupBy.length + all.length - 1), descending: fc.boolean() }),
        { maxLength: 2 },
      ),
      limit: fc.option(fc.nat(6)),
      offset: fc.oneof(fc.constant(0), fc.nat(4)),
    })
  })

test('random tables and sums give what the rules give row by row', () => {
  fc.assert(
    fc.property(tables, queries, (rows, query) => {
      const listed = rows.filter((row) => row.some((each) => each !== null))
      const snapshot = buildSnapshot({ rows: [['a', 'b', 'c', 'd'], ...listed] })
      const { rows: made, total, ignored } = run(stepsOf(snapshot, query))
      const wanted = naiveSums(listed, query)
      assert.deepEqual(made, wanted.rows)
      assert.equal(total, wanted.total)
      const byPosition = snapshot.columns.flatMap(({ key }, at) =>
        ignored.has(key) ? [[at, ignored.get(key)]] : [],
      )
      assert.deepEqual(Object.fromEntries(byPosition), wanted.ignored)
    }),
    { seed, numRuns: sized(600, 2_000) },
  )
})

test('more groups than fit into a dense table are the same groups', () => {
  const rows = Array.from({ length: 30_000 }, (_, n) => [`name ${n % 20_011}`, n % 9_973, (n % 100) / 10])
  const snapshot = buildSnapshot({ rows: [['name', 'city', 'price'], ...rows] })
  const query: SumsQuery = {
    filters: [],
    search: null,
    sums: {
      groupBy: [
        { column: 0, part: null },
        { column: 1, part: null },
      ],
      aggregates: [
        { fold: 'sum', column: 2 },
        { fold: 'count_distinct', column: 2 },
      ],
    },
    sort: [
      { column: 2, descending: true },
      { column: 0, descending: false },
    ],
    limit: 50,
    offset: 10_000,
  }
  const groups = new Map<string, Cell[][]>()
  for (const row of rows) {
    const name = JSON.stringify(row.slice(0, 2))
    const members = groups.get(name)
    if (members) members.push(row)
    else groups.set(name, [row])
  }
  const wanted = naiveSums(rows, {
    ...query,
    sums: { groupBy: [], aggregates: query.sums.aggregates },
    sort: [],
    limit: null,
    offset: 0,
  })
  const made = run(stepsOf(snapshot, query))
  assert.equal(made.total, groups.size)
  assert.equal(made.rows.length, 50)
  const all = run(stepsOf(snapshot, { ...query, limit: null, offset: 0 }))
  const sums = all.rows.map((row) => Number(row[2]))
  assert.deepEqual(
    sums,
    sums.toSorted((one, other) => other - one),
  )
  assert.equal(
    Number(sums.reduce((sum, each) => sum + each, 0).toFixed(1)),
    Number(wanted.rows[0]?.[0]),
    'each row is in one group',
  )
  assert.deepEqual(all.rows.slice(10_000, 10_050), made.rows)
})

/** More rows than a step, more different numbers than are looked up by code, and cells between them that are none. */
const manyRows = Array.from({ length: 70_000 }, (_, n): Cell[] => [
  `city ${n % 50}`,
  n % 11 === 0 ? null : n % 13 === 0 ? 'n/a' : n % 17 === 0 ? true : ((n * 7_919) % 70_000) / 100,
])
const figuresByCity = (least: number): SumsQuery => ({
  filters: [{ column: 1, operator: 'gte', values: [String(least)] }],
  search: null,
  sums: {
    groupBy: [{ column: 0, part: null }],
    aggregates: [
      { fold: 'count', column: null },
      { fold: 'sum', column: 1 },
      { fold: 'avg', column: 1 },
      { fold: 'count_distinct', column: 1 },
    ],
  },
  sort: [],
  limit: null,
  offset: 0,
})

test('cells that are no numbers are left out of many numbers, and counted', () => {
  const snapshot = buildSnapshot({ rows: [['city', 'price'], ...manyRows] })
  const all = { ...figuresByCity(0), filters: [] }
  const { rows, ignored } = run(stepsOf(snapshot, all))
  const wanted = Array.from({ length: 50 }, (_, city) => {
    const cells = manyRows.filter((_, n) => n % 50 === city).map((row) => row[1] ?? null)
    const cents = cells.filter((each) => typeof each === 'number').map((each) => Math.round(each * 100))
    const sum = cents.reduce((total, each) => total + each, 0) / 100
    const distinct = new Set(cells.filter((each) => each !== null)).size
    return [`city ${city}`, cells.length, sum, Number((sum / cents.length).toPrecision(15)), distinct]
  })
  assert.deepEqual(rows, wanted)
  const others = manyRows.filter(([, price]) => price === 'n/a' || price === true).length
  assert.deepEqual(Object.fromEntries(ignored), { price: others })
})

test('queries that are under way at the same time do not disturb each other', () => {
  const snapshot = buildSnapshot({ rows: [['city', 'price'], ...manyRows] })
  const queries = [figuresByCity(100), figuresByCity(650), figuresByCity(1), figuresByCity(9_999)]
  const alone = queries.map((query) => run(stepsOf(snapshot, query)))
  const underWay = queries.map((query) => stepsOf(snapshot, query))
  const made: Outcome[] = []
  while (made.filter(Boolean).length < queries.length) {
    for (const [at, steps] of underWay.entries()) {
      const step = steps.next()
      if (step.done && step.value) made[at] = outcomeOf(step.value)
    }
  }
  assert.deepEqual(made, alone)
})

test('a query that another comes into, after whichever step, gives the same', () => {
  const snapshot = buildSnapshot({ rows: [['city', 'price'], ...manyRows] })
  const query = figuresByCity(100)
  const alone = run(stepsOf(snapshot, query))
  // Only now: the first to ask takes more steps, because it reads the numbers that are kept for the others.
  const stepCount = [...stepsOf(snapshot, query)].length
  for (let stepsBefore = 0; stepsBefore <= stepCount; stepsBefore++) {
    const steps = stepsOf(snapshot, query)
    for (let n = 0; n < stepsBefore; n++) steps.next()
    run(stepsOf(snapshot, figuresByCity(650)))
    assert.deepEqual(run(steps), alone, `after ${stepsBefore} steps`)
  }
})

/** Rows as lists of cells, and columns of the sheet by their position. */
interface Outcome {
  rows: Cell[][]
  total: number
  ignored: ReadonlyMap<string, number>
}

function stepsOf(snapshot: IndexedSnapshot, query: SumsQuery): Generator<void, SumsMade | TooLong> {
  const columns = resultColumns(resultNames(query.sums, snapshot.columns))
  return runSumsSteps(snapshot, { ...query, sums: { ...query.sums, columns } })
}

function run(steps: Generator<void, SumsMade | TooLong>): Outcome {
  for (;;) {
    const step = steps.next()
    if (step.done) return outcomeOf(step.value)
  }
}

function outcomeOf(result: SumsMade | TooLong): Outcome {
  assert.ok(result !== 'too long')
  const { made, total, ignored } = result
  const list = JSON.parse(Buffer.from(made.listJson).toString()) as unknown[]
  const rows = Array.from(made.rowNumbers, (_, at) => cellsAt(made, at))
  assert.equal(list.length, rows.length)
  assert.equal(made.rowStarts.at(-1), made.listJson.byteLength)
  return { rows, total, ignored }
}
