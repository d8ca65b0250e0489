import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Cell } from '../../src/sheets/rows/grid.ts'
import { done } from '../harness.ts'
import { patienceMs, times } from '../soak.ts'
import { startGoogleGround } from '../writing/google-ground.ts'
import { createClient } from './following-client.ts'
import { createPlay } from './random-play.ts'

/* The same as on files, with two instances on one store: writes look at a few rows only, and answers bring the tab along. */

for (const isKeyed of [false, true]) {
  test(`Google, ${isKeyed ? 'by key' : 'by position'}: the log leads from the first rows to the last`, {
    timeout: patienceMs,
  }, async (t) => {
    const { rowport, instances, newSheet } = await startGoogleGround(t, { speed: 5, instances: 2 })
    const key = await rowport.createKey()
    const totals = { changes: 0, outside: 0, api: 0 }
    for (let seed = 1; seed <= times(2, 60); seed++) {
      const play = createPlay(seed * 104_729, isKeyed)
      const slug = `sheet-${seed}`
      const { batchUpdate } = await newSheet(slug, play.grid)
      const sheet = done(await rowport.workshop.sheets.find('acme', slug))
      if (isKeyed) await rowport.workshop.store.changeSheet(sheet.id, { keyColumn: 'sku' })
      const client = createClient(key, `/v1/sheets/${sheet.id}`)
      const anyUrl = () => instances[play.below(instances.length)]?.url ?? ''
      const follower = await client.begin(anyUrl(), isKeyed)
      const operations = new Set<string>()
      for (let step = 0; step < 8; step++) {
        const message = `seed ${seed}, step ${step}`
        if (play.chance(0.5)) {
          play.edit()
          await batchUpdate(wholeTab(JSON.parse(sheet.location).tabId, play.grid))
          if (play.chance(0.5)) await client.list(anyUrl())
        }
        for (let n = play.below(3); n > 0; n--) {
          const { method, path, body } = play.write()
          const response = await client.write(anyUrl(), method, path, body)
          const operation = response.headers.get('Operation-Id')
          assert.equal(operation !== null, response.ok, `${message} ${await response.text()}`)
          if (operation) operations.add(operation)
        }
        for (const { source, operation } of await client.catchUp(anyUrl(), follower, message)) {
          totals.changes++
          totals[source]++
          assert.equal(source === 'api', operations.has(operation ?? ''), message)
        }
        const { columns, rows } = await client.list(anyUrl())
        play.take(columns, rows)
      }
    }
    t.diagnostic(JSON.stringify(totals))
    assert.ok(totals.outside > 0 && totals.api > 0)
    const failed = instances.flatMap(({ seen }) => seen.filter(({ event }) => event === 'changes_not_logged'))
    assert.deepEqual(failed, [])
  })
}

/** What a person typed, all of it at once; what is not in it is empty then. */
function wholeTab(sheetId: number, grid: readonly (readonly Cell[])[]): object {
  const width = Math.max(...grid.map((row) => row.length)) + 3
  const rows = Array.from({ length: grid.length + 8 }, (_, at) => ({
    values: Array.from({ length: width }, (_, column) => {
      const cell = grid[at]?.[column] ?? null
      if (cell === null) return {}
      const kind =
        typeof cell === 'number' ? 'numberValue' : typeof cell === 'boolean' ? 'boolValue' : 'stringValue'
      return { userEnteredValue: { [kind]: cell } }
    }),
  }))
  return {
    updateCells: { rows, fields: 'userEnteredValue', start: { sheetId, rowIndex: 0, columnIndex: 0 } },
  }
}
