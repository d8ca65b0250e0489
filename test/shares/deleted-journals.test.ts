import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { type Kysely, sql } from 'kysely'
import { systemClock } from '../../src/clock.ts'
import { accountWithSheet } from '../../src/store/records.fixture.ts'
import { migrate } from '../../src/store/sql/migrate.ts'
import type { Tables } from '../../src/store/sql/schema.ts'
import { createSqlStore } from '../../src/store/sql/sql-store.ts'
import { openSqlite } from '../../src/store/sql/sqlite/sqlite-database.ts'
import { holdsOfTwo } from '../measured-twice.ts'
import { startTurnWatch } from '../turn-watch.ts'

const mostTurnMs = 15
const operationCount = 50_000
const usageCount = 50_000

for (const what of ['the sheet', 'the account'] as const) {
  test(`a journal of ${operationCount} writes goes in short turns with ${what}`, async (t) => {
    await holdsOfTwo(
      async () => {
        const { store, kysely, accountId, sheetId } = await startWithJournal(t)
        const watch = startTurnWatch()
        if (what === 'the sheet') await store.deleteSheet(sheetId)
        else await store.deleteAccount(accountId)
        const turns = watch.stop()
        t.diagnostic(`longest turns ${turns.join(' ')} ms`)
        const tables = what === 'the sheet' ? ['operation'] : ['operation', 'usage_day', 'latency_day']
        for (const table of tables) {
          const { rows } = await sql`select * from ${sql.table(table)} limit 1`.execute(kysely)
          assert.deepEqual(rows, [], table)
        }
        return turns
      },
      (turns) => ((turns[0] ?? 0) <= mostTurnMs ? null : `turns of ${turns[0]} ms and more`),
    )
  })
}

async function startWithJournal(t: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), 'rowport-test-'))
  const database = openSqlite(join(folder, 'rowport.db'), systemClock)
  t.after(async () => {
    await database.close()
    await rm(folder, { recursive: true })
  })
  await migrate(database, 0, () => {})
  const store = createSqlStore(database, systemClock)
  const { account, sheet } = await accountWithSheet(store)
  const { kysely } = database
  await insertMany(
    kysely,
    operationCount,
    sql`
      insert into operation (id, account_id, sheet_id, source, idempotency_key, state, answer, created_at_ms, finished_at_ms, kept_bytes)
      select printf('op_%07d', n) || hex(randomblob(7)), ${account.id}, ${sheet.id}, ${sheet.source}, hex(randomblob(16)), 'applied',
        printf('%.*c', 300, 'x'), n, n, 300 from numbers`,
  )
  await insertMany(
    kysely,
    usageCount,
    sql`
      insert into usage_day (account_id, day, sheet_id, key_id, outcome, rows_from, requests)
      select ${account.id}, '2026-11-' || (10 + n / 2500), ${sheet.id}, 'key_' || (n % 2500), 'read', 'memory', 1 from numbers`,
  )
  await insertMany(
    kysely,
    usageCount,
    sql`
      insert into latency_day (account_id, day, sheet_id, key_id, bucket, requests)
      select ${account.id}, '2026-11-' || (10 + n / 2500), ${sheet.id}, 'key_' || (n % 2500), 3, 1 from numbers`,
  )
  await sql`pragma wal_checkpoint(truncate)`.execute(kysely)
  return { store, kysely, accountId: account.id, sheetId: sheet.id }
}

/** `insert`: from the rows of `numbers`, from one on. */
async function insertMany(
  kysely: Kysely<Tables>,
  count: number,
  insert: ReturnType<typeof sql>,
): Promise<void> {
  await sql`
    with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < ${count})
    ${insert}`.execute(kysely)
}
