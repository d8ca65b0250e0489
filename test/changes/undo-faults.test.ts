import assert from 'node:assert/strict'
import { test } from 'node:test'
import { done } from '../harness.ts'
import { patienceMs } from '../soak.ts'
import { startGoogleGround } from '../writing/google-ground.ts'

const rows = [
  ['sku', 'n'],
  ['a', 1],
  ['b', 2],
  ['c', 3],
]

/* Google may lose the answer to an undo, or somebody may be at work in its moment: it is done once, or not at all. */

for (const kind of ['resetAfterApply', '503AfterApply'] as const) {
  test(`an undo whose answer is lost (${kind}) is done once`, { timeout: patienceMs }, async (t) => {
    const { local, newSheet } = await startGoogleGround(t, { speed: 5 })
    const sheet = await newSheet('stock', rows)
    await sheet.ask('GET')
    const removed = await sheet.ask('DELETE', '/by/sku/b')
    const operation = removed.headers.get('Operation-Id')
    await local.control('POST', 'faults', { match: ':batchUpdate', kind, times: 1 })
    const path = `/operations/${operation}/undo`
    const first = await sheet.ask('POST', path, { key: 'k' })
    await local.control('DELETE', 'faults')
    const second = await sheet.ask('POST', path, { key: 'k' })
    assert.deepEqual([first.status, second.status], [200, 200], JSON.stringify([first.body, second.body]))
    assert.equal(second.headers.get('Idempotent-Replayed'), 'true')
    assert.deepEqual(await sheet.cells(), rows)
    const again = await sheet.ask('POST', `/operations/${first.headers.get('Operation-Id')}/undo`)
    assert.equal(again.status, 200, JSON.stringify(again.body))
    assert.deepEqual(await sheet.cells(), [rows[0], rows[1], rows[3]], 'the log has it once')
  })
}

test('a person who changes a row right before the undo is not overwritten', {
  timeout: patienceMs,
}, async (t) => {
  const { newSheet, rowport } = await startGoogleGround(t, { speed: 5 })
  const sheet = await newSheet('stock', rows)
  await sheet.ask('GET')
  const changed = await sheet.ask('PATCH', '/3', { body: { n: 20 } })
  const { location } = done(await rowport.workshop.sheets.find('acme', 'stock'))
  const tabId = JSON.parse(location).tabId
  await sheet.batchUpdate({
    updateCells: {
      start: { sheetId: tabId, rowIndex: 2, columnIndex: 1 },
      rows: [{ values: [{ userEnteredValue: { numberValue: 21 } }] }],
      fields: 'userEnteredValue',
    },
  })
  const undone = await sheet.ask('POST', `/operations/${changed.headers.get('Operation-Id')}/undo`)
  assert.deepEqual([undone.status, undone.body.code], [409, 'undo_conflict'])
  assert.match(undone.body.details, /^Row 3 has other values in "n"/)
  assert.deepEqual((await sheet.cells())[2], ['b', 21])
})
