import { type JoinBuilder, sql, type Transaction } from 'kysely'
import { GoneMeanwhile, StoreFailure } from '../../errors.ts'
import type { Tables } from '../sql/schema.ts'
import type { SqlDatabase } from '../sql/sql-database.ts'
import {
  type ChangeChunk,
  type ChangeLogStore,
  type LongEntries,
  lengthOfEntries,
  type SeenChanges,
} from './change-log.ts'
import { type BegunState, createChangeStates, insertStatePieces } from './change-states.ts'
import {
  type ChangeTexts,
  mostOnePieceBytes,
  type NamedText,
  namesOf,
  type WrittenTexts,
} from './change-texts.ts'
import { forgetBehind, holdLog, insertChunks, textBytesOf, textsNamedBy } from './changes-of-writes.ts'
import { createForgetting } from './forgetting-changes.ts'
import { unpackEntries } from './packed-entries.ts'

const firstReadTogether = 4
/** In characters; so much takes a millisecond. */
const unpackedInATurn = 512 * 1024
const mostReadTogether = 50
/** Others may take its place while it is read. */
const mostStateTries = 5

type LoggedSeen =
  | { isLogged: true; outcome: number; formerStateId: string | null; left: NamedText[] }
  | { isLogged: false; outcome: 'overtaken' | 'writing' }

