import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { openWorkshop } from '../../src/assemble/open-workshop.ts'
import { startServer } from '../../src/assemble/start-server.ts'
import type { Workshop } from '../../src/assemble/workshop.ts'
import { type Clock, systemClock } from '../../src/clock.ts'
import { parseConfig } from '../../src/config.ts'
import { locateGoogleTab } from '../../src/providers/google/google-location.ts'
import { createSealing } from '../../src/secrets/sealing.ts'
import { spreadsheetsScope, startLocalGoogle } from '../emulator/harness.ts'
import { plenty } from '../google/writing-ground.ts'
import { done } from '../harness.ts'
import { findPostgres, startPostgres } from '../servers/postgres.ts'
import { connectOwner, googleAt, owner } from '../writing/google-ground.ts'

const before = 'the secret of yesterday'
const since = 'the secret of tomorrow'
const skip = findPostgres() ? false : 'PostgreSQL is not on this machine'

interface Instance {
  url: string
  workshop: Workshop
  close(): Promise<void>
}

type Secrets = { ROWPORT_SECRET: string; ROWPORT_NEXT_SECRET?: string; ROWPORT_FORMER_SECRETS?: string }

/** docs/operating.md, "Changing the secret". */
const step0: Secrets = { ROWPORT_SECRET: before }
const step1: Secrets = { ROWPORT_SECRET: before, ROWPORT_NEXT_SECRET: since }
const step2: Secrets = { ROWPORT_SECRET: since, ROWPORT_FORMER_SECRETS: before }
const step3: Secrets = { ROWPORT_SECRET: since }

/** An owner who connected long before anything was changed. */
const longAgo: Clock = { ...systemClock, nowMs: () => systemClock.nowMs() - 10 * 60_000 }

/** Step by step, each instance replaced while the other one serves. */
test('the secret is changed on two instances without an outage, and afterwards the old one opens nothing', {
  skip,
}, async (t) => {
  const { start, connect, refresh } = await setUp(t)
  const live = [await start(step0, longAgo), await start(step0)]
  await connect(instanceOf(live), 'early')
  const known = ['early']
  const statuses = new Map<string, number>()
  let isOver = false
  const loading = (async () => {
    while (!isOver) {
      for (const slug of known) {
        // Each time their tokens were just taken away: only who can open the credential gets another one.
        await refresh()
        for (const status of await Promise.all(live.map((instance) => statusOf(instance, slug)))) {
          statuses.set(`${slug} ${status}`, (statuses.get(`${slug} ${status}`) ?? 0) + 1)
        }
      }
      await sleep(50)
    }
  })()
  t.after(() => {
    isOver = true
    return loading
  })

  await replaceAll(step1)
  await replaceAll(step2, async (old, at) => {
    // Owners connect at this very moment, where the old secret is still the one that seals.
    await connect(old, `during-${at}`)
    known.push(`during-${at}`)
  })
  const begunMs = performance.now()
  while ((await underTheOld(instanceOf(live))).length > 0) {
    await sleep(50)
    assert.ok(performance.now() - begunMs < 20_000, 'something is still sealed under the old secret')
  }
  const resealedMs = performance.now() - begunMs
  await replaceAll(step3)
  isOver = true
  await loading
  for (const slug of known) {
    await refresh()
    const last = await Promise.all(live.map((instance) => statusOf(instance, slug)))
    assert.deepEqual(last, [200, 200], slug)
  }

  process.stdout.write(
    `secret: changed on 2 instances under load, 3 owners: ${[...statuses].map(([what, count]) => `${count} × ${what}`).join(', ')}; ` +
      `all sealed anew ${(resealedMs / 1_000).toFixed(1)} s after the last old instance had ended\n`,
  )
  assert.deepEqual(
    [...statuses.keys()].filter((what) => !what.endsWith(' 200')),
    [],
  )
  assert.deepEqual([...statuses.keys()].length, 3)

  /** As a deployment does: the new one is there before the old one goes. */
  async function replaceAll(secrets: Secrets, atTheLast?: (old: Instance, at: number) => Promise<void>) {
    for (const at of [0, 1]) {
      const old = live[at]
      assert.ok(old)
      live[at] = await start(secrets)
      await atTheLast?.(old, at)
      await sleep(50)
      await old.close()
    }
  }
})

