import { test } from 'node:test'
import { holdsOfTwo } from '../../../../test/measured-twice.ts'
import { buildSnapshot } from '../build-snapshot.ts'
import { runSumsSteps } from './run-sums.ts'
import { folds, type SumsQuery } from './sums.ts'
import { sumsSnapshot } from './sums-snapshot.ts'

const rowCount = 100_000
const width = 6
/** Whoever else waits meanwhile waits for one step. */
const mostStepMs = 40

test('no step of sums is long where every row is a group of its own', async () => {
  const row = (n: number) => Array.from({ length: width }, (_, at) => ((n * 7_919) % rowCount) / 7 + at)
  const rows = Array.from({ length: rowCount }, (_, n) => row(n))
  const snapshot = buildSnapshot({ rows: [Array.from({ length: width }, (_, at) => `c${at}`), ...rows] })
  const columns = Array.from({ length: width }, (_, column) => column)
  const query: SumsQuery = {
    filters: [],
    search: null,
    sums: {
      groupBy: columns.map((column) => ({ column, part: null })),
      aggregates: folds.flatMap((fold) => columns.map((column) => ({ fold, column }))),
    },
    sort: [
      { column: 2 * width, descending: true },
      { column: 0, descending: false },
    ],
    limit: 1,
    offset: 0,
  }
  await holdsOfTwo(
    async () => longestStepMs(runSumsSteps(snapshot, query), 'every row a group'),
    (longestMs) => (longestMs < mostStepMs ? null : `a step of ${longestMs.toFixed(0)} ms`),
  )
})

test('no step of making the rows of a million groups is long', async () => {
  const rows = Array.from({ length: 1_000_000 }, (_, n) => [n])
  await holdsOfTwo(
    async () => longestStepMs(sumsSnapshot([{ key: 'a', index: 0 }], rows, []), 'a million groups'),
    (longestMs) => (longestMs < mostStepMs / 2 ? null : `a step of ${longestMs.toFixed(0)} ms`),
  )
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