export function createChangeLogQueries(database: SqlDatabase, texts: ChangeTexts): ChangeLogStore {
  const { kysely } = database
  const states = createChangeStates(database)

  return {
    async changeLogOf(sheetId) {
      const row = await kysely
        .selectFrom('sheet')
        .leftJoin('change_log', 'change_log.sheet_id', 'sheet.id')
        .where('sheet.id', '=', sheetId)
        .where('sheet.history_days', '>', 0)
        .select([
          'sheet.write_seq',
          'epoch',
          'head',
          'floor',
          'state_seq',
          'identity',
          'is_broken',
          'unplaced',
        ])
        .select(sql<number | null>`${database.nowMs()} - look_wanted_at_ms`.as('look_wanted_for_ms'))
        .select(['since_state_bytes', 'state_bytes', 'seen_hash', 'seen_seq'])
        .executeTakeFirst()
      return row
        ? {
            epoch: row.epoch,
            head: row.head ?? 0,
            floor: row.floor ?? 0,
            stateSeq: row.state_seq,
            stateBytes: row.state_bytes ?? 0,
            sinceStateBytes: row.since_state_bytes ?? 0,
            identity: row.identity ?? '',
            isBroken: row.is_broken === 1,
            contentHash: row.seen_seq === row.head ? row.seen_hash : null,
            unplaced: row.unplaced,
            lookWantedForMs: row.look_wanted_for_ms === null ? null : Number(row.look_wanted_for_ms),
            writeSeq: row.write_seq,
          }
        : null
    },
    async loggedState(sheetId) {
      for (let tries = 0; tries < mostStateTries; tries++) {
        const row = await kysely
          .selectFrom('change_log')
          .where('sheet_id', '=', sheetId)
          .select(['state_id', 'state_seq', 'state_bytes'])
          .executeTakeFirst()
        if (row?.state_id == null || row.state_seq === null) return null
        const state = await states.read(sheetId, { stateId: row.state_id, bytes: row.state_bytes })
        if (state) return { state, stateSeq: row.state_seq }
      }
      throw new StoreFailure('The rows of a log are never there as a whole')
    },
    async loggedChanges(sheetId, afterSeq, maxBytes, upToSeq = Number.MAX_SAFE_INTEGER) {
      const chunks: ChangeChunk[] = []
      // Of a part of the log little is read at first: a chunk may be long.
      let together = maxBytes === Number.POSITIVE_INFINITY ? mostReadTogether : firstReadTogether
      for (let [after, bytes, inTurn] = [afterSeq, 0, 0]; ; ) {
        const rows = await kysely
          .selectFrom('change_chunk')
          .innerJoin('change_log', 'change_log.sheet_id', 'change_chunk.sheet_id')
          .where('change_chunk.sheet_id', '=', sheetId)
          .where('last_seq', '>', after)
          .where('first_seq', '<=', upToSeq)
          .whereRef('last_seq', '<=', 'head')
          .orderBy('first_seq')
          .limit(together)
          .leftJoin('change_text', firstPiece)
          .select(['first_seq', 'last_seq', 'at_ms', 'epoch'])
          .select(entriesUnlessLong)
          .execute()
        for (const row of rows) {
          if (inTurn >= unpackedInATurn) {
            inTurn = 0
            await new Promise(setImmediate)
          }
          const chunk = chunkOf(sheetId, row)
          chunks.push(chunk)
          if (typeof chunk.entries === 'string') inTurn += chunk.entries.length
          bytes += lengthOfEntries(chunk)
          after = row.last_seq
          if (bytes >= maxBytes) return chunks
        }
        if (rows.length < together) return chunks
        together = Math.min(mostReadTogether, together * 2)
      }
    },
    async chunkOfOperation(sheetId, operationId) {
      const row = await kysely
        .selectFrom('change_operation')
        .innerJoin('change_chunk', (join) =>
          join
            .onRef('change_chunk.sheet_id', '=', 'change_operation.sheet_id')
            .onRef('change_chunk.first_seq', '=', 'change_operation.first_seq'),
        )
        .innerJoin('change_log', 'change_log.sheet_id', 'change_operation.sheet_id')
        .where('change_operation.sheet_id', '=', sheetId)
        .where('operation_id', '=', operationId)
        .whereRef('last_seq', '<=', 'head')
        .orderBy('change_chunk.first_seq')
        .leftJoin('change_text', firstPiece)
        .select(['change_chunk.first_seq', 'last_seq', 'at_ms', 'epoch'])
        .select(entriesUnlessLong)
        .executeTakeFirst()
      return row ? chunkOf(sheetId, row) : null
    },
    async logSeen(seen) {
      const { sheetId, state } = seen
      const begun = state && (await states.writeAhead(sheetId, state))
      const written = await texts.writeAhead(sheetId, seen.chunks)
      const logged = await kysely
        .transaction()
        .execute((transaction) => logSeen(transaction, seen, begun, written))
      const left = logged.isLogged ? logged.formerStateId : (begun?.stateId ?? null)
      if (left !== null) await states.remove(sheetId, left)
      await texts.remove(sheetId, logged.isLogged ? logged.left : namesOf(written))
      return logged.outcome
    },
    async noteContent(sheetId, { epoch, seq }, contentHash) {
      if (epoch === null) return
      await kysely
        .updateTable('change_log')
        .set({ seen_hash: contentHash, seen_seq: seq })
        .where((of) => of.and({ sheet_id: sheetId, epoch, head: seq }))
        .execute()
    },
    async wantLook(sheetId) {
      await kysely
        .updateTable('change_log')
        .set({ look_wanted_at_ms: database.nowMs() })
        .where('sheet_id', '=', sheetId)
        .where('look_wanted_at_ms', 'is', null)
        .execute()
    },
    forgetOldChanges: createForgetting(database, states, texts),
    async keptChangesBytes(accountId) {
      const { bytes } = await kysely
        .selectFrom('change_log')
        .where('account_id', '=', accountId)
        .select((of) => of.fn.sum<number | string | null>('bytes').as('bytes'))
        .executeTakeFirstOrThrow()
      return Number(bytes ?? 0)
    },
  }

  function chunkOf(sheetId: string, row: ChunkRow): ChangeChunk {
    const { first_seq: firstSeq, last_seq: lastSeq, at_ms: atMs } = row
    const entries = row.entries === null ? longEntries(sheetId, row) : unpackEntries(row.entries)
    return { firstSeq, lastSeq, atMs, entries }
  }

  /** Another log of the sheet may have a chunk with the same numbers. */
  function longEntries(sheetId: string, row: ChunkRow): LongEntries {
    const { epoch, first_seq, last_seq } = row
    const bytes = Number(row.entry_bytes)
    const [named] = textsNamedBy([row])
    if (named) return texts.entriesOf(sheetId, named, bytes)
    return {
      bytes,
      async slice(from, count) {
        const row = await kysely
          .selectFrom('change_chunk')
          .innerJoin('change_log', 'change_log.sheet_id', 'change_chunk.sheet_id')
          .where('change_chunk.sheet_id', '=', sheetId)
          .where((of) => of.and({ first_seq, last_seq, epoch }))
          .where(entryBytes, '=', bytes)
          .select(database.bytesOf('entries', from, count).as('slice'))
          .executeTakeFirst()
        if (!row) throw new GoneMeanwhile()
        return row.slice
      },
    }
  }

  async function logSeen(
    transaction: Transaction<Tables>,
    { sheetId, accountId, source, position, chunks, identity, contentHash, firstEpoch }: SeenChanges,
    state: BegunState | null,
    written: WrittenTexts | null,
  ): Promise<LoggedSeen> {
    const textBytes = chunks.reduce((sum, chunk) => sum + textBytesOf(chunk), 0)
    const isKept = await transaction
      .selectFrom('sheet')
      .where('id', '=', sheetId)
      .where('history_days', '>', 0)
      .select('id')
      .executeTakeFirst()
    if (!isKept) return notLogged('overtaken')
    const log = await holdLog(transaction, { sheetId, accountId, identity })
    // Only now: whoever logs or sends has done so before, or waits for this transaction.
    const sheet = await transaction
      .selectFrom('sheet')
      .where('id', '=', sheetId)
      .select('write_seq')
      .executeTakeFirst()
    if (sheet?.write_seq !== position.writeSeq) return notLogged('writing')
    // Another who has begun it meanwhile may have told its first place with other rows.
    const isNew = position.epoch === null && log.head === 0 && log.state_seq === null
    if (log.head !== position.head || (!isNew && log.epoch !== position.epoch)) return notLogged('overtaken')
    const sending = await transaction
      .selectFrom('operation')
      .where((of) => of.and({ source, state: 'sending' }))
      .select('id')
      .executeTakeFirst()
    if (sending) return notLogged('writing')
    const left = await forgetBehind(transaction, sheetId, log.head, database)
    const inserted = { sheetId, head: log.head, chunks, texts: written, isPlaced: true }
    const { head, bytes } = await insertChunks(transaction, inserted, database)
    const pieces = state && { sheetId, stateId: state.stateId, from: 0, pieces: state.rest }
    if (pieces) await insertStatePieces(transaction, pieces, database.nowMs)
    await transaction
      .updateTable('change_log')
      .set((of) => ({
        head,
        seen_hash: contentHash,
        seen_seq: head,
        ...(isNew && firstEpoch !== undefined && { epoch: firstEpoch }),
        identity,
        unplaced: null,
        look_wanted_at_ms: null,
        is_broken: 0,
        ...(state === null
          ? { since_state_bytes: of('since_state_bytes', '+', textBytes), bytes: of('bytes', '+', bytes) }
          : {
              state_id: state.stateId,
              state_seq: head,
              state_bytes: state.bytes,
              since_state_bytes: 0,
              bytes: sql<number>`bytes + ${bytes + state.bytes} - state_bytes`,
            }),
      }))
      .where('sheet_id', '=', sheetId)
      .execute()
    return { isLogged: true, outcome: head, formerStateId: state && log.state_id, left }
  }
}

