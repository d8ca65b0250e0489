import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDatabase } from '../../src/assemble/databases.ts'
import { systemClock } from '../../src/clock.ts'

let migrated: Promise<Buffer> | null = null

/**
 * An empty store as the newest migration leaves it, so that not every one of hundreds of servers in a test file begins with
 * all migrations. They have tests of their own.
 */
export async function putMigratedStore(path: string): Promise<void> {
  migrated ??= migrateOnce()
  await writeFile(path, await migrated, { mode: 0o600 })
}

async function migrateOnce(): Promise<Buffer> {
  const folder = await mkdtemp(join(tmpdir(), 'rowport-migrated-'))
  const path = join(folder, 'rowport.db')
  // Without what it counts from: how the machine's time is agreed upon is up to whoever opens the copy.
  const { elapsedFrom: _, ...clock } = systemClock
  const database = await openDatabase({ kind: 'sqlite', path }, clock, () => undefined)
  await database.close()
  const bytes = await readFile(path)
  await rm(folder, { recursive: true })
  return bytes
}
