import type { CompiledQuery, Kysely } from 'kysely'
import type { CredentialState, KeyMode, KeyScope, SheetAccepts, SheetAccess, Tables } from '../sql/schema.ts'
import type { ColumnValues, LookUpClock } from '../sql/sql-database.ts'
import type { Facts } from './admission-facts.ts'

/**
 * Account, sheet, the state of its credential, and key in one statement, for both address forms. The key is joined only where it is active,
 * belongs to that account and opens that sheet, so the caller cannot confuse tenants: a foreign key is no key.
 */
export function compileLookUps(
  kysely: Kysely<Tables>,
  clock: LookUpClock,
): { a: CompiledQuery; b: CompiledQuery } {
  const one = kysely.selectNoFrom((of) => of.lit(1).as('one')).as('only')
  const bySlugs = kysely
    .selectFrom(one)
    .leftJoin('account', (join) => join.on('account.slug', '=', ''))
    .leftJoin('sheet', (join) => join.onRef('sheet.account_id', '=', 'account.id').on('sheet.slug', '=', ''))
  const byId = kysely
    .selectFrom(one)
    .leftJoin('sheet', (join) => join.on('sheet.id', '=', ''))
    .leftJoin('account', (join) => join.onRef('account.id', '=', 'sheet.account_id'))
  return { a: withKey(bySlugs), b: withKey(byId as typeof bySlugs) }

  function withKey(addressed: typeof bySlugs): CompiledQuery {
    return addressed
      .leftJoin('credential', (join) => join.onRef('credential.id', '=', 'sheet.credential_id'))
      .leftJoin('api_key', (join) =>
        join
          .on('api_key.hash', '=', '')
          .on('api_key.revoked_at_ms', 'is', null)
          .onRef('api_key.account_id', '=', 'account.id')
          .on((where) =>
            where.or([
              where('api_key.sheet_id', 'is', null),
              where('api_key.sheet_id', '=', where.ref('sheet.id')),
            ]),
          ),
      )
      .select([
        'account.id as account_id',
        'account.plan',
        'account.requests_per_minute',
        'account.requests_per_month',
        'account.created_at_ms',
        'sheet.id as sheet_id',
        'sheet.paused',
        'sheet.access',
        'sheet.accepts',
        'sheet.cache_seconds',
        'sheet.stale_if_error_seconds',
        'sheet.write_seq',
        'credential.state',
        'api_key.id as key_id',
        'api_key.mode',
        'api_key.scope',
        'api_key.expires_at_ms',
      ])
      .select(clock.column.as('now_ms'))
      .compile()
  }
}

/** The columns above, in their order. */
export function toFacts(row: ColumnValues | null, clock: LookUpClock): Facts {
  if (!row) return { account: null, sheet: null, key: null }
  const [accountId, plan, requestsPerMinute, requestsPerMonth, createdAtMs] = row as AllColumns
  const [, , , , , sheetId, paused, access, accepts, cacheSeconds, staleIfErrorSeconds, writeSeq] =
    row as AllColumns
  const [, , , , , , , , , , , , credentialState, keyId, mode, scope, expiresAtMs, told] = row as AllColumns
  const { nowMs, timeOfDayMs: lookedUpAtMs } = clock.read(told)
  const isKey = keyId !== null && (expiresAtMs === null || expiresAtMs > nowMs)
  return {
    account:
      accountId === null
        ? null
        : { id: accountId, plan, requestsPerMinute, requestsPerMonth, createdAtMs, lookedUpAtMs },
    sheet:
      sheetId === null
        ? null
        : {
            id: sheetId,
            paused: paused === 1,
            access,
            accepts,
            cacheSeconds,
            staleIfErrorSeconds,
            writeSeq,
            needsReconnect: credentialState !== null && credentialState !== 'valid',
          },
    key: isKey ? { id: keyId, mode, scope } : null,
  }
}

type AccountColumns = [
  id: string | null,
  plan: string,
  requestsPerMinute: number | null,
  requestsPerMonth: number | null,
  createdAtMs: number,
]
type SheetColumns = [
  id: string | null,
  paused: number,
  access: SheetAccess,
  accepts: SheetAccepts,
  cacheSeconds: number,
  staleIfErrorSeconds: number,
  writeSeq: number,
  /** null for a sheet without one: a credential that a sheet names is never removed. */
  credentialState: CredentialState | null,
]
type KeyColumns = [id: string | null, mode: KeyMode, scope: KeyScope, expiresAtMs: number | null]
type AllColumns = [...AccountColumns, ...SheetColumns, ...KeyColumns, nowMs: number | null]
