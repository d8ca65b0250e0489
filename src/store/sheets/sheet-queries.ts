import { type Kysely, type Selectable, sql } from 'kysely'
import type { Clock } from '../../clock.ts'
import { GoneMeanwhile } from '../../errors.ts'
import { countOfAccount, holdAccount } from '../accounts/room-in-account.ts'
import { deleteLogsOn, holdLogsOn, shortenLogs } from '../changes/forgetting-changes.ts'
import { deleteFormsOn } from '../forms/form-queries.ts'
import { watchOn } from '../looks/look-queries.ts'
import { newId } from '../new-id.ts'
import type { SheetTable, Tables } from '../sql/schema.ts'
import { deleteBesideOthers, type SqlDatabase, unlessTaken } from '../sql/sql-database.ts'
import type { Store } from '../store.ts'
import { deleteWebhooksOn } from '../webhooks/webhook-queries.ts'
import { emptySheets } from './emptying-sheets.ts'
import type { SheetRecord } from './sheets.ts'

type SheetQueries = Pick<
  Store,
  | 'createSheet'
  | 'findSheet'
  | 'sheetById'
  | 'sheetsOf'
  | 'setPaused'
  | 'changeSheet'
  | 'deleteSheet'
  | 'sheetsOfSource'
  | 'relocateSheets'
  | 'countWrite'
>

export function createSheetQueries(database: SqlDatabase, clock: Clock): SheetQueries {
  const { kysely } = database
  // Put together once: every write asks for its sheet, more than once.
  const ofId = kysely.selectFrom('sheet').where('id', '=', '').selectAll().compile()
  return {
    async createSheet({ accountId, slug, provider, source, location, credentialId, access }, most = null) {
      return unlessTaken(database, () =>
        kysely.transaction().execute(async (transaction) => {
          if (most !== null) await holdAccount(transaction, accountId)
          if (most !== null && (await countOfAccount(transaction, 'sheet', accountId)) >= most)
            return 'too_many'
          if (credentialId !== null) {
            const credential = await transaction
              .selectFrom('credential')
              .where('id', '=', credentialId)
              .select('account_id')
              .executeTakeFirst()
            if (!credential) throw new GoneMeanwhile()
            // One account's sheet under another's credential would be a leak, whoever asked for it.
            if (credential.account_id !== accountId)
              throw new Error('A credential of another account was named')
          }
          // A source that other sheets share already has a count of its writes: the newcomer starts from theirs.
          const sharing = await transaction
            .selectFrom('sheet')
            .where('source', '=', source)
            .select((of) => of.fn.max('write_seq').as('write_seq'))
            .executeTakeFirst()
          const row = await transaction
            .insertInto('sheet')
            .values({
              id: newId('sh'),
              account_id: accountId,
              slug,
              provider,
              source,
              location,
              credential_id: credentialId,
              access,
              write_seq: Number(sharing?.write_seq ?? 0),
              created_at_ms: clock.nowMs(),
            })
            .returningAll()
            .executeTakeFirstOrThrow()
          return toSheet(row)
        }),
      )
    },
    async findSheet(accountId, slug) {
      const row = await kysely
        .selectFrom('sheet')
        .where('account_id', '=', accountId)
        .where('slug', '=', slug)
        .selectAll()
        .executeTakeFirst()
      return row ? toSheet(row) : null
    },
    async sheetById(sheetId) {
      const { rows } = await kysely.executeQuery<Selectable<SheetTable>>({ ...ofId, parameters: [sheetId] })
      return rows[0] ? toSheet(rows[0]) : null
    },
    async sheetsOf(accountId) {
      const rows = await kysely
        .selectFrom('sheet')
        .where('account_id', '=', accountId)
        .orderBy('slug')
        .selectAll()
        .execute()
      return rows.map(toSheet)
    },
    async setPaused(sheetId, paused) {
      await kysely
        .updateTable('sheet')
        .set({ paused: paused ? 1 : 0 })
        .where('id', '=', sheetId)
        .execute()
    },
    async changeSheet(sheetId, settings) {
      const change = {
        ...(settings.slug !== undefined && { slug: settings.slug }),
        ...(settings.paused !== undefined && { paused: settings.paused ? 1 : 0 }),
        ...(settings.access !== undefined && { access: settings.access }),
        ...(settings.accepts !== undefined && { accepts: settings.accepts }),
        ...(settings.cacheSeconds !== undefined && { cache_seconds: settings.cacheSeconds }),
        ...(settings.staleIfErrorSeconds !== undefined && {
          stale_if_error_seconds: settings.staleIfErrorSeconds,
        }),
        ...(settings.unknownFields !== undefined && { unknown_fields: settings.unknownFields }),
        ...(settings.keyColumn !== undefined && { key_column: settings.keyColumn }),
        ...(settings.autoKey !== undefined && { auto_key: settings.autoKey }),
        ...(settings.location !== undefined && {
          location: settings.location,
          write_seq: sql<number>`write_seq + 1`,
        }),
        ...(settings.historyDays !== undefined && { history_days: settings.historyDays }),
        ...(settings.watchSeconds !== undefined && { watch_seconds: settings.watchSeconds }),
      }
      if (Object.keys(change).length === 0) return 'changed'
      return unlessTaken(database, async () => {
        const isLogOver = settings.historyDays === 0
        if (isLogOver) await shortenLogs(database, [sheetId])
        await deleteBesideOthers(database, () =>
          kysely.transaction().execute(async (transaction) => {
            if (isLogOver) await holdLogsOn(transaction, [sheetId])
            const { numUpdatedRows } = await transaction
              .updateTable('sheet')
              .set((of) => ({
                ...change,
                // Rows in anybody's memory have their place in the former log.
                ...(settings.historyDays !== undefined && { write_seq: of('write_seq', '+', 1) }),
              }))
              .where('id', '=', sheetId)
              .executeTakeFirst()
            if (numUpdatedRows === 0n) throw new GoneMeanwhile()
            if (isLogOver) await deleteLogsOn(transaction, [sheetId])
            if (settings.watchSeconds) await watchOn(transaction, sheetId)
          }),
        )
        return 'changed' as const
      })
    },
    async deleteSheet(sheetId) {
      await emptySheets(database, [sheetId])
      await deleteSheetOf(database, clock, sheetId)
    },
    async sheetsOfSource(source) {
      const rows = await kysely.selectFrom('sheet').where('source', '=', source).selectAll().execute()
      return rows.map(toSheet)
    },
    async relocateSheets(source, relocations) {
      return kysely
        .transaction()
        .execute(async (transaction) => {
          for (const { sheetId, from, to } of relocations) {
            const { numUpdatedRows } = await transaction
              .updateTable('sheet')
              .set((of) => ({ location: to, write_seq: of('write_seq', '+', 1) }))
              .where((of) => of.and({ id: sheetId, source, location: from }))
              .executeTakeFirst()
            if (numUpdatedRows === 0n) throw new NotRelocated('changed')
          }
          // What settles such a write looks where the journal says that it was sent to.
          const sending = await transaction
            .selectFrom('operation')
            .where((of) => of.and({ source, state: 'sending' }))
            .select('id')
            .limit(1)
            .executeTakeFirst()
          if (sending) throw new NotRelocated('being_written')
          return 'relocated' as const
        })
        .catch((error: unknown) => {
          if (error instanceof NotRelocated) return error.why
          throw error
        })
    },
    async countWrite(source) {
      await countWriteOn(kysely, source)
    },
  }
}

