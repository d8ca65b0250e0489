import assert from 'node:assert/strict'
import { after, before } from 'node:test'
import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import type { Tables } from '../src/store/schema.ts'
import type { ColumnValues, SqlDatabase } from '../src/store/sql-database.ts'
import { storeContract } from '../src/store/store.contract.ts'
import { findPostgres, startPostgres } from './servers/postgres.ts'

/**
 * The store's queries and migrations must not lean on SQLite: the same contract on PostgreSQL, through the thinnest
 * database that could work. The real adapter takes this one's place when the product learns to use PostgreSQL.
 */
const migrationLock = 7_083_171
const uniqueViolation = '23505'

const skip = findPostgres() ? false : 'PostgreSQL is not on this machine'
let server: Awaited<ReturnType<typeof startPostgres>> | null = null
let databases = 0

before(async () => {
  if (!skip) server = await startPostgres({ fsync: false })
})
after(() => server?.stop())

storeContract(
  'PostgreSQL',
  async (t) => {
    assert.ok(server)
    const name = `store_${++databases}`
    const admin = new pg.Client({ connectionString: server.url })
    await admin.connect()
    await admin.query(`create database ${name}`)
    await admin.end()
    const database = overPostgres(Object.assign(new URL(server.url), { pathname: name }).href)
    t.after(() => database.close())
    return database
  },
  skip,
)

function overPostgres(url: string): SqlDatabase {
  // Counts and times fit a number; the driver would hand out 64-bit integers as text.
  const types = {
    getTypeParser: (id: number) => (id === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(id)),
  }
  const pool = new pg.Pool({ connectionString: url, types: types as pg.CustomTypesConfig })
  const kysely = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) })
  return {
    kysely,
    prepareOne: (query, toResult) => async (values) => {
      const { rows } = await pool.query({ text: query.sql, values: [...values], rowMode: 'array' })
      return toResult((rows[0] as ColumnValues | undefined) ?? null)
    },
    inMigrationLock: (work) =>
      kysely.transaction().execute(async (transaction) => {
        await transaction.executeQuery({
          ...transaction.selectNoFrom([]).compile(),
          sql: `select pg_advisory_xact_lock(${migrationLock})`,
          parameters: [],
        })
        return work(transaction)
      }),
    isUniqueViolation: (error) => error instanceof pg.DatabaseError && error.code === uniqueViolation,
    close: () => kysely.destroy(),
  }
}
