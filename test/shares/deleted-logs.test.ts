import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { systemClock } from '../../src/clock.ts'
import { packEntries } from '../../src/store/changes/packed-entries.ts'
import { accountWithSheet } from '../../src/store/records.fixture.ts'
import { migrate } from '../../src/store/sql/migrate.ts'
import { createSqlStore } from '../../src/store/sql/sql-store.ts'
import { openSqlite } from '../../src/store/sql/sqlite/sqlite-database.ts'
import { holdsOfTwo } from '../measured-twice.ts'
import { startTurnWatch } from '../turn-watch.ts'

const mostTurnMs = 16
const chunkCount = 900
const chunksTogether = 20
const entries = `[${' '.repeat(128 * 1_024)}]`

for (const how of ['history_days=0', 'the sheet', 'the account'] as const) {
  test(`a log of 115 MB goes in short turns with ${how}`, async (t) => {
    const { store, kysely, accountId, sheetId } = await startLong(t, chunkCount, entries)
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

test('a log is unpacked in short turns by whoever wants much of it at once', async (t) => {
  const changes = Array.from(
    { length: 2_000 },
    (_, n) => `{"kind":"updated","row":${n},"after":"{\\"a\\":${n * 7_919}}"}`,
  )
  const packed = packEntries(`[${changes.join(',')}${' '.repeat(128 * 1_024)}]`, 1024 * 1024)
  const { store, sheetId } = await startLong(t, 200, packed)
  await store.loggedChanges(sheetId, 0, 1024 * 1024)
  await holdsOfTwo(
    async () => {
      const watch = startTurnWatch()
      const chunks = await store.loggedChanges(sheetId, 0, 16 * 1024 * 1024)
      const turns = watch.stop()
      t.diagnostic(`${chunks.length} chunks, longest turns ${turns.join(' ')} ms`)
      return turns
    },
    (turns) => ((turns[0] ?? 0) <= 10 ? null : `turns of ${turns[0]} ms and more`),
  )
})

async function startLong(t: TestContext, count: number, text: string) {
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
  const bytes = text.length
  const log = {
    sheet_id: sheetId,
    account_id: accountId,
    epoch: 'e',
    head: count,
    floor: 0,
    identity: '',
  }
  await kysely
    .insertInto('change_log')
    .values({ ...log, bytes: bytes * count })
    .execute()
  // In one transaction they would make a WAL of 115 MB, and whoever writes next would cut it.
  for (let seq = 1; seq <= count; ) {
    await kysely.transaction().execute(async (transaction) => {
      for (const end = Math.min(count, seq + chunksTogether); seq <= end; seq++) {
        const chunk = { sheet_id: sheetId, first_seq: seq, last_seq: seq, at_ms: 1, logged_at_ms: 1 }
        await transaction
          .insertInto('change_chunk')
          .values({ ...chunk, is_placed: 1, entries: text, bytes })
          .execute()
      }
    })
  }
  await kysely
    .insertInto('change_operation')
    .values({ sheet_id: sheetId, operation_id: 'op', first_seq: 1 })
    .execute()
  return { store, kysely, accountId, sheetId }
}
