import { type ExpressionBuilder, type Kysely, sql } from 'kysely'
import type { Tables } from '../sql/schema.ts'
import type { SqlDatabase } from '../sql/sql-database.ts'
import type { DueLook, LookStore } from './looks.ts'

export function createLookQueries(database: SqlDatabase): LookStore {
  const { kysely } = database

  return {
    async noteFollowed(sheetIds, forMs) {
      if (sheetIds.length === 0) return
      const untilMs = sql<number>`${database.nowMs()} + ${sql.lit(forMs)}`
      await kysely
        .insertInto('sheet_look')
        .columns(['sheet_id', 'followed_until_ms', 'looked_at_ms'])
        .expression((of) =>
          of
            .selectFrom('sheet')
            .where('id', 'in', sheetIds)
            .select(['id', untilMs.as('followed_until_ms'), sql.lit(0).as('looked_at_ms')]),
        )
        .onConflict((conflict) =>
          conflict
            .column('sheet_id')
            .doUpdateSet({ followed_until_ms: sql<number>`excluded.followed_until_ms` }),
        )
        .execute()
    },
    async isFollowed(sheetId) {
      const row = await kysely
        .selectFrom('sheet_look')
        .where('sheet_id', '=', sheetId)
        .where(isFollowed)
        .select('sheet_id')
        .executeTakeFirst()
      return row !== undefined
    },
    async takeDueLooks(most, followedEveryMs) {
      const nowMs = database.nowMs()
      const due = await kysely
        .selectFrom('sheet_look')
        // SQLite keeps the order of a cross join; of an inner one it would go through all sheets, and ask of each whether it is due.
        .crossJoin('sheet')
        .whereRef('sheet.id', '=', 'sheet_look.sheet_id')
        .leftJoin('credential', 'credential.id', 'sheet.credential_id')
        .where('sheet.paused', '=', 0)
        .where('sheet.history_days', '>', 0)
        .where((of) => of.or([of('credential.state', 'is', null), of('credential.state', '=', 'valid')]))
        .where((of) =>
          of.or([
            of.and([
              isFollowed(of),
              of('looked_at_ms', '<=', sql<number>`${nowMs} - ${sql.lit(followedEveryMs)}`),
            ]),
            of.and([
              of('sheet.watch_seconds', '>', 0),
              of('looked_at_ms', '<=', sql<number>`${nowMs} - sheet.watch_seconds * 1000`),
            ]),
            // It was taken before the server's time was set back.
            of.and([
              of.or([isFollowed(of), of('sheet.watch_seconds', '>', 0)]),
              of('looked_at_ms', '>', sql<number>`${nowMs}`),
            ]),
          ]),
        )
        .orderBy('looked_at_ms')
        .limit(most)
        .select(['sheet_look.sheet_id', 'sheet.account_id', 'looked_at_ms'])
        .execute()
      const taken: DueLook[] = []
      for (const { sheet_id, account_id, looked_at_ms } of due) {
        const { numUpdatedRows } = await kysely
          .updateTable('sheet_look')
          .set({ looked_at_ms: nowMs })
          .where('sheet_id', '=', sheet_id)
          .where('looked_at_ms', '=', looked_at_ms)
          .executeTakeFirst()
        if (numUpdatedRows === 1n) taken.push({ sheetId: sheet_id, accountId: account_id })
      }
      return taken
    },
  }

  /** Whoever follows in another way than by waiting for an answer belongs here. */
  function isFollowed(of: ExpressionBuilder<Tables, 'sheet_look'>) {
    return of('sheet_look.followed_until_ms', '>', database.nowMs())
  }
}

/** A sheet that is watched is looked at although nobody has followed it yet. */
export async function watchOn(on: Pick<Kysely<Tables>, 'insertInto'>, sheetId: string): Promise<void> {
  await on
    .insertInto('sheet_look')
    .values({ sheet_id: sheetId, followed_until_ms: 0, looked_at_ms: 0 })
    .onConflict((conflict) => conflict.column('sheet_id').doNothing())
    .execute()
}
