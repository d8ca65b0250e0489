import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { StoreFailure } from '../../errors.ts'
import type { ColumnValues } from '../sql-database.ts'

interface Waiting {
  statement: StatementSync
  parameters: readonly string[]
  answer(row: ColumnValues | null): void
  reject(error: unknown): void
}

type PrepareRead = <T>(
  sql: string,
  toResult: (row: ColumnValues | null) => T,
) => (parameters: readonly string[]) => Promise<T>

/**
 * Runs the reads that were asked for in one turn of the event loop together, at its end, in one transaction. Each
 * still has its own query, and each sees everything committed before it was asked for, because the transaction
 * begins after all of them were. It saves the locks of a transaction for each, and the processor's caches are warm
 * from the second on: measured inside a loaded server, a read costs 3 µs instead of 30 (docs/decisions/004).
 */
export function createBatchedReads(connection: DatabaseSync): PrepareRead {
  const begin = connection.prepare('begin')
  const commit = connection.prepare('commit')
  let waiting: Waiting[] = []

  return (sql, toResult) => {
    const statement = connection.prepare(sql, { returnArrays: true })
    return (parameters) =>
      new Promise((resolve, reject) => {
        waiting.push({ statement, parameters, answer: (row) => resolve(toResult(row)), reject })
        if (waiting.length === 1) setImmediate(runAll)
      })
  }

  function runAll(): void {
    const batch = waiting
    waiting = []
    const isShared = batch.length > 1
    try {
      if (isShared) begin.run()
      for (const { statement, parameters, answer } of batch) {
        answer((statement.get(...parameters) as unknown as ColumnValues | undefined) ?? null)
      }
    } catch (error) {
      // Those that were answered stay answered; for the others this is the answer.
      const failure = new StoreFailure('SQLite could not be read', { cause: error })
      for (const { reject } of batch) reject(failure)
    } finally {
      if (connection.isOpen && connection.isTransaction) commit.run()
    }
  }
}
