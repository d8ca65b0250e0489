import { sql } from 'kysely'
import type { SqlDatabase } from '../sql/sql-database.ts'
import type { AccessTokenStore } from './access-tokens.ts'

export function createAccessTokenQueries(database: SqlDatabase): AccessTokenStore {
  const { kysely } = database
  return {
    async findAccessToken(credentialId) {
      const nowMs = database.nowMs()
      const row = await kysely
        .selectFrom('access_token')
        .where('credential_id', '=', credentialId)
        .where('expires_at_ms', '>', nowMs)
        .selectAll()
        .select(sql<number>`expires_at_ms - ${nowMs}`.as('expires_in_ms'))
        .executeTakeFirst()
      if (!row) return null
      const { version, sealed_token: sealedToken, key_id: keyId, expires_in_ms: expiresInMs } = row
      return { version, sealedToken, keyId, expiresInMs }
    },
    async saveAccessToken(credentialId, { version, sealedToken, keyId, expiresInMs }) {
      const fresh = {
        version,
        sealed_token: sealedToken,
        key_id: keyId,
        expires_at_ms: sql<number>`${database.nowMs()} + ${sql.lit(Math.round(expiresInMs))}`,
      }
      await kysely.transaction().execute(async (transaction) => {
        const isCurrent = await transaction
          .selectFrom('credential')
          .where((of) => of.and({ id: credentialId, version }))
          .select('id')
          .executeTakeFirst()
        if (!isCurrent) return
        await transaction
          .insertInto('access_token')
          .values({ credential_id: credentialId, ...fresh })
          .onConflict((conflict) => conflict.column('credential_id').doUpdateSet(fresh))
          .execute()
      })
    },
  }
}
