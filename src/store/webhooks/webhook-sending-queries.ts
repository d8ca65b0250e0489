import { type RawBuilder, sql, type UpdateObject } from 'kysely'
import { isLiving } from '../leases/lease-queries.ts'
import type { Tables } from '../sql/schema.ts'
import { inMs, type SqlDatabase } from '../sql/sql-database.ts'
import { addDeliveryOn, toWebhook, webhookRows } from './webhook-queries.ts'
import type { Held, HeldWebhook, WebhookSendingStore } from './webhook-sending.ts'
import type { NewDelivery } from './webhooks.ts'

/** More than wait at the same time, unless some accounts have all they may and wait as well; those must not hide the others. */
const mostDueLookedAt = 5_000

export function createWebhookSendingQueries(database: SqlDatabase, instanceId: string): WebhookSendingStore {
  const { kysely } = database

  return {
    async takeWebhooks({ most, holdMs, isFailing, mostOf = () => most, noteWaiting }) {
      const due = await kysely
        .selectFrom('webhook')
        .leftJoin('change_log', 'change_log.sheet_id', 'webhook.sheet_id')
        .where('webhook.state', '=', 'on')
        .where('attempts', isFailing ? '>' : '=', 0)
        .where(isFree(instanceId, database.nowMs()))
        .where(hasSomething)
        .orderBy('due_at_ms')
        .limit(mostDueLookedAt)
        .select(['webhook.id', 'fence', 'webhook.account_id'])
        .execute()
      const taken: HeldWebhook[] = []
      const takenOf = new Map<string, number>()
      for (const { id, fence, account_id: accountId } of due) {
        if (taken.length >= most) break
        const ofAccount = takenOf.get(accountId) ?? 0
        if (ofAccount >= mostOf(accountId)) {
          noteWaiting?.(id)
          continue
        }
        const held = await take({ id, fencingToken: fence }, holdMs)
        if (!held) continue
        taken.push(held)
        takenOf.set(accountId, ofAccount + 1)
      }
      return taken
    },
    noteSending: (held, to, holdMs) =>
      // Whoever loses it in a power cut sends a message that is a little longer, and under another name.
      database.passing(async (db) => {
        const { numUpdatedRows } = await db
          .updateTable('webhook')
          .set({
            sending_epoch: to.epoch,
            sending_seq: to.seq,
            due_at_ms: inMs(database.nowMs(), holdMs),
          })
          .where((of) => of.and({ ...ours(held), state: 'on' }))
          .executeTakeFirst()
        return numUpdatedRows === 1n
      }),
    noteTaken: (held, { epoch, seq }, delivery, holdMs) =>
      noteDelivery(held, delivery, {
        epoch,
        seq,
        ...nothingSent,
        attempts: 0,
        failing_since_ms: null,
        due_at_ms: inMs(database.nowMs(), holdMs),
      }),
    noteFailed(held, delivery, then) {
      const nowMs = database.nowMs()
      return noteDelivery(held, delivery, {
        attempts: sql<number>`attempts + 1`,
        failing_since_ms: sql<number>`coalesce(failing_since_ms, ${nowMs})`,
        holder: null,
        due_at_ms: 'pauseMs' in then ? inMs(nowMs, then.pauseMs) : nowMs,
        ...('offReason' in then && { state: 'off' as const, off_reason: then.offReason, off_told: 0 }),
      })
    },
    async releaseWebhook(held) {
      await database.passing((db) =>
        db
          .updateTable('webhook')
          .set({ holder: null, due_at_ms: database.nowMs() })
          .where((of) => of.and(ours(held)))
          .execute(),
      )
    },
    async sheetsWithWebhooks() {
      const rows = await kysely
        .selectFrom('webhook')
        .where('state', '=', 'on')
        .where('sheet_id', 'is not', null)
        .select('sheet_id')
        .distinct()
        .execute()
      return rows.flatMap(({ sheet_id }) => sheet_id ?? [])
    },
    async eventsAfter(webhookId, seq, most) {
      const rows = await kysely
        .selectFrom('webhook_event')
        .where('webhook_id', '=', webhookId)
        .where('seq', '>', seq)
        .orderBy('seq')
        .limit(most)
        .selectAll()
        .execute()
      return rows.map(({ seq, type, at_ms, data }) => ({ seq, type, atMs: at_ms, data }))
    },
  }

  async function take({ id, fencingToken }: Held, holdMs: number): Promise<HeldWebhook | null> {
    // Only as it was when it was looked at: whoever came in between has it.
    const { numUpdatedRows } = await database.passing((db) =>
      db
        .updateTable('webhook')
        .set({ holder: instanceId, fence: fencingToken + 1, due_at_ms: inMs(database.nowMs(), holdMs) })
        .where((of) => of.and({ id, fence: fencingToken, state: 'on' }))
        .executeTakeFirst(),
    )
    if (numUpdatedRows !== 1n) return null
    const row = await webhookRows(database).where('webhook.id', '=', id).executeTakeFirst()
    return row ? { id, fencingToken: fencingToken + 1, webhook: toWebhook(row) } : null
  }

  function noteDelivery(
    held: Held,
    delivery: NewDelivery | null,
    change: UpdateObject<Tables, 'webhook'>,
  ): Promise<boolean> {
    return kysely.transaction().execute(async (transaction) => {
      const row = await transaction
        .updateTable('webhook')
        .set(change)
        .where((of) => of.and(ours(held)))
        .returning('state')
        .executeTakeFirst()
      if (!row) return false
      if (delivery) await addDeliveryOn(transaction, held.id, delivery)
      return row.state === 'on' || change.state === 'off'
    })
  }

  function ours({ id, fencingToken }: Held) {
    return { id, fence: fencingToken, holder: instanceId }
  }
}

const nothingSent = { sending_epoch: null, sending_seq: null }

/** In nobody's hands, or in those of another who is gone. Who takes itself for dead, after a while without the store, still sends. */
function isFree(instanceId: string, nowMs: RawBuilder<number>): RawBuilder<boolean> {
  const isLeft = sql`holder <> ${instanceId} and not ${isLiving(sql.ref('webhook.holder'), nowMs)}`
  return sql<boolean>`(due_at_ms <= ${nowMs} or (holder is not null and ${isLeft}))`
}

const hasSomething = sql<boolean>`case when webhook.sheet_id is null then event_head > seq
  else change_log.epoch is not null
    and (webhook.epoch is null or webhook.epoch <> change_log.epoch or seq < change_log.head) end`
