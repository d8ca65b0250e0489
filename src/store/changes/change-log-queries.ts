import { sql, type Transaction } from 'kysely'
import { StoreFailure } from '../../errors.ts'
import type { Tables } from '../sql/schema.ts'
import type { SqlDatabase } from '../sql/sql-database.ts'
import type { ChangeChunk, ChangeLogStore, SeenChanges } from './change-log.ts'
import { type BegunState, createChangeStates, insertStatePieces } from './change-states.ts'
import { forgetBehind, holdLog, insertChunks, textBytesOf } from './changes-of-writes.ts'
import { createForgetting } from './forgetting-changes.ts'
import { unpackEntries } from './packed-entries.ts'

const firstReadTogether = 4
/** In characters; so much takes a millisecond. */
const unpackedInATurn = 512 * 1024
const mostReadTogether = 50
/** Others may take its place while it is read. */
const mostStateTries = 5

type LoggedSeen =
  | { isLogged: true; outcome: number; formerStateId: string | null }
  | { isLogged: false; outcome: 'overtaken' | 'writing' }

export function createChangeLogQueries(database: SqlDatabase): ChangeLogStore {
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
        .select(['since_state_bytes', 'state_bytes'])
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
          .select(['first_seq', 'last_seq', 'at_ms', 'entries'])
          .execute()
        for (const { first_seq, last_seq, at_ms, entries: kept } of rows) {
          if (inTurn >= unpackedInATurn) {
            inTurn = 0
            await new Promise(setImmediate)
          }
          const entries = unpackEntries(kept)
          chunks.push({ firstSeq: first_seq, lastSeq: last_seq, atMs: at_ms, entries })
          bytes += entries.length
          inTurn += entries.length
          after = last_seq
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
        .select(['change_chunk.first_seq', 'last_seq', 'at_ms', 'entries'])
        .executeTakeFirst()
      return row
        ? {
            firstSeq: row.first_seq,
            lastSeq: row.last_seq,
            atMs: row.at_ms,
            entries: unpackEntries(row.entries),
          }
        : null
    },
    async logSeen(seen) {
      const { sheetId, state } = seen
      const begun = state && (await states.writeAhead(sheetId, state))
      const logged = await kysely.transaction().execute((transaction) => logSeen(transaction, seen, begun))
      const left = logged.isLogged ? logged.formerStateId : (begun?.stateId ?? null)
      if (left !== null) await states.remove(sheetId, left)
      return logged.outcome
    },
    async wantLook(sheetId) {
      await kysely
        .updateTable('change_log')
        .set({ look_wanted_at_ms: database.nowMs() })
        .where('sheet_id', '=', sheetId)
        .where('look_wanted_at_ms', 'is', null)
        .execute()
    },
    forgetOldChanges: createForgetting(database, states),
  }

  async function logSeen(
    transaction: Transaction<Tables>,
    { sheetId, accountId, source, position, chunks, identity }: SeenChanges,
    state: BegunState | null,
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
    const isNew = position.epoch === null && log.head === 0
    if (log.head !== position.head || (!isNew && log.epoch !== position.epoch)) return notLogged('overtaken')
    const sending = await transaction
      .selectFrom('operation')
      .where((of) => of.and({ source, state: 'sending' }))
      .select('id')
      .executeTakeFirst()
    if (sending) return notLogged('writing')
    await forgetBehind(transaction, sheetId, log.head)
    const inserted = { sheetId, head: log.head, chunks, isPlaced: true }
    const { head, bytes } = await insertChunks(transaction, inserted, database)
    const pieces = state && { sheetId, stateId: state.stateId, from: 0, pieces: state.rest }
    if (pieces) await insertStatePieces(transaction, pieces, database.nowMs)
    await transaction
      .updateTable('change_log')
      .set((of) => ({
        head,
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
    return { isLogged: true, outcome: head, formerStateId: state && log.state_id }
  }
}

function notLogged(outcome: 'overtaken' | 'writing'): LoggedSeen {
  return { isLogged: false, outcome }
}
