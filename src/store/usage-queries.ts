import type { SqlDatabase } from './sql-database.ts'
import type { Store } from './store.ts'

export function createUsageQueries({ kysely }: SqlDatabase): Pick<Store, 'chargeAhead' | 'giveBack'> {
  return {
    async chargeAhead(accountId, cycleStartMs, limit, wanted) {
      const ofCycle = { account_id: accountId, cycle_start_ms: cycleStartMs }
      for (;;) {
        const row = await kysely
          .selectFrom('usage')
          .where((of) => of.and(ofCycle))
          .select('charged')
          .executeTakeFirst()
        const charged = row?.charged ?? 0
        const granted = Math.min(wanted, Math.max(0, limit - charged))
        if (granted === 0) return { granted, charged }
        if (!row) {
          await kysely
            .insertInto('usage')
            .values({ ...ofCycle, charged: 0 })
            .onConflict((conflict) => conflict.doNothing())
            .execute()
        }
        // Only from the count that was read: whoever came in between makes this one read again.
        const { numUpdatedRows } = await kysely
          .updateTable('usage')
          .set({ charged: charged + granted })
          .where((of) => of.and({ ...ofCycle, charged }))
          .executeTakeFirst()
        if (numUpdatedRows === 1n) return { granted, charged: charged + granted }
      }
    },
    async giveBack(accountId, cycleStartMs, unused) {
      await kysely
        .updateTable('usage')
        .set((of) => ({ charged: of('charged', '-', unused) }))
        .where('account_id', '=', accountId)
        .where('cycle_start_ms', '=', cycleStartMs)
        .execute()
    },
  }
}
