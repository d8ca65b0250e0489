import { existsSync } from 'node:fs'
import type { ServerInspection } from '../assemble/inspection.ts'
import type { Config } from '../config.ts'
import { StoreUnwritable } from '../errors.ts'
import { inPlainWords } from '../plain-words.ts'
import type { StoreInspection } from '../store/sql/inspection.ts'
import { newestMigration } from '../store/sql/migrate.ts'
import { type Finding, fine, wrong } from './finding.ts'

export type Inspected = StoreInspection & { aheadMs: number | null }

/**
 * Reachable, of this version's make, and writable: a write is tried and taken back. SQLite does that in memory, so it says
 * nothing of a full disk: `isRoomy` does.
 */
export async function examineStore(
  config: Config,
  inspection: ServerInspection,
  isRoomy: boolean,
): Promise<{ finding: Finding; inspected: Inspected | null }> {
  const { store } = config
  const isSqlite = store.kind === 'sqlite'
  if (isSqlite && !existsSync(store.path)) {
    const says =
      'There is none in the data folder yet; the first start makes it. Is ROWPORT_DATA set as for the server?'
    return { finding: fine('Store', says), inspected: null }
  }
  const engine = isSqlite ? 'SQLite' : 'PostgreSQL'
  try {
    const inspected = await inspection.store(store)
    return { finding: verdict(engine, inspected, isRoomy), inspected }
  } catch (error) {
    const says =
      error instanceof StoreUnwritable
        ? `It can be read, but not written to: ${error.reason}.`
        : `${sentence(inPlainWords(error, config))}.`
    return { finding: wrong('Store', says, isSqlite ? adviceOnSqlite : adviceOnPostgres), inspected: null }
  }
}

function verdict(engine: string, { newestMigration: newest, sheets }: Inspected, isRoomy: boolean): Finding {
  if (newest === null) return fine('Store', `${engine} is empty; the first start makes its tables.`)
  if (newest > newestMigration) {
    const says = `${engine} was brought up to date by a newer Rowport (step ${newest}; this one knows ${newestMigration}).`
    return wrong('Store', says, 'Start the newer version, or restore the backup that was made before it.')
  }
  if (newest < newestMigration) {
    const says = `${engine} is of an older version (step ${newest} of ${newestMigration}); the next start brings it up to date.`
    return fine('Store', says)
  }
  const can = isRoomy ? 'can be read and written to' : 'can be read'
  return fine('Store', `${engine} ${can}; ${countSheets(sheets.length)} connected.`)
}

const adviceOnSqlite =
  'If the disk is full or read-only, mend that; if another process keeps it locked, see which; if it is damaged, restore the backup.'
const adviceOnPostgres =
  'See that the server runs and takes writes, and that DATABASE_URL names it, its user and its database.'

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

function countSheets(sheets: number): string {
  return sheets === 1 ? '1 sheet is' : `${sheets} sheets are`
}
