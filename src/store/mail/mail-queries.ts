import { type Kysely, sql } from 'kysely'
import type { Tables } from '../sql/schema.ts'
import { inMs, type SqlDatabase } from '../sql/sql-database.ts'
import type { DueMail, MailStore, NewMail } from './mail.ts'

export function createMailQueries(database: SqlDatabase): MailStore {
  const { kysely } = database
  return {
    addMail: (mail) => addMailOn(kysely, database, mail),
    async accountsWithDueMail(limit) {
      const rows = await kysely
        .selectFrom('mail')
        .where('due_at_ms', '<=', database.nowMs())
        .groupBy('account_id')
        .orderBy((of) => of.fn.min('due_at_ms'))
        .limit(limit)
        .select('account_id')
        .execute()
      return rows.map(({ account_id }) => account_id)
    },
    async takeDueMail(holdMs, accountId) {
      for (;;) {
        const nowMs = database.nowMs()
        const due = await kysely
          .selectFrom('mail')
          .where('due_at_ms', '<=', nowMs)
          .$if(accountId !== undefined, (mails) => mails.where('account_id', '=', accountId ?? ''))
          .orderBy('due_at_ms')
          .orderBy('id')
          .limit(1)
          .select(['id', 'attempts'])
          .executeTakeFirst()
        if (!due) return null
        // Only as often as it was taken when it was looked at: whoever came in between has it, and the next one is looked for.
        const row = await kysely
          .updateTable('mail')
          .set({ attempts: due.attempts + 1, due_at_ms: inMs(nowMs, holdMs) })
          .where('id', '=', due.id)
          .where('attempts', '=', due.attempts)
          .returningAll()
          .returning(sql<number>`over_at_ms - ${nowMs}`.as('left_ms'))
          .executeTakeFirst()
        if (row) return toDueMail(row)
      }
    },
    async removeMail({ id, attempts }) {
      await kysely.deleteFrom('mail').where('id', '=', id).where('attempts', '=', attempts).execute()
    },
    async postponeMail({ id, attempts }, pauseMs) {
      await kysely
        .updateTable('mail')
        .set({ due_at_ms: inMs(database.nowMs(), pauseMs) })
        .where('id', '=', id)
        .where('attempts', '=', attempts)
        .execute()
    },
  }
}

export async function addMailOn(
  on: Pick<Kysely<Tables>, 'insertInto'>,
  database: Pick<SqlDatabase, 'nowMs'>,
  { id, accountId, sealed, keyId, lifeMs }: NewMail,
): Promise<void> {
  const nowMs = database.nowMs()
  await on
    .insertInto('mail')
    .values({
      id,
      account_id: accountId,
      sealed,
      key_id: keyId,
      due_at_ms: nowMs,
      over_at_ms: inMs(nowMs, lifeMs),
    })
    .execute()
}

function toDueMail(row: {
  id: string
  account_id: string
  sealed: string
  key_id: string
  attempts: number
  left_ms: number
}): DueMail {
  return {
    id: row.id,
    accountId: row.account_id,
    sealed: row.sealed,
    keyId: row.key_id,
    attempts: row.attempts,
    isOver: row.left_ms <= 0,
  }
}
