import assert from 'node:assert/strict'
import { test } from 'node:test'
import { owner } from '../writing/google-ground.ts'
import { startGoogleProcess } from './google-process.ts'

test('the cells of a local Google can be looked at when all reads of the minute are used', async (t) => {
  const google = await startGoogleProcess(t, { quotas: true })
  const rows = [['id', '', 'price'], [], ['a', '', 1.5]]
  const { spreadsheetId } = await google.newSpreadsheet(owner, [...rows, ['', '']])
  const { access_token } = await google.control('POST', 'tokens', { user: owner })
  const read = async () => {
    const answer = await fetch(`${google.url}/v4/spreadsheets/${spreadsheetId}/values/Items`, {
      headers: { Authorization: `Bearer ${access_token}` },
    })
    await answer.bytes()
    return answer.status
  }
  let reads = 0
  while ((await read()) === 200) assert.ok(++reads < 1_000, 'no read was refused')
  assert.deepEqual(await google.cells(spreadsheetId), rows)
})
