import { type Selectable, sql, type Transaction } from 'kysely'
import { GoneMeanwhile, StoreFailure } from '../../errors.ts'
import type { FinishedChanges } from '../changes/change-log.ts'
import {
  areLongTogether,
  type ChangeTexts,
  type NamedText,
  namesOf,
  type WrittenTexts,
} from '../changes/change-texts.ts'
import { headOf, LogOvertaken, logBehindHead, tellBehindHead } from '../changes/changes-of-writes.ts'
import { isInOtherHands } from '../leases/lease-queries.ts'
import type { Lease } from '../leases/leases.ts'
import { newId } from '../new-id.ts'
import { countWriteOn } from '../sheets/sheet-queries.ts'
import type { OperationTable, Tables } from '../sql/schema.ts'
import type { SqlDatabase } from '../sql/sql-database.ts'
import { finished, forgetFinishedBefore } from './forgetting-operations.ts'
import { charge, findKeptAnswers, forgetOldUse, type JournalCharge } from './journal-use.ts'
import { bytesOf, chargeOf, keepAnswers, NoRoomLeft } from './keeping-answers.ts'
import type {
  Batch,
  NoRoom,
  OperationOutcome,
  OperationRecord,
  OperationStore,
  Overtaken,
  StoredClaim,
} from './operations.ts'
import {
  type CountedOperation,
  deleteKeyless,
  deleteOpen,
  insertClaims,
  isOpen,
  markSending,
  unfinished,
} from './operations-together.ts'

type PlacedChanges = Extract<FinishedChanges, { outcome: 'placed' }>

