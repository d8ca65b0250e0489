import type { Transaction } from 'kysely'
import { randomBase62 } from '../../secrets/random-base62.ts'
import type { ChangesToSend } from '../operations/operations.ts'
import type { Tables } from '../sql/schema.ts'
import type { SqlDatabase } from '../sql/sql-database.ts'
import type { ChunkToLog, FinishedChanges } from './change-log.ts'
import { packEntries, unpackEntries } from './packed-entries.ts'

/** What a row of the log costs beside its text. */
const chunkRowBytes = 100
const epochLength = 8
/** A long write has a hundred: what each statement takes beside them is done on the thread that serves everyone. */
const chunksInAStatement = 20
const operationsInAStatement = 500

/** Thrown within a transaction, so that it is taken back. */
export class LogOvertaken extends Error {
  override readonly name = 'LogOvertaken'
}

/**
 * Behind the head nobody reads them, and they count for nothing. What a former batch left there was not applied, and goes. Until the transaction ends nobody else can log anything for the sheet.
 */
export async function logBehindHead(
  transaction: Transaction<Tables>,
  { sheetId, accountId, chunks, identity, isPlaced, after }: ChangesToSend,
  database: Pick<SqlDatabase, 'nowMs'>,
): Promise<void> {
  const { head, epoch, state_seq } = await holdLog(transaction, { sheetId, accountId, identity })
  const isSameLog = after?.epoch === epoch || (after?.epoch === null && state_seq === null)
  if (after && !(isSameLog && after.seq === head)) throw new LogOvertaken()
  await forgetBehind(transaction, sheetId, head)
  await insertChunks(transaction, { sheetId, head, chunks, isPlaced }, database)
}

/** Behind a place; returns the number of the last change, and what they take in the store. */
export async function insertChunks(
  transaction: Transaction<Tables>,
  { sheetId, head, chunks, isPlaced }: ChunksToInsert,
  database: Pick<SqlDatabase, 'nowMs'>,
): Promise<{ head: number; bytes: number }> {
  let [last, bytes] = [head, 0]
  for (let from = 0; from < chunks.length; from += chunksInAStatement) {
    const rows = []
    const named: OperationOfChunk[] = []
    for (const { entries: given, textBytes, count, atMs, operations = [] } of chunks.slice(
      from,
      from + chunksInAStatement,
    )) {
      const entries = textBytes === undefined ? packEntries(given) : given
      const row = {
        sheet_id: sheetId,
        first_seq: last + 1,
        last_seq: last + count,
        at_ms: atMs,
        logged_at_ms: database.nowMs(),
        is_placed: isPlaced ? 1 : 0,
        entries,
        bytes: bytesOfChunk(entries),
      }
      rows.push(row)
      for (const operation of operations) {
        named.push({ sheet_id: sheetId, operation_id: operation, first_seq: row.first_seq })
      }
      last += count
      bytes += row.bytes
    }
    await transaction.insertInto('change_chunk').values(rows).execute()
    await noteOperations(transaction, named)
  }
  return { head: last, bytes }
}

interface ChunksToInsert {
  sheetId: string
  head: number
  chunks: readonly ChunkToLog[]
  isPlaced: boolean
}

/**
 * Where the changes of writes are. What a void write left here may name a chunk that another has taken since: whoever looks it up
 * holds it against the chunk.
 */
async function noteOperations(
  transaction: Transaction<Tables>,
  named: readonly OperationOfChunk[],
): Promise<void> {
  for (let from = 0; from < named.length; from += operationsInAStatement) {
    await transaction
      .insertInto('change_operation')
      .values(named.slice(from, from + operationsInAStatement))
      .onConflict((conflict) => conflict.doNothing())
      .execute()
  }
}

type OperationOfChunk = Tables['change_operation']

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
): Promise<{ head: number; epoch: string; state_seq: number | null; state_id: string | null }> {
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
    .returning(['head', 'epoch', 'state_seq', 'state_id'])
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
  database: Pick<SqlDatabase, 'nowMs'>,
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
    .where('first_seq', '>', log.head)
    .orderBy('first_seq')
    .select(['last_seq', 'is_placed', 'bytes'])
    .execute()
  const lastBehind = behind.at(-1)
  if (!lastBehind) return log.head
  const isPlaced =
    changes.outcome === 'placed' || (changes.outcome === 'as_begun' && lastBehind.is_placed === 1)
  if (!isPlaced) {
    const texts =
      changes.outcome === 'unplaced' && changes.entries !== undefined
        ? [changes.entries]
        : await textsBehind(transaction, sheetId, log.head)
    await forgetBehind(transaction, sheetId, log.head)
    const unplaced = JSON.stringify([...parseEntries(log.unplaced), ...texts.flatMap(parseEntries)])
    await transaction.updateTable('change_log').set({ unplaced }).where('sheet_id', '=', sheetId).execute()
    return log.head
  }
  let head = lastBehind.last_seq
  let bytes = behind.reduce((sum, chunk) => sum + chunk.bytes, 0)
  let textBytes = 0
  if (changes.outcome === 'placed') {
    await forgetBehind(transaction, sheetId, log.head)
    const inserted = { sheetId, head: log.head, chunks: changes.chunks, isPlaced: true }
    ;({ head, bytes } = await insertChunks(transaction, inserted, database))
    textBytes = changes.chunks.reduce((sum, chunk) => sum + textBytesOf(chunk), 0)
  } else if (changes.outcome === 'as_begun' && changes.textBytes !== undefined) {
    textBytes = changes.textBytes
  } else {
    const texts = await textsBehind(transaction, sheetId, log.head)
    textBytes = texts.reduce((sum, text) => sum + bytesOfChunk(text), 0)
  }
  await transaction
    .updateTable('change_log')
    .set((of) => ({
      head,
      bytes: of('bytes', '+', bytes),
      since_state_bytes: of('since_state_bytes', '+', textBytes),
    }))
    .where('sheet_id', '=', sheetId)
    .execute()
  return head
}

async function textsBehind(
  transaction: Transaction<Tables>,
  sheetId: string,
  head: number,
): Promise<string[]> {
  const rows = await transaction
    .selectFrom('change_chunk')
    .where('sheet_id', '=', sheetId)
    .where('first_seq', '>', head)
    .orderBy('first_seq')
    .select('entries')
    .execute()
  return rows.map(({ entries }) => unpackEntries(entries))
}

/** What a chunk would take if it were not packed. */
export function textBytesOf({ entries, textBytes }: ChunkToLog): number {
  return textBytes === undefined ? bytesOfChunk(entries) : chunkRowBytes + textBytes
}

function bytesOfChunk(entries: string): number {
  return chunkRowBytes + Buffer.byteLength(entries)
}

function parseEntries(entries: string | null): unknown[] {
  return entries === null ? [] : (JSON.parse(entries) as unknown[])
}
