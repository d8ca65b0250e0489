import { setImmediate as takeTurn } from 'node:timers/promises'
import { type Kysely, sql, type Transaction } from 'kysely'
import type { Tables } from '../sql/schema.ts'
import type { SqlDatabase } from '../sql/sql-database.ts'
import type { ChangeLogStore, ForgottenChanges } from './change-log.ts'
import { type ChangeStates, removeState } from './change-states.ts'
import { type ChangeTexts, noteUnnamed, removeUnnamed } from './change-texts.ts'
import { textsNamedBy } from './changes-of-writes.ts'

/** SQLite deletes on the thread that serves everyone. */
const forgottenTogether = 100
/** Chunks, of 128 KB each at most as a rule: a millisecond or two. */
const shortenedTogether = 16
const dayMs = 24 * 60 * 60 * 1_000

const brokenLog = {
  is_broken: 1,
  state_seq: null,
  state_bytes: 0,
  bytes: sql<number>`bytes - state_bytes`,
}

interface ForgottenChunk {
  sheet_id: string
  first_seq: number
  last_seq: number
  bytes: number
  text_id: string | null
  text_nth: number | null
}

const forgottenColumns = [
  'change_chunk.sheet_id',
  'first_seq',
  'last_seq',
  'change_chunk.bytes',
  'text_id',
  'text_nth',
] as const

/** Forgets what is older than its sheet keeps, and the oldest of accounts that keep too much. */
export function createForgetting(
  database: SqlDatabase,
  states: ChangeStates,
  texts: ChangeTexts,
): ChangeLogStore['forgetOldChanges'] {
  const { kysely } = database

  return async (maxAccountBytes) => {
    const old = await forgetByAge()
    const over = await forgetByBytes(maxAccountBytes)
    await texts.removeAbandoned()
    return { ...over, chunks: old + over.chunks }
  }

  /** What comes after the state is needed to know the rows. */
  async function forgetByAge(): Promise<number> {
    for (let count = 0; ; ) {
      const old = await kysely
        .selectFrom('change_chunk')
        .innerJoin('change_log', 'change_log.sheet_id', 'change_chunk.sheet_id')
        .innerJoin('sheet', 'sheet.id', 'change_chunk.sheet_id')
        .where('logged_at_ms', '<', sql<number>`${database.nowMs()} - ${sql.lit(dayMs)} * sheet.history_days`)
        .whereRef('last_seq', '<=', 'state_seq')
        .orderBy('logged_at_ms')
        .limit(forgottenTogether)
        .select(forgottenColumns)
        .execute()
      await forget(old)
      count += old.length
      if (old.length < forgottenTogether) return count
      await takeTurn()
    }
  }

  async function forgetByBytes(maxAccountBytes: number): Promise<ForgottenChanges> {
    let chunks = 0
    const over = await kysely
      .selectFrom('change_log')
      .groupBy('account_id')
      .having((of) => of.fn.sum<number>('bytes'), '>', maxAccountBytes)
      .select(['account_id', (of) => of.fn.sum<number | string>('bytes').as('bytes')])
      .execute()
    for (const { account_id, bytes } of over) {
      for (let left = Number(bytes) - maxAccountBytes; left > 0; ) {
        const oldest = await kysely
          .selectFrom('change_chunk')
          .innerJoin('change_log', 'change_log.sheet_id', 'change_chunk.sheet_id')
          .where('account_id', '=', account_id)
          .whereRef('last_seq', '<=', 'head')
          .orderBy('logged_at_ms')
          .orderBy('first_seq')
          .limit(forgottenTogether)
          .select(forgottenColumns)
          .execute()
        if (oldest.length === 0) {
          await forgetStates(account_id)
          break
        }
        const going: ForgottenChunk[] = []
        for (const chunk of oldest) {
          if (left <= 0) break
          going.push(chunk)
          left -= chunk.bytes
        }
        await forget(going)
        chunks += going.length
        await takeTurn()
      }
    }
    return { chunks, accountsOverShare: over.map(({ account_id }) => account_id) }
  }

  /** A log whose state cannot be told any more without them says so at the next look. */
  async function forget(chunks: readonly ForgottenChunk[]): Promise<void> {
    if (chunks.length === 0) return
    await kysely.transaction().execute(async (transaction) => {
      for (const chunk of chunks) {
        const { sheet_id, first_seq, last_seq, bytes } = chunk
        await holdLogsOn(transaction, [sheet_id])
        const { numDeletedRows } = await transaction
          .deleteFrom('change_chunk')
          .where((of) => of.and({ sheet_id, first_seq }))
          .executeTakeFirst()
        if (numDeletedRows !== 1n) continue
        await noteUnnamed(transaction, sheet_id, textsNamedBy([chunk]), database)
        // Of a write of which a part is gone, the rest is no use either.
        await transaction
          .deleteFrom('change_operation')
          .where('sheet_id', '=', sheet_id)
          .where('operation_id', 'in', (of) =>
            of
              .selectFrom('change_operation')
              .where((at) => at.and({ sheet_id, first_seq }))
              .select('operation_id'),
          )
          .execute()
        await transaction
          .updateTable('change_log')
          .set((of) => ({ floor: last_seq, bytes: of('bytes', '-', bytes) }))
          .where('sheet_id', '=', sheet_id)
          .execute()
        await breakStateBefore(transaction, sheet_id, last_seq)
      }
    })
    for (const chunk of chunks) await texts.remove(chunk.sheet_id, textsNamedBy([chunk]))
    await removeStatesOf([...new Set(chunks.map(({ sheet_id }) => sheet_id))])
  }

  /** States alone are more than the account may keep. */
  async function forgetStates(accountId: string): Promise<void> {
    const broken = await kysely
      .updateTable('change_log')
      .set(brokenLog)
      .where('account_id', '=', accountId)
      .where('state_seq', 'is not', null)
      .returning('sheet_id')
      .execute()
    await removeStatesOf(broken.map(({ sheet_id }) => sheet_id))
  }

  /** Deletes the rows of logs that count none any more. Their name stays, and means nothing without the number of a change. */
  async function removeStatesOf(sheetIds: readonly string[]): Promise<void> {
    if (sheetIds.length === 0) return
    const unnumbered = await kysely
      .selectFrom('change_log')
      .where('sheet_id', 'in', sheetIds)
      .where('state_seq', 'is', null)
      .where('state_id', 'is not', null)
      .select(['sheet_id', 'state_id'])
      .execute()
    for (const { sheet_id, state_id } of unnumbered) if (state_id) await states.remove(sheet_id, state_id)
  }
}

