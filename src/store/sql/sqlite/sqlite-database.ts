import { closeSync, fchmodSync, mkdirSync, openSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import { Kysely, type SqliteDatabase, type SqliteStatement, sql } from 'kysely'
import type { Clock } from '../../../clock.ts'
import { GoneMeanwhile, StoreFailure } from '../../../errors.ts'
import { fileMode } from '../../../secrets/private-data.ts'
import type { Tables } from '../schema.ts'
import type { SqlDatabase } from '../sql-database.ts'
import { createBatchedReads } from './batched-reads.ts'
import { createCheckpoints, createCopyingThread, mostIdleLogBytes } from './checkpoints.ts'
import { createMachineTime } from './machine-time.ts'
import { preparedSchema } from './prepared-schema.ts'
import { createDialectInTurns } from './turns-of-writes.ts'
import { createWriteCheck, reasonOf } from './write-check.ts'

const waitForOtherProcessesMs = 5_000
const busyPauseMs = 10
const busyCode = 5
const uniqueViolationCodes = new Set([1555, 2067])
const foreignKeyViolationCodes = new Set([787])

/** `workClock`: by which it is told how long writes have kept the thread. */
export function openSqlite(
  path: string,
  clock: Clock,
  workClock: Pick<Clock, 'elapsedMs'> = clock,
): SqlDatabase {
  mkdirSync(dirname(path), { recursive: true })
  makeForOwnerOnly(path)
  const writer = new DatabaseSync(path, { timeout: waitForOtherProcessesMs })
  switchToWal(writer)
  // FULL: an acknowledged revoke must survive a power cut. Writes are rare, reads never wait for them (WAL).
  writer.exec('pragma synchronous = full; pragma foreign_keys = on')
  writer.exec(`pragma wal_autocheckpoint = 0; pragma journal_size_limit = ${mostIdleLogBytes}`)
  const timeMs = createMachineTime(writer, clock)
  const { noteRefusal, checkWritable } = createWriteCheck(writer, dirname(path))
  const database = kyselyConnection(writer, noteRefusal)
  const lookAtLog = () => checkpoints.look()
  const kysely = new Kysely<Tables>({ dialect: createDialectInTurns({ database }, workClock, lookAtLog) })
  const checkpoints = createCheckpoints({
    writer,
    thread: createCopyingThread(path),
    alone: (work) => kysely.connection().execute(work),
  })

  // Hot reads have a connection of their own: on the writer's they would see the inside of an open transaction.
  const reader = new DatabaseSync(path, { readOnly: true, timeout: waitForOtherProcessesMs })

  const prepareRead = createBatchedReads(reader)

  return {
    kysely,
    preparedSchema,
    prepareOne: (query, toResult) => prepareRead(query.sql, toResult),
    inMigrationLock: (work) => kysely.transaction().execute(work),
    // A parameter: each statement's text is prepared once and kept.
    nowMs: () => sql<number>`${timeMs()}`,
    textsIn: (json) => sql`json_each(${json})`,
    recordsIn(json, name, columns) {
      const members = Object.keys(columns).map(
        (column) => sql`value ->> ${sql.lit(column)} as ${sql.ref(column)}`,
      )
      return sql`(select ${sql.join(members)} from json_each(${json})) as ${sql.table(name)}`
    },
    bytesOf: (column, from, count) => sql`substr(cast(${sql.ref(column)} as blob), ${from + 1}, ${count})`,
    // Not in the row: while nothing is written, it is not read again.
    lookUpClock: {
      column: sql<null>`null`,
      read: () => ({ nowMs: timeMs(), timeOfDayMs: clock.nowMs() }),
    },
    // The mode belongs to the connection, which `connection()` keeps from everyone else meanwhile.
    passing: (work) =>
      kysely.connection().execute(async (connection) => {
        writer.exec('pragma synchronous = normal')
        try {
          return await work(connection)
        } finally {
          if (writer.isOpen) writer.exec('pragma synchronous = full')
        }
      }),
    flush: () => flushFile(`${path}-wal`),
    checkWritable: () => checkWritable((work) => kysely.connection().execute(async () => work())),
    isUniqueViolation,
    isDeadlock: () => false,
    async close() {
      await checkpoints.close()
      reader.close()
      await kysely.destroy()
    },
  }
}

/**
 * SQLite would make it for everybody to read, as far as the umask lets it; the files that it puts beside it have the mode of
 * this one. What is there already, or cannot be made, is left to SQLite and its words.
 */
function makeForOwnerOnly(path: string): void {
  try {
    const file = openSync(path, 'wx', fileMode)
    fchmodSync(file, fileMode)
    closeSync(file)
  } catch {}
}

/** On one of Node's threads. What cannot be flushed here is by the next commit, which says what is wrong. */
async function flushFile(path: string): Promise<void> {
  try {
    await using file = await open(path, 'r+')
    await file.datasync()
  } catch {}
}

/**
 * The first process on a new folder changes its mode; SQLite does not let a second one wait for that, whatever its
 * time-out says, but calls it busy at once.
 */
function switchToWal(database: DatabaseSync): void {
  const giveUpAtMs = performance.now() + waitForOtherProcessesMs
  for (;;) {
    try {
      database.exec('pragma journal_mode = wal')
      return
    } catch (error) {
      if (!isBusy(error) || performance.now() > giveUpAtMs) throw error
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, busyPauseMs)
    }
  }
}

