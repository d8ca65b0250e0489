import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import type { SheetRecord } from '../../../src/store/sheets/sheets.ts'
import { migrate } from '../../../src/store/sql/migrate.ts'
import type { SqlDatabase } from '../../../src/store/sql/sql-database.ts'
import { createSqlStore } from '../../../src/store/sql/sql-store.ts'
import { openSqlite } from '../../../src/store/sql/sqlite/sqlite-database.ts'
import { createVirtualTime, type VirtualTime } from '../../writing/simulation/virtual-time.ts'

/** Production's store, by the clock of a simulation. Any number of histories follow each other in it, each on a sheet of its own. */
export interface SimulatedStore {
  database: SqlDatabase
  time: VirtualTime
  newSheet(keyColumn: string | null): Promise<{ sheet: SheetRecord }>
}

export async function openSimulatedStore(t: {
  after(work: () => Promise<void>): void
}): Promise<SimulatedStore> {
  const folder = await mkdtemp(join(tmpdir(), 'rowport-simulation-'))
  const time = createVirtualTime(0)
  // In these histories only calls take time, and nothing that is worked out.
  const opened = openSqlite(join(folder, 'rowport.db'), time, { elapsedMs: () => 0 })
  // Nobody asks what survives a power cut.
  await sql`pragma synchronous = off`.execute(opened.kysely)
  const database: SqlDatabase = { ...opened, passing: (work) => work(opened.kysely) }
  t.after(async () => {
    await database.close()
    await rm(folder, { recursive: true, force: true })
  })
  await migrate(database, 0, () => {})
  const store = createSqlStore(database, time)
  let made = 0
  return {
    database,
    time,
    async newSheet(keyColumn) {
      const slug = `account-${++made}`
      const account = await store.createAccount({ slug, plan: 'pro' })
      assert.ok(account !== 'slug_taken')
      const place = { provider: 'faulty', source: `far:${made}`, location: '{}', credentialId: null }
      const asked = { accountId: account.id, slug: 'sheet', ...place, access: 'private' } as const
      const created = await store.createSheet(asked)
      assert.ok(typeof created === 'object')
      if (keyColumn !== null) await store.changeSheet(created.id, { keyColumn })
      const sheet = await store.sheetById(created.id)
      assert.ok(sheet)
      return { sheet }
    },
  }
}
