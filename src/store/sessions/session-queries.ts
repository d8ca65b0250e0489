import { type CompiledQuery, type ExpressionBuilder, type Kysely, sql } from 'kysely'
import type { Tables } from '../sql/schema.ts'
import { type ColumnValues, inMs, type LookUpClock, type SqlDatabase } from '../sql/sql-database.ts'
import type { SessionLimits, SessionStore } from './sessions.ts'

/** A dashboard asks often; a write for each request would be a write for nothing. */
const touchEveryMs = 60_000
/** Upper bound for one account: more than anybody has tabs open on the way to a provider. */
const maxConnectAttempts = 20

export function createSessionQueries(database: SqlDatabase): SessionStore {
  const { kysely, lookUpClock } = database
  // Like a key's: whoever asks with a session that is none costs no more than a stranger at the API.
  const lookUpSession = database.prepareOne(compileSessionLookUp(kysely, lookUpClock), (row) =>
    toFoundSession(row, lookUpClock),
  )
  return {
    async nowMs() {
      const { now } = await kysely.selectNoFrom(database.nowMs().as('now')).executeTakeFirstOrThrow()
      return now
    },
    async createSession(idHash, accountId) {
      const nowMs = database.nowMs()
      await kysely
        .insertInto('session')
        .values({ id_hash: idHash, account_id: accountId, created_at_ms: nowMs, last_seen_at_ms: nowMs })
        .execute()
    },
    async findSession(idHash, { idleMs, maxAgeMs }) {
      const found = await lookUpSession([idHash])
      if (!found) return null
      const { account, createdAtMs, ageMs, sinceLastSeenMs } = found
      if (sinceLastSeenMs > idleMs || ageMs > maxAgeMs) {
        await endSession(idHash)
        return null
      }
      if (sinceLastSeenMs >= touchEveryMs) {
        const nowMs = database.nowMs()
        await kysely
          .updateTable('session')
          .set({ last_seen_at_ms: nowMs })
          .where('id_hash', '=', idHash)
          .where('last_seen_at_ms', '<', nowMs)
          .execute()
      }
      return { account, createdAtMs, ageMs }
    },
    async countSessions(accountId, limits) {
      const { count } = await kysely
        .selectFrom('session')
        .where('account_id', '=', accountId)
        .where(isLiving(limits))
        .select((of) => of.fn.countAll<number | string>().as('count'))
        .executeTakeFirstOrThrow()
      return Number(count)
    },
    endSession,
    async endSessionsOf(accountId, exceptHash = '') {
      await kysely.transaction().execute(async (transaction) => {
        await transaction
          .deleteFrom('session')
          .where('account_id', '=', accountId)
          .where('id_hash', '!=', exceptHash)
          .execute()
        await endConsoleKeys(transaction)
          .where('account_id', '=', accountId)
          .where('session_hash', '!=', exceptHash)
          .execute()
      })
    },
    keepNewestSessions(accountId, most, limits) {
      return kysely.transaction().execute(async (transaction) => {
        // They would take the places of those that live.
        const over = await transaction
          .deleteFrom('session')
          .where('account_id', '=', accountId)
          .where((of) => of.not(isLiving(limits)(of)))
          .returning('id_hash')
          .execute()
        const ended = await transaction
          .deleteFrom('session')
          .where('account_id', '=', accountId)
          .where('id_hash', 'not in', (of) =>
            of
              .selectFrom('session')
              .where('account_id', '=', accountId)
              .orderBy('created_at_ms', 'desc')
              .orderBy('id_hash')
              .limit(most)
              .select('id_hash'),
          )
          .returning('id_hash')
          .execute()
        const hashes = [...over, ...ended].map(({ id_hash }) => id_hash)
        if (hashes.length > 0) await endConsoleKeys(transaction).where('session_hash', 'in', hashes).execute()
        return ended.length
      })
    },

    async createSignInLink(hash, accountId, lifeMs) {
      // Those that nobody followed go now: no job is needed that could be forgotten.
      await kysely.deleteFrom('sign_in_link').where('expires_at_ms', '<=', database.nowMs()).execute()
      await kysely
        .insertInto('sign_in_link')
        .values({ hash, account_id: accountId, expires_at_ms: inMs(database.nowMs(), lifeMs) })
        .execute()
    },
    async takeSignInLink(hash) {
      const row = await kysely
        .deleteFrom('sign_in_link')
        .where('hash', '=', hash)
        .where('expires_at_ms', '>', database.nowMs())
        .returning('account_id')
        .executeTakeFirst()
      return row?.account_id ?? null
    },

    async createConnectAttempt(attempt, lifeMs) {
      await kysely.deleteFrom('connect_attempt').where('expires_at_ms', '<=', database.nowMs()).execute()
      await kysely
        .insertInto('connect_attempt')
        .values({
          state_hash: attempt.stateHash,
          session_hash: attempt.sessionHash,
          account_id: attempt.accountId,
          provider: attempt.provider,
          code_verifier: attempt.codeVerifier,
          return_to: attempt.returnTo,
          expires_at_ms: inMs(database.nowMs(), lifeMs),
        })
        .execute()
      await kysely
        .deleteFrom('connect_attempt')
        .where('account_id', '=', attempt.accountId)
        .where('state_hash', 'not in', (of) =>
          of
            .selectFrom('connect_attempt')
            .where('account_id', '=', attempt.accountId)
            .orderBy('expires_at_ms', 'desc')
            .orderBy('state_hash')
            .limit(maxConnectAttempts)
            .select('state_hash'),
        )
        .execute()
    },
    async takeConnectAttempt(stateHash, sessionHash) {
      const row = await kysely
        .deleteFrom('connect_attempt')
        .where('state_hash', '=', stateHash)
        .where('session_hash', '=', sessionHash)
        .where('expires_at_ms', '>', database.nowMs())
        .returningAll()
        .returning(sql<number>`expires_at_ms - ${database.nowMs()}`.as('left_ms'))
        .executeTakeFirst()
      if (!row) return null
      return {
        stateHash: row.state_hash,
        sessionHash: row.session_hash,
        accountId: row.account_id,
        provider: row.provider,
        codeVerifier: row.code_verifier,
        returnTo: row.return_to,
        leftMs: row.left_ms,
      }
    },
  }

  function isLiving({ idleMs, maxAgeMs }: SessionLimits) {
    const nowMs = database.nowMs()
    return (of: ExpressionBuilder<Tables, 'session'>) =>
      of.and([
        of('last_seen_at_ms', '>=', sql<number>`${nowMs} - ${sql.lit(idleMs)}`),
        of('created_at_ms', '>=', sql<number>`${nowMs} - ${sql.lit(maxAgeMs)}`),
      ])
  }

  /** The session first: a key that is being made for it holds it, and is there by the time the keys are looked for. */
  async function endSession(idHash: string): Promise<void> {
    await kysely.transaction().execute(async (transaction) => {
      await transaction.deleteFrom('session').where('id_hash', '=', idHash).execute()
      await endConsoleKeys(transaction).where('session_hash', '=', idHash).execute()
    })
  }
}

