import { Kysely, PostgresDialect, type PostgresPool, type PostgresPoolClient, sql } from 'kysely'
import pg from 'pg'
import { GoneMeanwhile, StoreFailure, StoreUnwritable } from '../../../errors.ts'
import type { Tables } from '../schema.ts'
import type { SqlDatabase } from '../sql-database.ts'
import { createBatchedLookUp } from './batched-look-ups.ts'

/** Any number; every Rowport takes the same one, so that of ten that start at once only one migrates. */
const migrationLock = 7_083_171
const uniqueViolation = '23505'
const foreignKeyViolation = '23503'
const deadlock = '40P01'
/** https://www.postgresql.org/docs/current/errcodes-appendix.html */
const unwritable: Record<string, string> = {
  '25006': 'PostgreSQL is read-only',
  '53100': 'the disk of PostgreSQL is full',
  '58030': 'the disk of PostgreSQL reports an error',
}
/** A database that is away is told at once: a client that waits for it would only retry on top. */
const connectWithinMs = 2_000
const patience: PostgresPatience = { answerWithinMs: 10_000, lookUpWithinMs: 2_000 }
/** PostgreSQL gives a statement up before we stop listening: one that went on would hold its locks and, unknown to us, its connection. */
const givenUpBeforeShare = 0.95
/** A server that froze in the middle of a transaction holds its locks for so long at most. */
const silentInTransactionMs = 30_000
/** Each takes up to 64 look-ups at once. */
const lookUpConnections = 4
/** A connection costs some milliseconds to make, and knows its prepared statements only then. */
const keepIdleMs = 5 * 60_000

/** How long anybody waits for an answer. */
interface PostgresPatience {
  answerWithinMs: number
  lookUpWithinMs: number
}

export function openPostgres(
  url: string,
  maxConnections: number,
  { answerWithinMs, lookUpWithinMs } = patience,
): SqlDatabase {
  const settings: pg.PoolConfig = {
    connectionString: url,
    connectionTimeoutMillis: connectWithinMs,
    keepAlive: true,
    idleTimeoutMillis: keepIdleMs,
    application_name: 'rowport',
    types: { getTypeParser } as pg.CustomTypesConfig,
  }
  const onConnect = givingUpWithin(Math.max(answerWithinMs, lookUpWithinMs))
  const pool = openPool({ ...settings, onConnect, max: maxConnections, query_timeout: answerWithinMs })
  // On connections of their own: whatever others do, nobody's request waits behind it to be let in.
  const lookUps = openPool({ ...settings, onConnect, max: lookUpConnections, query_timeout: lookUpWithinMs })
  let wasRefused = false
  const noteRefusal = (error: unknown) => {
    if (reasonNotToWrite(error)) wasRefused = true
  }
  const kysely = new Kysely<Tables>({
    dialect: new PostgresDialect({ pool: failingAsStore(pool, noteRefusal) }),
  })
  let statements = 0

  return {
    kysely,
    preparedSchema: null,
    prepareOne(query, toResult) {
      // Named, so that each connection parses and plans it once: nearly twice as fast as an unnamed one.
      const lookUp = createBatchedLookUp(`rowport_${++statements}`, query.sql, (asked) =>
        lookUps.query({ ...asked, values: storableAll(asked.values ?? []) }).catch(asStoreFailure),
      )
      return (values) => lookUp(values).then(toResult)
    },
    async inMigrationLock(work) {
      // A connection of its own: others may hold the lock for longer than any query of a request may take.
      const patient = new Kysely<Tables>({
        dialect: new PostgresDialect({
          pool: failingAsStore(new pg.Pool({ ...settings, max: 1 }), noteRefusal),
        }),
      })
      try {
        return await patient.transaction().execute(async (transaction) => {
          // PgBouncer may have lent this connection to others before, who are less patient.
          await sql`set local statement_timeout = 0`.execute(transaction)
          await sql`set local idle_in_transaction_session_timeout = 0`.execute(transaction)
          await sql`select pg_advisory_xact_lock(${sql.lit(migrationLock)})`.execute(transaction)
          return work(transaction)
        })
      } finally {
        await patient.destroy()
      }
    },
    nowMs: () => nowMs,
    textsIn: (json) => sql`json_array_elements_text(cast(${json} as json)) as texts(value)`,
    recordsIn(json, name, columns) {
      const typed = Object.entries(columns).map(([column, type]) => sql`${sql.ref(column)} ${sql.raw(type)}`)
      return sql`json_to_recordset(cast(${json} as json)) as ${sql.table(name)}(${sql.join(typed)})`
    },
    bytesOf: (column, from, count) =>
      sql`substring(convert_to(${sql.ref(column)}, 'UTF8') from cast(${from + 1} as integer) for cast(${count} as integer))`,
    lookUpClock: {
      column: nowMs,
      read: (told) => ({ nowMs: told ?? 0, timeOfDayMs: told ?? 0 }),
    },
    passing: (work) => work(kysely),
    flush: async () => {},
    async checkWritable() {
      const { rows } = await sql<{
        on: string
      }>`select current_setting('transaction_read_only') as "on"`.execute(kysely)
      if (rows[0]?.on === 'on') throw new StoreUnwritable('PostgreSQL is read-only')
      if (!wasRefused) return
      try {
        await sql`update migration set name = name`.execute(kysely)
        wasRefused = false
      } catch (error) {
        const reason = error instanceof StoreFailure ? reasonNotToWrite(error.cause) : undefined
        throw reason ? new StoreUnwritable(reason, error) : error
      }
    },
    isUniqueViolation,
    isDeadlock: (error) =>
      error instanceof StoreFailure &&
      error.cause instanceof pg.DatabaseError &&
      error.cause.code === deadlock,
    async close() {
      await kysely.destroy()
      // Kysely ends only a pool that it has used itself.
      if (!pool.ended) await pool.end()
      await lookUps.end()
    },
  }
}

