import assert from 'node:assert/strict'
import { utimes, writeFile } from 'node:fs/promises'
import { type TestContext, test } from 'node:test'
import { writeXlsx } from 'hucre/xlsx'
import { appendCsvRows } from '../../src/providers/file/csv/csv.fixture.ts'
import type { Cell } from '../../src/sheets/rows/grid.ts'
import { startRowport } from '../harness.ts'
import { patienceMs, times } from '../soak.ts'
import type { Change } from './follower.ts'
import { createClient } from './following-client.ts'
import { createPlay, type Play } from './random-play.ts'

/*
 * Any history of clients and people: whoever read all rows once and applies the log has the rows as they are, to the cell, and each
 * `before` was what they had. What a client wrote is told as its own, and nothing else is.
 */

const encoders = {
  csv: async (rows: Cell[][]) => appendCsvRows(new Uint8Array(), rows),
  xlsx: async (rows: Cell[][]) => writeXlsx({ sheets: [{ name: 'Sheet1', rows }] }),
}

for (const kind of ['csv', 'xlsx'] as const) {
  for (const isKeyed of [false, true]) {
    test(
      `${kind}, ${isKeyed ? 'by key' : 'by position'}: the log leads from the first rows to the last`,
      { timeout: patienceMs },
      (t) => playOnFile(t, kind, isKeyed, times(kind === 'csv' ? 4 : 2, 200)),
    )
  }
}

async function playOnFile(
  t: TestContext,
  kind: keyof typeof encoders,
  isKeyed: boolean,
  histories: number,
): Promise<void> {
  const rowport = await startRowport(t)
  const key = await rowport.createKey()
  const totals = { changes: 0, outside: 0, api: 0 }
  for (let seed = 1; seed <= histories; seed++) {
    const play = createPlay(seed * 7_919, isKeyed)
    const slug = `sheet-${seed}`
    const { id, path, formB } = await rowport.connectFile(
      slug,
      `${slug}.${kind}`,
      await encoders[kind](play.grid),
    )
    if (isKeyed) {
      await rowport.workshop.store.changeSheet(id, { keyColumn: 'sku' })
    }
    const client = createClient(key, formB)
    const follower = await client.begin(rowport.url, isKeyed)
    const operations = new Set<string>()
    for (let step = 0; step < 12; step++) {
      const message = `seed ${seed}, step ${step}`
      if (play.chance(0.5)) {
        await edit(play, path, kind)
        // Some looks fall between what people do and what clients do, and some do not.
        if (play.chance(0.5)) await client.list(rowport.url)
      }
      for (let n = play.below(3); n > 0; n--) {
        const { method, path: where, body } = play.write()
        const response = await client.write(rowport.url, method, where, body)
        const operation = response.headers.get('Operation-Id')
        assert.equal(
          operation !== null,
          response.ok,
          `${message} ${method} ${where} ${await response.text()}`,
        )
        if (operation) operations.add(operation)
      }
      const came = await client.catchUp(rowport.url, follower, message)
      count(came, operations, key.id)
      const { columns, rows } = await client.list(rowport.url)
      play.take(columns, rows)
    }
  }
  t.diagnostic(JSON.stringify(totals))
  assert.ok(totals.outside > 0 && totals.api > 0)
  const failed = rowport.seen.filter(({ event }) => event === 'changes_not_logged')
  assert.deepEqual(failed, [])

  function count(came: readonly Change[], operations: ReadonlySet<string>, keyId: string): void {
    for (const { source, operation, by } of came) {
      totals.changes++
      totals[source]++
      if (source === 'api') assert.ok(operations.has(operation ?? '') && by === keyId)
      else assert.deepEqual([operation, by], [null, null])
    }
  }
}

async function edit(play: Play, path: string, kind: keyof typeof encoders): Promise<void> {
  play.edit()
  await writeFile(path, await encoders[kind](play.grid))
  // Left alone for a while, each time at another moment.
  const at = new Date(Date.now() - 60 * 60 * 1_000 + play.next())
  await utimes(path, at, at)
}
