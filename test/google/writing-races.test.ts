import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Change } from '../../src/sheets/change.ts'
import { applied, startTab, write } from './writing-attempts.ts'

const rows = [['id', 'n'], ...['a', 'b', 'c', 'd', 'e'].map((id, at) => [id, at])]
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