/** Known without going through them. */
const entryBytes = sql<number | string>`octet_length(entries)`
const chunkBytes = sql<number | string>`coalesce(text_bytes, octet_length(entries))`
/** The only one of a text that is not long. */
const firstPiece = (join: JoinBuilder<Tables, 'change_chunk' | 'change_text'>) =>
  join
    .onRef('change_text.sheet_id', '=', 'change_chunk.sheet_id')
    .onRef('change_text.text_id', '=', 'change_chunk.text_id')
    .onRef('change_text.nth', '=', 'change_chunk.text_nth')
    .on('change_text.at', '=', 0)
const entriesUnlessLong = [
  chunkBytes.as('entry_bytes'),
  sql<
    string | null
  >`case when coalesce(text_bytes, octet_length(entries)) > ${sql.lit(mostOnePieceBytes)} then null
    when change_chunk.text_id is null then entries else piece end`.as('entries'),
  'change_chunk.text_id',
  'text_nth',
] as const

interface ChunkRow {
  epoch: string
  first_seq: number
  last_seq: number
  at_ms: number
  entry_bytes: number | string
  entries: string | null
  text_id: string | null
  text_nth: number | null
}

function notLogged(outcome: 'overtaken' | 'writing'): LoggedSeen {
  return { isLogged: false, outcome }
}
