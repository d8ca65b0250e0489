import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import type { MovableClock } from '../../clock.ts'
import { newId } from '../new-id.ts'
import { accountWithSheet } from '../records.fixture.ts'
import type { SheetRecord } from '../sheets/sheets.ts'
import type { Tables } from '../sql/schema.ts'
import type { SqlDatabase } from '../sql/sql-database.ts'
import { createSqlStore } from '../sql/sql-store.ts'
import type { Store } from '../store.ts'
import type { StoreTest } from '../store-test.fixture.ts'

const forMs = 4_000
const wantForMs = 500
const keepMs = 24 * 60 * 60_000

export function leasesContract(of: StoreTest): void {
  of('of any number of instances that want a lease one has it', async (_store, clock, database) => {
    const stores = Array.from({ length: 8 }, () => createSqlStore(database, clock))
    assert.equal(new Set(stores.map(({ instanceId }) => instanceId)).size, 8)
    const leases = await Promise.all(stores.map((store) => store.takeLease('lane a', forMs, wantForMs)))
    assert.equal(leases.filter(Boolean).length, 1)
    assert.ok(await createSqlStore(database, clock).takeLease('lane b', forMs, wantForMs))
  })

  of(
    'a lease that was given back goes to whoever waited, not to the one who had it',
    async (one, clock, db) => {
      const two = createSqlStore(db, clock)
      const lease = await one.takeLease('a', forMs, wantForMs)
      assert.ok(lease)
      assert.equal(await two.takeLease('a', forMs, wantForMs), null)
      await one.endLease(lease)
      assert.equal(await one.takeLease('a', forMs, wantForMs), null, 'the other one is next')
      assert.ok(await two.takeLease('a', forMs, wantForMs))
    },
  )

  of('whoever waits no longer does not keep others from a lease', async (one, clock, database) => {
    const two = createSqlStore(database, clock)
    const lease = await one.takeLease('a', forMs, wantForMs)
    assert.ok(lease)
    await two.takeLease('a', forMs, wantForMs)
    await one.endLease(lease)
    await passTime(database, clock, wantForMs)
    assert.ok(await one.takeLease('a', forMs, wantForMs))
  })

  of(
    'a lease is lost when its time is over, and its former holder hears of it',
    async (one, clock, database) => {
      const two = createSqlStore(database, clock)
      const lease = await one.takeLease('a', forMs, wantForMs)
      assert.ok(lease)
      await passTime(database, clock, forMs / 2)
      assert.equal(await one.renewLease(lease, forMs), true)
      await passTime(database, clock, forMs / 2)
      assert.equal(await two.takeLease('a', forMs, wantForMs), null, 'it was renewed')
      await passTime(database, clock, forMs)
      const taken = await two.takeLease('a', forMs, wantForMs)
      assert.ok(taken && taken.fencingToken > lease.fencingToken)
      assert.equal(await one.renewLease(lease, forMs), false)
      await one.endLease(lease)
      assert.equal(await one.takeLease('a', forMs, wantForMs), null, 'what was lost cannot be given back')
    },
  )

  of('what an instance works on is not told to others while it lives', async (one, clock, database) => {
    const two = createSqlStore(database, clock)
    const { sheet } = await accountWithSheet(one)
    await one.stayAlive(forMs)
    await two.stayAlive(forMs)
    assert.equal(await two.livingInstances(), 2)
    const queued = await claim(one, sheet, 'queued')
    const sent = await claim(one, sheet, 'sent')
    await begin(one, sheet, [sent])
    assert.deepEqual(idsOf(await one.unfinishedOperations()).sort(), [queued, sent].sort())
    assert.deepEqual(await one.abandonedOperations(), [])
    assert.deepEqual(await two.unfinishedOperations(), [])
    assert.deepEqual(await two.abandonedOperations(), [])
    assert.deepEqual(idsOf(await two.sendingOperations(sheet.source)), [sent])
    assert.equal(await claim(two, sheet, 'queued'), null)

    await passTime(database, clock, forMs / 2)
    await one.stayAlive(forMs)
    await passTime(database, clock, forMs / 2)
    assert.deepEqual(await two.abandonedOperations(), [], 'it said again that it lives')

    await passTime(database, clock, forMs)
    assert.equal(await two.livingInstances(), 0)
    assert.deepEqual(idsOf(await two.abandonedOperations()).sort(), [queued, sent].sort())
    assert.deepEqual(idsOf(await two.unfinishedOperations()).sort(), [queued, sent].sort())
    assert.equal(await claim(two, sheet, 'sent'), null, 'it may have been done')
    const again = await claim(two, sheet, 'queued')
    assert.ok(again !== null && again !== queued, 'nothing of it was sent, so its key is free')
    await assert.rejects(begin(one, sheet, [queued]), /no longer open/)
  })

  of('an instance that leaves is not waited for', async (one, clock, database) => {
    const two = createSqlStore(database, clock)
    const { sheet } = await accountWithSheet(one)
    await one.stayAlive(forMs)
    const queued = await claim(one, sheet, 'k')
    await one.endInstance()
    assert.deepEqual(idsOf(await two.abandonedOperations()), [queued])
  })

  of(
    "after the server's time was set back the dead are taken over as before",
    async (one, clock, database) => {
      const two = createSqlStore(database, clock)
      const { sheet } = await accountWithSheet(one)
      await one.stayAlive(forMs)
      const queued = await claim(one, sheet, 'k')
      assert.ok(await one.takeLease('a', forMs, wantForMs))
      await database.kysely
        .updateTable('lease')
        .set((of) => ({ expires_at_ms: of('expires_at_ms', '+', 3_600_000) }))
        .execute()
      assert.deepEqual(idsOf(await two.abandonedOperations()), [queued])
      assert.equal(await two.livingInstances(), 0)
      assert.ok(await two.takeLease('a', forMs, wantForMs))
      // Whoever lives says so every second.
      await one.stayAlive(forMs)
      assert.deepEqual(await two.abandonedOperations(), [])
    },
  )

  of('old leases are forgotten, living ones never', async (store, clock, database) => {
    await store.stayAlive(forMs)
    await store.takeLease('short', 1, wantForMs)
    await store.takeLease('long', forMs, wantForMs)
    await passTime(database, clock, 1_000)
    await store.forgetOldLeases(500)
    const left = await database.kysely.selectFrom('lease').select('name').execute()
    assert.deepEqual(left.map(({ name }) => name).sort(), [`instance ${store.instanceId}`, 'long'].sort())
  })
}

