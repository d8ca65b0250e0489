import type { Selectable } from 'kysely'
import type { Clock } from '../clock.ts'
import { newId } from './new-id.ts'
import type { SheetTable } from './schema.ts'
import { type SqlDatabase, unlessTaken } from './sql-database.ts'
import type { SheetRecord, Store } from './store.ts'

type SheetQueries = Pick<
  Store,
  'createSheet' | 'findSheet' | 'sheetById' | 'sheetsOf' | 'setPaused' | 'changeSheet' | 'countWrite'
>

export function createSheetQueries(database: SqlDatabase, clock: Clock): SheetQueries {
  const { kysely } = database
  return {
    async createSheet({ accountId, slug, provider, source, location, access }) {
      return unlessTaken(database, () =>
        kysely.transaction().execute(async (transaction) => {
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
      const row = await kysely.selectFrom('sheet').where('id', '=', sheetId).selectAll().executeTakeFirst()
      return row ? toSheet(row) : null
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
      await kysely
        .updateTable('sheet')
        .set({
          ...(settings.access !== undefined && { access: settings.access }),
          ...(settings.accepts !== undefined && { accepts: settings.accepts }),
          ...(settings.cacheSeconds !== undefined && { cache_seconds: settings.cacheSeconds }),
          ...(settings.staleIfErrorSeconds !== undefined && {
            stale_if_error_seconds: settings.staleIfErrorSeconds,
          }),
          ...(settings.unknownFields !== undefined && { unknown_fields: settings.unknownFields }),
        })
        .where('id', '=', sheetId)
        .execute()
    },
    async countWrite(source) {
      await kysely
        .updateTable('sheet')
        .set((of) => ({ write_seq: of('write_seq', '+', 1) }))
        .where('source', '=', source)
        .execute()
    },
  }
}

function toSheet(row: Selectable<SheetTable>): SheetRecord {
  return {
    id: row.id,
    accountId: row.account_id,
    slug: row.slug,
    provider: row.provider,
    source: row.source,
    location: row.location,
    paused: row.paused === 1,
    access: row.access,
    accepts: row.accepts,
    cacheSeconds: row.cache_seconds,
    staleIfErrorSeconds: row.stale_if_error_seconds,
    unknownFields: row.unknown_fields,
    writeSeq: row.write_seq,
    createdAtMs: row.created_at_ms,
  }
}
