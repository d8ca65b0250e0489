import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import { sql } from 'kysely'
import { systemClock } from '../../../clock.ts'
import { newOperationId } from '../../new-id.ts'
import { accountWithSheet } from '../../records.fixture.ts'
import { storeContract } from '../../store.contract.ts'
import { migrate } from '../migrate.ts'
import { createSqlStore } from '../sql-store.ts'
import { openSqlite } from './sqlite-database.ts'

storeContract(
  'SQLite',
  async (t, clock) => {
    const database = openSqlite(join(await ownFolder(t), 'rowport.db'), clock)
    t.after(() => database.close())
    return database
  },
  false,
)

test('whatever refers to another table is found by an index: else whoever deletes looks through all of it', async (t) => {
  const database = openSqlite(join(await ownFolder(t), 'rowport.db'), systemClock)
  t.after(() => database.close())
  await migrate(database, 0, () => {})
  const { rows } = await sql<{ reference: string }>`
    select tables.name || '.' || "from" as reference
    from sqlite_master as tables, pragma_foreign_key_list(tables.name)
    where tables.type = 'table' and not exists (
      select 1 from pragma_index_list(tables.name) as indexes, pragma_index_info(indexes.name) as columns
      where columns.seqno = 0 and columns.name = "from"
    )`.execute(database.kysely)
  assert.deepEqual(
    rows.map(({ reference }) => reference),
    [],
  )
})

test('SQLite: a look-up sees nothing of a transaction that is still open', async (t) => {
  const database = openSqlite(join(await ownFolder(t), 'rowport.db'), systemClock)
  t.after(() => database.close())
  await database.kysely.schema.createTable('migration').addColumn('number', 'integer').execute()
  const count = database.prepareOne(
    database.kysely
      .selectFrom('migration')
      .select((of) => of.fn.countAll<number>().as('count'))
      .compile(),
    (row) => row,
  )
  await database.kysely.transaction().execute(async (transaction) => {
    await transaction
      .insertInto('migration')
      .values({ number: 1 } as never)
      .execute()
    assert.deepEqual(await count([]), [0])
  })
  assert.deepEqual(await count([]), [1])
})

test('SQLite: few statements are kept for usage, whatever number of rows comes together', async (t) => {
  const database = openSqlite(join(await ownFolder(t), 'rowport.db'), systemClock)
  t.after(() => database.close())
  await migrate(database, 0, () => {})
  const store = createSqlStore(database, systemClock)
  const { account, sheet } = await accountWithSheet(store)
  const count = {
    accountId: account.id,
    day: '2026-11-15',
    sheetId: sheet.id,
    outcome: 'success',
    rowsFrom: 'hit',
    requests: 1,
  } as const
  const prepared = t.mock.method(DatabaseSync.prototype, 'prepare')
  for (let rows = 1; rows <= 100; rows++) {
    const each = Array.from({ length: rows }, (_, n) => ({ ...count, keyId: `key ${n}` }))
    const recent = each.map(({ sheetId, keyId }, n) => ({
      id: `${rows} ${String(n).padStart(3, '0')}`,
      sheetId,
      keyId,
      atMs: n,
      method: 'GET',
      operation: 'list_rows',
      status: 200,
      code: '',
      rowsFrom: 'hit' as const,
      durationMs: 1,
    }))
    const latencies = each.map((of) => ({ ...of, bucket: 1 }))
    await store.addUsage({ counts: each, latencies, providerCalls: [], activity: [], recent })
  }
  const [counted] = await store.usageSince(account.id, '2026-11-15')
  assert.equal(counted?.requests, 100)
  assert.ok(prepared.mock.callCount() < 50, `${prepared.mock.callCount()} statements`)
})

test('SQLite: of statements in very many forms, those stay prepared that are in use', async (t) => {
  const { kysely, close } = openSqlite(join(await ownFolder(t), 'rowport.db'), systemClock)
  t.after(close)
  const prepared = t.mock.method(DatabaseSync.prototype, 'prepare')
  const ask = (form: number) => sql.raw(`select ${form}`).execute(kysely)
  const timesPrepared = (form: number) =>
    prepared.mock.calls.filter(({ arguments: [text] }) => text === `select ${form}`).length
  await ask(0)
  for (let form = 1; form <= 2_000; form++) {
    await ask(form)
    await ask(0)
  }
  await ask(2_000)
  await ask(1)
  assert.deepEqual(
    [0, 2_000, 1].map(timesPrepared),
    [1, 1, 2],
    'in use, the last, and one that was let go of',
  )
})

