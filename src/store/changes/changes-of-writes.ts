import { sql, type Transaction } from 'kysely'
import type { ChangesToSend } from '../operations/operations.ts'
import type { Tables } from '../sql/schema.ts'
import type { SqlDatabase } from '../sql/sql-database.ts'
import type { ChunkToLog, FinishedChanges } from './change-log.ts'
import {
  entriesToKeep,
  type NamedText,
  namesOf,
  nameTexts,
  noteUnnamed,
  type WrittenTexts,
  wholeText,
} from './change-texts.ts'
import { newLogEpoch } from './log-epoch.ts'
import { unpackEntries } from './packed-entries.ts'

/** What a row of the log costs beside its text. */
const chunkRowBytes = 100
/** A long write has a hundred: what each statement takes beside them is done on the thread that serves everyone. */
const chunksInAStatement = 20

type LogDatabase = Pick<SqlDatabase, 'nowMs' | 'textsIn'>

/** Thrown within a transaction, so that it is taken back. */
export class LogOvertaken extends Error {
  override readonly name = 'LogOvertaken'
}

/**
 * Behind the head nobody reads them, and they count for nothing. What a former batch left there was not applied, and goes: its texts are
 * returned. Until the transaction ends nobody else can log anything for the sheet.
 */
export async function logBehindHead(
  transaction: Transaction<Tables>,
  { sheetId, accountId, chunks, identity, isPlaced, after }: ChangesToSend,
  texts: WrittenTexts | null,
  database: LogDatabase,
): Promise<NamedText[]> {
  const { head, epoch, state_seq } = await holdLog(transaction, { sheetId, accountId, identity })
  const isSameLog = after?.epoch === epoch || (after?.epoch === null && state_seq === null)
  if (after && !(isSameLog && after.seq === head)) throw new LogOvertaken()
  const left = await forgetBehind(transaction, sheetId, head, database)
  await insertChunks(transaction, { sheetId, head, chunks, texts, isPlaced }, database)
  return left
}

/** Behind a place; returns the number of the last change, and what they take in the store. */
export async function insertChunks(
  transaction: Transaction<Tables>,
  { sheetId, head, chunks, texts, isPlaced }: ChunksToInsert,
  database: LogDatabase,
): Promise<{ head: number; bytes: number }> {
  // A log may have been deleted meanwhile, with all that was written ahead for it.
  const written = texts && (await nameTexts(transaction, sheetId, texts, database)) ? texts : null
  let [last, bytes] = [head, 0]
  for (let from = 0; from < chunks.length; from += chunksInAStatement) {
    const rows = []
    const alone: OperationOfChunk[] = []
    const together: OperationsOfChunk[] = []
    for (const [at, chunk] of chunks.slice(from, from + chunksInAStatement).entries()) {
      const { count, atMs, operations = [] } = chunk
      const text = textColumns(chunk, written, from + at)
      const row = {
        sheet_id: sheetId,
        first_seq: last + 1,
        last_seq: last + count,
        at_ms: atMs,
        logged_at_ms: database.nowMs(),
        is_placed: isPlaced ? 1 : 0,
        ...text,
        bytes: text.text_bytes === null ? bytesOfChunk(text.entries) : chunkRowBytes + text.text_bytes,
      }
      rows.push(row)
      const ofChunk = { sheet_id: sheetId, first_seq: row.first_seq }
      const [only] = operations
      if (operations.length > 1) together.push({ ...ofChunk, operations })
      else if (only !== undefined) alone.push({ ...ofChunk, operation_id: only })
      last += count
      bytes += row.bytes
    }
    await transaction.insertInto('change_chunk').values(rows).execute()
    await noteOperations(transaction, alone)
    for (const ofChunk of together) await noteOperationsOf(transaction, ofChunk, database)
  }
  return { head: last, bytes }
}

interface ChunksToInsert {
  sheetId: string
  head: number
  chunks: readonly ChunkToLog[]
  /** Those of the chunks, where they were written ahead. */
  texts: WrittenTexts | null
  isPlaced: boolean
}

function textColumns(chunk: ChunkToLog, written: WrittenTexts | null, nth: number) {
  if (!written) return { entries: entriesToKeep(chunk), text_id: null, text_nth: null, text_bytes: null }
  return { entries: '', text_id: written.textId, text_nth: nth, text_bytes: written.bytes[nth] ?? 0 }
}

