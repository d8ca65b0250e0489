import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { systemClock } from '../../src/clock.ts'
import { migrate } from '../../src/store/sql/migrate.ts'
import { openSqlite } from '../../src/store/sql/sqlite/sqlite-database.ts'

/** Whoever opens a store makes these before it is migrated. */
const madeBefore = new Set(['migration', 'machine_time'])

/** The statements that make of an empty SQLite what all migrations make of it, in the order in which they made it. */
export async function schemaOfMigrations(): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'rowport-schema-'))
  try {
    const path = join(folder, 'rowport.db')
    const database = openSqlite(path, systemClock)
    await migrate(database, 0, () => {}).finally(() => database.close())
    return statementsOf(path)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function statementsOf(path: string): string[] {
  using database = new DatabaseSync(path, { readOnly: true })
  const parts = database
    .prepare(`select name, tbl_name, type, sql from sqlite_schema where sql is not null order by rowid`)
    .all()
    .filter(({ tbl_name }) => !madeBefore.has(String(tbl_name)))
  for (const { name, type } of parts) {
    if (type !== 'table') continue
    const row = database.prepare(`select 1 from "${name}" limit 1`).get()
    if (row)
      throw new Error(`A migration puts rows into ${name} of a new store: statements alone do not make it.`)
  }
  return parts.map(({ sql }) => String(sql))
}
