import { type Kysely, sql } from 'kysely'
import type { Observe } from '../../reporting/observe.ts'
import { up as accountsSheetsKeys } from './migrations/001-018/001-accounts-sheets-keys.ts'
import { up as usage } from './migrations/001-018/002-usage.ts'
import { up as credentialsSessions } from './migrations/001-018/003-credentials-sessions.ts'
import { up as operations } from './migrations/001-018/004-operations.ts'
import { up as owners } from './migrations/001-018/005-owners.ts'
import { up as usageFigures } from './migrations/001-018/006-usage-figures.ts'
import { up as leases } from './migrations/001-018/010-leases.ts'
import { up as rateWindows } from './migrations/001-018/011-rate-windows.ts'
import { up as accessTokens } from './migrations/001-018/012-access-tokens.ts'
import { up as sharedCells } from './migrations/001-018/014-shared-cells.ts'
import { up as identity } from './migrations/001-018/015-identity.ts'
import { up as journalUse } from './migrations/001-018/016-journal-use.ts'
import { up as publicUsage } from './migrations/001-018/017-public-usage.ts'
import { up as lastingRegisters } from './migrations/001-018/018-lasting-registers.ts'
import { up as keyColumn } from './migrations/019-key-column.ts'
import { up as keysThatExpire } from './migrations/020-keys-that-expire.ts'
import { up as audit } from './migrations/021-audit.ts'
import { up as mail } from './migrations/022-mail.ts'
import { up as changeLog } from './migrations/023-change-log.ts'
import { up as looks } from './migrations/024-looks.ts'
import { up as webhooks } from './migrations/025-webhooks.ts'
import { up as changeOperations } from './migrations/026-change-operations.ts'
import { up as publishableKeys } from './migrations/027-publishable-keys.ts'
import { up as forms } from './migrations/028-forms.ts'
import { up as namesOfEntries } from './migrations/029-names-of-entries.ts'
import { up as providerProof } from './migrations/030-provider-proof.ts'
import { up as captchas } from './migrations/031-captchas.ts'
import { up as usageByAge } from './migrations/032-usage-by-age.ts'
import { up as changeStates } from './migrations/033-change-states.ts'
import { up as seenRows } from './migrations/034-seen-rows.ts'
import { up as changeTexts } from './migrations/035-change-texts.ts'
import { up as indexesOfReferences } from './migrations/036-indexes-of-references.ts'
import type { SqlDatabase } from './sql-database.ts'

interface Migration {
  number: number
  name: string
  up(db: Kysely<unknown>): Promise<void>
}

/**
 * All migrations in order, each run once; numbers may be left out and filled later. A landed one is never edited: what it got
 * wrong, the next one mends.
 */
const migrations: readonly Migration[] = [
  { number: 1, name: 'accounts-sheets-keys', up: accountsSheetsKeys },
  { number: 2, name: 'usage', up: usage },
  { number: 3, name: 'credentials-sessions', up: credentialsSessions },
  { number: 4, name: 'operations', up: operations },
  { number: 5, name: 'owners', up: owners },
  { number: 6, name: 'usage-figures', up: usageFigures },
  { number: 10, name: 'leases', up: leases },
  { number: 11, name: 'rate-windows', up: rateWindows },
  { number: 12, name: 'access-tokens', up: accessTokens },
  { number: 14, name: 'shared-cells', up: sharedCells },
  { number: 15, name: 'identity', up: identity },
  { number: 16, name: 'journal-use', up: journalUse },
  { number: 17, name: 'public-usage', up: publicUsage },
  { number: 18, name: 'lasting-registers', up: lastingRegisters },
  { number: 19, name: 'key-column', up: keyColumn },
  { number: 20, name: 'keys-that-expire', up: keysThatExpire },
  { number: 21, name: 'audit', up: audit },
  { number: 22, name: 'mail', up: mail },
  { number: 23, name: 'change-log', up: changeLog },
  { number: 24, name: 'looks', up: looks },
  { number: 25, name: 'webhooks', up: webhooks },
  { number: 26, name: 'change-operations', up: changeOperations },
  { number: 27, name: 'publishable-keys', up: publishableKeys },
  { number: 28, name: 'forms', up: forms },
  { number: 29, name: 'names-of-entries', up: namesOfEntries },
  { number: 30, name: 'provider-proof', up: providerProof },
  { number: 31, name: 'captchas', up: captchas },
  { number: 32, name: 'usage-by-age', up: usageByAge },
  { number: 33, name: 'change-states', up: changeStates },
  { number: 34, name: 'seen-rows', up: seenRows },
  { number: 35, name: 'change-texts', up: changeTexts },
  { number: 36, name: 'indexes-of-references', up: indexesOfReferences },
]

export const newestMigration = migrations.at(-1)?.number ?? 0

/**
 * Brings the store to the newest number. Any number of processes may start at once: the lock lets one through, and
 * the others find nothing left to do. Either all that was missing is applied or nothing is.
 */
export async function migrate(database: SqlDatabase, nowMs: number, observe: Observe): Promise<void> {
  const { missing, isNew } = await database.inMigrationLock(async (transaction) => {
    await transaction.schema
      .createTable('migration')
      .ifNotExists()
      .addColumn('number', 'integer', (column) => column.primaryKey())
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('applied_at_ms', 'bigint', (column) => column.notNull())
      .execute()
    const done = await transaction.selectFrom('migration').select('number').execute()
    const doneNumbers = new Set(done.map((row) => row.number))
    const newest = Math.max(0, ...doneNumbers)
    if (newest > newestMigration) {
      throw new Error(
        `The store was made by a newer Rowport (migration ${newest}; this one knows ${newestMigration}).`,
      )
    }
    const missing = migrations.filter((migration) => !doneNumbers.has(migration.number))
    if (missing.length === 0) return { missing, isNew: false }
    const isNew = newest === 0
    if (isNew && database.preparedSchema) {
      for (const statement of database.preparedSchema) await sql.raw(statement).execute(transaction)
    } else {
      for (const { up } of missing) await up(transaction as unknown as Kysely<unknown>)
    }
    const rows = missing.map(({ number, name }) => ({ number, name, applied_at_ms: nowMs }))
    await transaction.insertInto('migration').values(rows).execute()
    return { missing, isNew }
  })
  if (isNew) return observe({ event: 'store_made', newestMigration })
  for (const { number, name } of missing) observe({ event: 'migration_applied', number, name })
}