/** A key of the console is over when its time is, so that is now. Its row stays: figures tell its name. */
function endConsoleKeys(transaction: Kysely<Tables>) {
  return transaction
    .updateTable('api_key')
    .set({ expires_at_ms: 0, session_hash: '' })
    .where('session_hash', 'is not', null)
}

/** A row comes as the list of its columns. */
type SessionRow = [
  begunAtMs: number | null,
  lastSeenAtMs: number,
  accountId: string,
  slug: string,
  plan: string,
  requestsPerMinute: number | null,
  requestsPerMonth: number | null,
  accountCreatedAtMs: number,
  now: number | null,
]

function compileSessionLookUp(kysely: Kysely<Tables>, clock: LookUpClock): CompiledQuery {
  return kysely
    .selectFrom('session')
    .innerJoin('account', 'account.id', 'session.account_id')
    .where('session.id_hash', '=', '')
    .select(['session.created_at_ms as begun_at_ms', 'session.last_seen_at_ms'])
    .select(['account.id', 'account.slug', 'account.plan'])
    .select(['account.requests_per_minute', 'account.requests_per_month', 'account.created_at_ms'])
    .select(clock.column.as('now_ms'))
    .compile()
}

function toFoundSession(row: ColumnValues | null, clock: LookUpClock) {
  if (!row) return null
  const [begunAtMs, lastSeenAtMs, ...ofAccount] = row as unknown as SessionRow
  if (begunAtMs === null) return null
  const [id, slug, plan, requestsPerMinute, requestsPerMonth, createdAtMs, now] = ofAccount
  const { nowMs } = clock.read(now)
  return {
    account: { id, slug, plan, requestsPerMinute, requestsPerMonth, createdAtMs },
    createdAtMs: begunAtMs,
    ageMs: nowMs - begunAtMs,
    sinceLastSeenMs: nowMs - lastSeenAtMs,
  }
}
