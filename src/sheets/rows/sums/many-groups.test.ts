import assert from 'node:assert/strict'
import { test } from 'node:test'
import { holdsOfTwo } from '../../../../test/measured-twice.ts'
import { buildSnapshot } from '../build-snapshot.ts'
import type { Chunks } from '../query/chunks.ts'
import { runSumsSteps, type SumsMade, type SumsQueryWithColumns } from './run-sums.ts'
import { type Aggregate, folds, resultNames } from './sums.ts'
import { bytesOfSums, longestRow, maxSumsBytes } from './sums-bytes.ts'
import { resultColumns, sumsSnapshot } from './sums-snapshot.ts'

const rowCount = 100_000
const width = 6
/** Whoever else waits meanwhile waits for one step. */
const mostStepMs = 40

test('no step of sums is long where every row is a group of its own', async () => {
  const row = (n: number) => Array.from({ length: width }, (_, at) => ((n * 7_919) % rowCount) / 7 + at)
  const rows = Array.from({ length: rowCount }, (_, n) => row(n))
  const snapshot = buildSnapshot({ rows: [Array.from({ length: width }, (_, at) => `c${at}`), ...rows] })
  const columns = Array.from({ length: width }, (_, column) => column)
  const sums = {
    groupBy: columns.map((column) => ({ column, part: null })),
    aggregates: folds.flatMap((fold) => columns.map((column) => ({ fold, column }))),
  }
  const query: SumsQueryWithColumns = {
    filters: [],
    search: null,
    sums: { ...sums, columns: resultColumns(resultNames(sums, snapshot.columns)) },
    sort: [
      { column: 2 * width, descending: true },
      { column: 0, descending: false },
    ],
    limit: 10_000,
    offset: 0,
  }
  await holdsOfTwo(
    async () => longestStepMs(runSumsSteps(snapshot, query), 'every row a group'),
    (longestMs) => (longestMs < mostStepMs ? null : `a step of ${longestMs.toFixed(0)} ms`),
  )
})

test('no step of making the rows of a million groups is long', async () => {
  const sheet = buildSnapshot({ rows: [['a'], [1]] })
  const result = {
    columns: [{ key: 'a', index: 0 }],
    writers: [(group: number, _: number, into: Chunks) => into.ascii(String(group))],
    page: Uint32Array.from({ length: 1_000_000 }, (_, n) => n),
  }
  await holdsOfTwo(
    async () => longestStepMs(sumsSnapshot(sheet, result, maxSumsBytes), 'a million groups'),
    (longestMs) => (longestMs < mostStepMs / 2 ? null : `a step of ${longestMs.toFixed(0)} ms`),
  )
})

test('no step of making rows is long where cells are', async () => {
  const text = (n: number, at: number) => `${n} ${at} ${'long text '.repeat(400)}`
  const rows = Array.from({ length: 600 }, (_, n) => Array.from({ length: width }, (_, at) => text(n, at)))
  const snapshot = buildSnapshot({ rows: [Array.from({ length: width }, (_, at) => `c${at}`), ...rows] })
  const columns = Array.from({ length: width }, (_, column) => column)
  const sums = {
    groupBy: columns.slice(0, 2).map((column) => ({ column, part: null })),
    aggregates: columns.map((column) => ({ fold: 'max' as const, column })),
  }
  const names = resultColumns(resultNames(sums, snapshot.columns))
  const query = { filters: [], search: null, sort: [], limit: null, offset: 0 }
  const steps = () => runSumsSteps(snapshot, { ...query, sums: { ...sums, columns: names } })
  await holdsOfTwo(
    async () => longestStepMs(steps(), 'long cells'),
    (longestMs) => (longestMs < mostStepMs / 4 ? null : `a step of ${longestMs.toFixed(0)} ms`),
  )
})

