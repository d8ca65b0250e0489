import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Client } from 'pg'
import { newId } from '../../src/store/new-id.ts'
import { neverReached } from '../processes.ts'

/** An account that is used: its key is known here. */
export interface KnownAccount {
  slug: string
  keyHash: string
}

interface Place {
  source: string
  location: string
}

/** So many accounts, each with a key and a sheet, straight into the store: through the front door a million would take an hour. */
export async function fillStore(
  settings: Record<string, string>,
  place: Place,
  known: readonly KnownAccount[],
  others: number,
): Promise<void> {
  const rows = known.map((account) => rowsOf(account, place))
  const url = settings.DATABASE_URL
  if (url === undefined) fillSqlite(join(settings.ROWPORT_DATA ?? '', 'rowport.db'), rows, others)
  else await fillPostgres(url, rows, others)
}

type Row = Record<string, string | number>
type RowsOfAccount = { account: Row; sheet: Row; api_key: Row }

function rowsOf({ slug, keyHash }: KnownAccount, { source, location }: Place): RowsOfAccount {
  const [accountId, created_at_ms] = [newId('acc'), Date.now()]
  return {
    account: {
      id: accountId,
      slug,
      plan: 'pro',
      requests_per_minute: neverReached,
      requests_per_month: neverReached,
      created_at_ms,
    },
    sheet: {
      id: newId('sh'),
      account_id: accountId,
      slug: 'list',
      provider: 'file',
      source,
      location,
      created_at_ms,
    },
    api_key: {
      ...{ id: newId('key'), hash: keyHash, account_id: accountId, name: 'bench', mode: 'live' },
      ...{ scope: 'read-write', shown_start: 'sk_live_AbCd', shown_end: 'wxyz', created_at_ms },
    },
  }
}

const tables = ['account', 'sheet', 'api_key'] as const

/** `nth` is there once for each of them; `random` makes a hexadecimal text of as many letters. */
function othersOf(random: (letters: number) => string, text: (sql: string) => string): string[] {
  const nth = text('nth')
  return [
    `insert into drawn select nth, 'acc_' || ${random(22)}, ${random(64)} from numbers`,
    `insert into account (id, slug, plan, requests_per_minute, requests_per_month, created_at_ms)
     select id, 'other-' || ${nth}, 'pro', ${neverReached}, ${neverReached}, ${Date.now()} from drawn`,
    `insert into sheet (id, account_id, slug, provider, source, location, created_at_ms)
     select 'sh_' || substr(hash, 1, 22), id, 'list', 'file', 'file:/other/' || ${nth} || '.csv',
       '{"path":"/other/' || ${nth} || '.csv"}', ${Date.now()} from drawn`,
    `insert into api_key (id, hash, account_id, name, mode, scope, shown_start, shown_end, created_at_ms)
     select 'key_' || substr(hash, 23, 22), hash, id, 'other', 'live', 'read-write', 'sk_live_AbCd', 'wxyz', ${Date.now()} from drawn`,
    'delete from drawn',
  ]
}

function fillSqlite(path: string, known: readonly RowsOfAccount[], others: number): void {
  const database = new DatabaseSync(path)
  try {
    database.exec(
      'pragma busy_timeout = 5000; pragma synchronous = off; pragma temp_store = memory; pragma cache_size = -500000',
    )
    database.exec('create temp table drawn (nth integer, id text, hash text)')
    const { count } = database.prepare('select count(*) as count from account').get() as { count: number }
    database.exec('begin immediate')
    for (const rows of known) {
      for (const table of tables) {
        const names = Object.keys(rows[table])
        const places = names.map(() => '?').join(', ')
        database
          .prepare(`insert into ${table} (${names.join(', ')}) values (${places})`)
          .run(...Object.values(rows[table]))
      }
    }
    if (others > 0) {
      const random = (letters: number) => `lower(hex(randomblob(${letters / 2})))`
      database.exec(
        `create temp view numbers as with recursive counted(nth) as
           (select ${count} union all select nth + 1 from counted where nth < ${count + others - 1}) select nth from counted`,
      )
      for (const sql of othersOf(random, (text) => text)) database.exec(sql)
    }
    database.exec('commit')
  } finally {
    database.close()
  }
}

async function fillPostgres(url: string, known: readonly RowsOfAccount[], others: number): Promise<void> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    // Foreign keys are not looked up for each of a million rows, which are right as they are made.
    await client.query('set session_replication_role = replica')
    await client.query('create temp table drawn (nth bigint, id text, hash text)')
    const { rows } = await client.query<{ count: string }>('select count(*) as count from account')
    const count = Number(rows[0]?.count)
    await client.query('begin')
    for (const rowsOfAccount of known) {
      for (const table of tables) {
        const names = Object.keys(rowsOfAccount[table])
        const places = names.map((_, at) => `$${at + 1}`).join(', ')
        await client.query(
          `insert into ${table} (${names.join(', ')}) values (${places})`,
          Object.values(rowsOfAccount[table]),
        )
      }
    }
    if (others > 0) {
      const random = (letters: number) =>
        `substr(encode(sha256((random()::text || nth::text)::bytea), 'hex'), 1, ${letters})`
      await client.query(
        `create temp view numbers as select nth from generate_series(${count}, ${count + others - 1}) as nth`,
      )
      for (const sql of othersOf(random, (text) => `${text}::text`)) await client.query(sql)
    }
    await client.query('commit')
    // What autovacuum and the next checkpoint would do in the minutes that are measured.
    await client.query('vacuum analyze account, sheet, api_key')
    await client.query('checkpoint')
  } finally {
    await client.end()
  }
}
