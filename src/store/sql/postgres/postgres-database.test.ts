import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import pg from 'pg'
import { findPostgres, startPostgres } from '../../../../test/servers/postgres.ts'
import { systemClock } from '../../../clock.ts'
import { StoreFailure, StoreUnwritable } from '../../../errors.ts'
import { accountWithSheet, newKey } from '../../records.fixture.ts'
import { storeContract } from '../../store.contract.ts'
import { migrate } from '../migrate.ts'
import type { SqlDatabase } from '../sql-database.ts'
import { createSqlStore } from '../sql-store.ts'
import { openPostgres } from './postgres-database.ts'

const skip = findPostgres() ? false : 'PostgreSQL is not on this machine'
let server: Awaited<ReturnType<typeof startPostgres>> | null = null
let schemas = 0

before(async () => {
  if (!skip) server = await startPostgres({ fsync: false })
})
after(() => server?.stop())

/** A schema is as empty as a database of its own, and does not have to be copied from a template. */
async function newDatabase(): Promise<string> {
  assert.ok(server)
  const name = `store_${++schemas}`
  const admin = new pg.Client({ connectionString: server.url })
  await admin.connect()
  await admin.query(`create schema ${name}`)
  await admin.end()
  const url = new URL(server.url)
  url.searchParams.set('options', `-c search_path=${name}`)
  return url.href
}

let emptied: SqlDatabase | null = null
let columnsAtFirst = ''
after(() => emptied?.close())

storeContract(
  'PostgreSQL',
  async () => {
    if (emptied && (await columnsOf(emptied)) === columnsAtFirst) {
      await empty(emptied)
      return emptied
    }
    await emptied?.close()
    emptied = openPostgres(await newDatabase(), 4)
    await migrate(emptied, 0, () => {})
    columnsAtFirst = await columnsOf(emptied)
    return emptied
  },
  skip,
)

/** A test that takes a column away, to see what a failure leaves, is the last one in its schema. */
async function columnsOf({ kysely }: SqlDatabase): Promise<string> {
  const { rows } = await sql<{ name: string }>`
    select table_name || '.' || column_name as name from information_schema.columns
    where table_schema = current_schema() order by 1
  `.execute(kysely)
  return rows.map(({ name }) => name).join()
}

/** Cheaper than tables that are made anew for each test. */
async function empty({ kysely }: SqlDatabase): Promise<void> {
  const { rows } = await sql<{ name: string }>`
    select tablename as name from pg_tables where schemaname = current_schema() and tablename <> 'migration'
  `.execute(kysely)
  await kysely.connection().execute(async (connection) => {
    // In any order, whichever refers to which.
    await sql`set session_replication_role = replica`.execute(connection)
    for (const { name } of rows) await sql`delete from ${sql.table(name)}`.execute(connection)
    await sql`set session_replication_role = default`.execute(connection)
  })
}

test('look-ups of one turn go together, and each gets its own answer', { skip }, async (t) => {
  const database = openPostgres(await newDatabase(), 2)
  t.after(() => database.close())
  await migrate(database, 0, () => {})
  const store = createSqlStore(database, systemClock)
  const { account, sheet } = await accountWithSheet(store)
  const hashes = Array.from({ length: 150 }, (_, n) => `hash ${n}`)
  for (const hash of hashes.slice(0, 20)) await store.createKey(newKey(account.id, null, hash))
  const of = { form: 'a', accountSlug: account.slug, sheetSlug: sheet.slug } as const
  const found = await Promise.all([
    ...hashes.map((hash) => store.lookUp(of, hash)),
    store.lookUp({ ...of, sheetSlug: 'nothing' }, 'hash 1'),
    store.lookUp({ form: 'b', sheetId: sheet.id }, 'hash 1'),
    store.lookUp({ form: 'b', sheetId: 'nothing' }, 'hash 1'),
  ])
  const told = found.map((facts) => [facts.account?.id, facts.sheet?.id, facts.key !== null])
  assert.deepEqual(told, [
    ...hashes.map((_, n) => [account.id, sheet.id, n < 20]),
    [account.id, undefined, true],
    [account.id, sheet.id, true],
    [undefined, undefined, false],
  ])
  const keyIds = new Set(found.slice(0, 20).map(({ key }) => key?.id))
  assert.equal(keyIds.size, 20, 'nobody got the answer of another')
})

test('ten that start at once migrate once', { skip }, async (t) => {
  const url = await newDatabase()
  let made = 0
  await Promise.all(
    Array.from({ length: 10 }, async () => {
      const database = openPostgres(url, 2)
      t.after(() => database.close())
      await migrate(database, 0, (seen) => {
        if (seen.event === 'store_made') made++
      })
    }),
  )
  assert.equal(made, 1)
})

