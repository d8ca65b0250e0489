import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { systemClock } from '../../src/clock.ts'
import { accountWithSheet } from '../../src/store/records.fixture.ts'
import { migrate } from '../../src/store/sql/migrate.ts'
import { createSqlStore } from '../../src/store/sql/sql-store.ts'
import { openSqlite } from '../../src/store/sql/sqlite/sqlite-database.ts'
import { startTurnWatch } from '../turn-watch.ts'

const mostTurnMs = 15
const chunkCount = 900
const entries = `[${' '.repeat(128 * 1_024)}]`

for (const how of ['history_days=0', 'the sheet', 'the account'] as const) {
  test(`a log of 115 MB goes in short turns with ${how}`, async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'rowport-test-'))
    const database = openSqlite(join(folder, 'rowport.db'), systemClock)
    t.after(async () => {
      await database.close()
      await rm(folder, { recursive: true })
    })
    await migrate(database, 0, () => {})
    const store = createSqlStore(database, systemClock)
    const { account, sheet } = await accountWithSheet(store)
    const [accountId, sheetId] = [account.id, sheet.id]
    const { kysely } = database
    const bytes = entries.length
    const log = {
      sheet_id: sheetId,
      account_id: accountId,
      epoch: 'e',
      head: chunkCount,
      floor: 0,
      identity: '',
    }
    await kysely
      .insertInto('change_log')
      .values({ ...log, bytes: bytes * chunkCount })
      .execute()
    await kysely.transaction().execute(async (transaction) => {
      for (let seq = 1; seq <= chunkCount; seq++) {
        const chunk = { sheet_id: sheetId, first_seq: seq, last_seq: seq, at_ms: 1, logged_at_ms: 1 }
        await transaction
          .insertInto('change_chunk')
          .values({ ...chunk, is_placed: 1, entries, bytes })
          .execute()
      }
      await transaction
        .insertInto('change_operation')
        .values({ sheet_id: sheetId, operation_id: 'op', first_seq: 1 })
        .execute()
    })
    const watch = startTurnWatch()
    if (how === 'history_days=0') await store.changeSheet(sheetId, { historyDays: 0 })
    else if (how === 'the sheet') await store.deleteSheet(sheetId)
    else await store.deleteAccount(accountId)
    const turns = watch.stop()
    t.diagnostic(`longest turns ${turns.join(' ')} ms`)
    for (const table of ['change_log', 'change_chunk', 'change_operation'] as const) {
      const left = await kysely.selectFrom(table).selectAll().execute()
      assert.deepEqual(left, [], table)
    }
    assert.ok((turns[0] ?? 0) <= mostTurnMs, `turns of ${turns[0]} ms and more`)
  })
}
