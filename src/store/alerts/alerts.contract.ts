import assert from 'node:assert/strict'
import { passTime } from '../leases/leases.contract.ts'
import { newSheet } from '../records.fixture.ts'
import { createSqlStore } from '../sql/sql-store.ts'
import type { Store } from '../store.ts'
import type { StoreTest } from '../store-test.fixture.ts'

const hourMs = 60 * 60_000
let mails = 0
const mailTo = (accountId: string) => ({
  id: `mail ${mails++}`,
  accountId,
  sealed: 's',
  keyId: 'k',
  lifeMs: hourMs,
})

async function listener(store: Store, slug: string, isEmailVerified = true) {
  const wish = { slug, plan: 'free', email: `${slug}@x.org`, passwordHash: '$', googleSubject: null }
  const made = await store.signUp({ ...wish, sessionHash: slug, isEmailVerified })
  assert.ok(typeof made === 'object')
  return made
}

async function countMails(store: Store): Promise<number> {
  for (let count = 0; ; count++) if (!(await store.takeDueMail(hourMs))) return count
}

export function alertsContract(of: StoreTest): void {
  of(
    'a broken sheet is told once, and once that it works again, at most once an hour',
    async (one, clock, database) => {
      const two = createSqlStore(database, clock)
      const { account, owner } = await listener(one, 'ada')
      const sheet = await one.createSheet(newSheet(account.id, 'stock'))
      assert.ok(typeof sheet === 'object')
      const note = (failureReason: string | null) =>
        one.addUsage({
          counts: [],
          latencies: [],
          providerCalls: [],
          recent: [],
          activity: [
            {
              sheetId: sheet.id,
              firstRequestAtMs: null,
              lastRequestAtMs: null,
              health: { failureReason, atMs: clock.nowMs() },
            },
          ],
        })
      assert.deepEqual(await one.sheetsToTell(hourMs), [])
      await note(null)
      assert.deepEqual(await one.sheetsToTell(hourMs), [], 'all is well')
      await note('the file is gone')
      const [news] = await one.sheetsToTell(hourMs)
      assert.deepEqual(news, {
        account,
        email: 'ada@x.org',
        sheetId: sheet.id,
        slug: 'stock',
        failureReason: 'the file is gone',
      })
      assert.ok(news)
      const told = await Promise.all(
        [one, two, one, two].map((store) => store.tellSheet(news, hourMs, mailTo(account.id))),
      )
      assert.deepEqual(told.filter(Boolean), [true], 'by one of all instances')
      assert.equal(await countMails(one), 1)
      assert.deepEqual(await one.sheetsToTell(hourMs), [])

      await note(null)
      assert.deepEqual(await one.sheetsToTell(hourMs), [], 'not within the hour')
      assert.equal(await one.tellSheet({ ...news, failureReason: null }, hourMs, mailTo(account.id)), false)
      await passTime(database, clock, hourMs)
      const [well] = await one.sheetsToTell(hourMs)
      assert.equal(well?.failureReason, null)
      assert.ok(well)
      assert.equal(await two.tellSheet(well, hourMs, mailTo(account.id)), true)
      await passTime(database, clock, hourMs)
      assert.deepEqual(await one.sheetsToTell(hourMs), [])
      await note('gone again')
      const [again] = await one.sheetsToTell(hourMs)
      assert.ok(again && (await one.tellSheet(again, hourMs, mailTo(account.id))))
      await one.setAlerts(owner.id, false)
      await note(null)
      await passTime(database, clock, hourMs)
      await one.setAlerts(owner.id, true)
      assert.deepEqual(await one.sheetsToTell(hourMs), [], 'what went by while nobody listened is no news')
      await note('gone once more')
      assert.equal((await one.sheetsToTell(hourMs)).length, 1)
      await one.setPaused(sheet.id, true)
      assert.deepEqual(await one.sheetsToTell(hourMs), [], 'a paused sheet is nobody’s trouble')
    },
  )

  of('only those hear of it who can be reached and want to', async (store) => {
    const { account, owner } = await listener(store, 'ada')
    const unknown = await listener(store, 'eve', false)
    for (const { id } of [account, unknown.account]) {
      await store.chargeAhead(id, Date.UTC(2026, 10, 15), 100, 90)
    }
    const emails = async () => (await store.quotasToTell(100)).map(({ email }) => email)
    assert.deepEqual(await emails(), ['ada@x.org'])
    await store.setAlerts(owner.id, false)
    assert.deepEqual(await emails(), [])
  })

  of('a mark of the quota is told once in its month, for keys and for the public apart', async (store) => {
    const { account } = await listener(store, 'ada')
    const cycleStartMs = Date.UTC(2026, 10, 15)
    await store.chargeAhead(account.id, cycleStartMs, 1_000, 799)
    assert.deepEqual(await store.quotasToTell(1_000), [])
    await store.chargeAhead(account.id, cycleStartMs, 1_000, 1)
    await store.chargePublicAhead(account.id, cycleStartMs, 1_000, 1_000)
    const uses = await store.quotasToTell(1_000)
    assert.deepEqual(
      uses.map(({ by, charged, toldPercent }) => [by, charged, toldPercent]),
      [
        ['keys', 800, 0],
        ['public', 1_000, 0],
      ],
    )
    const [byKeys, byPublic] = uses
    assert.ok(byKeys && byPublic)
    assert.equal(await store.tellQuota(byKeys, 80, mailTo(account.id)), true)
    assert.equal(await store.tellQuota(byKeys, 80, mailTo(account.id)), false)
    assert.equal(await store.tellQuota(byPublic, 100, mailTo(account.id)), true)
    const [left, ...others] = await store.quotasToTell(1_000)
    assert.deepEqual([left?.by, left?.toldPercent, others], ['keys', 80, []])
    await store.setPlan(account.id, { plan: 'free', requestsPerMinute: null, requestsPerMonth: 5_000 })
    assert.deepEqual(await store.quotasToTell(1_000), [], 'a limit of its own comes first')
  })

  of('a connection that ended is told once; one that its owner ended is not', async (store, clock) => {
    const { account } = await listener(store, 'ada')
    const wish = {
      accountId: account.id,
      provider: 'google',
      subject: 's',
      label: 'ada@gmail.com',
      scopes: '',
    }
    const connect = () => store.saveCredential({ ...wish, seal: () => ({ sealedToken: 't', keyId: 'k' }) })
    const { id, version } = await connect()
    const sheet = await store.createSheet({ ...newSheet(account.id, 'stock'), credentialId: id })
    assert.ok(typeof sheet === 'object')
    assert.deepEqual(await store.endedConnectionsToTell(), [])
    await store.expireCredential(id, version, 'invalid_grant')
    const [news] = await store.endedConnectionsToTell()
    assert.deepEqual(news, {
      account,
      email: 'ada@x.org',
      credentialId: id,
      version,
      provider: 'google',
      label: 'ada@gmail.com',
      sheets: 1,
    })
    assert.ok(news)
    const health = { failureReason: 'access has ended', atMs: clock.nowMs() }
    const activity = [{ sheetId: sheet.id, firstRequestAtMs: null, lastRequestAtMs: null, health }]
    await store.addUsage({ counts: [], latencies: [], providerCalls: [], recent: [], activity })
    assert.deepEqual(await store.sheetsToTell(hourMs), [], 'its sheets are not told of one by one')
    assert.equal(await store.tellEndedConnection(news, mailTo(account.id)), true)
    assert.equal(await store.tellEndedConnection(news, mailTo(account.id)), false)
    assert.deepEqual(await store.endedConnectionsToTell(), [])

    clock.advanceMs(1)
    const again = await connect()
    assert.deepEqual(await store.sheetsToTell(hourMs), [], 'what failed before says nothing of it now')
    await store.expireCredential(id, again.version, 'invalid_grant')
    assert.equal((await store.endedConnectionsToTell()).length, 1, 'another end is another mail')
    await store.forgetCredential(id)
    assert.deepEqual(await store.endedConnectionsToTell(), [])
  })
}