test('a server that is away is a failure of the store, at once, and forgotten once it is back', {
  skip,
}, async (t) => {
  const own = await startPostgres({ fsync: false })
  t.after(() => own.stop())
  const database = openPostgres(own.url, 2)
  t.after(() => database.close())
  const ask = () => sql`select 1`.execute(database.kysely)
  await ask()
  await own.kill()
  // The sessions of a postmaster that was killed answer until they notice.
  while (await ask().then(Boolean, () => false)) await sleep(10)
  const begunMs = performance.now()
  await assert.rejects(ask, StoreFailure)
  await assert.rejects(ask, StoreFailure)
  assert.ok(performance.now() - begunMs < 8_000, 'long before anybody loses patience')
  await own.restart()
  await ask().catch(() => ask())
})

test('a server that takes no writes is told with the reason, and forgotten once it takes them again', {
  skip,
}, async (t) => {
  const database = openPostgres(await newDatabase(), 2)
  t.after(() => database.close())
  await migrate(database, 0, () => {})
  const store = createSqlStore(database, systemClock)
  const name = (await sql<{ name: string }>`select current_database() as name`.execute(database.kysely))
    .rows[0]?.name
  await store.ping()

  // As a full disk answers: whatever is written, in this schema alone.
  await sql`create function refuse() returns trigger language plpgsql as
    $$ begin raise exception 'could not extend file: No space left on device' using errcode = '53100'; end $$`.execute(
    database.kysely,
  )
  for (const table of ['lease', 'migration'])
    await sql`create trigger refuse before insert or update on ${sql.table(table)} for each row execute function refuse()`.execute(
      database.kysely,
    )
  await assert.rejects(store.stayAlive(1_000), StoreFailure)
  await assert.rejects(store.ping(), reasonIs('the disk of PostgreSQL is full'))
  for (const table of ['lease', 'migration'])
    await sql`drop trigger refuse on ${sql.table(table)}`.execute(database.kysely)
  await store.ping()

  // As a replica answers.
  await sql`alter database ${sql.ref(name ?? '')} set default_transaction_read_only = on`.execute(
    database.kysely,
  )
  const replica = openPostgres(server?.url ?? '', 1)
  t.after(async () => {
    await sql`set default_transaction_read_only = off`.execute(replica.kysely)
    await sql`alter database ${sql.ref(name ?? '')} reset default_transaction_read_only`.execute(
      replica.kysely,
    )
    await replica.close()
  })
  await assert.rejects(replica.checkWritable(), reasonIs('PostgreSQL is read-only'))
})

test('PostgreSQL gives up a statement that nobody waits for any more, and lets go of its locks', {
  skip,
}, async (t) => {
  const database = openPostgres(await newDatabase(), 2, { answerWithinMs: 400, lookUpWithinMs: 400 })
  t.after(() => database.close())
  const { kysely } = database
  await sql`create table held (at integer)`.execute(kysely)
  await sql`insert into held values (1)`.execute(kysely)
  const holding = kysely.transaction().execute(async (transaction) => {
    await sql`update held set at = 2`.execute(transaction)
    await sql`select pg_sleep(60)`.execute(transaction)
  })
  await assert.rejects(holding, StoreFailure)
  await sql`update held set at = 3`.execute(kysely)
  const { rows } =
    await sql`select * from pg_stat_activity where query like '%pg_sleep(60)%' and state = 'active'
    and pid <> pg_backend_pid()`.execute(kysely)
  assert.deepEqual(rows, [], 'it is not under way any more')
})

test('every connection is told the same patience, so that a pooler may lend it to anybody', {
  skip,
}, async (t) => {
  const database = openPostgres(await newDatabase(), 1)
  t.after(() => database.close())
  const { kysely } = database
  const patience = sql<{
    ms: string
  }>`select setting as ms from pg_settings where name = ${'statement_timeout'}`
  const { rows } = await patience.execute(kysely)
  assert.deepEqual(rows, [{ ms: '9500' }])
  const lookUp = database.prepareOne(patience.compile(kysely), (row) => row)
  assert.deepEqual(await lookUp(['statement_timeout']), ['9500'])
})

test('whoever comes after one whose transaction got no answer has a connection without it', {
  skip,
}, async (t) => {
  const database = openPostgres(await newDatabase(), 1, { answerWithinMs: 400, lookUpWithinMs: 400 })
  t.after(() => database.close())
  const { kysely } = database
  await sql`create table held (at integer)`.execute(kysely)
  const unheard = kysely.transaction().execute(async (transaction) => {
    const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(transaction)
    await sql`insert into held values (1)`.execute(transaction)
    process.kill(rows[0]?.pid ?? 0, 'SIGSTOP')
    t.after(() => process.kill(rows[0]?.pid ?? 0, 'SIGCONT'))
    await sql`insert into held values (2)`.execute(transaction)
  })
  await assert.rejects(unheard, StoreFailure)
  await kysely.transaction().execute((transaction) => sql`insert into held values (3)`.execute(transaction))
  const { rows } = await sql`select at from held`.execute(kysely)
  assert.deepEqual(rows, [{ at: 3 }])
})

function reasonIs(reason: string): (error: unknown) => boolean {
  return (error) => error instanceof StoreUnwritable && error.reason === reason
}
