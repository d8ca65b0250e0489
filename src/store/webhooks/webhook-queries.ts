import { type Kysely, type Selectable, sql, type Transaction } from 'kysely'
import type { Clock } from '../../clock.ts'
import { randomBase62 } from '../../secrets/random-base62.ts'
import { countOfAccount, holdRoom } from '../accounts/room-in-account.ts'
import type { SealedSecret } from '../sealed-secret.ts'
import type { Tables, WebhookTable } from '../sql/schema.ts'
import { inMs, type SqlDatabase } from '../sql/sql-database.ts'
import type { NewDelivery, WebhookRecord, WebhookStore } from './webhooks.ts'

/** Deliveries of one webhook. */
const keptDeliveries = 50
/** By any clock. */
const atOnce = 0

export function createWebhookQueries(database: SqlDatabase, clock: Clock): WebhookStore {
  const { kysely } = database
  return {
    async createWebhook(webhook, mostOfAccount = null) {
      const { id, accountId, sheetId, url, kinds, columns, secret, place } = webhook
      const row = {
        id,
        account_id: accountId,
        sheet_id: sheetId,
        url,
        kinds: listText(kinds),
        columns: listText(columns),
        state: 'on' as const,
        off_reason: null,
        sealed_secret: secret.sealed,
        key_id: secret.keyId,
        ...place,
        due_at_ms: atOnce,
        created_at_ms: clock.nowMs(),
      }
      await kysely.transaction().execute(async (transaction) => {
        await holdRoom(transaction, accountId, mostOfAccount, () =>
          countOfAccount(transaction, 'webhook', accountId),
        )
        await transaction.insertInto('webhook').values(row).execute()
      })
      return toWebhook(await webhookRows(database).where('webhook.id', '=', id).executeTakeFirstOrThrow())
    },
    async webhooksOf(accountId) {
      const rows = await webhookRows(database)
        .where('webhook.account_id', '=', accountId)
        .orderBy('webhook.created_at_ms')
        .orderBy('webhook.id')
        .execute()
      return rows.map(toWebhook)
    },
    async findWebhook(webhookId) {
      const row = await webhookRows(database).where('webhook.id', '=', webhookId).executeTakeFirst()
      return row ? toWebhook(row) : null
    },
    async setWebhookState(webhookId, state) {
      const on = { off_reason: null, off_told: 0, failing_since_ms: null, attempts: 0 }
      await kysely
        .updateTable('webhook')
        .set({ state, ...(state === 'on' && on) })
        .where('id', '=', webhookId)
        .execute()
      if (state === 'paused') return
      // Whoever is sending has set when others may.
      await kysely
        .updateTable('webhook')
        .set({ due_at_ms: atOnce })
        .where('id', '=', webhookId)
        .where('holder', 'is', null)
        .execute()
    },
    async replaceWebhookSecret(webhookId, { sealed, keyId }, overlapMs) {
      await kysely
        .updateTable('webhook')
        .set((of) => ({
          former_sealed_secret: of.ref('sealed_secret'),
          former_key_id: of.ref('key_id'),
          former_until_ms: inMs(database.nowMs(), overlapMs),
          sealed_secret: sealed,
          key_id: keyId,
        }))
        .where('id', '=', webhookId)
        .execute()
    },
    async moveWebhook(webhookId, { epoch, seq }) {
      await kysely
        .updateTable('webhook')
        .set((of) => ({
          epoch,
          seq,
          sending_epoch: null,
          sending_seq: null,
          replays: of('replays', '+', 1),
          fence: of('fence', '+', 1),
          holder: null,
          due_at_ms: atOnce,
        }))
        .where('id', '=', webhookId)
        .execute()
    },
    async deleteWebhook(webhookId) {
      await kysely.transaction().execute((transaction) => deleteWebhooksOn(transaction, [webhookId]))
    },
    async changeBefore(sheetId, atMs) {
      const { seq } = await kysely
        .selectFrom('change_chunk')
        .where('sheet_id', '=', sheetId)
        .where('at_ms', '<', atMs)
        .select((of) => of.fn.max<number | null>('last_seq').as('seq'))
        .executeTakeFirstOrThrow()
      return seq ?? 0
    },
    async eventBefore(webhookId, atMs) {
      const { seq } = await kysely
        .selectFrom('webhook_event')
        .where('webhook_id', '=', webhookId)
        .where('at_ms', '<', atMs)
        .select((of) => of.fn.max<number | null>('seq').as('seq'))
        .executeTakeFirstOrThrow()
      return seq ?? 0
    },
    async addDelivery(webhookId, delivery) {
      await kysely.transaction().execute(async (transaction) => {
        const { numUpdatedRows } = await transaction
          .updateTable('webhook')
          .set((of) => ({ fence: of.ref('fence') }))
          .where('id', '=', webhookId)
          .executeTakeFirst()
        if (numUpdatedRows === 1n) await addDeliveryOn(transaction, webhookId, delivery)
      })
    },
    async deliveriesOf(webhookId) {
      const rows = await kysely
        .selectFrom('webhook_delivery')
        .where('webhook_id', '=', webhookId)
        .orderBy('id', 'desc')
        .selectAll()
        .execute()
      return rows.map((row) => ({
        id: row.id,
        messageId: row.message_id,
        type: row.type,
        changes: row.changes,
        cursor: row.cursor,
        atMs: row.at_ms,
        durationMs: row.duration_ms,
        status: row.status,
        failure: row.failure,
        answer: row.answer,
      }))
    },
    async webhooksNotUnderKey(keyId) {
      const rows = await webhookRows(database)
        .where((of) => of.or([of('key_id', '!=', keyId), of('former_key_id', '!=', keyId)]))
        .orderBy('webhook.id')
        .execute()
      return rows.map(toWebhook)
    },
    async resealWebhook(former, { secret, formerSecret }) {
      await kysely
        .updateTable('webhook')
        .set({
          sealed_secret: secret.sealed,
          key_id: secret.keyId,
          former_sealed_secret: formerSecret?.sealed ?? null,
          former_key_id: formerSecret?.keyId ?? null,
        })
        .where('id', '=', former.id)
        .where('sealed_secret', '=', former.secret.sealed)
        .execute()
    },
  }
}

