import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { systemClock } from '../../src/clock.ts'
import { locateGoogleTab } from '../../src/providers/google/google-location.ts'
import { createRegisterValue } from '../../src/shared-state/registers/register-value.ts'
import { namesForm, sharedValueContract } from '../../src/shared-state/registers/shared-value.contract.ts'
import { migrate } from '../../src/store/sql/migrate.ts'
import { openPostgres } from '../../src/store/sql/postgres/postgres-database.ts'
import type { SqlDatabase } from '../../src/store/sql/sql-database.ts'
import { createSqlStore } from '../../src/store/sql/sql-store.ts'
import { openSqlite } from '../../src/store/sql/sqlite/sqlite-database.ts'
import { type LocalGoogle, spreadsheetsScope, startLocalGoogle } from '../emulator/harness.ts'
import { done } from '../harness.ts'
import { findPostgres, startPostgres } from '../servers/postgres.ts'
import { connectOwner, googleAt, owner } from '../writing/google-ground.ts'
import { type Cluster, skipCluster, startCluster } from './cluster.ts'

/** What instances count together for Google; at full demand and with time to pass in `shared-rations.test.ts`. */

const skip = findPostgres() ? false : 'PostgreSQL is not on this machine'
let server: Awaited<ReturnType<typeof startPostgres>> | null = null
let tests = 0

before(async () => {
  if (!skip) server = await startPostgres({ fsync: false })
})
after(() => server?.stop())

sharedValueContract(
  "PostgreSQL's registers",
  (t, names) => valuesOn(t, names, () => openPostgres(server?.url ?? '', 2)),
  skip,
)

sharedValueContract(
  "SQLite's registers",
  async (t, names) => {
    const folder = await mkdtemp(join(tmpdir(), 'rowport-registers-'))
    t.after(() => rm(folder, { recursive: true, force: true }))
    return valuesOn(t, names, () => openSqlite(join(folder, 'rowport.db'), systemClock))
  },
  false,
)

test('three instances spend one ration, and Redis is killed meanwhile: no refusal of Google, no failed request', {
  skip: skipCluster,
}, async (t) => {
  const { cluster, local, ask } = await startWithSheets(t, 3, 80)
  const first = await Promise.all(Array.from({ length: 31 }, (_, n) => ask(n)))
  assert.deepEqual(new Set(first), new Set([200]), 'half of the ration is there at once, for all together')
  await cluster.redis.kill()
  const begunMs = performance.now()
  const enough = new AbortController()
  const asked = Array.from({ length: 45 }, (_, n) => ask(31 + n, enough.signal))
  await firstAnswered(asked)
  // Long enough for others who would push in.
  await sleep(1_500)
  const tookMs = performance.now() - begunMs
  enough.abort()
  const answered = (await Promise.all(asked)).filter((status) => status !== null)
  const statuses = (await readsOf(local)).map(({ status }) => status)
  process.stdout.write(
    `rations: 31 + 45 reads at once on 3 instances, Redis killed between: Google counted ${statuses.length}, ` +
      `${statuses.filter((status) => status === 429).length} × 429; ${answered.length} of the 45 had their turn in ` +
      `${(tookMs / 1_000).toFixed(1)} s, the others were still waiting\n`,
  )
  assert.deepEqual(new Set(statuses), new Set([200]))
  assert.deepEqual(new Set(answered), new Set([200]))
  // One every two seconds is what is left of the minute.
  assert.ok(answered.length <= 2 + tookMs / 1_000, `${answered.length} had their turn in ${tookMs} ms`)
})

test('what instances count together is still there after PostgreSQL was killed', { skip }, async (t) => {
  const killed = await startPostgres()
  t.after(() => killed.stop())
  const [value] = await valuesOn(t, ['a'], () => openPostgres(killed.url, 1))
  await value?.change((names) => names.push('taken'))
  await killed.kill()
  await killed.restart()
  const [fresh] = await valuesOn(t, ['a'], () => openPostgres(killed.url, 1), tests)
  await fresh?.change(() => null)
  assert.deepEqual(fresh?.known().value, ['taken'])
})

async function valuesOn(t: TestContext, names: readonly string[], open: () => SqlDatabase, run = ++tests) {
  const prefix = `test ${run}`
  const values = []
  for (const name of names) {
    const database = open()
    await migrate(database, 0, () => {})
    const store = createSqlStore(database, systemClock)
    const registers = { readRegister: store.readRegister, swapRegister: store.swapRegister }
    const value = createRegisterValue({
      name: `${prefix} ${name}`,
      form: namesForm,
      registers,
      clock: systemClock,
    })
    t.after(async () => {
      value.close()
      await store.close()
    })
    values.push(value)
  }
  return values
}

/** Sheets of one owner, each of which costs one read at a Google that holds everyone to its rations. */
async function startWithSheets(t: TestContext, instances: number, sheets: number) {
  const local = await startLocalGoogle(t)
  const cluster: Cluster = await startCluster(t, {
    instances,
    google: googleAt(local.url),
  })
  const { workshop } = cluster
  const { refresh_token } = await local.tokens(owner, [spreadsheetsScope])
  const account = done(await workshop.accounts.find('acme'))
  const credentialId = await connectOwner(workshop.store, workshop.sealing, account.id, refresh_token)
  const key = await cluster.createKey()
  const tabs = [{ title: 'Items', values: [['name'], ['first']] }]
  const { spreadsheetId } = await local.control('POST', 'spreadsheets', { title: 'Shop', owner, tabs })
  const place = locateGoogleTab({ spreadsheetId: String(spreadsheetId), tabId: 0 })
  const asked = {
    accountSlug: 'acme',
    access: 'private',
    provider: 'google',
    credentialId,
    ...place,
  } as const
  const slugs = Array.from({ length: sheets }, (_, n) => `sheet-${n}`)
  // One by one: on a crowded machine, eighty at once wait too long for their connections.
  for (const sheetSlug of slugs) done(await workshop.sheets.connect({ ...asked, sheetSlug }))
  await local.control('POST', 'settings', { quotas: true })

  /** Its status; null when there was none for long, or until nobody wanted it any more. */
  async function ask(sheet: number, enough?: AbortSignal): Promise<number | null> {
    const url = `${cluster.instances[sheet % instances]?.url}/api/sheets/acme/sheet-${sheet}`
    const signal = AbortSignal.any([AbortSignal.timeout(20_000), ...(enough ? [enough] : [])])
    const wish = { headers: { Authorization: `Bearer ${key}` }, signal }
    try {
      const answer = await fetch(url, wish)
      await answer.arrayBuffer()
      return answer.status
    } catch {
      return null
    }
  }
  return { cluster, local, ask }
}

async function firstAnswered(asked: readonly Promise<number | null>[]): Promise<void> {
  await Promise.any(
    asked.map(async (status) => {
      if ((await status) === null) throw new Error('It had no answer')
    }),
  )
}

async function readsOf(local: LocalGoogle): Promise<{ kind: string; status: number }[]> {
  const { calls } = await local.control<{ calls: { kind: string; status: number }[] }>('GET', 'calls')
  return calls.filter(({ kind }) => kind === 'read')
}
