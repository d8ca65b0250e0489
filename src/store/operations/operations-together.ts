import { type Selectable, sql, type Transaction } from 'kysely'
import type { OperationState, OperationTable, Tables } from '../sql/schema.ts'
import type { SqlDatabase } from '../sql/sql-database.ts'
import type { Batch, OperationToClaim, OperationToSend } from './operations.ts'

/**
 * Statements about any number of operations that are the same for each number: as rows of values, or a list, each would be another one to be
 * put together and prepared; and one for each operation takes hundreds of ways to PostgreSQL for a batch.
 */

type DatabaseOfMany = Pick<SqlDatabase, 'kysely' | 'nowMs' | 'textsIn' | 'recordsIn'>
export type CountedOperation = Pick<
  Selectable<OperationTable>,
  'id' | 'account_id' | 'created_at_ms' | 'kept_bytes'
>

export interface OperationAsSent extends OperationToSend {
  id: string
  isNew: boolean
  keptBytes: number
}

export const unfinished: readonly OperationState[] = ['queued', 'sending']
/** Calculated: by a column with an index SQLite would go through all that is open of everybody, and hold each against the list. */
export const isOpen = sql<boolean>`coalesce(operation.state, '') in ('queued', 'sending')`

/** Longer answers go alone, as they are: SQLite unpacks a list on the thread that serves everyone. */
const longAnswerCharacters = 4 * 1_024
const operationsTogether = 100

/** Returns the ids of those whose key was free. In the order of the keys, so that two that claim the same ones never wait for each other in a ring. */
export async function insertClaims(
  { kysely, nowMs, recordsIn }: DatabaseOfMany,
  claims: readonly OperationToClaim[],
  instanceId: string,
): Promise<Set<string>> {
  const inOrder = claims.toSorted((one, other) => (one.idempotencyKey < other.idempotencyKey ? -1 : 1))
  const asked = recordsIn(
    JSON.stringify(
      inOrder.map(({ id, accountId, sheetId, source, idempotencyKey, fingerprint }) => {
        return {
          id,
          account_id: accountId,
          sheet_id: sheetId,
          source,
          idempotency_key: idempotencyKey,
          fingerprint,
        }
      }),
    ),
    'asked',
    {
      ...{ id: 'text', account_id: 'text', sheet_id: 'text', source: 'text' },
      ...{ idempotency_key: 'text', fingerprint: 'text' },
    },
  )
  const { rows } = await sql<{ id: string }>`
    insert into operation
      (id, account_id, sheet_id, source, idempotency_key, fingerprint, state, created_at_ms, instance_id)
    select id, account_id, sheet_id, source, idempotency_key, fingerprint, 'queued', ${nowMs()}, cast(${instanceId} as text)
    from ${asked} where true
    on conflict (account_id, idempotency_key) do nothing
    returning id
  `.execute(kysely)
  return new Set(rows.map(({ id }) => id))
}

