import assert from 'node:assert/strict'
import { test } from 'node:test'
import { locateGoogleTab } from '../../src/providers/google/google-location.ts'
import { startGoogleProcess } from '../google/google-process.ts'
import { plenty } from '../google/writing-ground.ts'
import { bearer, done, startRowport } from '../harness.ts'
import { startTurnWatch } from '../turn-watch.ts'
import { connectOwner, googleAt, owner } from '../writing/google-ground.ts'

/** Half of it is for garbage: a test's heap is larger than that of `npm start`, and collected in longer pieces. */
const mostTurnMs = 50
const rows = 1_000
const columns = 50

test('a thousand rows are changed at Google in short turns, though it tells each cell of them twice', async (t) => {
  const google = await startGoogleProcess(t)
  const rowport = await startRowport(t, {
    isTimePassing: true,
    settings: { google: { ...googleAt(google.url), ...{ rations: plenty } } },
  })
  const names = Array.from({ length: columns }, (_, nth) => `c${nth}`)
  const values = Array.from({ length: rows }, (_, row) => names.map((_, nth) => row * nth))
  const { spreadsheetId, refreshToken } = await google.newSpreadsheet(owner, [names, ...values])
  const { store, sealing, accounts, sheets } = rowport.workshop
  const account = done(await accounts.find('acme'))
  const credentialId = await connectOwner(store, sealing, account.id, refreshToken)
  const asked = { accountSlug: 'acme', sheetSlug: 's', access: 'private', provider: 'google' } as const
  done(await sheets.connect({ ...asked, credentialId, ...locateGoogleTab({ spreadsheetId, tabId: 0 }) }))
  const headers = { ...bearer(await rowport.createKey()), 'Content-Type': 'application/json' }

  const turns: number[][] = []
  for (let round = 0; round < 4; round++) {
    const watch = startTurnWatch()
    const answer = await fetch(`${rowport.url}/api/sheets/acme/s?c0[gte]=0&max_rows=${rows}`, {
      method: 'PATCH',
      headers,
      body: JSON.stringify({ c1: round + 1_000_000 }),
    })
    const told = await answer.text()
    const longest = watch.stop()
    assert.equal(answer.status, 200, told.slice(0, 500))
    // The first one reads the sheet, and compiles.
    if (round > 0) turns.push(longest)
  }
  const cells = await google.cells(spreadsheetId)
  assert.deepEqual([cells.length, cells[1]?.[1], cells[rows]?.[1]], [rows + 1, 1_000_003, 1_000_003])
  for (const some of turns) t.diagnostic(`longest turns ${some.join(' ')} ms`)
  const best = Math.min(...turns.map(([longest = 0]) => longest))
  assert.ok(best <= mostTurnMs, `turns of ${best} ms and more`)
})