const byTheStoresClock: { [T in keyof Tables]?: (keyof Tables[T] & string)[] } = {
  lease: ['expires_at_ms', 'wanted_until_ms'],
  rate_window: ['ends_at_ms'],
  shared_cell: ['ends_at_ms'],
  access_token: ['expires_at_ms'],
  session: ['created_at_ms', 'last_seen_at_ms'],
  sign_in_link: ['expires_at_ms'],
  connect_attempt: ['expires_at_ms'],
  former_slug: ['free_at_ms'],
  api_key: ['expires_at_ms'],
  operation: ['created_at_ms', 'finished_at_ms'],
  journal_use: ['hour_ms'],
  mail: ['due_at_ms', 'over_at_ms'],
  mail_link: ['expires_at_ms'],
  sheet_activity: ['told_at_ms'],
  change_chunk: ['logged_at_ms'],
  change_log: ['look_wanted_at_ms'],
  change_state: ['made_at_ms'],
  change_text: ['made_at_ms'],
  unnamed_text: ['since_ms'],
  sheet_look: ['followed_until_ms', 'looked_at_ms'],
  webhook: ['due_at_ms', 'failing_since_ms', 'former_until_ms'],
}

/** A server's own time goes on while a test looks: what lasts is looked at so long before its end. */
export const asideMs = 10_000

/** Lets time pass for what the store has by its own clock: that of a server cannot be moved, so its rows are. */
export async function passTime(database: SqlDatabase, clock: MovableClock, ms: number): Promise<void> {
  const beforeMs = await timeOf(database)
  clock.advanceMs(ms)
  if ((await timeOf(database)) - beforeMs >= ms) return
  for (const [table, columns] of Object.entries(byTheStoresClock)) {
    const moved = columns.map((column) => sql`${sql.ref(column)} = ${sql.ref(column)} - ${sql.lit(ms)}`)
    await sql`update ${sql.table(table)} set ${sql.join(moved)}`.execute(database.kysely)
  }
  // What ends exactly now has ended.
  await sleep(2)
}

export async function timeOf(database: SqlDatabase): Promise<number> {
  const { rows } = await sql<{ now: number }>`select ${database.nowMs()} as now`.execute(database.kysely)
  return rows[0]?.now ?? 0
}

function idsOf(operations: readonly { id: string }[]): string[] {
  return operations.map(({ id }) => id)
}

async function claim(store: Store, sheet: SheetRecord, idempotencyKey: string): Promise<string | null> {
  const { accountId, id: sheetId, source } = sheet
  const asked = { id: newId('op'), accountId, sheetId, source, idempotencyKey, fingerprint: 'f' }
  const answer = await store.claimOperation(asked, keepMs)
  return 'claimed' in answer ? answer.claimed : null
}

async function begin(store: Store, sheet: SheetRecord, ids: (string | null)[]): Promise<void> {
  const operations = ids.map((id) => ({ id, accountId: sheet.accountId, sheetId: sheet.id, answer: '' }))
  await store.beginSending({ source: sheet.source, fence: 'fence', place: '{}', operations })
}
