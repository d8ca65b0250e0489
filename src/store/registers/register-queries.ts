import { sql } from 'kysely'
import type { SqlDatabase } from '../sql/sql-database.ts'
import type { RegisterStore, StoredRegister } from './registers.ts'

export function createRegisterQueries(database: SqlDatabase): RegisterStore {
  return {
    readRegister,
    async swapRegister(name, knownVersion, { version, text }, keepMs) {
      const nowMs = database.nowMs()
      const endsAtMs = sql<number>`${nowMs} + ${sql.lit(keepMs)}`
      const taken = await database.passing((db) =>
        knownVersion === null
          ? db
              .insertInto('shared_cell')
              .values({ name, version, text, ends_at_ms: endsAtMs })
              .onConflict((conflict) =>
                conflict
                  .column('name')
                  .doUpdateSet({ version, text, ends_at_ms: endsAtMs })
                  .where('shared_cell.ends_at_ms', '<=', nowMs),
              )
              .returning(nowMs.as('now_ms'))
              .executeTakeFirst()
          : db
              .updateTable('shared_cell')
              .set({ version, text, ends_at_ms: endsAtMs })
              .where('name', '=', name)
              .where('version', '=', knownVersion)
              .where('ends_at_ms', '>', nowMs)
              .returning(nowMs.as('now_ms'))
              .executeTakeFirst(),
      )
      return taken
        ? { isTaken: true, nowMs: taken.now_ms }
        : { isTaken: false, ...(await readRegister(name)) }
    },
    async forgetOldRegisters() {
      await database.passing((db) =>
        db.deleteFrom('shared_cell').where('ends_at_ms', '<=', database.nowMs()).execute(),
      )
    },
  }

  async function readRegister(name: string): Promise<StoredRegister> {
    const { version, text, now_ms } = await database.kysely
      .selectFrom(database.kysely.selectNoFrom(database.nowMs().as('now_ms')).as('moment'))
      .leftJoin('shared_cell', (join) =>
        join.on('shared_cell.name', '=', name).onRef('shared_cell.ends_at_ms', '>', 'moment.now_ms'),
      )
      .select(['moment.now_ms', 'shared_cell.version', 'shared_cell.text'])
      .executeTakeFirstOrThrow()
    return { version, text: text ?? '', nowMs: now_ms }
  }
}
