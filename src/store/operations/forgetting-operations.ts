import { setImmediate as takeTurn } from 'node:timers/promises'
import type { Kysely, sql } from 'kysely'
import type { OperationState, Tables } from '../sql/schema.ts'
import type { SqlDatabase } from '../sql/sql-database.ts'

export const finished: readonly OperationState[] = ['applied', 'refused']
/** SQLite deletes on the thread that serves everyone, and answers may be large. */
const forgottenTogether = 50
/** What stands behind an answer SQLite finds by reading through all of it, so of large ones few are looked at. */
const firstTogether = 4
const forgottenBytesTogether = 4 * 1024 * 1024

/** Forgets what ended before `beforeMs` by the store's clock, the oldest first; returns how many that were. */
export async function forgetFinishedBefore(
  { kysely }: Pick<SqlDatabase, 'kysely'>,
  beforeMs: ReturnType<typeof sql<number>>,
): Promise<number> {
  return inSteps(async (most) => {
    const old = await kysely
      .selectFrom('operation')
      .where('finished_at_ms', '<', beforeMs)
      .orderBy('finished_at_ms')
      .limit(most)
      .select(['id', 'kept_bytes'])
      .execute()
    const some = old.slice(0, countWithin(old, forgottenBytesTogether))
    await kysely.transaction().execute(async (transaction) => {
      for (const { id } of some) await transaction.deleteFrom('operation').where('id', '=', id).execute()
    })
    return { count: some.length, seen: old.length }
  })
}

/**
 * Shortens the journal of a sheet that is about to go, in short steps: in one statement a long one would keep everybody waiting. What is
 * not settled yet stays. To be called when nothing is taken for the sheet any more: an Idempotency-Key that is forgotten could be used again.
 */
export async function shortenJournal(
  { kysely, passing }: Pick<SqlDatabase, 'kysely' | 'passing'>,
  sheetId: string,
): Promise<void> {
  let after = ''
  await inSteps(async (most) => {
    const next = await kysely
      .selectFrom('operation')
      .where('sheet_id', '=', sheetId)
      .where('id', '>', after)
      .orderBy('id')
      .limit(most)
      .select(['id', 'kept_bytes'])
      .execute()
    const some = next.slice(0, countWithin(next, forgottenBytesTogether))
    const last = some.at(-1)
    if (!last) return { count: 0, seen: 0 }
    await passing((db) => deleteFinished(db, sheetId, { after, upTo: last.id }))
    after = last.id
    return { count: some.length, seen: next.length }
  })
}

async function deleteFinished(
  db: Kysely<Tables>,
  sheetId: string,
  { after, upTo }: { after: string; upTo: string },
): Promise<void> {
  await db
    .deleteFrom('operation')
    .where('sheet_id', '=', sheetId)
    .where('id', '>', after)
    .where('id', '<=', upTo)
    .where('state', 'in', finished)
    .execute()
}

/** `step` looks at so many at most, and does some of them; the last one sees fewer, and does them all. */
async function inSteps(step: (most: number) => Promise<{ count: number; seen: number }>): Promise<number> {
  for (let [sum, most] = [0, firstTogether]; ; ) {
    const { count, seen } = await step(most)
    sum += count
    if (count === seen && seen < most) return sum
    most = count < seen ? count : Math.min(forgottenTogether, 2 * most)
    await takeTurn()
  }
}

/** How many of the first have so many bytes together; one at least. */
function countWithin(rows: readonly { kept_bytes: number }[], mostBytes: number): number {
  let bytes = 0
  const past = rows.findIndex(({ kept_bytes }) => {
    bytes += kept_bytes
    return bytes > mostBytes
  })
  return past === -1 ? rows.length : Math.max(1, past)
}
