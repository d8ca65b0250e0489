import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Change } from '../../src/sheets/change.ts'
import type { Cell } from '../../src/sheets/rows/grid.ts'
import { add, applied, startTab, write } from './writing-attempts.ts'

const rows: Cell[][] = [['id', 'n'], ...['a', 'b', 'c', 'd', 'e'].map((id, at) => [id, at])]
const justBefore = { beforeCall: 1, match: ':batchUpdate' }
/** Row 4 is c, 2. */
const update = (more: object = {}): Change => ({
  kind: 'update',
  rowNumber: 4,
  cells: [{ columnIndex: 1, value: 20 }],
  ...more,
})
const deletion = (more: object = {}): Change => ({ kind: 'delete', rowNumber: 4, ...more })

test('a row that is not any more what the client saw is left alone', async (t) => {
  const { ground, tab, edit } = await startTab(t, rows)
  await edit({ op: 'insertRow', row: 2, values: ['new', 9] })
  for (const change of [update({ before: ['c', 2] }), deletion({ before: ['c', 2] })]) {
    assert.deepEqual(await write(ground, tab, [change]), { outcome: 'conflict' })
  }
  assert.equal((await tab.values()).length, rows.length + 1)
  assert.deepEqual((await tab.values())[4], ['c', 2])
})

test('columns that nobody looked at, and formulas, do not stand in the way', async (t) => {
  const { ground, tab } = await startTab(t, rows)
  const formula = { userEnteredValue: { formulaValue: '=A4&"!"' } }
  await tab.batchUpdate({
    updateCells: {
      start: { sheetId: 0, rowIndex: 3, columnIndex: 2 },
      rows: [{ values: [formula] }],
      fields: 'userEnteredValue',
    },
  })
  const [result] = await applied(ground, tab, update({ before: ['c', undefined, 'something else'] }))
  assert.deepEqual(result, { kind: 'update', row: ['c', 20, 'c!'], lost: { formulas: [2] } })
  assert.ok(!ground.seen.some(({ event }) => event === 'write_raced'))
})

for (const [edit, wish, hit] of [
  ['an insertion', { op: 'insertRow', row: 2, values: ['new', 9] }, ['b', 20]],
  ['a deletion', { op: 'deleteRow', row: 2 }, ['d', 20]],
] as const) {
  test(`${edit} in the last instant before an update: the answer says which row it hit`, async (t) => {
    const { ground, tab, edit } = await startTab(t, rows)
    await edit({ ...wish, ...justBefore })
    const [result] = await applied(ground, tab, update({ before: ['c', 2] }))
    assert.deepEqual(result, { kind: 'update', row: hit })
    assert.deepEqual((await tab.values())[3], hit, 'so it is')
    assert.ok(ground.seen.some((one) => one.event === 'write_raced' && one.kind === 'update'))
  })
}

for (const [edit, wish, gone] of [
  ['an insertion', { op: 'insertRow', row: 2, values: ['new', 9] }, ['b', 1]],
  ['a deletion', { op: 'deleteRow', row: 2 }, ['d', 3]],
] as const) {
  test(`${edit} in the last instant before a deletion: the answer says which row went`, async (t) => {
    const { ground, tab, edit } = await startTab(t, rows)
    await edit({ ...wish, ...justBefore })
    const [result] = await applied(ground, tab, deletion({ before: ['c', 2] }))
    assert.deepEqual(result, { kind: 'delete', row: gone })
    assert.ok(!(await tab.values()).some(([id]) => id === gone[0]), 'so it is')
    assert.ok(ground.seen.some((one) => one.event === 'write_raced' && one.kind === 'delete'))
  })
}

test('without a person in between, no race is told of', async (t) => {
  const { ground, tab } = await startTab(t, rows)
  await applied(ground, tab, update({ before: ['c', 2] }))
  await applied(ground, tab, deletion({ before: ['c', 20] }))
  await applied(ground, tab, { kind: 'delete', rowNumber: 5 })
  await applied(ground, tab, {
    kind: 'update',
    rowNumber: 2,
    cells: [0, 1].map((columnIndex) => ({ columnIndex, value: null })),
  })
  await applied(ground, tab, { kind: 'add', rows: [['z', 1]] })
  assert.ok(!ground.seen.some(({ event }) => event === 'write_raced'))
  assert.deepEqual(await tab.values(), [['id', 'n'], [], ['b', 1], ['d', 3], ['z', 1]])
})