test('what would be longer than may be is told: before anything is added up where the number of groups says so', () => {
  const rows = Array.from({ length: 10_000 }, (_, n) => [
    n,
    `a text of a cell that is some forty letters ${n}`,
  ])
  const snapshot = buildSnapshot({ rows: [['n', 'text'], ...rows] })
  const stepsWith = (aggregates: Aggregate[], limit: number | null, maxBytes: number) => {
    const sums = { groupBy: [{ column: 0, part: null }], aggregates }
    const columns = resultColumns(resultNames(sums, snapshot.columns))
    const query = { filters: [], search: null, sort: [], limit, offset: 0, sums: { ...sums, columns } }
    return runSumsSteps(snapshot, query, maxBytes)
  }
  const last = (steps: Generator<void, unknown>) => {
    let count = 0
    for (let step = steps.next(); ; step = steps.next(), count++)
      if (step.done) return { value: step.value, count }
  }
  const counted: Aggregate[] = [{ fold: 'count', column: null }]
  const texts: Aggregate[] = [{ fold: 'max', column: 1 }]
  assert.equal(last(stepsWith(counted, null, 100_000)).value, 'too long')
  assert.notEqual(last(stepsWith(counted, 1_000, 100_000)).value, 'too long')
  assert.notEqual(last(stepsWith(counted, null, 1_000_000)).value, 'too long')
  const { value, count } = last(stepsWith(texts, null, 500_000))
  assert.equal(value, 'too long', 'also where only the cells say so')
  assert.ok(last(stepsWith(texts, null, 100_000)).count < count)
  const made = last(stepsWith(texts, 100, 500_000)).value as SumsMade
  assert.equal(made.made.rowNumbers.length, 100)
})

test('a query counts as much memory as its result may have', () => {
  const rows = Array.from({ length: 10_000 }, (_, n) => [n, n % 10, 'x'.repeat(n === 5 ? 1_000_000 : 10)])
  const snapshot = buildSnapshot({ rows: [['n', 'few', 'text'], ...rows] })
  const bytesOf = (column: number, limit: number | null, aggregate: Aggregate) => {
    const sums = { groupBy: [{ column, part: null }], aggregates: [aggregate] }
    const columns = resultColumns(resultNames(sums, snapshot.columns))
    return bytesOfSums(snapshot, {
      filters: [],
      search: null,
      sort: [],
      limit,
      offset: 0,
      sums: { ...sums, columns },
    })
  }
  const count: Aggregate = { fold: 'count', column: null }
  assert.ok(bytesOf(0, null, count) > bytesOf(1, null, count) + 1_000_000)
  assert.ok(bytesOf(0, 1, count) > 2_000_000, 'one row may be that of the longest cell')
})

test('how long the longest row may be is known from some places, however many rows there are', () => {
  const width = 9
  for (const [rows, most] of [
    [90_000, 1],
    [2_000_000, 20],
  ] as const) {
    let looks = 0
    const rowStarts = new Uint32Array(rows + 1)
    // One row in the middle is longer.
    for (let at = 0; at <= rows; at++) rowStarts[at] = 1 + at * (width + 1) + (at > rows / 2 ? 10 * width : 0)
    const counted = new Proxy(rowStarts, {
      get(target, name) {
        looks++
        return Reflect.get(target, name)
      },
    })
    const bytes = longestRow({ rowStarts: counted })
    assert.ok(looks <= 100_002, `${looks} looks`)
    assert.ok(bytes >= 11 * width, `${bytes} bytes of ${rows} rows`)
    assert.ok(bytes <= 11 * width + (most - 1) * (width + 1), `${bytes} bytes of ${rows} rows`)
  }
})

function longestStepMs(steps: Generator<void, unknown>, what: string): number {
  let longestMs = 0
  for (let isDone = false; !isDone; ) {
    const before = process.threadCpuUsage()
    isDone = steps.next().done === true
    const { user, system } = process.threadCpuUsage(before)
    longestMs = Math.max(longestMs, (user + system) / 1_000)
  }
  process.stdout.write(`${what}: the longest step took ${longestMs.toFixed(1)} ms\n`)
  return longestMs
}
