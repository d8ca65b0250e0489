import type { CompiledQuery, Kysely } from 'kysely'
import type { KeyMode, KeyScope, SheetAccepts, SheetAccess, Tables } from './schema.ts'
import type { ColumnValues } from './sql-database.ts'
import type { Facts } from './store.ts'

/**
 * Account, sheet and key in one statement, for both address forms. The key is joined only where it is active,
 * belongs to that account and opens that sheet, so the caller cannot confuse tenants: a foreign key is no key.
 */
export function compileLookUps(kysely: Kysely<Tables>): { a: CompiledQuery; b: CompiledQuery } {
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
        'sheet.write_seq',
        'api_key.id as key_id',
        'api_key.mode',
        'api_key.scope',
      ])
      .compile()
  }
}

/** The columns above, in their order. */
export function toFacts(row: ColumnValues | null): Facts {
  if (!row) return { account: null, sheet: null, key: null }
  const [accountId, plan, requestsPerMinute, requestsPerMonth, createdAtMs] = row as AllColumns
  const [, , , , , sheetId, paused, access, accepts, cacheSeconds, writeSeq, keyId, mode, scope] =
    row as AllColumns
  return {
    account:
      accountId === null ? null : { id: accountId, plan, requestsPerMinute, requestsPerMonth, createdAtMs },
    sheet:
      sheetId === null
        ? null
        : { id: sheetId, paused: paused === 1, access, accepts, cacheSeconds, writeSeq },
    key: keyId === null ? null : { id: keyId, mode, scope },
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
  writeSeq: number,
]
type KeyColumns = [id: string | null, mode: KeyMode, scope: KeyScope]
type AllColumns = [...AccountColumns, ...SheetColumns, ...KeyColumns]
