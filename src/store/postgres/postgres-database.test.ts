import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import pg from 'pg'
import { findPostgres, startPostgres } from '../../../test/servers/postgres.ts'
import { systemClock } from '../../clock.ts'
import { StoreFailure } from '../../errors.ts'
import { migrate } from '../migrate.ts'
import { createSqlStore } from '../sql-store.ts'
import { storeContract } from '../store.contract.ts'
import { accountWithSheet, newKey } from '../test-records.ts'
import { openPostgres } from './postgres-database.ts'

const skip = findPostgres() ? false : 'PostgreSQL is not on this machine'
let server: Awaited<ReturnType<typeof startPostgres>> | null = null
let databases = 0

before(async () => {
  if (!skip) server = await startPostgres({ fsync: false })
})
after(() => server?.stop())

async function newDatabase(): Promise<string> {
  assert.ok(server)
  const name = `store_${++databases}`
  const admin = new pg.Client({ connectionString: server.url })
  await admin.connect()
  await admin.query(`create database ${name}`)
  await admin.end()
  return Object.assign(new URL(server.url), { pathname: name }).href
}

storeContract(
  'PostgreSQL',
  async (t) => {
    const database = openPostgres(await newDatabase(), 4)
    t.after(() => database.close())
    return database
  },
  skip,
)

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
  const applied: number[] = []
  await Promise.all(
    Array.from({ length: 10 }, async () => {
      const database = openPostgres(url, 2)
      t.after(() => database.close())
      await migrate(database, 0, (seen) => {
        if (seen.event === 'migration_applied') applied.push(seen.number)
      })
    }),
  )
  assert.deepEqual(applied, [...new Set(applied)])
  assert.ok(applied.length > 0)
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
  assert.ok(performance.now() - begunMs < 2_000)
  await own.restart()
  await ask().catch(() => ask())
})
