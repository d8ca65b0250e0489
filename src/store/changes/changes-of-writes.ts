import { sql, type Transaction } from 'kysely'
import { randomBase62 } from '../../secrets/random-base62.ts'
import type { ChangesToSend } from '../operations/operations.ts'
import type { Tables } from '../sql/schema.ts'
import type { SqlDatabase } from '../sql/sql-database.ts'
import type { FinishedChanges } from './change-log.ts'
import { packEntries, unpackEntries } from './packed-entries.ts'

/** What a row of the log costs beside its text. */
const chunkRowBytes = 100
const epochLength = 8

/** Thrown within a transaction, so that it is taken back. */
export class LogOvertaken extends Error {
  override readonly name = 'LogOvertaken'
}

/**
 * Behind the head nobody reads them, and they count for nothing. What a former batch left there was not applied: it is written over, or
 * goes. Until the transaction ends nobody else can log anything for the sheet.
 */
export async function logBehindHead(
  transaction: Transaction<Tables>,
  { sheetId, accountId, entries, count, atMs, identity, isPlaced, after, operations = [] }: ChangesToSend,
  database: Pick<SqlDatabase, 'nowMs' | 'textsIn'>,
): Promise<void> {
  const { head, epoch, state_seq } = await holdLog(transaction, { sheetId, accountId, identity })
  const isSameLog = after?.epoch === epoch || (after?.epoch === null && state_seq === null)
  if (after && !(isSameLog && after.seq === head)) throw new LogOvertaken()
  if (count === 0) return forgetBehind(transaction, sheetId, head)
  const kept = packEntries(entries)
  const chunk = {
    last_seq: head + count,
    at_ms: atMs,
    logged_at_ms: database.nowMs(),
    is_placed: isPlaced ? 1 : 0,
    entries: kept,
    bytes: bytesOfChunk(kept),
  }
  await transaction
    .insertInto('change_chunk')
    .values({ ...chunk, sheet_id: sheetId, first_seq: head + 1 })
    .onConflict((conflict) => conflict.columns(['sheet_id', 'first_seq']).doUpdateSet(chunk))
    .execute()
  await noteOperations(transaction, { sheetId, firstSeq: head + 1, operations }, database)
}

/**
 * Where the changes of writes are. What a void write left here may name a chunk that another has taken since: whoever looks it up
 * holds it against the chunk.
 */
export async function noteOperations(
  transaction: Transaction<Tables>,
  { sheetId, firstSeq, operations }: { sheetId: string; firstSeq: number; operations: readonly string[] },
  database: Pick<SqlDatabase, 'textsIn'>,
): Promise<void> {
  if (operations.length === 0) return
  await sql`
    insert into change_operation (sheet_id, operation_id, first_seq)
    select cast(${sheetId} as text), value, cast(${firstSeq} as bigint)
    from ${database.textsIn(JSON.stringify(operations))} where true
    on conflict do nothing
  `.execute(transaction)
}

/** What a write that was void may have left. */
export async function forgetBehind(
  transaction: Transaction<Tables>,
  sheetId: string,
  head: number,
): Promise<void> {
  await transaction
    .deleteFrom('change_chunk')
    .where('sheet_id', '=', sheetId)
    .where('first_seq', '>', head)
    .execute()
}

/** The row of a log, made where there is none; held until the transaction ends. */
export function holdLog(
  transaction: Transaction<Tables>,
  { sheetId, accountId, identity }: { sheetId: string; accountId: string; identity: string },
): Promise<{ head: number; epoch: string; state_seq: number | null }> {
  return transaction
    .insertInto('change_log')
    .values({
      sheet_id: sheetId,
      account_id: accountId,
      epoch: randomBase62(epochLength),
      head: 0,
      floor: 0,
      identity,
    })
    .onConflict((conflict) =>
      conflict.column('sheet_id').doUpdateSet((of) => ({ head: of.ref('change_log.head') })),
    )
    .returning(['head', 'epoch', 'state_seq'])
    .executeTakeFirstOrThrow()
}

/** null where there is no log. */
export async function headOf(transaction: Transaction<Tables>, sheetId: string): Promise<number | null> {
  const log = await transaction
    .selectFrom('change_log')
    .where('sheet_id', '=', sheetId)
    .select('head')
    .executeTakeFirst()
  return log?.head ?? null
}

/** The write is done. */
export async function tellBehindHead(
  transaction: Transaction<Tables>,
  changes: FinishedChanges,
): Promise<number | null> {
  const { sheetId } = changes
  const log = await transaction
    .updateTable('change_log')
    .set((of) => ({ head: of.ref('head') }))
    .where('sheet_id', '=', sheetId)
    .returning(['head', 'unplaced'])
    .executeTakeFirst()
  if (!log) return null
  const behind = await transaction
    .selectFrom('change_chunk')
    .where('sheet_id', '=', sheetId)
    .where('first_seq', '=', log.head + 1)
    .select(['last_seq', 'entries', 'is_placed', 'bytes'])
    .executeTakeFirst()
  if (!behind) return log.head
  const isPlaced = changes.outcome === 'placed' || (changes.outcome === 'as_begun' && behind.is_placed === 1)
  if (!isPlaced) {
    await forgetBehind(transaction, sheetId, log.head)
    const { entries = unpackEntries(behind.entries) } = changes.outcome === 'unplaced' ? changes : {}
    const unplaced = JSON.stringify([...parseEntries(log.unplaced), ...parseEntries(entries)])
    await transaction.updateTable('change_log').set({ unplaced }).where('sheet_id', '=', sheetId).execute()
    return log.head
  }
  let { last_seq: head, bytes } = behind
  const text = changes.outcome === 'placed' ? changes.chunk.entries : unpackEntries(behind.entries)
  if (changes.outcome === 'placed') {
    const { count, atMs } = changes.chunk
    const entries = packEntries(text)
    head = log.head + count
    bytes = bytesOfChunk(entries)
    await transaction
      .updateTable('change_chunk')
      .set({ entries, last_seq: head, at_ms: atMs, is_placed: 1, bytes })
      .where('sheet_id', '=', sheetId)
      .where('first_seq', '=', log.head + 1)
      .execute()
  }
  await transaction
    .updateTable('change_log')
    .set((of) => ({
      head,
      bytes: of('bytes', '+', bytes),
      since_state_bytes: of('since_state_bytes', '+', bytesOfChunk(text)),
    }))
    .where('sheet_id', '=', sheetId)
    .execute()
  return head
}

export function bytesOfChunk(entries: string): number {
  return chunkRowBytes + Buffer.byteLength(entries)
}

function parseEntries(entries: string | null): unknown[] {
  return entries === null ? [] : (JSON.parse(entries) as unknown[])
}