/** Records that they are being sent; returns the ids of those that are: one that is no longer open is not. */
export async function markSending(
  transaction: Transaction<Tables>,
  batch: Pick<Batch, 'source' | 'fence' | 'place'>,
  operations: readonly OperationAsSent[],
  database: DatabaseOfMany & { instanceId: string },
): Promise<Set<string>> {
  const sent = new Set<string>()
  const isLong = ({ answer }: OperationAsSent) => answer.length > longAnswerCharacters
  for (const group of groupsOf(operations, isLong)) {
    const [first] = group
    if (!first) continue
    // What is long would be copied twice more on its way through JSON: it goes as a parameter of its own.
    const longAnswer = isLong(first) ? first.answer : null
    const records = database.recordsIn(
      JSON.stringify(
        group.map(({ id, accountId, sheetId, answer, keptBytes }) => {
          const short = longAnswer === null ? answer : ''
          const { source } = batch
          return {
            id,
            account_id: accountId,
            sheet_id: sheetId,
            source,
            answer: short,
            kept_bytes: keptBytes,
          }
        }),
      ),
      'sent',
      {
        ...{ id: 'text', account_id: 'text', sheet_id: 'text', source: 'text' },
        ...{ answer: 'text', kept_bytes: 'bigint' },
      },
    )
    const answer = longAnswer === null ? sql`sent.answer` : sql`cast(${longAnswer} as text)`
    // The source is in the list for the same reason as the state is calculated: else SQLite unpacks the list once for each that it goes through.
    const marked = first.isNew
      ? sql<{ id: string }>`
          insert into operation
            (id, account_id, sheet_id, source, state, fence, place, answer, kept_bytes, created_at_ms, instance_id)
          select id, account_id, sheet_id, source, 'sending', cast(${batch.fence} as text),
            cast(${batch.place} as text), ${answer}, kept_bytes, ${database.nowMs()}, cast(${database.instanceId} as text)
          from ${records}
          returning id
        `
      : sql<{ id: string }>`
          update operation
          set state = 'sending', fence = ${batch.fence}, place = ${batch.place}, answer = ${answer},
            kept_bytes = sent.kept_bytes, instance_id = ${database.instanceId}
          from ${records}
          where operation.id = sent.id and operation.account_id = sent.account_id
            and operation.sheet_id = sent.sheet_id and operation.source = sent.source
            and ${isOpen}
          returning operation.id as id
        `
    for (const { id } of (await marked.execute(transaction)).rows) sent.add(id)
  }
  return sent
}

/** Those of them that have a key and are open. */
export async function findOpenKeyed(
  transaction: Transaction<Tables>,
  ids: readonly string[],
  { textsIn }: Pick<SqlDatabase, 'textsIn'>,
): Promise<CountedOperation[]> {
  if (ids.length === 0) return []
  return transaction
    .selectFrom('operation')
    .where('id', 'in', sql<string>`(select value from ${textsIn(JSON.stringify(ids))})`)
    .where('idempotency_key', 'is not', null)
    .where(isOpen)
    .select(['id', 'account_id', 'created_at_ms', 'kept_bytes'])
    .execute()
}

/** Those without a key go when they end; returns their ids. */
export async function deleteKeyless(
  transaction: Transaction<Tables>,
  ids: readonly string[],
  { textsIn }: Pick<SqlDatabase, 'textsIn'>,
): Promise<Set<string>> {
  const gone = await transaction
    .deleteFrom('operation')
    .where('id', 'in', sql<string>`(select value from ${textsIn(JSON.stringify(ids))})`)
    .where('idempotency_key', 'is', null)
    .returning('id')
    .execute()
  return new Set(gone.map(({ id }) => id))
}

/** Deletes what is open of them; returns it. */
export async function deleteOpen(
  transaction: Transaction<Tables>,
  ids: readonly string[],
  { textsIn }: Pick<SqlDatabase, 'textsIn'>,
): Promise<CountedOperation[]> {
  return transaction
    .deleteFrom('operation')
    .where('id', 'in', sql<string>`(select value from ${textsIn(JSON.stringify(ids))})`)
    .where(isOpen)
    .returning(['id', 'account_id', 'created_at_ms', 'kept_bytes'])
    .execute()
}

/** In the order given: those that are alike, a statement each, and one for each that goes alone. */
function groupsOf(
  operations: readonly OperationAsSent[],
  goesAlone: (operation: OperationAsSent) => boolean,
): OperationAsSent[][] {
  const groups: OperationAsSent[][] = []
  const open = new Map<boolean, OperationAsSent[]>()
  for (const operation of operations) {
    if (goesAlone(operation)) {
      groups.push([operation])
      continue
    }
    const group = open.get(operation.isNew)
    if (group && group.length < operationsTogether) group.push(operation)
    else {
      const begun = [operation]
      open.set(operation.isNew, begun)
      groups.push(begun)
    }
  }
  return groups
}
