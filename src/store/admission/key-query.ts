import type { CompiledQuery, Kysely } from 'kysely'
import { policyOf } from '../keys/key-policy.ts'
import type { KeyMode, KeyScope, Tables } from '../sql/schema.ts'
import type { ColumnValues, LookUpClock } from '../sql/sql-database.ts'
import type { AdmissionStore } from './admission-facts.ts'

/** A row comes as the list of its columns. */
type KeyRow = [
  keyId: string | null,
  sheetId: string | null,
  mode: KeyMode,
  scope: KeyScope,
  expiresAtMs: number | null,
  policy: string | null,
  accountId: string,
  plan: string,
  createdAtMs: number,
  requestsPerMinute: number | null,
  requestsPerMonth: number | null,
  now: number | null,
]

/** A key and its account, where nobody has said which sheet is meant. Strangers can try any number of keys: it is looked up as cheaply as those for sheets. */
export function compileKeyLookUp(kysely: Kysely<Tables>, clock: LookUpClock): CompiledQuery {
  return kysely
    .selectFrom('api_key')
    .innerJoin('account', 'account.id', 'api_key.account_id')
    .where('api_key.hash', '=', '')
    .where('api_key.revoked_at_ms', 'is', null)
    .select(['api_key.id as key_id', 'api_key.sheet_id', 'api_key.mode', 'api_key.scope'])
    .select(['api_key.expires_at_ms', 'api_key.policy'])
    .select(['account.id', 'account.plan', 'account.created_at_ms'])
    .select(['account.requests_per_minute', 'account.requests_per_month'])
    .select(clock.column.as('now_ms'))
    .compile()
}

export function toKeyOfAccount(
  row: ColumnValues | null,
  clock: LookUpClock,
): Awaited<ReturnType<AdmissionStore['lookUpKey']>> {
  if (!row) return null
  const [keyId, sheetId, mode, scope, expiresAtMs, policy, ...ofAccount] = row as unknown as KeyRow
  const [id, plan, createdAtMs, requestsPerMinute, requestsPerMonth, now] = ofAccount
  const { nowMs, timeOfDayMs: lookedUpAtMs } = clock.read(now)
  if (keyId === null || (expiresAtMs !== null && expiresAtMs <= nowMs)) return null
  return {
    account: { id, lookedUpAtMs, createdAtMs, plan, requestsPerMinute, requestsPerMonth },
    key: { id: keyId, mode, scope, policy: policyOf(policy), sheetId },
  }
}