test('an old instance that starts again while others have the new secret seals nothing back, whoever comes first', {
  skip,
}, async (t) => {
  const { start, connect, refresh } = await setUp(t)
  const old = await start(step1, longAgo)
  await connect(old, 'early')
  const first = await start(step2)
  assert.deepEqual(await underTheOld(first), [], 'from the first new one on')
  const again = await start(step1, longAgo)
  const second = await start(step2)
  await connect(again, 'late')
  for (const slug of ['early', 'late']) {
    await refresh()
    for (const instance of [old, first, again, second])
      assert.equal(await statusOf(instance, slug), 200, slug)
  }
  // Longer than any of them waits before it looks again.
  await sleep(5_500)
  assert.deepEqual(await underTheOld(first), [])
  await Promise.all([old, again, first, second].map((instance) => instance.close()))
  const last = await start(step3)
  for (const slug of ['early', 'late']) assert.equal(await statusOf(last, slug), 200, slug)
})

async function underTheOld({ workshop }: Instance): Promise<string[]> {
  const { keyId } = createSealing(since, [])
  return (await workshop.store.credentialsNotUnderKey(keyId)).map(({ id }) => id)
}

async function setUp(t: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), 'rowport-secret-'))
  const postgres = await startPostgres({ fsync: false })
  const local = await startLocalGoogle(t)
  const instances: Instance[] = []
  t.after(async () => {
    await Promise.all(instances.map((instance) => instance.close()))
    await postgres.stop()
    await rm(folder, { recursive: true, force: true })
  })
  return {
    async start(secrets: Secrets, clock = systemClock): Promise<Instance> {
      const env = {
        PORT: '0',
        BASE_URL: 'http://rowport.test',
        ROWPORT_DATA: folder,
        // It reads as often as the machine allows, without a key and from one address.
        ROWPORT_SHARES: '{"public_requests_per_minute": 1000000}',
        ...secrets,
      }
      const config = parseConfig({ ...env, DATABASE_URL: postgres.url }, false)
      if ('problems' in config) throw new Error(config.problems.join('; '))
      const google = { ...googleAt(local.url), rations: plenty }
      const workshop = await openWorkshop({ ...config, google }, clock, () => {})
      const server = await startServer({ ...config, google }, workshop, clock)
      let isOpen = true
      const instance = {
        url: `http://127.0.0.1:${server.port}`,
        workshop,
        async close() {
          if (!isOpen) return
          isOpen = false
          await server.close(10_000)
          await workshop.close()
        },
      }
      instances.push(instance)
      return instance
    },
    /** An account of that name, connected to Google through this instance, with one public sheet. */
    async connect({ workshop }: Instance, slug: string): Promise<void> {
      const account = done(await workshop.accounts.create(slug, 'enterprise'))
      const { refresh_token } = await local.tokens(owner, [spreadsheetsScope])
      const credentialId = await connectOwner(workshop.store, workshop.sealing, account.id, refresh_token)
      const tabs = [{ title: 'Items', values: [['name'], ['first']] }]
      const { spreadsheetId } = await local.control('POST', 'spreadsheets', { title: slug, owner, tabs })
      const place = locateGoogleTab({ spreadsheetId: String(spreadsheetId), tabId: 0 })
      const asked = {
        accountSlug: slug,
        sheetSlug: 'stock',
        access: 'public-read',
        provider: 'google',
      } as const
      done(await workshop.sheets.connect({ ...asked, credentialId, ...place }))
    },
    async refresh(): Promise<void> {
      await local.control('POST', `grants/${owner}/expire`)
    },
  }
}

async function statusOf({ url }: Instance, slug: string): Promise<number> {
  const headers = { 'Cache-Control': 'no-cache' }
  const answer = await fetch(`${url}/api/sheets/${slug}/stock`, { headers }).catch(() => null)
  await answer?.arrayBuffer()
  return answer?.status ?? 0
}

function instanceOf([first]: readonly Instance[]): Instance {
  assert.ok(first)
  return first
}