/** With what is told of them. */
export function webhookRows(database: SqlDatabase) {
  const nowMs = database.nowMs()
  return database.kysely
    .selectFrom('webhook')
    .innerJoin('account', 'account.id', 'webhook.account_id')
    .leftJoin('sheet', 'sheet.id', 'webhook.sheet_id')
    .leftJoin('change_log', 'change_log.sheet_id', 'webhook.sheet_id')
    .selectAll('webhook')
    .select(['account.slug as account_slug', 'sheet.slug as sheet_slug'])
    .select([
      sql<number | null>`${nowMs} - failing_since_ms`.as('failing_for_ms'),
      sql<number>`due_at_ms - ${nowMs}`.as('due_in_ms'),
      sql<number | null>`former_until_ms - ${nowMs}`.as('former_for_ms'),
      sql<number>`case when webhook.sheet_id is null then event_head - seq
        when change_log.epoch is null then 0
        when webhook.epoch = change_log.epoch and seq > change_log.floor then change_log.head - seq
        else change_log.head - change_log.floor end`.as('waiting'),
    ])
}

export type WebhookRow = Selectable<WebhookTable> & {
  account_slug: string
  sheet_slug: string | null
  failing_for_ms: number | null
  due_in_ms: number
  former_for_ms: number | null
  waiting: number
}

export function toWebhook(row: WebhookRow): WebhookRecord {
  const isWaiting = row.state === 'on' && row.holder === null && row.due_in_ms > 0
  const { former_sealed_secret: former, former_key_id: formerKeyId, former_for_ms: formerForMs } = row
  const formerSecret: SealedSecret | null =
    former !== null && formerKeyId !== null && (formerForMs ?? 0) > 0
      ? { sealed: former, keyId: formerKeyId }
      : null
  return {
    id: row.id,
    accountId: row.account_id,
    accountSlug: row.account_slug,
    sheetId: row.sheet_id,
    sheetSlug: row.sheet_slug,
    url: row.url,
    kinds: listOf(row.kinds),
    columns: listOf(row.columns),
    state: row.state,
    offReason: row.off_reason,
    secret: { sealed: row.sealed_secret, keyId: row.key_id },
    formerSecret,
    place: { epoch: row.epoch, seq: row.seq },
    sendingTo: row.sending_seq === null ? null : { epoch: row.sending_epoch, seq: row.sending_seq },
    replays: row.replays,
    attempts: row.attempts,
    failingForMs: row.failing_for_ms,
    nextAttemptInMs: isWaiting ? row.due_in_ms : 0,
    waiting: Math.max(0, row.waiting),
    createdAtMs: row.created_at_ms,
  }
}

export async function addDeliveryOn(
  transaction: Transaction<Tables>,
  webhookId: string,
  { messageId, durationMs, atMs, ...delivery }: NewDelivery,
): Promise<void> {
  // Sorts by time.
  const id = `${atMs.toString(36).padStart(9, '0')}${randomBase62(8)}`
  await transaction
    .insertInto('webhook_delivery')
    .values({
      ...delivery,
      webhook_id: webhookId,
      id,
      message_id: messageId,
      at_ms: atMs,
      duration_ms: Math.round(durationMs),
    })
    .execute()
  const eldest = await transaction
    .selectFrom('webhook_delivery')
    .where('webhook_id', '=', webhookId)
    .orderBy('id', 'desc')
    .offset(keptDeliveries - 1)
    .limit(1)
    .select('id')
    .executeTakeFirst()
  if (!eldest) return
  await transaction
    .deleteFrom('webhook_delivery')
    .where('webhook_id', '=', webhookId)
    .where('id', '<', eldest.id)
    .execute()
}

/** With all that is only about them. */
export async function deleteWebhooksOn(
  on: Pick<Kysely<Tables>, 'deleteFrom' | 'updateTable'>,
  webhookIds: readonly string[],
): Promise<void> {
  if (webhookIds.length === 0) return
  // Whoever notes something of one holds its row: they are waited for, and nobody comes after.
  await on
    .updateTable('webhook')
    .set((of) => ({ fence: of('fence', '+', 1) }))
    .where('id', 'in', webhookIds)
    .execute()
  for (const table of ['webhook_delivery', 'webhook_event', 'webhook_told'] as const) {
    await on.deleteFrom(table).where('webhook_id', 'in', webhookIds).execute()
  }
  await on.deleteFrom('webhook').where('id', 'in', webhookIds).execute()
}

function listText(list: readonly string[] | null): string | null {
  return list === null ? null : JSON.stringify(list)
}

function listOf(text: string | null): string[] | null {
  return text === null ? null : (JSON.parse(text) as string[])
}