/**
 * Where the changes of writes are. What a void write left here may name a chunk that another has taken since: whoever looks it up
 * holds it against the chunk.
 */
async function noteOperations(
  transaction: Transaction<Tables>,
  named: readonly OperationOfChunk[],
): Promise<void> {
  if (named.length === 0) return
  await transaction
    .insertInto('change_operation')
    .values(named)
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

/** One statement, however many there are: as rows of values each number of them would be another one, to be put together and prepared. */
async function noteOperationsOf(
  transaction: Transaction<Tables>,
  { sheet_id, first_seq, operations }: OperationsOfChunk,
  { textsIn }: LogDatabase,
): Promise<void> {
  await sql`
    insert into change_operation (sheet_id, operation_id, first_seq)
    select cast(${sheet_id} as text), value, cast(${first_seq} as bigint)
    from ${textsIn(JSON.stringify(operations))} where true
    on conflict do nothing
  `.execute(transaction)
}

interface OperationsOfChunk extends Pick<OperationOfChunk, 'sheet_id' | 'first_seq'> {
  operations: readonly string[]
}

type OperationOfChunk = Tables['change_operation']

/** What a write that was void may have left. Its texts are returned, to be removed when nobody waits for the transaction. */
export async function forgetBehind(
  transaction: Transaction<Tables>,
  sheetId: string,
  head: number,
  database: LogDatabase,
): Promise<NamedText[]> {
  const forgotten = await transaction
    .deleteFrom('change_chunk')
    .where('sheet_id', '=', sheetId)
    .where('first_seq', '>', head)
    .returning(['text_id', 'text_nth'])
    .execute()
  const left = textsNamedBy(forgotten)
  await noteUnnamed(transaction, sheetId, left, database)
  return left
}

export function textsNamedBy(
  chunks: readonly { text_id: string | null; text_nth: number | null }[],
): NamedText[] {
  return chunks.flatMap(({ text_id, text_nth }) =>
    text_id === null ? [] : [{ textId: text_id, nth: text_nth ?? 0 }],
  )
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
      epoch: newLogEpoch(),
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

/** The write is done. `left`: the texts of what it turned out not to be. */
export async function tellBehindHead(
  transaction: Transaction<Tables>,
  changes: FinishedChanges,
  texts: WrittenTexts | null,
  database: LogDatabase,
): Promise<{ lastSeq: number | null; left: NamedText[] }> {
  const { sheetId } = changes
  let left = namesOf(texts)
  const log = await transaction
    .updateTable('change_log')
    .set((of) => ({ head: of.ref('head') }))
    .where('sheet_id', '=', sheetId)
    .returning(['head', 'unplaced'])
    .executeTakeFirst()
  if (!log) return { lastSeq: null, left }
  const behind = await transaction
    .selectFrom('change_chunk')
    .where('sheet_id', '=', sheetId)
    .where('first_seq', '>', log.head)
    .orderBy('first_seq')
    .select(['last_seq', 'is_placed', 'bytes'])
    .execute()
  const lastBehind = behind.at(-1)
  if (!lastBehind) return { lastSeq: log.head, left }
  const isPlaced =
    changes.outcome === 'placed' || (changes.outcome === 'as_begun' && lastBehind.is_placed === 1)
  if (!isPlaced) {
    const texts =
      changes.outcome === 'unplaced' && changes.entries !== undefined
        ? [changes.entries]
        : await textsBehind(transaction, sheetId, log.head)
    left = await forgetBehind(transaction, sheetId, log.head, database)
    const unplaced = JSON.stringify([...parseEntries(log.unplaced), ...texts.flatMap(parseEntries)])
    await transaction.updateTable('change_log').set({ unplaced }).where('sheet_id', '=', sheetId).execute()
    return { lastSeq: log.head, left }
  }
  let head = lastBehind.last_seq
  let bytes = behind.reduce((sum, chunk) => sum + chunk.bytes, 0)
  let textBytes = 0
  if (changes.outcome === 'placed') {
    left = await forgetBehind(transaction, sheetId, log.head, database)
    const inserted = { sheetId, head: log.head, chunks: changes.chunks, texts, isPlaced: true }
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
  return { lastSeq: head, left }
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
    .select(['entries', 'text_id', 'text_nth'])
    .execute()
  const texts: string[] = []
  for (const row of rows) {
    const [named] = textsNamedBy([row])
    texts.push(unpackEntries(named ? await wholeText(transaction, sheetId, named) : row.entries))
  }
  return texts
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