/**
 * Shortens logs that are about to go, from their beginning and in short steps, as those are shortened that grow too long: in one
 * statement a long one would keep everybody waiting. In between, whoever reads it is told where it begins by then.
 */
export async function shortenLogs(database: SqlDatabase, sheetIds: readonly string[]): Promise<void> {
  const { kysely } = database
  for (const sheetId of sheetIds) {
    const log = await kysely
      .selectFrom('change_log')
      .where('sheet_id', '=', sheetId)
      .select('head')
      .executeTakeFirst()
    while (log) {
      const isLast = await forgetFirst(database, sheetId, log.head)
      await removeUnnamed(database, sheetId)
      if (isLast) break
      await takeTurn()
    }
    // A log may not have been begun yet, and what goes into it written ahead.
    if (!log) await removeUnnamed(database, sheetId)
    const broken = await kysely
      .updateTable('change_log')
      .set(brokenLog)
      .where('sheet_id', '=', sheetId)
      .returning('state_id')
      .executeTakeFirst()
    if (broken?.state_id) await removeState(kysely, sheetId, broken.state_id)
  }
}

/** Before anything else of a log, or of its sheet, is held: whoever logs does the same. */
export async function holdLogsOn(
  on: Pick<Kysely<Tables>, 'updateTable'>,
  sheetIds: readonly string[],
): Promise<void> {
  await on
    .updateTable('change_log')
    .set((of) => ({ head: of.ref('head') }))
    .where('sheet_id', 'in', sheetIds)
    .execute()
}

/** What is logged meanwhile stays, so that this has an end. */
async function forgetFirst(database: SqlDatabase, sheetId: string, upToSeq: number): Promise<boolean> {
  return database.kysely.transaction().execute(async (transaction) => {
    await holdLogsOn(transaction, [sheetId])
    const oldest = await transaction
      .selectFrom('change_chunk')
      .where('sheet_id', '=', sheetId)
      .where('last_seq', '<=', upToSeq)
      .orderBy('first_seq')
      .limit(shortenedTogether)
      .select(['first_seq', 'last_seq', 'bytes', 'text_id', 'text_nth'])
      .execute()
    const last = oldest.at(-1)
    if (!last) return true
    const bytes = oldest.reduce((sum, chunk) => sum + chunk.bytes, 0)
    await transaction
      .deleteFrom('change_operation')
      .where('sheet_id', '=', sheetId)
      .where('operation_id', 'in', (of) =>
        of
          .selectFrom('change_operation')
          .where('sheet_id', '=', sheetId)
          .where('first_seq', '<=', last.first_seq)
          .select('operation_id'),
      )
      .execute()
    await transaction
      .deleteFrom('change_chunk')
      .where('sheet_id', '=', sheetId)
      .where('first_seq', '<=', last.first_seq)
      .execute()
    await transaction
      .updateTable('change_log')
      .set((of) => ({ floor: last.last_seq, bytes: of('bytes', '-', bytes) }))
      .where('sheet_id', '=', sheetId)
      .execute()
    await breakStateBefore(transaction, sheetId, last.last_seq)
    await noteUnnamed(transaction, sheetId, textsNamedBy(oldest), database)
    return oldest.length < shortenedTogether
  })
}

/** The rows cannot be told any more without what came after the state: the next look says so. */
async function breakStateBefore(
  transaction: Transaction<Tables>,
  sheetId: string,
  seq: number,
): Promise<void> {
  await transaction
    .updateTable('change_log')
    .set(brokenLog)
    .where('sheet_id', '=', sheetId)
    .where('state_seq', '<', seq)
    .execute()
}

/** All that is known of the changes of sheets; long logs are to be shortened first. */
export async function deleteLogsOn(
  on: Pick<Kysely<Tables>, 'deleteFrom'>,
  sheetIds: readonly string[],
): Promise<void> {
  for (const table of [
    'change_operation',
    'change_chunk',
    'change_text',
    'unnamed_text',
    'change_state',
    'change_log',
  ] as const) {
    await on.deleteFrom(table).where('sheet_id', 'in', sheetIds).execute()
  }
}
