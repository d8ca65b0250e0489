import { sql } from 'kysely'
import { proofForExport, type StoreInspection } from '../inspection.ts'
import { newestMigration } from '../migrate.ts'
import { openPostgres } from './postgres-database.ts'

/** Throws `StoreFailure`, with PostgreSQL's own words as its cause, and `StoreUnwritable`. */
export async function inspectPostgres(url: string): Promise<StoreInspection> {
  const database = openPostgres(url, 1)
  const { kysely } = database
  try {
    const { rows } = await sql<{ is_made: boolean; server_ms: number }>`
      select to_regclass('migration') is not null as is_made, ${database.nowMs()} as server_ms`.execute(
      kysely,
    )
    const serverMs = rows[0]?.server_ms ?? null
    const nothing = { sheets: [], sealedBy: [], proofs: [], serverMs }
    await database.checkWritable()
    if (!rows[0]?.is_made) return { ...nothing, newestMigration: null }
    await tryToWrite()
    const { newest } = await kysely
      .selectFrom('migration')
      .select((of) => of.fn.max('number').as('newest'))
      .executeTakeFirstOrThrow()
    if (newest !== newestMigration) return { ...nothing, newestMigration: newest }
    const sheets = await kysely
      .selectFrom('sheet')
      .innerJoin('account', 'account.id', 'sheet.account_id')
      .select([sql<string>`account.slug || '/' || sheet.slug`.as('name'), 'sheet.provider', 'sheet.location'])
      .orderBy('name')
      .execute()
    const keys = await kysely
      .selectFrom('credential')
      .where('sealed_token', '!=', '')
      .select('key_id')
      .union(kysely.selectFrom('webhook').select('key_id'))
      .execute()
    const proofs = await kysely.selectFrom('provider_proof').selectAll().execute()
    return {
      newestMigration: newest,
      sheets,
      sealedBy: keys.map(({ key_id }) => key_id),
      proofs: proofs.map(proofForExport),
      serverMs,
    }
  } finally {
    await database.close()
  }

  async function tryToWrite(): Promise<void> {
    const transaction = await kysely.startTransaction().execute()
    try {
      await sql`update migration set name = name`.execute(transaction)
    } finally {
      await transaction.rollback().execute()
    }
  }
}
