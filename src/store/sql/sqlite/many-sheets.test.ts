import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { putMigratedStore } from '../../../../test/servers/migrated-store.ts'
import { openDatabase } from '../../../assemble/databases.ts'
import { systemClock } from '../../../clock.ts'
import type { Store } from '../../store.ts'
import { createSqlStore } from '../sql-store.ts'

/** What servers ask by themselves every second or so, on the thread that answers everybody. */
const rounds: Record<string, (store: Store) => Promise<unknown>> = {
  'which sheets are to be looked at': (store) => store.takeDueLooks(10, 15_000),
}

for (const [name, ask] of Object.entries(rounds)) {
  test(`${name} does not take longer with every sheet that there is`, async (t) => {
    const few = await processorMsOf(ask, await storeOf(t, 20))
    const many = await processorMsOf(ask, await storeOf(t, 50_000))
    assert.ok(many < 5 * few + 5, `${many.toFixed(1)} ms with 50,000 sheets, ${few.toFixed(1)} ms with 20`)
  })
}

async function storeOf(t: TestContext, sheets: number): Promise<Store> {
  const folder = mkdtempSync(join(tmpdir(), 'rowport-store-'))
  const path = join(folder, 'rowport.db')
  await putMigratedStore(path)
  fill(path, sheets)
  const database = await openDatabase({ kind: 'sqlite', path }, systemClock, () => undefined)
  t.after(async () => {
    await database.close()
    rmSync(folder, { recursive: true })
  })
  return createSqlStore(database, systemClock)
}

function fill(path: string, sheets: number): void {
  const filling = new DatabaseSync(path)
  filling.exec(`
    insert into account (id, slug, plan, created_at_ms) values ('acc_1', 'many', 'pro', 0);
    insert into sheet (id, account_id, slug, provider, source, location, created_at_ms)
      with recursive counted(nth) as (select 1 union all select nth + 1 from counted where nth < ${sheets})
      select 'sh_' || nth, 'acc_1', 'sheet-' || nth, 'file', 'file:/' || nth || '.csv', '{}', 0 from counted;
  `)
  filling.close()
}

async function processorMsOf(ask: (store: Store) => Promise<unknown>, store: Store): Promise<number> {
  // What is compiled is compiled by then.
  for (let n = 0; n < 20; n++) await ask(store)
  const begun = process.threadCpuUsage()
  for (let n = 0; n < 5; n++) await ask(store)
  const { user, system } = process.threadCpuUsage(begun)
  return (user + system) / 1_000
}
