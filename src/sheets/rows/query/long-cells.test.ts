import assert from 'node:assert/strict'
import { test } from 'node:test'
import { holdsOfTwo } from '../../../../test/measured-twice.ts'
import { buildSnapshot } from '../build-snapshot.ts'
import type { Cell } from '../grid.ts'
import type { IndexedSnapshot } from '../snapshot.ts'
import { naiveQuery } from './naive-query.fixture.ts'
import type { Filter, Query } from './query.ts'
import { runQuery, runQuerySteps } from './run-query.ts'

// One step is what everybody waits for, so it must not depend on how long a cell is: of 4 MB in a row, or of rows of which
// only some are long.
const longCharacters = 1_900_000
const mostStepMs = 40

const everything: Query = { filters: [], search: null, sort: [], limit: null, offset: 0 }
const filtered = (...filters: Filter[]): Query => ({ ...everything, filters })
const searched = (search: string): Query => ({ ...everything, search })
const thousandTexts = Array.from({ length: 1_000 }, (_, n) => `t${n}`)
const thousandNumbers = Array.from({ length: 1_000 }, (_, n) => String(n))

/** Each row begins with a cell of nearly 4 MB; many short rows stand beside some of them. */
const sheets: Record<string, () => IndexedSnapshot> = {
  Latin: () => sheetOf('Xy', 2),
  Cyrillic: () => sheetOf('Жы', 1),
  escaped: () => sheetOf('"\\', 0.9),
  'Greek, with short rows': () => sheetOf('ΑΣ', 1, 20_000),
}

const queries: Record<string, Query> = {
  'a thousand texts': filtered({ column: 1, operator: 'in', values: thousandTexts }),
  'a thousand numbers': filtered({ column: 2, operator: 'nin', values: thousandNumbers }),
  'a range of texts': filtered({ column: 0, operator: 'gte', values: ['ж', 'x'] }),
  'part of a text': filtered({ column: 0, operator: 'contains', values: ['zσq'] }),
  'the end of a text': filtered({ column: 0, operator: 'ends', values: ['END 2'] }),
  'the beginning of a text': filtered({ column: 0, operator: 'starts', values: ['жыж', 'xyx'] }),
  search: searched('nowhere to be found'),
  'search for a sigma': searched('σq'),
  'search for what is at the very end': searched('end 1'),
}

for (const [name, make] of Object.entries(sheets)) {
  test(`no step of a query is long beside cells of 4 MB: ${name}`, async () => {
    const snapshot = make()
    for (const [kind, query] of Object.entries(queries)) {
      await holdsOfTwo(
        async () => longestStepMs(snapshot, query),
        (longestMs) => (longestMs < mostStepMs ? null : `${kind}: a step of ${longestMs.toFixed(0)} ms`),
      )
    }
  })
}

test('a search that can only fail slowly takes as long as any other', async () => {
  const text = 'a'.repeat(60_000)
  const snapshot = buildSnapshot({ rows: [['text'], ...Array.from({ length: 40 }, () => [text])] })
  const slow = `${'a'.repeat(4_000)}b${'a'.repeat(4_000)}`
  for (const query of [searched(slow), filtered({ column: 0, operator: 'contains', values: [slow] })]) {
    await holdsOfTwo(
      async () => longestStepMs(snapshot, query),
      (longestMs) => (longestMs < mostStepMs ? null : `a step of ${longestMs.toFixed(0)} ms`),
    )
  }
})

test('long cells are found by the same rules as short ones', () => {
  const filler = (letter: string) =>
    letter.repeat(Math.ceil(66_000 / Buffer.byteLength(JSON.stringify(letter).slice(1, -1))))
  const rows: Cell[][] = ['a', 'Ж', 'Σ', '\\', '"', '\n', '😀', 'İ', '\ud83d'].map((letter, n): Cell[] => [
    n % 2 ? `Needle${filler(letter)}` : `${filler(letter)}NEEDLE${letter}`,
    n,
    `t${n}`,
  ])
  const snapshot = buildSnapshot({ rows: [['long', 'number', 'text'], ...rows] })
  const found = [
    'needle',
    'жneedle',
    'σneedleσ',
    'needleσ',
    '\\needle',
    '"needle"',
    '😀needle',
    'Needle\n\n',
    'i\u0307',
  ]
  // Half an emoji has no place among code points.
  const ranges = ['gt', 'lte'] as const
  const starts = rows.map(([text]) => String(text).slice(0, 300))
  for (const value of [...found, ...starts, '\ud83d', '\ude00needle', `${'😀'.repeat(20)}NEEDLE`]) {
    const asked = [searched(value)]
    for (const operator of [
      'eq',
      'contains',
      'starts',
      'ends',
      ...(value.isWellFormed() ? ranges : []),
    ] as const)
      asked.push(filtered({ column: 0, operator, values: [value] }))
    for (const query of asked) {
      const { positions, total } = runQuery(snapshot, query)
      const told = { positions: [...positions], total }
      assert.deepEqual(told, naiveQuery(rows, query), JSON.stringify(query).slice(0, 300))
    }
  }
})

function sheetOf(filler: string, share: number, shortRows = 0): IndexedSnapshot {
  const length = Math.floor((longCharacters * share) / filler.length)
  const long = Array.from({ length: 3 }, (_, n) => [`${filler.repeat(length)} END ${n}`, `t${n}`, n])
  const short = Array.from({ length: shortRows }, (_, n) => ['short', `u${n}`, n + 100])
  return buildSnapshot({ rows: [['long', 'text', 'number'], ...short, ...long] })
}

function longestStepMs(snapshot: IndexedSnapshot, query: Query): number {
  const steps = runQuerySteps(snapshot, query)
  let longestMs = 0
  for (;;) {
    const before = process.threadCpuUsage()
    const { done } = steps.next()
    const { user, system } = process.threadCpuUsage(before)
    longestMs = Math.max(longestMs, (user + system) / 1_000)
    if (done || longestMs > mostStepMs) return longestMs
  }
}
