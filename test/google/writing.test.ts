import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Cell } from '../../src/sheets/rows/grid.ts'
import { add, applied, prepared, startTab, write } from './writing-attempts.ts'

const dateFormat = { numberFormat: { type: 'DATE', pattern: 'yyyy-mm-dd' } }
const euros = { numberFormat: { type: 'CURRENCY', pattern: '#,##0.00 "€"' } }

function formatColumn(column: number, userEnteredFormat: object, endRowIndex = 100): object {
  const range = {
    sheetId: 0,
    startRowIndex: 1,
    endRowIndex,
    startColumnIndex: column,
    endColumnIndex: column + 1,
  }
  return { repeatCell: { range, cell: { userEnteredFormat }, fields: 'userEnteredFormat.numberFormat' } }
}

test('a number under a date format is a number, and the other columns keep their formats', async (t) => {
  const { ground, tab } = await startTab(t, [['id', 'day', 'price']])
  await tab.batchUpdate(formatColumn(1, dateFormat), formatColumn(2, euros))
  const results = await applied(ground, tab, add(['a', 5, 9.5], ['b', '2026-11-15', 3]))
  assert.deepEqual(results, [
    {
      kind: 'add',
      rowNumbers: [2, 3],
      rows: [
        ['a', 5, 9.5],
        ['b', '2026-11-15', 3],
      ],
    },
  ])
  const cells = [
    { columnIndex: 1, value: 46_000.5 },
    { columnIndex: 2, value: 4 },
  ]
  await applied(ground, tab, { kind: 'update', rowNumber: 3, cells })
  const answer = await ground.local.api(
    ground.token,
    'GET',
    `/v4/spreadsheets/${tab.spreadsheetId}/values/Items?valueRenderOption=FORMATTED_VALUE`,
  )
  const { values } = (await answer.json()) as { values: unknown }
  assert.deepEqual(values, [
    ['id', 'day', 'price'],
    ['a', '5', '9.50 €'],
    ['b', '46000.5', '4.00 €'],
  ])
})

test('dates of the sheet stay dates where only their neighbours are written', async (t) => {
  const { ground, tab } = await startTab(t, [
    ['id', 'day', 'n'],
    ['a', 46_341, 1],
  ])
  await tab.batchUpdate(formatColumn(1, dateFormat))
  const cells = [{ columnIndex: 2, value: 2 }]
  const results = await applied(ground, tab, { kind: 'update', rowNumber: 2, cells })
  assert.deepEqual(results, [{ kind: 'update', row: ['a', '2026-11-15', 2] }])
})

test('rows that a person added meanwhile are stepped over, and the true numbers told', async (t) => {
  const { ground, tab, edit } = await startTab(t, [['id'], ['a']])
  await applied(ground, tab, add(['b']))
  for (const row of [4, 5]) {
    await edit({ op: 'set', row, column: 1, value: `person ${row}`, beforeCall: 1, match: ':batchUpdate' })
  }
  const [first] = await applied(ground, tab, add(['c'], ['d']))
  assert.deepEqual(first, { kind: 'add', rowNumbers: [6, 7], rows: [['c'], ['d']] })
  await edit({ op: 'set', row: 300, column: 1, value: 'far below', beforeCall: 1, match: ':batchUpdate' })
  const [second] = await applied(ground, tab, add(['e']))
  assert.deepEqual(second, { kind: 'add', rowNumbers: [301], rows: [['e']] }, 'beyond what the answer shows')
  await edit({ op: 'deleteRow', row: 2, beforeCall: 1, match: ':batchUpdate' })
  const [third] = await applied(ground, tab, add(['f']))
  assert.deepEqual(third, { kind: 'add', rowNumbers: [301], rows: [['f']] })
})

test('formulas that show nothing count as rows with data, and other columns are told as computed', async (t) => {
  const { ground, tab } = await startTab(t, [['id', 'double'], ['a']])
  const formula = { userEnteredValue: { formulaValue: '=""' } }
  const rows = Array.from({ length: 40 }, () => ({ values: [formula] }))
  await tab.batchUpdate({
    updateCells: { start: { sheetId: 0, rowIndex: 1, columnIndex: 1 }, rows, fields: 'userEnteredValue' },
  })
  const [added] = await applied(ground, tab, add(['b']))
  assert.deepEqual(added, { kind: 'add', rowNumbers: [42], rows: [['b']] })
  await tab.batchUpdate({
    updateCells: {
      start: { sheetId: 0, rowIndex: 1, columnIndex: 1 },
      rows: [{ values: [{ userEnteredValue: { formulaValue: '=A2&A2' } }] }],
      fields: 'userEnteredValue',
    },
  })
  const [updated] = await applied(ground, tab, {
    kind: 'update',
    rowNumber: 2,
    cells: [{ columnIndex: 0, value: 'x' }],
  })
  assert.deepEqual(updated, { kind: 'update', row: ['x', 'xx'], lost: { formulas: [1] } })
})

