import type { Clock } from '../clock.ts'
import { toAccount } from './account-queries.ts'
import type { SessionStore } from './sessions.ts'
import type { SqlDatabase } from './sql-database.ts'

/** A dashboard asks often; a write for each request would be a write for nothing. */
const touchEveryMs = 60_000

export function createSessionQueries({ kysely }: SqlDatabase, clock: Clock): SessionStore {
  return {
    async createSession(idHash, accountId) {
      const nowMs = clock.nowMs()
      await kysely
        .insertInto('session')
        .values({ id_hash: idHash, account_id: accountId, created_at_ms: nowMs, last_seen_at_ms: nowMs })
        .execute()
    },
    async findSession(idHash, { idleMs, maxAgeMs }) {
      const row = await kysely
        .selectFrom('session')
        .innerJoin('account', 'account.id', 'session.account_id')
        .where('session.id_hash', '=', idHash)
        .selectAll('account')
        .select(['session.created_at_ms as begun_at_ms', 'session.last_seen_at_ms'])
        .executeTakeFirst()
      if (!row) return null
      const nowMs = clock.nowMs()
      if (nowMs - row.last_seen_at_ms > idleMs || nowMs - row.begun_at_ms > maxAgeMs) {
        await endSession(idHash)
        return null
      }
      if (nowMs - row.last_seen_at_ms >= touchEveryMs) {
        await kysely
          .updateTable('session')
          .set({ last_seen_at_ms: nowMs })
          .where('id_hash', '=', idHash)
          .where('last_seen_at_ms', '<', nowMs)
          .execute()
      }
      return { account: toAccount(row), createdAtMs: row.begun_at_ms }
    },
    endSession,
    async endSessionsOf(accountId, exceptHash = '') {
      await kysely
        .deleteFrom('session')
        .where('account_id', '=', accountId)
        .where('id_hash', '!=', exceptHash)
        .execute()
    },

    async createSignInLink(hash, accountId, expiresAtMs) {
      // Those that nobody followed go now: no job is needed that could be forgotten.
      await kysely.deleteFrom('sign_in_link').where('expires_at_ms', '<=', clock.nowMs()).execute()
      await kysely
        .insertInto('sign_in_link')
        .values({ hash, account_id: accountId, expires_at_ms: expiresAtMs })
        .execute()
    },
    async takeSignInLink(hash) {
      const row = await kysely
        .deleteFrom('sign_in_link')
        .where('hash', '=', hash)
        .returningAll()
        .executeTakeFirst()
      return row && row.expires_at_ms > clock.nowMs() ? row.account_id : null
    },

    async createConnectAttempt(attempt) {
      await kysely.deleteFrom('connect_attempt').where('expires_at_ms', '<=', clock.nowMs()).execute()
      await kysely
        .insertInto('connect_attempt')
        .values({
          state_hash: attempt.stateHash,
          session_hash: attempt.sessionHash,
          account_id: attempt.accountId,
          provider: attempt.provider,
          code_verifier: attempt.codeVerifier,
          return_to: attempt.returnTo,
          expires_at_ms: attempt.expiresAtMs,
        })
        .execute()
    },
    async takeConnectAttempt(stateHash, sessionHash) {
      const row = await kysely
        .deleteFrom('connect_attempt')
        .where('state_hash', '=', stateHash)
        .where('session_hash', '=', sessionHash)
        .returningAll()
        .executeTakeFirst()
      if (!row || row.expires_at_ms <= clock.nowMs()) return null
      return {
        stateHash: row.state_hash,
        sessionHash: row.session_hash,
        accountId: row.account_id,
        provider: row.provider,
        codeVerifier: row.code_verifier,
        returnTo: row.return_to,
        expiresAtMs: row.expires_at_ms,
      }
    },
  }

  async function endSession(idHash: string): Promise<void> {
    await kysely.deleteFrom('session').where('id_hash', '=', idHash).execute()
  }
}