export function createOperationQueries(
  database: SqlDatabase,
  instanceId: string,
  texts: ChangeTexts,
): OperationStore {
  const { kysely } = database

  return {
    claimFreeKeys: (operations) => insertClaims(database, operations, instanceId),
    async claimOperation(operation, keepMs) {
      for (;;) {
        const claim = await kysely.transaction().execute(async (transaction): Promise<StoredClaim | null> => {
          const ofKey = { account_id: operation.accountId, idempotency_key: operation.idempotencyKey }
          await transaction
            .deleteFrom('operation')
            .where((of) => of.and(ofKey))
            .where('state', 'in', finished)
            .where('finished_at_ms', '<=', ago(keepMs))
            .execute()
          // Nothing of it was sent, and nobody will: whoever queued it is gone.
          await transaction
            .deleteFrom('operation')
            .where((of) => of.and({ ...ofKey, state: 'queued' }))
            .where('instance_id', '!=', instanceId)
            .where((of) => of.not(isInOtherHands(of, instanceId, database.nowMs())))
            .execute()
          const inserted = await transaction
            .insertInto('operation')
            .values({
              ...ofKey,
              id: operation.id,
              sheet_id: operation.sheetId,
              source: operation.source,
              fingerprint: operation.fingerprint,
              state: 'queued',
              created_at_ms: database.nowMs(),
              instance_id: instanceId,
            })
            .onConflict((conflict) => conflict.columns(['account_id', 'idempotency_key']).doNothing())
            .returning('id')
            .executeTakeFirst()
          if (inserted) return { claimed: inserted.id }
          const row = await transaction
            .selectFrom('operation')
            .where((of) => of.and(ofKey))
            .selectAll()
            .select(ageMs())
            .executeTakeFirst()
          return row ? { existing: toOperation(row) } : null
        })
        // Null: whoever held the key gave it up between the two statements, so it can be asked for again.
        if (claim) return claim
      }
    },

    async findKeyedOperation(accountId, idempotencyKey, keepMs) {
      const row = await kysely
        .selectFrom('operation')
        .where((of) => of.and({ account_id: accountId, idempotency_key: idempotencyKey }))
        .where((of) => of.or([of('state', 'in', unfinished), of('finished_at_ms', '>', ago(keepMs))]))
        .selectAll()
        .select(ageMs())
        .executeTakeFirst()
      return row ? toOperation(row) : null
    },

    async beginSending(batch) {
      const { changes } = batch
      if (changes && areLongTogether(changes.chunks)) {
        const refused = await refusalOf(batch)
        if (refused) return refused
      }
      const written = changes ? await texts.writeAhead(changes.sheetId, changes.chunks) : null
      let left: NamedText[] = []
      const begun = await kysely
        .transaction()
        .execute(async (transaction) => {
          const kept = await mayBegin(transaction, batch)
          if (changes) left = await logBehindHead(transaction, changes, written, database)
          return send(transaction, batch, kept)
        })
        .catch((error: unknown) => {
          left = namesOf(written)
          const refused = refusalIn(error)
          if (refused) return refused
          // Whoever was not heard may have begun it: what was written ahead is perhaps named by now.
          throw error
        })
      if (changes) await texts.remove(changes.sheetId, left)
      return begun
    },
    async finishApplied(source, outcomes, changes = null) {
      const written = changes?.outcome === 'placed' ? await writeAheadOfEnd(changes) : null
      const { lastSeq, left } = await kysely.transaction().execute(async (transaction) => {
        const ended = await finish(transaction, 'applied', outcomes)
        await countWriteOn(transaction, source)
        if (changes === null) return { lastSeq: null, left: [] }
        // Who was not heard the first time may come back when others are sending: what is behind the head is theirs by then.
        return ended === 0
          ? { lastSeq: await headOf(transaction, changes.sheetId), left: namesOf(written) }
          : tellBehindHead(transaction, changes, written, database)
      })
      if (changes) await texts.remove(changes.sheetId, left)
      return lastSeq
    },
    async finishRefused(outcomes) {
      await kysely.transaction().execute((transaction) => finish(transaction, 'refused', outcomes))
    },
    async unsendOperations(operationIds) {
      await kysely
        .updateTable('operation')
        .set({ state: 'queued', fence: null, place: null })
        .where('id', 'in', operationIds)
        .where('state', '=', 'sending')
        .execute()
    },
    async dropOperations(operationIds) {
      await kysely.transaction().execute(async (transaction) => {
        const dropped = await deleteOpen(transaction, operationIds, database)
        await charge(
          transaction,
          dropped.map((each) => chargeOf(each, -each.kept_bytes)),
        )
      })
    },
    async unfinishedOperations() {
      return toOperations(await inNobodysHands().execute())
    },
    async abandonedOperations() {
      const notOurs = inNobodysHands().where((of) =>
        of.or([of('instance_id', 'is', null), of('instance_id', '!=', instanceId)]),
      )
      return toOperations(await notOurs.execute())
    },
    async freeAbandonedKeys() {
      await kysely
        .deleteFrom('operation')
        .where('state', '=', 'queued')
        .where((of) => of.or([of('instance_id', 'is', null), of('instance_id', '!=', instanceId)]))
        .where((of) => of.not(isInOtherHands(of, instanceId, database.nowMs())))
        .execute()
    },
    async sendingOperations(source) {
      const rows = kysely
        .selectFrom('operation')
        .where((of) => of.and({ source, state: 'sending' }))
        .orderBy('created_at_ms')
        .orderBy('id')
        .selectAll()
        .select(ageMs())
      return toOperations(await rows.execute())
    },
    keptAnswers: (accountId, keepMs) => findKeptAnswers(kysely, accountId, keepMs, database.nowMs()),
    async forgetOldOperations(finishedForMs) {
      await forgetOldUse(kysely, finishedForMs, database.nowMs())
      return forgetFinishedBefore(database, ago(finishedForMs))
    },
  }

  async function mayBegin(transaction: Transaction<Tables>, batch: Batch) {
    if (batch.lease) await mustBeOurs(transaction, batch.lease)
    return keepAnswers(transaction, batch, database)
  }

  /** Before megabytes are written for it: what is taken back stays on the disk. Asked again where it counts. */
  async function refusalOf(batch: Batch): Promise<NoRoom | Overtaken | null> {
    return kysely
      .transaction()
      .execute(async (transaction) => {
        await mayBegin(transaction, batch)
        if (batch.changes) await logBehindHead(transaction, { ...batch.changes, chunks: [] }, null, database)
        throw new OnlyAsked()
      })
      .catch((error: unknown) => {
        if (error instanceof OnlyAsked) return null
        const refused = refusalIn(error)
        if (refused) return refused
        throw error
      })
  }

  /** A sheet that was deleted while its write was on its way has no log to tell it in: the write is done all the same. */
  async function writeAheadOfEnd({ sheetId, chunks }: PlacedChanges): Promise<WrittenTexts | null> {
    try {
      return await texts.writeAhead(sheetId, chunks)
    } catch (error) {
      if (error instanceof GoneMeanwhile) return null
      throw error
    }
  }

  function inNobodysHands() {
    return kysely
      .selectFrom('operation')
      .where('state', 'in', unfinished)
      .where((of) => of.not(isInOtherHands(of, instanceId, database.nowMs())))
      .orderBy('created_at_ms')
      .orderBy('id')
      .selectAll()
      .select(ageMs())
  }

  function ago(ms: number) {
    return sql<number>`${database.nowMs()} - ${sql.lit(Math.round(ms))}`
  }

  function ageMs() {
    return sql<number>`${database.nowMs()} - created_at_ms`.as('age_ms')
  }

  async function mustBeOurs(transaction: Transaction<Tables>, { name, fencingToken }: Lease): Promise<void> {
    const ours = await transaction
      .selectFrom('lease')
      .where((of) => of.and({ name, fence: fencingToken, holder: instanceId }))
      .select('name')
      .executeTakeFirst()
    if (!ours) throw new StoreFailure(`The ${name} is in other hands by now`)
  }

  async function send(
    transaction: Transaction<Tables>,
    batch: Batch,
    kept: ReadonlyMap<string | null, number>,
  ): Promise<string[]> {
    const operations = batch.operations.map((operation) => {
      const { id } = operation
      return { ...operation, id: id ?? newId('op'), isNew: id === null, keptBytes: kept.get(id) ?? 0 }
    })
    const sent = await markSending(transaction, batch, operations, { ...database, instanceId })
    for (const { id } of operations) {
      if (!sent.has(id)) throw new StoreFailure(`The operation ${id} is no longer open`)
    }
    return operations.map(({ id }) => id)
  }

  /** How many of them were open until now. */
  async function finish(
    transaction: Transaction<Tables>,
    state: 'applied' | 'refused',
    outcomes: readonly OperationOutcome[],
  ): Promise<number> {
    const keyless = await deleteKeyless(
      transaction,
      outcomes.map(({ id }) => id),
      database,
    )
    const keyed = outcomes.filter(({ id }) => !keyless.has(id))
    const asSent = keyed.filter(({ answer }) => answer === null).map(({ id }) => id)
    const ended = asSent.length === 0 ? [] : await endKeyed(transaction, state, asSent)
    let endedNow = keyless.size + ended.length
    const charges: JournalCharge[] = []
    for (const { id, answer } of keyed) {
      if (answer === null) continue
      const [open] = await endKeyed(transaction, state, [id], answer)
      if (!open) continue
      endedNow++
      const keptBytes = bytesOf(answer)
      if (keptBytes === open.kept_bytes) continue
      charges.push(chargeOf(open, keptBytes - open.kept_bytes))
      await setKeptBytes(transaction, id, keptBytes)
    }
    await charge(transaction, charges)
    return endedNow
  }

  /** Those that were open. What is only needed to settle them goes. An answer that is there already is not written a second time. */
  function endKeyed(
    transaction: Transaction<Tables>,
    state: 'applied' | 'refused',
    ids: readonly string[],
    answer?: string,
  ): Promise<CountedOperation[]> {
    const finished_at_ms = database.nowMs()
    return transaction
      .updateTable('operation')
      .set({ state, fence: null, place: null, finished_at_ms, ...(answer !== undefined && { answer }) })
      .where('id', 'in', sql<string>`(select value from ${database.textsIn(JSON.stringify(ids))})`)
      .where(isOpen)
      .returning(['id', 'account_id', 'created_at_ms', 'kept_bytes'])
      .execute()
  }
}

/** Thrown, so that the transaction is taken back. */
class OnlyAsked extends Error {
  override readonly name = 'OnlyAsked'
}

function refusalIn(error: unknown): NoRoom | Overtaken | null {
  if (error instanceof NoRoomLeft) return error.noRoom
  return error instanceof LogOvertaken ? { isOvertaken: true } : null
}

async function setKeptBytes(transaction: Transaction<Tables>, id: string, keptBytes: number): Promise<void> {
  await transaction.updateTable('operation').set({ kept_bytes: keptBytes }).where('id', '=', id).execute()
}

type OperationRow = Selectable<OperationTable> & { age_ms: number }

function toOperations(rows: readonly OperationRow[]): OperationRecord[] {
  return rows.map(toOperation)
}

function toOperation(row: OperationRow): OperationRecord {
  return {
    id: row.id,
    accountId: row.account_id,
    sheetId: row.sheet_id,
    source: row.source,
    idempotencyKey: row.idempotency_key,
    fingerprint: row.fingerprint,
    state: row.state,
    fence: row.fence,
    place: row.place,
    answer: row.answer,
    ageMs: row.age_ms,
  }
}
