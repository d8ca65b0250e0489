import { DatabaseSync } from 'node:sqlite'
import { StoreFailure } from '../../../errors.ts'
import { type InspectedSheet, proofForExport, type StoreInspection } from '../inspection.ts'
import { newestMigration } from '../migrate.ts'
import type { ProviderProofTable } from '../schema.ts'

const waitForOtherProcessesMs = 2_000

/** The file must be there: SQLite would make one. Throws `StoreFailure` with SQLite's own words as its cause. */
export function inspectSqlite(path: string): StoreInspection {
  let database: DatabaseSync | null = null
  try {
    database = new DatabaseSync(path, { timeout: waitForOtherProcessesMs })
    return inspect(database)
  } catch (error) {
    throw new StoreFailure('SQLite refused', { cause: error })
  } finally {
    database?.close()
  }
}

function inspect(database: DatabaseSync): StoreInspection {
  const nothing = { sheets: [], sealedBy: [], proofs: [], serverMs: null }
  const isMade = database.prepare(`select 1 from sqlite_schema where name = 'migration'`).get()
  if (!isMade) return { ...nothing, newestMigration: null }
  database.exec('begin immediate; update migration set name = name; rollback')
  const newest = Number(database.prepare('select max(number) as newest from migration').get()?.newest ?? 0)
  if (newest !== newestMigration) return { ...nothing, newestMigration: newest }
  const sheets = database
    .prepare(
      `select account.slug || '/' || sheet.slug as name, sheet.provider, sheet.location
      from sheet join account on account.id = sheet.account_id order by 1`,
    )
    .all() as unknown as InspectedSheet[]
  const keys = database
    .prepare(`select key_id from credential where sealed_token <> '' union select key_id from webhook`)
    .all()
  const proofs = database.prepare('select * from provider_proof').all() as unknown as ProviderProofTable[]
  return {
    newestMigration: newest,
    sheets: sheets.map((sheet) => ({ ...sheet })),
    sealedBy: keys.map(({ key_id }) => String(key_id)),
    proofs: proofs.map(proofForExport),
    serverMs: null,
  }
}
