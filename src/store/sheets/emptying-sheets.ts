import { shortenLogs } from '../changes/forgetting-changes.ts'
import { shortenJournal } from '../operations/forgetting-operations.ts'
import type { SqlDatabase } from '../sql/sql-database.ts'

/**
 * Takes from sheets that are about to go what may be much of, in short steps. They are paused first, and stay so if that is as far as it
 * comes: without the journal, a write that a client sends again would be done a second time.
 */
export async function emptySheets(database: SqlDatabase, sheetIds: readonly string[]): Promise<void> {
  if (sheetIds.length === 0) return
  const { kysely } = database
  await kysely.updateTable('sheet').set({ paused: 1 }).where('id', 'in', sheetIds).execute()
  await shortenLogs(database, sheetIds)
  for (const sheetId of sheetIds) await shortenJournal(database, sheetId)
}