test('SQLite: fifty writes that go together fill a few pages, however many were logged before', async (t) => {
  const path = join(await ownFolder(t), 'rowport.db')
  const database = openSqlite(path, systemClock)
  t.after(() => database.close())
  await migrate(database, 0, () => {})
  const store = createSqlStore(database, systemClock)
  const { sheet } = await accountWithSheet(store)
  let momentMs = systemClock.nowMs()
  for (let batch = 0; batch < 60; batch++) await logFifty()
  await sql`pragma wal_checkpoint(truncate)`.execute(database.kysely)
  await logFifty()
  const frameBytes = 4_096 + 24
  const pages = Math.floor((await stat(`${path}-wal`)).size / frameBytes)
  assert.ok(pages > 0 && pages <= 40, `${pages} pages`)

  async function logFifty(): Promise<void> {
    const operations = Array.from({ length: 50 }, () => newOperationId(momentMs++))
    const { id: sheetId, accountId, source } = sheet
    const entries = JSON.stringify(operations)
    const chunks = [{ entries, count: 50, atMs: momentMs, operations }]
    const changes = { chunks, identity: '', sheetId, accountId, isPlaced: true, after: null }
    const shared = [{ id: null, accountId, sheetId, answer: '' }]
    const begun = await store.beginSending({ source, fence: 'f', place: '{}', operations: shared, changes })
    assert.ok(Array.isArray(begun))
    await store.finishApplied(source, [{ id: begun[0] ?? '', answer: null }], {
      sheetId,
      outcome: 'as_begun',
    })
  }
})

test('SQLite: of writes that come at once, each leaves the others a look at the sockets', async (t) => {
  // Each takes three milliseconds by this clock.
  let nowMs = 0
  const clock = { nowMs: () => nowMs, elapsedMs: () => (nowMs += 3) }
  const database = openSqlite(join(await ownFolder(t), 'rowport.db'), clock)
  t.after(() => database.close())
  await database.kysely.schema.createTable('migration').addColumn('number', 'integer').execute()
  const looks: number[] = []
  let written = 0
  const look = () => {
    looks.push(written)
    if (written < 20) setImmediate(look)
  }
  setImmediate(look)
  await Promise.all(
    Array.from({ length: 20 }, async (_, number) => {
      await database.kysely
        .insertInto('migration')
        .values({ number } as never)
        .execute()
      written++
    }),
  )
  assert.ok(new Set(looks).size >= 15, `looked after so many: ${looks.join(' ')}`)
})

test('SQLite: eight processes that start at once on a new folder migrate it once', async (t) => {
  const path = join(await ownFolder(t), 'new', 'rowport.db')
  const script = `
    const { openSqlite } = await import(${JSON.stringify(import.meta.resolve('./sqlite-database.ts'))})
    const { systemClock } = await import(${JSON.stringify(import.meta.resolve('../../../clock.ts'))})
    const { migrate } = await import(${JSON.stringify(import.meta.resolve('../migrate.ts'))})
    const database = openSqlite(${JSON.stringify(path)}, systemClock)
    let applied = 0
    await migrate(database, 0, () => applied++)
    await database.close()
    process.stdout.write(String(applied))`
  const runs = Array.from({ length: 8 }, () =>
    promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script]),
  )
  const applied = (await Promise.all(runs)).map(({ stdout }) => Number(stdout))
  assert.equal(
    applied.filter((count) => count > 0).length,
    1,
    `one process applied everything, the others nothing: ${applied}`,
  )
})

test('SQLite: what made a transaction fail is told, also where SQLite has rolled back by itself', async (t) => {
  const database = openSqlite(join(await ownFolder(t), 'rowport.db'), systemClock)
  t.after(() => database.close())
  const { kysely } = database
  await kysely.schema.createTable('migration').addColumn('name', 'text').execute()
  // As on a full disk: the file may not grow.
  await sql`pragma max_page_count = 5`.execute(kysely)
  const filled = kysely.transaction().execute(async (transaction) => {
    for (let n = 0; n < 100; n++)
      await transaction
        .insertInto('migration')
        .values({ name: 'x'.repeat(4_000) } as never)
        .execute()
  })
  await assert.rejects(filled, (error: Error) => /database or disk is full/.test(String(error.cause)))
  assert.deepEqual(await kysely.selectFrom('migration').select('name').execute(), [], 'nothing was kept')
})

async function ownFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'rowport-store-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  return folder
}
