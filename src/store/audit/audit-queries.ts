import type { Clock } from '../../clock.ts'
import { randomBase62 } from '../../secrets/random-base62.ts'
import type { SqlDatabase } from '../sql/sql-database.ts'
import type { AuditStore } from './audit.ts'

/** Entries of one account. */
const kept = 1_000

export function createAuditQueries({ kysely }: SqlDatabase, clock: Clock): AuditStore {
  return {
    async addAuditEntry({ accountId, actor, address, action, subject, details }) {
      const atMs = clock.nowMs()
      // Sorts by time.
      const id = `${atMs.toString(36).padStart(9, '0')}${randomBase62(8)}`
      await kysely.transaction().execute(async (transaction) => {
        await transaction
          .insertInto('audit_entry')
          .values({ id, account_id: accountId, at_ms: atMs, actor, address, action, subject, details })
          .execute()
        const eldest = await transaction
          .selectFrom('audit_entry')
          .where('account_id', '=', accountId)
          .orderBy('id', 'desc')
          .offset(kept - 1)
          .limit(1)
          .select('id')
          .executeTakeFirst()
        if (!eldest) return
        await transaction
          .deleteFrom('audit_entry')
          .where('account_id', '=', accountId)
          .where('id', '<', eldest.id)
          .execute()
      })
    },
    async auditEntriesOf(accountId, limit) {
      const rows = await kysely
        .selectFrom('audit_entry')
        .where('account_id', '=', accountId)
        .orderBy('id', 'desc')
        .limit(limit)
        .selectAll()
        .execute()
      return rows.map(({ id, at_ms, actor, address, action, subject, details }) => ({
        id,
        atMs: at_ms,
        actor,
        address,
        action,
        subject,
        details,
      }))
    },
  }
}