/** The low byte is the code itself, what is above tells variants of it apart. */
function isBusy(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && (Number(error.errcode) & 0xff) === busyCode
}

/** Each takes 15 to 80 KB. The API uses some three hundred; lists of many lengths in a statement make it another one each. */
const mostPrepared = 512

/** What Kysely asks of a driver, over `node:sqlite`, with each statement prepared once; of very many, those that were used last. */
function kyselyConnection(database: DatabaseSync, noteRefusal: (error: unknown) => void): SqliteDatabase {
  const prepared = new Map<string, SqliteStatement>()
  return {
    prepare(sql) {
      if (sql === 'rollback' && !database.isTransaction) return nothingToRollBack
      const statement = prepared.get(sql) ?? runnable(attempt(() => database.prepare(immediate(sql))))
      // Behind all others: the first of them is the one that was not used for longest.
      prepared.delete(sql)
      prepared.set(sql, statement)
      if (prepared.size > mostPrepared) prepared.delete(prepared.keys().next().value ?? '')
      return statement
    },
    close: () => database.close(),
  }

  /** What its columns are is asked once: that takes longer than most statements. */
  function runnable(statement: StatementSync): SqliteStatement {
    return {
      reader: statement.columns().length > 0,
      all: (parameters) => attempt(() => statement.all(...(parameters as SQLInputValue[]))),
      run: (parameters) => attempt(() => statement.run(...(parameters as SQLInputValue[]))),
      iterate: (parameters) => attempt(() => statement.iterate(...(parameters as SQLInputValue[]))),
    }
  }

  /** What is taken, or belongs to nothing any more, is an answer; anything else is a store that does not work. */
  function attempt<T>(work: () => T): T {
    try {
      return work()
    } catch (error) {
      if (isUniqueViolation(error)) throw error
      if (hasCode(error, foreignKeyViolationCodes)) throw new GoneMeanwhile(error)
      noteRefusal(error)
      const reason = reasonOf(error)
      throw new StoreFailure(reason ? `SQLite refused: ${reason}` : 'SQLite refused', { cause: error })
    }
  }
}

/**
 * When a disk is full, SQLite has rolled back by itself. To be told then that there is nothing to roll back would hide
 * why.
 */
const nothingToRollBack: SqliteStatement = {
  reader: false,
  all: () => [],
  run: () => ({ changes: 0, lastInsertRowid: 0 }),
  iterate: () => [].values(),
}

function isUniqueViolation(error: unknown): boolean {
  return hasCode(error, uniqueViolationCodes)
}

function hasCode(error: unknown, codes: ReadonlySet<number>): boolean {
  return error instanceof Error && 'errcode' in error && codes.has(Number(error.errcode))
}

/**
 * A plain `begin` takes the write lock only at its first write, and then fails at once if another process wrote in
 * between; an immediate one waits its turn. It also makes a transaction the lock that migrations need.
 */
function immediate(sql: string): string {
  return sql === 'begin' ? 'begin immediate' : sql
}