/** What goes in one batch when several clients write at once, to rows that lie in each other's sight. */
const replace = (rowNumber: number, ...values: Cell[]): Change => ({
  kind: 'update',
  rowNumber,
  cells: values.map((value, columnIndex) => ({ columnIndex, value })),
})
const manyAdditions = Array.from({ length: 25 }, (_, at) => add([`new ${at}`, at]))
const tall: Cell[][] = [['id', 'n'], ...Array.from({ length: 80 }, (_, at) => [`row ${at + 2}`, at + 2])]
/** Every third row, so that none lies beside another. */
const manyReplaced = Array.from({ length: 21 }, (_, at) => replace(3 * at + 3, `changed ${at}`, at))
const together: [name: string, rows: Cell[][], changes: Change[]][] = [
  ['the last row is replaced and one added', rows, [replace(6, 'E', 40), add(['f', 5])]],
  ['one is added and the row before it replaced', rows, [add(['f', 5]), replace(6, 'E', 40)]],
  [
    'rows are added, one goes, the last is replaced',
    rows,
    [add(['f', 5], ['g', 6]), replace(6, 'E', 4), deletion()],
  ],
  ['the last row goes and one is added', rows, [{ kind: 'delete', rowNumber: 6 }, add(['f', 5])]],
  ['the last row goes and its like is added', rows, [{ kind: 'delete', rowNumber: 6 }, add(['e', 4])]],
  ['a row near the end goes and its like is added', rows, [deletion(), add(['c', 2])]],
  ['a row goes and another becomes like it', rows, [deletion(), replace(5, 'c', 2)]],
  ['one row is replaced among many additions', tall, [...manyAdditions, replace(78, 'changed', 1)]],
  ['many are replaced and one goes', tall, [...manyReplaced, { kind: 'delete', rowNumber: 70 }]],
]

for (const [name, rows, changes] of together) {
  test(`${name}, in one batch: nobody else wrote, and no race is told of`, async (t) => {
    const { ground, tab } = await startTab(t, rows)
    const committed = await write(ground, tab, changes)
    assert.deepEqual(committed.outcome === 'applied' && committed.racedAt, [])
    assert.ok(!ground.seen.some(({ event }) => event === 'write_raced'))
  })

  for (const [edit, wish] of [
    ['an insertion', { op: 'insertRow', row: 2, values: ['new', 9] }],
    ['a deletion', { op: 'deleteRow', row: 2 }],
  ] as const) {
    test(`${name}, in one batch, with ${edit} in the last instant: each change of a row is told as raced`, async (t) => {
      const { ground, tab, edit } = await startTab(t, rows)
      await edit({ ...wish, ...justBefore })
      const committed = await write(ground, tab, changes)
      const ofRows = [...changes.keys()].filter((changeAt) => changes[changeAt]?.kind !== 'add')
      const told = committed.outcome === 'applied' ? [...(committed.racedAt ?? [])] : []
      assert.deepEqual(
        told.toSorted((one, other) => one - other),
        ofRows,
      )
    })
  }
}

test('a person who adds a row in the last instant, where one of ours was to stand, is told of', async (t) => {
  const { ground, tab, edit } = await startTab(t, rows)
  await edit({ op: 'insertRow', row: 7, values: ['theirs', 9], ...justBefore })
  const committed = await write(ground, tab, [add(['f', 5]), replace(6, 'E', 40)])
  assert.deepEqual(committed.outcome === 'applied' && committed.racedAt, [1])
  assert.deepEqual((await tab.values()).slice(5), [
    ['E', 40],
    ['theirs', 9],
    ['f', 5],
  ])
})

test('a row that alone has its like in sight of the answer, and not of the look, is told as it went', async (t) => {
  const rows = [...tall, ['same', 1], ['x', 1], ['y', 1], ['z', 1], ['same', 1]]
  const { ground, tab } = await startTab(t, rows)
  const changes: Change[] = [...manyReplaced, { kind: 'delete', rowNumber: rows.length }, add(['new', 1])]
  const committed = await write(ground, tab, changes)
  assert.deepEqual(committed.outcome === 'applied' && committed.racedAt, [])
})
