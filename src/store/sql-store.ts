import type { Selectable } from 'kysely'
import type { Clock } from '../clock.ts'
import { randomBase62 } from '../random-base62.ts'
import { compileLookUps, toFacts } from './admission-query.ts'
import type { AccountTable, ApiKeyTable, SheetTable } from './schema.ts'
import type { SqlDatabase } from './sql-database.ts'
import type { AccountRecord, KeyRecord, SheetRecord, Store } from './store.ts'

const idLength = 22

/** The store over any SQL engine: all it asks of one is in `SqlDatabase`. */
export function createSqlStore(database: SqlDatabase, clock: Clock): Store {
  const { kysely } = database
  const lookUps = compileLookUps(kysely)
  const lookUpA = database.prepareOne(lookUps.a, toFacts)
  const lookUpB = database.prepareOne(lookUps.b, toFacts)

  return {
    lookUp(address, keyHash) {
      const key = keyHash ?? ''
      return address.form === 'a'
        ? lookUpA([address.accountSlug, address.sheetSlug, key])
        : lookUpB([address.sheetId, key])
    },

    async lookUpKey(keyHash) {
      const row = await kysely
        .selectFrom('api_key')
        .innerJoin('account', 'account.id', 'api_key.account_id')
        .where('api_key.hash', '=', keyHash)
        .where('api_key.revoked_at_ms', 'is', null)
        .select(['api_key.id as key_id', 'api_key.sheet_id', 'api_key.mode', 'api_key.scope'])
        .select(['account.id', 'account.plan', 'account.created_at_ms'])
        .select(['account.requests_per_minute', 'account.requests_per_month'])
        .executeTakeFirst()
      if (!row) return null
      return {
        account: {
          id: row.id,
          createdAtMs: row.created_at_ms,
          plan: row.plan,
          requestsPerMinute: row.requests_per_minute,
          requestsPerMonth: row.requests_per_month,
        },
        key: { id: row.key_id, mode: row.mode, scope: row.scope, sheetId: row.sheet_id },
      }
    },

    async createAccount({ slug, plan }) {
      const insert = kysely
        .insertInto('account')
        .values({ id: `acc_${randomBase62(idLength)}`, slug, plan, created_at_ms: clock.nowMs() })
        .returningAll()
      return unlessTaken(async () => toAccount(await insert.executeTakeFirstOrThrow()))
    },
    async findAccount(slug) {
      const row = await kysely.selectFrom('account').where('slug', '=', slug).selectAll().executeTakeFirst()
      return row ? toAccount(row) : null
    },
    async countAccounts() {
      const { count } = await kysely
        .selectFrom('account')
        .select((of) => of.fn.countAll<number | string>().as('count'))
        .executeTakeFirstOrThrow()
      return Number(count)
    },
    async setPlan(accountId, { plan, requestsPerMinute, requestsPerMonth }) {
      await kysely
        .updateTable('account')
        .set({ plan, requests_per_minute: requestsPerMinute, requests_per_month: requestsPerMonth })
        .where('id', '=', accountId)
        .execute()
    },

    async createSheet({ accountId, slug, provider, source, location, access }) {
      return unlessTaken(() =>
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
              id: `sh_${randomBase62(idLength)}`,
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

    async createKey(key) {
      return toKey(
        await kysely.insertInto('api_key').values(keyRow(key)).returningAll().executeTakeFirstOrThrow(),
      )
    },
    async findKey(keyId) {
      const row = await kysely.selectFrom('api_key').where('id', '=', keyId).selectAll().executeTakeFirst()
      return row ? toKey(row) : null
    },
    async keysOf(accountId) {
      const rows = await kysely
        .selectFrom('api_key')
        .where('account_id', '=', accountId)
        .orderBy('created_at_ms')
        .orderBy('id')
        .selectAll()
        .execute()
      return rows.map(toKey)
    },
    async revokeKey(keyId) {
      return (await revoke(kysely, keyId)) !== undefined
    },
    async replaceKey(keyId, successor) {
      return kysely.transaction().execute(async (transaction) => {
        const old = await revoke(transaction, keyId)
        if (!old) return null
        const row = keyRow({ ...toKey(old), ...successor })
        return toKey(
          await transaction.insertInto('api_key').values(row).returningAll().executeTakeFirstOrThrow(),
        )
      })
    },

    async setKeyScope(keyId, scope) {
      await kysely.updateTable('api_key').set({ scope }).where('id', '=', keyId).execute()
    },
    async noteKeysUsed(lastUsedMs) {
      await kysely.transaction().execute(async (transaction) => {
        for (const [keyId, usedAtMs] of lastUsedMs) {
          await transaction
            .updateTable('api_key')
            .set({ last_used_at_ms: usedAtMs })
            .where('id', '=', keyId)
            .where((of) => of.or([of('last_used_at_ms', 'is', null), of('last_used_at_ms', '<', usedAtMs)]))
            .execute()
        }
      })
    },

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

    async ping() {
      await kysely.selectFrom('migration').select('number').limit(1).execute()
    },
    close: () => database.close(),
  }

  function revoke(on: Pick<typeof kysely, 'updateTable'>, keyId: string) {
    return on
      .updateTable('api_key')
      .set({ revoked_at_ms: clock.nowMs() })
      .where('id', '=', keyId)
      .where('revoked_at_ms', 'is', null)
      .returningAll()
      .executeTakeFirst()
  }

  function keyRow(key: Parameters<Store['createKey']>[0]) {
    return {
      id: `key_${randomBase62(idLength)}`,
      hash: key.hash,
      account_id: key.accountId,
      sheet_id: key.sheetId,
      name: key.name,
      mode: key.mode,
      scope: key.scope,
      shown_start: key.shownStart,
      shown_end: key.shownEnd,
      created_at_ms: clock.nowMs(),
    }
  }

  async function unlessTaken<T>(insert: () => Promise<T>): Promise<T | 'slug_taken'> {
    try {
      return await insert()
    } catch (error) {
      if (database.isUniqueViolation(error)) return 'slug_taken'
      throw error
    }
  }
}

function toAccount(row: Selectable<AccountTable>): AccountRecord {
  return {
    id: row.id,
    slug: row.slug,
    plan: row.plan,
    requestsPerMinute: row.requests_per_minute,
    requestsPerMonth: row.requests_per_month,
    createdAtMs: row.created_at_ms,
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

function toKey(row: Selectable<ApiKeyTable>): KeyRecord {
  return {
    id: row.id,
    accountId: row.account_id,
    sheetId: row.sheet_id,
    name: row.name,
    mode: row.mode,
    scope: row.scope,
    shownStart: row.shown_start,
    shownEnd: row.shown_end,
    createdAtMs: row.created_at_ms,
    revokedAtMs: row.revoked_at_ms,
    lastUsedAtMs: row.last_used_at_ms,
  }
}