test('a tab of any name is written to, also while it is being renamed', async (t) => {
  const { ground, tab } = await startTab(t, [['id'], ['a']], "It's a 'tab'!A1")
  assert.equal((await applied(ground, tab, add(['b'])))[0]?.kind, 'add')
  const attempt = await prepared(ground, tab, [add(['c'])])
  await tab.batchUpdate({
    updateSheetProperties: { properties: { sheetId: 0, title: 'Other' }, fields: 'title' },
  })
  assert.deepEqual(await attempt.commit(), { outcome: 'conflict' }, 'nothing was done')
  await applied(ground, tab, add(['c']))
  assert.deepEqual(await tab.values(), [['id'], ['a'], ['b'], ['c']])
})

test('the only row below a frozen header can be deleted, and a narrow grid grows', async (t) => {
  const { ground, tab } = await startTab(t, [['id'], ['a']])
  const gridProperties = { rowCount: 2, columnCount: 1, frozenRowCount: 1 }
  await tab.batchUpdate({
    updateSheetProperties: { properties: { sheetId: 0, gridProperties }, fields: 'gridProperties' },
  })
  const [deleted] = await applied(ground, tab, { kind: 'delete', rowNumber: 2 })
  assert.deepEqual(deleted, { kind: 'delete', row: ['a'] })
  const [added] = await applied(ground, tab, add(['b', null, 'wide'], ['c']))
  assert.deepEqual(added, { kind: 'add', rowNumbers: [2, 3], rows: [['b', null, 'wide'], ['c']] })
})

test('what Google refuses is told in words for the owner, and nothing is done', async (t) => {
  const { ground, tab } = await startTab(t, [
    ['id', 'n'],
    ['a', 1],
  ])
  const refusal = { status: 400, body: refusalBody('You are trying to edit a protected cell or object.') }
  await ground.local.control('POST', 'faults', { kind: 'answer', ...refusal, match: ':batchUpdate' })
  const refused = await write(ground, tab, [add(['c', 3])])
  assert.equal(refused.outcome, 'refused')
  assert.match(refused.outcome === 'refused' ? refused.details : '', /^the cells are protected\. The owner/)
  assert.equal((await tab.values()).length, 2)
})

function refusalBody(message: string): object {
  return { error: { code: 400, message, status: 'INVALID_ARGUMENT' } }
}

test('what Google cannot hold is refused by its place, before anything is sent', async (t) => {
  const { ground, tab } = await startTab(t, [['id'], ['a']])
  const { provider } = ground.google
  const header = await provider.fetchHeader?.(tab.place)
  const refusedAt = async (value: Cell) => {
    const made = await provider.prepare(tab.place, [add(['fine']), add([value])], header?.version ?? '')
    return made !== 'conflict' && 'changeAt' in made ? `${made.changeAt} ${made.reason}` : made
  }
  assert.equal(await refusedAt('x'.repeat(50_001)), '1 value')
  assert.equal(await refusedAt('#N/A (why)'), '1 value', 'it would be read back as #N/A')
  assert.equal((await tab.values()).length, 2)
})

test('a header that changes after it was read: nothing is written below another one', async (t) => {
  const { ground, tab, edit } = await startTab(t, [
    ['id', 'name'],
    ['a', 'A'],
  ])
  const attempt = await prepared(ground, tab, [add(['b', 'B'])])
  await edit({ op: 'set', row: 1, column: 2, value: 'surname' })
  ground.local.clock.advanceMs(10_000)
  assert.deepEqual(await attempt.commit(), { outcome: 'conflict' })
  assert.equal((await tab.values()).length, 2)
})

test('a header that changes in the last instant is noticed in the answer', async (t) => {
  const { ground, tab, edit } = await startTab(t, [['id'], ['a']])
  await edit({ op: 'set', row: 1, column: 1, value: 'number', beforeCall: 1, match: ':batchUpdate' })
  await applied(ground, tab, add(['b']))
  assert.ok(ground.seen.some((one) => one.event === 'write_raced' && one.kind === 'add'))
})

test('under load an addition costs one small read of its own: its header is younger than the request', async (t) => {
  const { ground, tab } = await startTab(t, [['id'], ['a']])
  await applied(ground, tab, add(['first']))
  const before = ground.seen.length
  for (let round = 0; round < 5; round++) await applied(ground, tab, add([`row ${round}`]))
  const reads = ground.seen
    .slice(before)
    .filter((one) => one.event === 'provider_called' && one.kind === 'read')
  assert.ok(reads.length <= 5 + 1, `${reads.length} reads; one may be the search for old markers`)
})
