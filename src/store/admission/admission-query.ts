import type { CompiledQuery, Kysely } from 'kysely'
import { policyOf } from '../keys/key-policy.ts'
import type {
  AutoKey,
  CredentialState,
  KeyMode,
  KeyScope,
  SheetAccepts,
  SheetAccess,
  Tables,
} from '../sql/schema.ts'
import type { ColumnValues, LookUpClock } from '../sql/sql-database.ts'
import type { Facts } from './admission-facts.ts'

/** A row comes as the list of its columns, the cheapest form of it, so their order is that of this table. */
const columns = {
  accountId: 'account.id as account_id',
  plan: 'account.plan',
  requestsPerMinute: 'account.requests_per_minute',
  requestsPerMonth: 'account.requests_per_month',
  createdAtMs: 'account.created_at_ms',
  sheetId: 'sheet.id as sheet_id',
  paused: 'sheet.paused',
  access: 'sheet.access',
  accepts: 'sheet.accepts',
  cacheSeconds: 'sheet.cache_seconds',
  staleIfErrorSeconds: 'sheet.stale_if_error_seconds',
  writeSeq: 'sheet.write_seq',
  keyColumn: 'sheet.key_column',
  autoKey: 'sheet.auto_key',
  credentialState: 'credential.state',
  keyId: 'api_key.id as key_id',
  mode: 'api_key.mode',
  scope: 'api_key.scope',
  keyExpiresAtMs: 'api_key.expires_at_ms',
  policy: 'api_key.policy',
} as const

/** null: there is no account, no sheet or no such key; what is theirs is read only where they are. */
interface LookedUp {
  accountId: string | null
  plan: string
  requestsPerMinute: number | null
  requestsPerMonth: number | null
  createdAtMs: number
  sheetId: string | null
  paused: number
  access: SheetAccess
  accepts: SheetAccepts
  cacheSeconds: number
  staleIfErrorSeconds: number
  writeSeq: number
  keyColumn: string | null
  autoKey: AutoKey
  /** null for a sheet without one: a credential that a sheet names is never removed. */
  credentialState: CredentialState | null
  keyId: string | null
  mode: KeyMode
  scope: KeyScope
  keyExpiresAtMs: number | null
  policy: string | null
}

const names = Object.keys(columns)
const places = Object.fromEntries(names.map((name, at) => [name, at])) as Record<keyof LookedUp, number>
/** The time by the store's clock comes last. */
const nowAt = names.length

/**
 * Account, sheet, the state of its credential, and key in one statement, for both address forms. The key is joined only
 * where it is active, belongs to that account and opens that sheet, so the caller cannot confuse tenants: a foreign key is
 * no key.
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
      .select(Object.values(columns))
      .select(clock.column.as('now_ms'))
      .compile()
  }
}

export function toFacts(row: ColumnValues | null, clock: LookUpClock): Facts {
  if (!row) return { account: null, sheet: null, key: null }
  const accountId = column('accountId')
  const sheetId = column('sheetId')
  const credentialState = column('credentialState')
  const keyId = column('keyId')
  const expiresAtMs = column('keyExpiresAtMs')
  const { nowMs, timeOfDayMs: lookedUpAtMs } = clock.read(row[nowAt] as number | null)
  const isKey = keyId !== null && (expiresAtMs === null || expiresAtMs > nowMs)
  return {
    account:
      accountId === null
        ? null
        : {
            id: accountId,
            plan: column('plan'),
            requestsPerMinute: column('requestsPerMinute'),
            requestsPerMonth: column('requestsPerMonth'),
            createdAtMs: column('createdAtMs'),
            lookedUpAtMs,
          },
    sheet:
      sheetId === null
        ? null
        : {
            id: sheetId,
            paused: column('paused') === 1,
            access: column('access'),
            accepts: column('accepts'),
            cacheSeconds: column('cacheSeconds'),
            staleIfErrorSeconds: column('staleIfErrorSeconds'),
            writeSeq: column('writeSeq'),
            keyColumn: column('keyColumn'),
            autoKey: column('autoKey'),
            needsReconnect: credentialState !== null && credentialState !== 'valid',
          },
    key: isKey
      ? { id: keyId, mode: column('mode'), scope: column('scope'), policy: policyOf(column('policy')) }
      : null,
  }

  function column<Name extends keyof LookedUp>(name: Name): LookedUp[Name] {
    return row?.[places[name]] as LookedUp[Name]
  }
}