/** Takes back what was changed before it. */
class NotRelocated extends Error {
  readonly why: 'being_written' | 'changed'

  constructor(why: 'being_written' | 'changed') {
    super(why)
    this.why = why
  }
}

export async function countWriteOn(on: Pick<Kysely<Tables>, 'updateTable'>, source: string): Promise<void> {
  await on
    .updateTable('sheet')
    .set((of) => ({ write_seq: of('write_seq', '+', 1) }))
    .where('source', '=', source)
    .execute()
}

const ofOneSheet = ['operation', 'recent_request', 'sheet_activity', 'provider_day', 'sheet_look'] as const

/**
 * From here on whoever adds anything to these sheets waits until they are gone: deleting them does not fail because of something that
 * came meanwhile. Another slug is another key, which is what PostgreSQL lets nobody refer to.
 */
async function lockSheetsOn(
  on: Pick<Kysely<Tables>, 'updateTable'>,
  sheetIds: readonly string[],
): Promise<void> {
  if (sheetIds.length === 0) return
  await holdLogsOn(on, sheetIds)
  await on
    .updateTable('sheet')
    .set((of) => ({ slug: of.ref('id') }))
    .where('id', 'in', sheetIds)
    .execute()
}

/** What may be much of is to be taken from it first. */
export async function deleteSheetOf(
  database: SqlDatabase,
  clock: Pick<Clock, 'nowMs'>,
  sheetId: string,
): Promise<void> {
  await deleteBesideOthers(database, () =>
    database.kysely.transaction().execute(async (transaction) => {
      await lockSheetsOn(transaction, [sheetId])
      // A key for this sheet alone must not become one for all: it is revoked for good before it loses the sheet.
      await transaction
        .updateTable('api_key')
        .set((of) => ({
          sheet_id: null,
          revoked_at_ms: of.fn.coalesce('revoked_at_ms', of.val(clock.nowMs())),
        }))
        .where('sheet_id', '=', sheetId)
        .execute()
      await deleteSheetsOn(transaction, [sheetId])
    }),
  )
}

/** Deletes sheets with all that is only about them. */
export async function deleteSheetsOn(
  on: Pick<Kysely<Tables>, 'deleteFrom' | 'selectFrom' | 'updateTable'>,
  sheetIds: readonly string[],
): Promise<void> {
  if (sheetIds.length === 0) return
  await deleteLogsOn(on, sheetIds)
  const forms = await on.selectFrom('form').where('sheet_id', 'in', sheetIds).select('id').execute()
  await deleteFormsOn(
    on,
    forms.map(({ id }) => id),
  )
  const webhooks = await on.selectFrom('webhook').where('sheet_id', 'in', sheetIds).select('id').execute()
  await deleteWebhooksOn(
    on,
    webhooks.map(({ id }) => id),
  )
  for (const table of ofOneSheet) {
    await on.deleteFrom(table).where('sheet_id', 'in', sheetIds).execute()
  }
  await on.deleteFrom('sheet').where('id', 'in', sheetIds).execute()
}

function toSheet(row: Selectable<SheetTable>): SheetRecord {
  return {
    id: row.id,
    accountId: row.account_id,
    slug: row.slug,
    provider: row.provider,
    source: row.source,
    location: row.location,
    credentialId: row.credential_id,
    paused: row.paused === 1,
    access: row.access,
    accepts: row.accepts,
    cacheSeconds: row.cache_seconds,
    staleIfErrorSeconds: row.stale_if_error_seconds,
    unknownFields: row.unknown_fields,
    keyColumn: row.key_column,
    autoKey: row.auto_key,
    historyDays: row.history_days,
    watchSeconds: row.watch_seconds,
    writeSeq: row.write_seq,
    createdAtMs: row.created_at_ms,
  }
}
