import { type CompiledQuery, type Kysely, type RawBuilder, sql } from 'kysely'
import { GoneMeanwhile } from '../../errors.ts'
import type { Tables } from './schema.ts'

/** One row by column position: the cheapest form in which both drivers hand out a row. */
export type ColumnValues = readonly (string | number | null)[]

/** What a SQL engine must give beneath the store; each dialect's folder has one. */
export interface SqlDatabase {
  kysely: Kysely<Tables>
  /**
   * Prepares a query for the hot path once. It runs outside any open transaction and sees everything committed
   * before the call, by any process. `parameters` replace those of the compiled query, in its order.
   */
  prepareOne<T>(
    query: CompiledQuery,
    toResult: (row: ColumnValues | null) => T,
  ): (parameters: readonly string[]) => Promise<T>
  /** Statements that make of an empty database what all migrations make of it; null where these have to be run. */
  preparedSchema: readonly string[] | null
  /** Runs `work` in a transaction that no other process can be in at the same time. */
  inMigrationLock<T>(work: (transaction: Kysely<Tables>) => Promise<T>): Promise<T>
  /**
   * Now, by a clock that all processes on this store share: the server's own where there is one, else one that does
   * not step when the machine's time is set. For whatever lasts, and expires at the same moment for everyone.
   */
  nowMs(): RawBuilder<number>
  /** The clock for look-ups, which are prepared and whose rows may be kept: told in a column, or known without asking. */
  lookUpClock: LookUpClock
  /** For what need not survive a power cut, such as leases: where it pays, `work` is not flushed to disk. */
  passing<T>(work: (db: Kysely<Tables>) => Promise<T>): Promise<T>
  /** Flushes what was written in passing, where the next commit would wait for that on the thread that answers. */
  flush(): Promise<void>
  /**
   * Throws `StoreUnwritable` while the engine takes no writes, as far as that can be told cheaply: what is known of its
   * disk, and, after a write was refused for such a reason, another one.
   */
  checkWritable(): Promise<void>
  /** The texts of a JSON list, a row each, as `value`: any number of them in one statement that is always the same. */
  textsIn(json: string): RawBuilder<unknown>
  /** The objects of a JSON list, a row each, as `name`, with these of their members as columns: what `textsIn` is for rows of several texts and numbers. */
  recordsIn(json: string, name: string, columns: RecordColumns): RawBuilder<unknown>
  /** A part of the UTF-8 of a text column. */
  bytesOf(column: string, from: number, count: number): RawBuilder<Uint8Array>
  isUniqueViolation(error: unknown): boolean
  /** Whether it was ended because it waited for somebody who waited for it. */
  isDeadlock(error: unknown): boolean
  close(): Promise<void>
}

export type RecordColumns = Readonly<Record<string, 'text' | 'bigint'>>

export interface LookUpClock {
  column: RawBuilder<number | null>
  read(column: number | null): StoreMoment
}

export interface StoreMoment {
  /** By the store's clock. */
  nowMs: number
  /** The time of day of the server's machine where there is one: days and months begin at the same moment for all instances. */
  timeOfDayMs: number
}

/** Thrown within a transaction, so that it is taken back: the slug is kept for whoever had it before. */
export class SlugReserved extends Error {
  override readonly name = 'SlugReserved'
}

const deletingTries = 5

/**
 * Whoever deletes much holds what others have in another order, so PostgreSQL may end it for one of them; and what came between two of its
 * statements may refer to what goes. It is done again then: fewer come each time.
 */
export async function deleteBesideOthers(
  database: Pick<SqlDatabase, 'isDeadlock'>,
  deletion: () => Promise<void>,
): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await deletion()
    } catch (error) {
      const isInTheWay = error instanceof GoneMeanwhile || database.isDeadlock(error)
      if (!isInTheWay || attempt === deletingTries) throw error
    }
  }
}

/** A slug that somebody else has is an answer, not a malfunction. */
export async function unlessTaken<T>(
  database: Pick<SqlDatabase, 'isUniqueViolation'>,
  insert: () => Promise<T>,
): Promise<T | 'slug_taken'> {
  try {
    return await insert()
  } catch (error) {
    if (database.isUniqueViolation(error) || error instanceof SlugReserved) return 'slug_taken'
    throw error
  }
}

export function inMs(nowMs: RawBuilder<number>, lifeMs: number): RawBuilder<number> {
  return sql<number>`${nowMs} + ${sql.lit(Math.round(lifeMs))}`
}
