import { type ExpressionBuilder, type RawBuilder, sql } from 'kysely'
import type { Tables } from '../sql/schema.ts'
import type { SqlDatabase } from '../sql/sql-database.ts'
import { isSurelyDead } from './instance-id.ts'
import type { Lease, LeaseStore } from './leases.ts'

const instancePrefix = 'instance '

export function createLeaseQueries(database: SqlDatabase, instanceId: string): LeaseStore {
  return {
    instanceId,
    async takeLease(name, forMs, wantForMs) {
      const nowMs = database.nowMs()
      return database.passing(async (db) => {
        const taken = await db
          .insertInto('lease')
          .values({
            name,
            holder: instanceId,
            fence: 1,
            expires_at_ms: sql<number>`${nowMs} + ${wholeMs(forMs)}`,
            wanted_by: null,
            wanted_until_ms: 0,
          })
          .onConflict((conflict) =>
            conflict
              .column('name')
              .doUpdateSet({
                holder: instanceId,
                fence: sql<number>`lease.fence + 1`,
                expires_at_ms: sql<number>`excluded.expires_at_ms`,
                wanted_by: null,
                wanted_until_ms: 0,
              })
              .where((of) => of.not(isHeld(of, nowMs, forMs)))
              .where((of) => mayBeNext(of, nowMs)),
          )
          .returning('fence')
          .executeTakeFirst()
        if (taken) return { name, fencingToken: taken.fence }
        await db
          .updateTable('lease')
          .set({ wanted_by: instanceId, wanted_until_ms: sql<number>`${nowMs} + ${wholeMs(wantForMs)}` })
          .where('name', '=', name)
          .where((of) => mayBeNext(of, nowMs))
          .execute()
        return null
      })
    },
    async renewLease(lease, forMs) {
      return database.passing(async (db) => {
        const { numUpdatedRows } = await db
          .updateTable('lease')
          .set({ expires_at_ms: sql<number>`${database.nowMs()} + ${wholeMs(forMs)}` })
          .where((of) => of.and(ours(lease)))
          .executeTakeFirst()
        return numUpdatedRows === 1n
      })
    },
    async endLease(lease) {
      await database.passing((db) =>
        db
          .updateTable('lease')
          .set({ expires_at_ms: 0 })
          .where((of) => of.and(ours(lease)))
          .execute(),
      )
    },

    async stayAlive(forMs) {
      const expiresAtMs = sql<number>`${database.nowMs()} + ${wholeMs(forMs)}`
      await database.passing((db) =>
        db
          .insertInto('lease')
          .values({
            name: instancePrefix + instanceId,
            holder: instanceId,
            fence: 1,
            expires_at_ms: expiresAtMs,
            wanted_by: null,
            wanted_until_ms: 0,
          })
          .onConflict((conflict) => conflict.column('name').doUpdateSet({ expires_at_ms: expiresAtMs }))
          .execute(),
      )
    },
    async endInstance() {
      await database.passing((db) =>
        db
          .deleteFrom('lease')
          .where('name', '=', instancePrefix + instanceId)
          .execute(),
      )
    },
    async endDeadNeighbours() {
      const instances = await database.kysely
        .selectFrom('lease')
        .where('name', 'like', `${instancePrefix}%`)
        .select('holder')
        .execute()
      const dead = instances.map(({ holder }) => holder).filter((id) => isSurelyDead(id))
      if (dead.length === 0) return
      await database.passing((db) =>
        db.updateTable('lease').set({ expires_at_ms: 0 }).where('holder', 'in', dead).execute(),
      )
    },
    async livingInstances() {
      const { count } = await database.kysely
        .selectFrom('lease')
        .where('name', 'like', `${instancePrefix}%`)
        .where((of) => isHeld(of, database.nowMs(), 0))
        .select((of) => of.fn.countAll<number>().as('count'))
        .executeTakeFirstOrThrow()
      return count
    },
    async forgetOldLeases(expiredForMs) {
      await database.kysely
        .deleteFrom('lease')
        .where('expires_at_ms', '<', sql<number>`${database.nowMs()} - ${wholeMs(expiredForMs)}`)
        .execute()
    },
  }

  function mayBeNext(of: ExpressionBuilder<Tables, 'lease'>, nowMs: RawBuilder<number>) {
    return of.or([
      of('lease.wanted_by', 'is', null),
      of('lease.wanted_by', '=', instanceId),
      of('lease.wanted_until_ms', '<=', nowMs),
    ])
  }

  function ours({ name, fencingToken }: Lease) {
    return { name, fence: fencingToken, holder: instanceId }
  }
}

/** True for an operation that a living instance works on; another than `instanceId`. */
export function isInOtherHands(
  of: ExpressionBuilder<Tables, 'operation'>,
  instanceId: string,
  nowMs: RawBuilder<number>,
) {
  return of.and([
    of('operation.instance_id', '!=', instanceId),
    of.exists(
      of
        .selectFrom('lease')
        .where('lease.name', '=', sql<string>`${sql.lit(instancePrefix)} || operation.instance_id`)
        .where((of) => isHeld(of, nowMs, 0))
        .select('lease.name'),
    ),
  ])
}

/** True while the instance lives whose id the expression is. */
export function isLiving(
  instanceId: RawBuilder<string | null>,
  nowMs: RawBuilder<number>,
): RawBuilder<boolean> {
  return sql<boolean>`exists (
    select 1 from lease where lease.name = ${sql.lit(instancePrefix)} || ${instanceId}
    and lease.expires_at_ms > ${nowMs} and lease.expires_at_ms <= ${nowMs} + ${wholeMs(farAheadMs)}
  )`
}

/**
 * One that seems to last far longer than it was taken for was taken before the server's time was set back. Whoever
 * still has it renews it within a second or so; and if another was quicker, each write is fenced.
 */
function isHeld(of: ExpressionBuilder<Tables, 'lease'>, nowMs: RawBuilder<number>, forMs: number) {
  return of.and([
    of('lease.expires_at_ms', '>', nowMs),
    of('lease.expires_at_ms', '<=', sql<number>`${nowMs} + ${wholeMs(forMs + farAheadMs)}`),
  ])
}

/** A time that is further ahead than any lease or sign of life is taken for. */
const farAheadMs = 15_000

/** The duration in the statement's own text: beside an expression, PostgreSQL cannot tell the type of a parameter. */
function wholeMs(durationMs: number): RawBuilder<number> {
  return sql.lit(Math.round(durationMs))
}
