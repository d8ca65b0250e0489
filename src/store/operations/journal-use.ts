import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { Tables } from '../sql/schema.ts'
import type { KeptAnswers } from './operations.ts'

/**
 * How much each account keeps in the journal, counted beside it: a sum over the journal itself would cost every write more,
 * the more there is. It is counted by the hour in which the write was asked for, and an hour that is over with all that it
 * kept is left out. So nothing has to be taken off when an answer is forgotten, and a mistake is gone a day later.
 */
export interface JournalCharge {
  accountId: string
  /** By the store's clock. */
  askedAtMs: number
  /** Below zero for what is given back. */
  bytes: number
}

const hourMs = 60 * 60 * 1_000
/** No hour is this one: its row is there to be locked, and counts nothing. */
const lockHourMs = 0

/** Charges accounts in one order for all, so that two that charge the same ones never wait for each other in a ring. */
export async function charge(on: Kysely<Tables>, charges: readonly JournalCharge[]): Promise<void> {
  const sums = new Map<string, JournalCharge>()
  for (const { accountId, askedAtMs, bytes } of charges) {
    const beginsAtMs = askedAtMs - (askedAtMs % hourMs)
    const name = `${accountId} ${beginsAtMs}`
    const sum = sums.get(name) ?? { accountId, askedAtMs: beginsAtMs, bytes: 0 }
    sums.set(name, { ...sum, bytes: sum.bytes + bytes })
  }
  const inOrder = [...sums].sort(([one], [other]) => (one < other ? -1 : 1))
  for (const [, { accountId, askedAtMs, bytes }] of inOrder) {
    if (bytes > 0) {
      await on
        .insertInto('journal_use')
        .values({ account_id: accountId, hour_ms: askedAtMs, bytes })
        .onConflict((conflict) =>
          conflict
            .columns(['account_id', 'hour_ms'])
            .doUpdateSet((of) => ({ bytes: of('journal_use.bytes', '+', bytes) })),
        )
        .execute()
    } else if (bytes < 0) {
      await on
        .updateTable('journal_use')
        .set((of) => ({ bytes: of('bytes', '+', bytes) }))
        .where('account_id', '=', accountId)
        .where('hour_ms', '=', askedAtMs)
        .execute()
    }
  }
}

/** Until the transaction ends, no other one of this account gets past here: what is seen after it stays true. */
export async function lockUse(on: Kysely<Tables>, accountId: string): Promise<void> {
  await on
    .insertInto('journal_use')
    .values({ account_id: accountId, hour_ms: lockHourMs, bytes: 0 })
    .onConflict((conflict) => conflict.columns(['account_id', 'hour_ms']).doUpdateSet({ bytes: 0 }))
    .execute()
}

export async function findKeptAnswers(
  on: Kysely<Tables>,
  accountId: string,
  keepMs: number,
  nowMs: RawBuilder<number>,
): Promise<KeptAnswers> {
  const hours = await on
    .selectFrom('journal_use')
    .where('account_id', '=', accountId)
    .where('hour_ms', '>', sql<number>`${nowMs} - ${sql.lit(Math.round(keepMs) + hourMs)}`)
    .where('bytes', '>', 0)
    .orderBy('hour_ms')
    .select(['bytes', sql<number>`${sql.ref('hour_ms')} - ${nowMs}`.as('begins_in_ms')])
    .execute()
  const bytes = hours.reduce((sum, hour) => sum + hour.bytes, 0)
  const [oldest] = hours
  return { bytes, roomInMs: oldest ? oldest.begins_in_ms + hourMs + keepMs : 0 }
}

export async function forgetOldUse(
  on: Kysely<Tables>,
  keepMs: number,
  nowMs: RawBuilder<number>,
): Promise<void> {
  await on
    .deleteFrom('journal_use')
    .where('hour_ms', '<=', sql<number>`${nowMs} - ${sql.lit(Math.round(keepMs) + hourMs)}`)
    .where('hour_ms', '!=', lockHourMs)
    .execute()
}