/**
 * Said in a statement: PgBouncer takes no connection that begins with settings of its own. And the same on all connections: it lends
 * those that it has to one after the other, and each keeps what it was told last.
 */
function givingUpWithin(longestMs: number): (client: pg.ClientBase) => Promise<void> {
  const givenUpMs = Math.round(longestMs * givenUpBeforeShare)
  return async (client) => {
    await client.query(
      `set statement_timeout = ${givenUpMs}; set idle_in_transaction_session_timeout = ${silentInTransactionMs}`,
    )
  }
}

/**
 * A connection that breaks leaves its pool by itself, and whoever uses it hears of it from the query; unheard, its error would end the
 * process.
 */
function openPool(settings: pg.PoolConfig): pg.Pool {
  const pool = new pg.Pool(settings)
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  return pool
}

/**
 * No text of PostgreSQL's holds U+0000, and it fails where it is given one. Strangers can send it in any name: such a thing is not there,
 * and where it is written it becomes what others show in its place.
 */
function storableAll(values: readonly unknown[]): unknown[] {
  return values.map((value) => {
    if (typeof value === 'string') return value.includes('\0') ? value.replaceAll('\0', '\ufffd') : value
    return Array.isArray(value) ? storableAll(value) : value
  })
}

/** Not `now()`, which stands still within a transaction. */
const nowMs = sql<number>`(extract(epoch from clock_timestamp()) * 1000)::bigint`

/** Counts and times fit a number; the driver would hand out 64-bit integers as text. */
function getTypeParser(id: number): unknown {
  return id === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(id)
}

/** The pool that Kysely works with: every failure of the engine is told as one of the store. */
function failingAsStore(pool: pg.Pool, noteRefusal: (error: unknown) => void): PostgresPool {
  const failing = (error: unknown): never => {
    noteRefusal(error)
    return asStoreFailure(error)
  }
  return {
    options: pool.options,
    async connect() {
      const client = await pool.connect().catch(asStoreFailure)
      // What PostgreSQL did not answer may be under way still, and a transaction be open: nobody else must get such a connection.
      let lost: unknown = null
      const told: Pick<PostgresPoolClient, 'release'> & { query: PostgresQuery } = {
        async query(text, values) {
          if (lost !== null) return failing(lost)
          try {
            return await client.query(text, storableAll(values))
          } catch (error) {
            if (!(error instanceof pg.DatabaseError)) lost = error
            return failing(error)
          }
        },
        release: () => client.release(lost !== null),
      }
      return told as unknown as PostgresPoolClient
    },
    end: () => pool.end(),
  }
}

type PostgresQuery = (text: string, values: readonly unknown[]) => Promise<pg.QueryResult>

/** What is taken, or belongs to nothing any more, is an answer; anything else is a store that does not work. */
function asStoreFailure(error: unknown): never {
  if (isUniqueViolation(error)) throw error
  if (error instanceof pg.DatabaseError && error.code === foreignKeyViolation) throw new GoneMeanwhile(error)
  throw new StoreFailure('PostgreSQL refused', { cause: error })
}

function reasonNotToWrite(error: unknown): string | undefined {
  return error instanceof pg.DatabaseError ? unwritable[error.code ?? ''] : undefined
}

function isUniqueViolation(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === uniqueViolation
}
