import type { Insertable, Kysely, Selectable } from 'kysely'
import type { Clock } from '../../clock.ts'
import { GoneMeanwhile } from '../../errors.ts'
import { holdRoom } from '../accounts/room-in-account.ts'
import { newId } from '../new-id.ts'
import type { ApiKeyTable, Tables } from '../sql/schema.ts'
import { inMs, type SqlDatabase } from '../sql/sql-database.ts'
import type { Store } from '../store.ts'
import { policyOf, policyText } from './key-policy.ts'
import type { KeyRecord, NewKey } from './keys.ts'

type KeyQueries = Pick<
  Store,
  | 'createKey'
  | 'findKey'
  | 'keysOf'
  | 'revokeKey'
  | 'replaceKey'
  | 'setKeyScope'
  | 'changeKey'
  | 'noteKeysUsed'
  | 'putConsoleKey'
>

/** Keys of one account that are kept after their end, for people who look up what became of a key. */
const maxEndedKeys = 100

export function createKeyQueries(database: SqlDatabase, clock: Clock): KeyQueries {
  const { kysely } = database
  return {
    async createKey(key, mostActive = null) {
      return kysely.transaction().execute(async (transaction) => {
        await holdRoomForKey(transaction, key.accountId, mostActive)
        return insertKey(transaction, keyRow(key))
      })
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
    async replaceKey(keyId, successor, overlapMs = 0, mostActive = null) {
      return kysely.transaction().execute(async (transaction) => {
        const key = await transaction
          .selectFrom('api_key')
          .where('id', '=', keyId)
          .select(['account_id', 'expires_at_ms'])
          .executeTakeFirst()
        if (key && overlapMs > 0) await holdRoomForKey(transaction, key.account_id, mostActive)
        const old =
          overlapMs === 0 ? await revoke(transaction, keyId) : await expireIn(transaction, keyId, overlapMs)
        if (!old) return null
        const expiresAtMs = key?.expires_at_ms ?? null
        return insertKey(transaction, keyRow({ ...toKey(old), expiresAtMs, ...successor }))
      })
    },

    async setKeyScope(keyId, scope) {
      await kysely.updateTable('api_key').set({ scope }).where('id', '=', keyId).execute()
    },
    async changeKey(keyId, { name, scope, expiresAtMs, policy }, mostActive = null) {
      const changed = {
        ...(name !== undefined && { name }),
        ...(scope !== undefined && { scope }),
        ...(expiresAtMs !== undefined && { expires_at_ms: expiresAtMs }),
        ...(policy !== undefined && { policy: policyText(policy) }),
      }
      if (Object.keys(changed).length === 0) return
      await kysely.transaction().execute(async (transaction) => {
        if (expiresAtMs !== undefined) await holdRoomForReturn(transaction, keyId, mostActive)
        await transaction.updateTable('api_key').set(changed).where('id', '=', keyId).execute()
      })
    },
    async putConsoleKey(key, lifeMs) {
      return kysely.transaction().execute(async (transaction) => {
        // A write that changes nothing: it holds the session, so that whoever ends it finds this key, or this finds no session.
        const session = await transaction
          .updateTable('session')
          .set((of) => ({ last_seen_at_ms: of.ref('last_seen_at_ms') }))
          .where('id_hash', '=', key.sessionHash)
          .where('account_id', '=', key.accountId)
          .returning('id_hash')
          .executeTakeFirst()
        if (!session) throw new GoneMeanwhile()
        const ends = { expires_at_ms: inMs(database.nowMs(), lifeMs), session_hash: key.sessionHash }
        const fresh = { ...keyRow(key), ...ends }
        const { hash, mode, shown_start, shown_end, created_at_ms } = fresh
        const former = await transaction
          .updateTable('api_key')
          .set({ hash, mode, shown_start, shown_end, created_at_ms, ...ends, revoked_at_ms: null })
          .where('sheet_id', '=', key.sheetId)
          .where('session_hash', 'is not', null)
          .returningAll()
          .executeTakeFirst()
        if (former) return toKey(former)
        return toKey(
          await transaction.insertInto('api_key').values(fresh).returningAll().executeTakeFirstOrThrow(),
        )
      })
    },
    async noteKeysUsed(lastUsedMs) {
      // Always in the same order: two instances that take the same keys in another one would wait for each other.
      const ascending = [...lastUsedMs].sort(([one], [other]) => (one < other ? -1 : 1))
      await kysely.transaction().execute(async (transaction) => {
        for (const [keyId, usedAtMs] of ascending) {
          await transaction
            .updateTable('api_key')
            .set({ last_used_at_ms: usedAtMs })
            .where('id', '=', keyId)
            .where((of) => of.or([of('last_used_at_ms', 'is', null), of('last_used_at_ms', '<', usedAtMs)]))
            .execute()
        }
      })
    },
  }

  /** Whoever makes keys again and again, and revokes them or lets them expire, leaves only the last of them behind. */
  async function insertKey(transaction: Kysely<Tables>, row: Insertable<ApiKeyTable>): Promise<KeyRecord> {
    const made = await transaction.insertInto('api_key').values(row).returningAll().executeTakeFirstOrThrow()
    const lastEnded = endedKeys(transaction, row.account_id)
      .orderBy((of) => of.fn.coalesce('revoked_at_ms', 'expires_at_ms'), 'desc')
      .orderBy('id')
      .limit(maxEndedKeys)
    await transaction
      .deleteFrom('api_key')
      .where('id', 'in', endedKeys(transaction, row.account_id))
      .where('id', 'not in', lastEnded)
      .execute()
    return toKey(made)
  }

  function holdRoomForKey(transaction: Kysely<Tables>, accountId: string, mostActive: number | null) {
    return holdRoom(
      transaction,
      accountId,
      mostActive,
      async () => (await activeKeys(transaction, accountId)).length,
    )
  }

  /** A key that is active takes no more room by ending later. */
  async function holdRoomForReturn(transaction: Kysely<Tables>, keyId: string, mostActive: number | null) {
    const key = await transaction
      .selectFrom('api_key')
      .where('id', '=', keyId)
      .select('account_id')
      .executeTakeFirst()
    if (!key) return
    await holdRoom(transaction, key.account_id, mostActive, async () => {
      const active = await activeKeys(transaction, key.account_id)
      return active.some(({ id }) => id === keyId) ? 0 : active.length
    })
  }

  function activeKeys(transaction: Kysely<Tables>, accountId: string) {
    return transaction
      .selectFrom('api_key')
      .where('account_id', '=', accountId)
      .where('session_hash', 'is', null)
      .where('id', 'not in', endedKeys(transaction, accountId))
      .select('id')
      .execute()
  }

  function endedKeys(on: Pick<Kysely<Tables>, 'selectFrom'>, accountId: string) {
    return on
      .selectFrom('api_key')
      .where('account_id', '=', accountId)
      .where((of) =>
        of.or([of('revoked_at_ms', 'is not', null), of('expires_at_ms', '<=', database.nowMs())]),
      )
      .select('id')
  }

  function revoke(on: Pick<Kysely<Tables>, 'updateTable'>, keyId: string) {
    return on
      .updateTable('api_key')
      .set({ revoked_at_ms: clock.nowMs() })
      .where('id', '=', keyId)
      .where('revoked_at_ms', 'is', null)
      .returningAll()
      .executeTakeFirst()
  }

  /** Never later than it would end anyway. */
  function expireIn(on: Pick<Kysely<Tables>, 'updateTable'>, keyId: string, overlapMs: number) {
    const end = inMs(database.nowMs(), overlapMs)
    return on
      .updateTable('api_key')
      .set((of) => ({
        expires_at_ms: of
          .case()
          .when('expires_at_ms', '<', end)
          .then(of.ref('expires_at_ms'))
          .else(end)
          .end(),
      }))
      .where('id', '=', keyId)
      .where('revoked_at_ms', 'is', null)
      .where((of) => of.or([of('expires_at_ms', 'is', null), of('expires_at_ms', '>', database.nowMs())]))
      .returningAll()
      .executeTakeFirst()
  }

  function keyRow(key: NewKey) {
    return {
      id: newId('key'),
      hash: key.hash,
      account_id: key.accountId,
      sheet_id: key.sheetId,
      name: key.name,
      mode: key.mode,
      scope: key.scope,
      shown_start: key.shownStart,
      shown_end: key.shownEnd,
      created_at_ms: clock.nowMs(),
      expires_at_ms: key.expiresAtMs ?? null,
      policy: key.policy ? policyText(key.policy) : null,
      public_value: key.publicValue ?? null,
    }
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
    expiresAtMs: row.expires_at_ms,
    isOfConsole: row.session_hash !== null,
    policy: policyOf(row.policy),
    publicValue: row.public_value,
  }
}
