import type { Selectable } from 'kysely'
import type { Clock } from '../../clock.ts'
import { newId } from '../new-id.ts'
import type { CredentialTable } from '../sql/schema.ts'
import type { SqlDatabase } from '../sql/sql-database.ts'
import type { CredentialRecord, CredentialStore } from './credentials.ts'

export function createCredentialQueries({ kysely }: SqlDatabase, clock: Clock): CredentialStore {
  return {
    async saveCredential({ accountId, provider, subject, label, scopes, seal }) {
      return kysely.transaction().execute(async (transaction) => {
        const nowMs = clock.nowMs()
        const described = { subject, label, scopes, connected_at_ms: nowMs }
        // The row comes first and its version next, which holds it against others: only then is it known what to seal.
        await transaction
          .insertInto('credential')
          .values({
            ...described,
            id: newId('cr'),
            account_id: accountId,
            provider,
            sealed_token: '',
            key_id: '',
            version: 0,
            state: 'expired',
            created_at_ms: nowMs,
          })
          .onConflict((conflict) => conflict.columns(['account_id', 'provider']).doNothing())
          .execute()
        const { id, version } = await transaction
          .updateTable('credential')
          .set((of) => ({ ...described, version: of('version', '+', 1) }))
          .where('account_id', '=', accountId)
          .where('provider', '=', provider)
          .returning(['id', 'version'])
          .executeTakeFirstOrThrow()
        const { sealedToken, keyId } = seal({ credentialId: id, accountId, version })
        const row = await transaction
          .updateTable('credential')
          .set({ sealed_token: sealedToken, key_id: keyId, state: 'valid', expired_reason: null })
          .where('id', '=', id)
          .returningAll()
          .executeTakeFirstOrThrow()
        return toCredential(row)
      })
    },
    async findCredential(credentialId) {
      const row = await kysely
        .selectFrom('credential')
        .where('id', '=', credentialId)
        .selectAll()
        .executeTakeFirst()
      return row ? toCredential(row) : null
    },
    async credentialOf(accountId, provider) {
      const row = await kysely
        .selectFrom('credential')
        .where('account_id', '=', accountId)
        .where('provider', '=', provider)
        .selectAll()
        .executeTakeFirst()
      return row ? toCredential(row) : null
    },
    async expireCredential(credentialId, version, reason) {
      const { numUpdatedRows } = await kysely
        .updateTable('credential')
        .set({ state: 'expired', expired_reason: reason })
        .where('id', '=', credentialId)
        .where('version', '=', version)
        .where('state', '=', 'valid')
        .executeTakeFirst()
      return numUpdatedRows === 1n
    },
    async resealCredential(credentialId, version, formerKeyId, { sealedToken, keyId }) {
      const { numUpdatedRows } = await kysely
        .updateTable('credential')
        .set({ sealed_token: sealedToken, key_id: keyId })
        .where('id', '=', credentialId)
        .where('version', '=', version)
        .where('key_id', '=', formerKeyId)
        .executeTakeFirst()
      return numUpdatedRows === 1n
    },
    async forgetCredential(credentialId) {
      await kysely.deleteFrom('access_token').where('credential_id', '=', credentialId).execute()
      await kysely
        .updateTable('credential')
        .set((of) => ({
          sealed_token: '',
          state: 'expired',
          expired_reason: 'disconnected',
          version: of('version', '+', 1),
        }))
        .where('id', '=', credentialId)
        .execute()
    },
    async credentialsNotUnderKey(keyId) {
      const rows = await kysely
        .selectFrom('credential')
        .where('key_id', '!=', keyId)
        .where('sealed_token', '!=', '')
        .orderBy('id')
        .selectAll()
        .execute()
      return rows.map(toCredential)
    },
  }
}

function toCredential(row: Selectable<CredentialTable>): CredentialRecord {
  return {
    id: row.id,
    accountId: row.account_id,
    provider: row.provider,
    subject: row.subject,
    label: row.label,
    scopes: row.scopes,
    sealedToken: row.sealed_token,
    keyId: row.key_id,
    version: row.version,
    state: row.state,
    expiredReason: row.expired_reason,
    createdAtMs: row.created_at_ms,
    connectedAtMs: row.connected_at_ms,
  }
}
