import type { Transaction } from 'kysely'
import type { Tables } from '../sql/schema.ts'
import type { SqlDatabase } from '../sql/sql-database.ts'
import { charge, findKeptAnswers, type JournalCharge, lockUse } from './journal-use.ts'
import { type Batch, keptRowBytes, type NoRoom, type OperationToSend } from './operations.ts'
import { type CountedOperation, findOpenKeyed } from './operations-together.ts'

/** Thrown, so that the transaction is taken back. */
export class NoRoomLeft extends Error {
  override readonly name = 'NoRoomLeft'
  readonly noRoom: NoRoom

  constructor(noRoom: NoRoom) {
    super('There is no room for the answers')
    this.noRoom = noRoom
  }
}

/**
 * Counts the answers of a batch, and tells what each operation is counted for; those without a key are not. Before any of
 * them is written: what PostgreSQL takes back stays on its disk until it is vacuumed. Throws `NoRoomLeft`.
 */
export async function keepAnswers(
  transaction: Transaction<Tables>,
  { operations, keeping }: Batch,
  database: Pick<SqlDatabase, 'nowMs' | 'textsIn'>,
): Promise<Map<string | null, number>> {
  const keyed = await findKeyedOperations(transaction, operations, database)
  const rooms = new Map<string, number>()
  let roomInMs = 0
  for (const accountId of [...new Set(keyed.map(({ account_id }) => account_id))].sort()) {
    await lockUse(transaction, accountId)
    if (!keeping) continue
    const kept = await findKeptAnswers(transaction, accountId, keeping.keepMs, database.nowMs())
    rooms.set(accountId, keeping.maxKeptBytes - kept.bytes)
    roomInMs = Math.max(roomInMs, kept.roomInMs)
  }
  const counted = new Map<string | null, number>()
  const charges: JournalCharge[] = []
  const noRoomAt: number[] = []
  for (const row of keyed) {
    const keptBytes = bytesOf(row.answer)
    const more = keptBytes - row.kept_bytes
    const room = (rooms.get(row.account_id) ?? Number.POSITIVE_INFINITY) - more
    if (room < row.leavesBytes) {
      noRoomAt.push(row.at)
      continue
    }
    rooms.set(row.account_id, room)
    counted.set(row.id, keptBytes)
    charges.push(chargeOf(row, more))
  }
  if (noRoomAt.length > 0) throw new NoRoomLeft({ noRoomAt, roomInMs })
  await charge(transaction, charges)
  return counted
}

export function bytesOf(answer: string): number {
  return keptRowBytes + Buffer.byteLength(answer)
}

export function chargeOf(
  { account_id, created_at_ms }: Pick<CountedOperation, 'account_id' | 'created_at_ms'>,
  bytes: number,
): JournalCharge {
  return { accountId: account_id, askedAtMs: created_at_ms, bytes }
}

/** One that is no longer open is not told of here, but when it is to be sent. */
async function findKeyedOperations(
  transaction: Transaction<Tables>,
  operations: readonly OperationToSend[],
  database: Pick<SqlDatabase, 'textsIn'>,
) {
  const ids = operations.flatMap(({ id }) => (id === null ? [] : [id]))
  const open = new Map((await findOpenKeyed(transaction, ids, database)).map((row) => [row.id, row]))
  return operations.flatMap(({ id, answer, leavesBytes = 0 }, at) => {
    const row = id === null ? undefined : open.get(id)
    return row ? [{ ...row, at, answer, leavesBytes }] : []
  })
}
