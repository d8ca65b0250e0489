import { compileLookUps, toFacts } from '../admission/admission-query.ts'
import { policyOf } from '../keys/key-policy.ts'
import type { Store } from '../store.ts'
import type { ColumnValues, SqlDatabase } from './sql-database.ts'

/** What admission asks, for every request. */
export function createLookUps(database: SqlDatabase): Pick<Store, 'lookUp' | 'lookUpKey'> {
  const { kysely, lookUpClock } = database
  const compiled = compileLookUps(kysely, lookUpClock)
  const factsOf = (row: ColumnValues | null) => toFacts(row, lookUpClock)
  const lookUpA = database.prepareOne(compiled.a, factsOf)
  const lookUpB = database.prepareOne(compiled.b, factsOf)

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
        .where((of) =>
          of.or([
            of('api_key.expires_at_ms', 'is', null),
            of('api_key.expires_at_ms', '>', database.nowMs()),
          ]),
        )
        .select(['api_key.id as key_id', 'api_key.sheet_id', 'api_key.mode', 'api_key.scope'])
        .select('api_key.policy')
        .select(['account.id', 'account.plan', 'account.created_at_ms'])
        .select(['account.requests_per_minute', 'account.requests_per_month'])
        .select(lookUpClock.column.as('now_ms'))
        .executeTakeFirst()
      if (!row) return null
      return {
        account: {
          id: row.id,
          lookedUpAtMs: lookUpClock.read(row.now_ms).timeOfDayMs,
          createdAtMs: row.created_at_ms,
          plan: row.plan,
          requestsPerMinute: row.requests_per_minute,
          requestsPerMonth: row.requests_per_month,
        },
        key: {
          id: row.key_id,
          mode: row.mode,
          scope: row.scope,
          policy: policyOf(row.policy),
          sheetId: row.sheet_id,
        },
      }
    },
  }
}
