import type { SqlDatabase } from '../sql/sql-database.ts'
import type { Store } from '../store.ts'

type UsageQueries = Pick<Store, 'chargeAhead' | 'refundCharge' | 'chargePublicAhead' | 'refundPublicCharge'>

export function createUsageQueries(database: SqlDatabase): UsageQueries {
  const ofKeys = monthIn(database, 'usage')
  const ofPublic = monthIn(database, 'public_usage')
  return { ...ofKeys, chargePublicAhead: ofPublic.chargeAhead, refundPublicCharge: ofPublic.refundCharge }
}

function monthIn(
  { kysely }: SqlDatabase,
  name: 'usage' | 'public_usage',
): Pick<Store, 'chargeAhead' | 'refundCharge'> {
  // The two tables are alike, which a union of names would not say.
  const table = name as 'usage'
  return {
    async chargeAhead(accountId, cycleStartMs, limit, wanted) {
      const ofCycle = { account_id: accountId, cycle_start_ms: cycleStartMs }
      for (;;) {
        const row = await kysely
          .selectFrom(table)
          .where((of) => of.and(ofCycle))
          .select('charged')
          .executeTakeFirst()
        const charged = row?.charged ?? 0
        const granted = Math.min(wanted, Math.max(0, limit - charged))
        if (granted === 0) return { granted, charged }
        if (!row) {
          await kysely
            .insertInto(table)
            .values({ ...ofCycle, charged: 0 })
            .onConflict((conflict) => conflict.doNothing())
            .execute()
        }
        // Only from the count that was read: whoever came in between makes this one read again.
        const { numUpdatedRows } = await kysely
          .updateTable(table)
          .set({ charged: charged + granted })
          .where((of) => of.and({ ...ofCycle, charged }))
          .executeTakeFirst()
        if (numUpdatedRows === 1n) return { granted, charged: charged + granted }
      }
    },
    async refundCharge(accountId, cycleStartMs, unused) {
      await kysely
        .updateTable(table)
        .set((of) => ({ charged: of('charged', '-', unused) }))
        .where('account_id', '=', accountId)
        .where('cycle_start_ms', '=', cycleStartMs)
        .execute()
    },
  }
}
