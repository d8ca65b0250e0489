import assert from 'node:assert/strict'
import { passTime } from '../leases/leases.contract.ts'
import { accountWithSheet, newAccount, newSheet } from '../records.fixture.ts'
import type { SheetRecord } from '../sheets/sheets.ts'
import { createSqlStore } from '../sql/sql-store.ts'
import type { Store } from '../store.ts'
import type { StoreTest } from '../store-test.fixture.ts'
import type { HeldWebhook } from './webhook-sending.ts'
import type { NewDelivery, NewWebhook } from './webhooks.ts'

const secondMs = 1_000
const hourMs = 60 * 60 * secondMs
const holdMs = 60 * secondMs
/** One that is told to last longer is not believed. */
const lifeMs = 15 * secondMs
const healthy = { most: 10, holdMs, isFailing: false }
const failing = { ...healthy, isFailing: true }

/** Ids of one length: those that were made in the same moment are listed in the order of ids. */
let made = 1_000
function newWebhook(accountId: string, sheetId: string | null, more: Partial<NewWebhook> = {}): NewWebhook {
  return {
    id: `wh_${made++}`,
    accountId,
    sheetId,
    url: 'https://example.com/hook',
    kinds: null,
    columns: null,
    secret: { sealed: 'sealed', keyId: 'k' },
    place: { epoch: null, seq: 0 },
    ...more,
  }
}

function delivery(more: Partial<NewDelivery> = {}): NewDelivery {
  return {
    messageId: 'm',
    type: 'rows.changed',
    changes: 1,
    cursor: 'e-1',
    atMs: 1_000,
    durationMs: 12,
    status: 200,
    failure: null,
    answer: 'ok',
    ...more,
  }
}

/** Logs so many changes; returns where the log then stands. */
async function log(store: Store, { id: sheetId, accountId, source }: SheetRecord, count: number, atMs = 5) {
  const position = await store.changeLogOf(sheetId)
  assert.ok(position)
  const chunks = [{ entries: JSON.stringify(['x']), count, atMs, identity: '' }]
  const seen = { identity: '', state: null, contentHash: 'hash' }
  await store.logSeen({ sheetId, accountId, source, position, chunks, ...seen })
  const { epoch, head } = (await store.changeLogOf(sheetId)) ?? position
  return { epoch, seq: head }
}

const idsOf = (held: readonly HeldWebhook[]) => held.map(({ id }) => id).sort()

export function webhooksContract(of: StoreTest): void {
  of(
    'a webhook is found with what it was made with, and is gone with its sheet or account',
    async (store) => {
      const { account, sheet } = await accountWithSheet(store)
      const wish = newWebhook(account.id, sheet.id, { kinds: ['added'], columns: ['price'] })
      const webhook = await store.createWebhook(wish)
      assert.deepEqual(
        { ...webhook, createdAtMs: 0 },
        {
          ...wish,
          accountSlug: 'acme',
          sheetSlug: 'stock',
          state: 'on',
          offReason: null,
          formerSecret: null,
          sendingTo: null,
          replays: 0,
          attempts: 0,
          failingForMs: null,
          nextAttemptInMs: 0,
          waiting: 0,
          createdAtMs: 0,
        },
      )
      const ofAccount = await store.createWebhook(newWebhook(account.id, null))
      assert.deepEqual(await store.webhooksOf(account.id), [webhook, ofAccount])
      await store.addDelivery(webhook.id, delivery())
      await store.deleteSheet(sheet.id)
      assert.equal(await store.findWebhook(webhook.id), null)
      await store.addDelivery(webhook.id, delivery())
      assert.deepEqual(await store.deliveriesOf(webhook.id), [], 'nothing is kept for one that is gone')
      await store.addDelivery(ofAccount.id, delivery())
      await store.deleteAccount(account.id)
      assert.equal(await store.findWebhook(ofAccount.id), null)
    },
  )

  of('of one account no more are taken than it may have, and those that wait are told of', async (store) => {
    const greedy = await accountWithSheet(store)
    const other = await accountWithSheet(store, 'other')
    await store.stayAlive(lifeMs)
    const ids: string[] = []
    for (let n = 0; n < 3; n++)
      ids.push((await store.createWebhook(newWebhook(greedy.account.id, greedy.sheet.id))).id)
    const its = await store.createWebhook(newWebhook(other.account.id, other.sheet.id))
    for (const { sheet } of [greedy, other]) await log(store, sheet, 1)
    const waiting: string[] = []
    const noteWaiting = (id: string) => void waiting.push(id)
    const taken = idsOf(await store.takeWebhooks({ ...healthy, mostOf: () => 1, noteWaiting }))
    assert.equal(taken.length, 2)
    assert.ok(taken.includes(its.id))
    assert.deepEqual([...taken, ...waiting].sort(), [...ids, its.id].sort())
  })

  of(
    'only those are taken that have something to send, each by one of all instances',
    async (one, clock, db) => {
      const two = createSqlStore(db, clock)
      const { account, sheet } = await accountWithSheet(one)
      const other = await one.createSheet(newSheet(account.id, 'other'))
      assert.ok(typeof other === 'object')
      for (const store of [one, two]) await store.stayAlive(lifeMs)
      const made = await Promise.all(
        Array.from({ length: 6 }, () => one.createWebhook(newWebhook(account.id, sheet.id))),
      )
      await one.createWebhook(newWebhook(account.id, other.id))
      await one.createWebhook(newWebhook(account.id, null))
      assert.deepEqual(await one.takeWebhooks(healthy), [], 'nothing was logged yet')
      const head = await log(one, sheet, 3)
      assert.deepEqual(
        (await one.webhooksOf(account.id)).map(({ waiting }) => waiting),
        [3, 3, 3, 3, 3, 3, 0, 0],
      )
      const taken = await Promise.all([one, two, one, two].map((store) => store.takeWebhooks(healthy)))
      assert.deepEqual(idsOf(taken.flat()), made.map(({ id }) => id).sort())
      const [held] = taken.flat()
      assert.ok(held)
      assert.deepEqual([held.webhook.accountSlug, held.webhook.sheetSlug], ['acme', 'stock'])
      const its = taken[0]?.includes(held) || taken[2]?.includes(held) ? one : two
      assert.equal(await (its === one ? two : one).noteTaken(held, head, null, holdMs), false, 'not theirs')
      assert.equal(await its.noteSending(held, head, holdMs), true)
      assert.deepEqual((await one.findWebhook(held.id))?.sendingTo, head)
      assert.equal(await its.noteTaken(held, head, delivery(), holdMs), true)
      await its.releaseWebhook(held)
      assert.deepEqual((await one.findWebhook(held.id))?.sendingTo, null)
      assert.deepEqual(await two.takeWebhooks(healthy), [], 'it has all there is')
      await log(one, sheet, 1)
      assert.deepEqual(
        idsOf(await two.takeWebhooks(healthy)),
        [held.id],
        'the others are in somebody’s hands',
      )
    },
  )

  of(
    'who dies over a webhook leaves it to others in seconds, and can note nothing',
    async (one, clock, db) => {
      const two = createSqlStore(db, clock)
      const { account, sheet } = await accountWithSheet(one)
      await one.stayAlive(lifeMs)
      await two.stayAlive(lifeMs)
      await one.createWebhook(newWebhook(account.id, sheet.id))
      const head = await log(one, sheet, 1)
      const [dead] = await one.takeWebhooks(healthy)
      assert.ok(dead)
      assert.deepEqual(await two.takeWebhooks(healthy), [])
      await passTime(db, clock, lifeMs)
      const [held] = await two.takeWebhooks(healthy)
      assert.ok(held && held.fencingToken > dead.fencingToken)
      assert.equal(await one.noteSending(dead, head, holdMs), false)
      assert.equal(await one.noteTaken(dead, head, delivery(), holdMs), false)
      assert.equal(await one.noteFailed(dead, delivery(), { offReason: 'gone' }), false)
      await one.releaseWebhook(dead)
      assert.deepEqual(await two.deliveriesOf(held.id), [])
      assert.equal(await two.noteTaken(held, head, delivery(), holdMs), true)
      // One that lives and does nothing more loses it too.
      await two.releaseWebhook(held)
      await log(one, sheet, 1)
      await two.takeWebhooks(healthy)
      await one.stayAlive(lifeMs)
      await passTime(db, clock, holdMs)
      assert.equal((await one.takeWebhooks(healthy)).length, 1)
    },
  )

  of('one that fails waits as long as it is told to, and apart from the others', async (store, clock, db) => {
    const { account, sheet } = await accountWithSheet(store)
    await store.stayAlive(lifeMs)
    const { id } = await store.createWebhook(newWebhook(account.id, sheet.id))
    const head = await log(store, sheet, 1)
    const [first] = await store.takeWebhooks(healthy)
    assert.ok(first)
    const failed = delivery({ status: 500, failure: 'HTTP 500' })
    assert.equal(await store.noteFailed(first, failed, { pauseMs: 5 * secondMs }), true)
    assert.deepEqual(await store.takeWebhooks(failing), [])
    await passTime(db, clock, 5 * secondMs)
    assert.deepEqual(await store.takeWebhooks(healthy), [])
    const [second] = await store.takeWebhooks(failing)
    assert.ok(second)
    assert.equal(second.webhook.attempts, 1)
    assert.ok(Math.abs((second.webhook.failingForMs ?? 0) - 5 * secondMs) < 3 * secondMs)
    await store.noteFailed(second, failed, { pauseMs: hourMs })
    await passTime(db, clock, hourMs)
    const [third] = await store.takeWebhooks(failing)
    assert.ok(third)
    assert.ok((third.webhook.failingForMs ?? 0) > hourMs, 'since the first that failed')
    assert.equal(await store.noteFailed(third, failed, { offReason: 'it failed for days' }), true)
    await passTime(db, clock, hourMs)
    assert.deepEqual(await store.takeWebhooks(failing), [])
    const off = await store.findWebhook(id)
    assert.deepEqual([off?.state, off?.offReason, off?.attempts], ['off', 'it failed for days', 3])
    await store.setWebhookState(id, 'on')
    const [again] = await store.takeWebhooks(healthy)
    assert.ok(again)
    assert.deepEqual([again.webhook.failingForMs, again.webhook.offReason], [null, null])
    await store.setWebhookState(id, 'paused')
    assert.equal(await store.noteSending(again, head, holdMs), false, 'nothing more goes out')
    assert.equal(await store.noteTaken(again, head, delivery(), holdMs), false, 'it is noted, and the last')
    assert.deepEqual((await store.findWebhook(id))?.place, head)
  })

  of('moving the cursor sends again from there, whoever is sending', async (store) => {
    const { account, sheet } = await accountWithSheet(store)
    await store.stayAlive(lifeMs)
    const { id } = await store.createWebhook(newWebhook(account.id, sheet.id))
    await log(store, sheet, 2, 1_000)
    const head = await log(store, sheet, 3, 2_000)
    const [held] = await store.takeWebhooks(healthy)
    assert.ok(held && (await store.noteTaken(held, head, delivery(), holdMs)))
    const changes = [await store.changeBefore(sheet.id, 2_000), await store.changeBefore(sheet.id, 1_000)]
    assert.deepEqual(changes, [2, 0])
    await store.moveWebhook(id, { epoch: head.epoch, seq: 2 })
    assert.equal(await store.noteTaken(held, head, delivery(), holdMs), false)
    const [again] = await store.takeWebhooks(healthy)
    assert.deepEqual([again?.webhook.place.seq, again?.webhook.replays], [2, 1])
    assert.equal(again?.webhook.waiting, 3)
  })

  of('of deliveries the newest fifty are kept', async (store) => {
    const { account } = await accountWithSheet(store)
    const { id } = await store.createWebhook(newWebhook(account.id, null))
    for (let n = 0; n < 53; n++) await store.addDelivery(id, delivery({ atMs: n, messageId: `m${n}` }))
    const kept = await store.deliveriesOf(id)
    assert.equal(kept.length, 50)
    assert.deepEqual({ ...kept[0], id: '' }, { ...delivery({ atMs: 52, messageId: 'm52' }), id: '' })
    assert.equal(kept.at(-1)?.messageId, 'm3')
  })

  of('a former secret is there for its time, and both are sealed anew', async (store, clock, database) => {
    const { account } = await accountWithSheet(store)
    const { id } = await store.createWebhook(newWebhook(account.id, null))
    assert.deepEqual(await store.webhooksNotUnderKey('k'), [])
    await store.replaceWebhookSecret(id, { sealed: 'newer', keyId: 'k' }, hourMs)
    const [rotated] = await store.webhooksNotUnderKey('k2')
    assert.ok(rotated)
    assert.deepEqual(rotated.secret, { sealed: 'newer', keyId: 'k' })
    assert.deepEqual(rotated.formerSecret, { sealed: 'sealed', keyId: 'k' })
    const anew = {
      secret: { sealed: 'newer anew', keyId: 'k2' },
      formerSecret: { sealed: 'sealed anew', keyId: 'k2' },
    }
    await store.resealWebhook(rotated, anew)
    assert.deepEqual(await store.webhooksNotUnderKey('k2'), [])
    const { secret, formerSecret } = (await store.findWebhook(id)) ?? rotated
    assert.deepEqual({ secret, formerSecret }, anew)
    await store.resealWebhook(rotated, { secret: { sealed: 'late', keyId: 'k3' }, formerSecret: null })
    assert.deepEqual((await store.findWebhook(id))?.secret, anew.secret, 'it was another by then')
    await passTime(database, clock, hourMs)
    assert.equal((await store.findWebhook(id))?.formerSecret, null)
  })

  of(
    'an account’s webhooks are each told once of what has become otherwise',
    async (one, clock, database) => {
      const two = createSqlStore(database, clock)
      const { account, sheet } = await accountWithSheet(one)
      await one.stayAlive(lifeMs)
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
      await note('the file is gone')
      assert.deepEqual(await one.sheetNewsForWebhooks(), [], 'nobody listens')
      const { id } = await one.createWebhook(newWebhook(account.id, null))
      await one.createWebhook(newWebhook(account.id, sheet.id))
      const [broken, ...others] = await one.sheetNewsForWebhooks()
      assert.ok(broken)
      assert.deepEqual(others, [])
      assert.deepEqual(
        [broken.webhookId, broken.account, broken.slug, broken.failureReason, broken.told],
        [id, account, 'stock', 'the file is gone', null],
      )
      const event = { state: 'broken', type: 'sheet.broken', atMs: 5, data: '{}' }
      const told = await Promise.all([one, two, one].map((store) => store.addWebhookEvent(broken, event)))
      assert.deepEqual(told.filter(Boolean), [true])
      assert.deepEqual(await one.sheetNewsForWebhooks(), [])
      await note(null)
      const [well] = await one.sheetNewsForWebhooks()
      assert.ok(well?.failureReason === null && well.told === 'broken')
      await one.addWebhookEvent(well, { ...event, state: 'well', type: 'sheet.recovered', atMs: 9 })
      const [held] = await one.takeWebhooks(healthy)
      assert.deepEqual([held?.id, held?.webhook.sheetSlug, held?.webhook.waiting], [id, null, 2])
      assert.deepEqual(
        (await one.eventsAfter(id, 0, 10)).map(({ seq, type }) => [seq, type]),
        [
          [1, 'sheet.broken'],
          [2, 'sheet.recovered'],
        ],
      )
      assert.equal(await one.eventBefore(id, 9), 1)

      await one.chargeAhead(account.id, Date.UTC(2026, 10, 15), 1_000, 800)
      const [quota] = await one.quotaNews(1_000)
      assert.deepEqual([quota?.by, quota?.charged, quota?.told], ['keys', 800, null])
      assert.ok(quota)
      await one.addWebhookEvent(quota, { ...event, state: `${quota.cycleStartMs} 80` })
      assert.equal((await one.quotaNews(1_000)).length, 1, 'there is another mark')
      const [further] = await one.quotaNews(1_000)
      assert.ok(further)
      await one.addWebhookEvent(further, { ...event, state: `${quota.cycleStartMs} 100` })
      assert.deepEqual(await one.quotaNews(1_000), [])

      const wish = { accountId: account.id, provider: 'google', subject: 's', label: 'a@b.c', scopes: '' }
      const credential = await one.saveCredential({ ...wish, seal: () => ({ sealedToken: 't', keyId: 'k' }) })
      assert.deepEqual(await one.connectionNews(), [])
      await one.expireCredential(credential.id, credential.version, 'invalid_grant')
      const [ended] = await one.connectionNews()
      assert.ok(ended)
      assert.deepEqual([ended.label, ended.sheets, ended.told], ['a@b.c', 0, null])
      await one.addWebhookEvent(ended, { ...event, state: String(ended.version) })
      assert.deepEqual(await one.connectionNews(), [])
    },
  )

  of(
    'beyond two hundred events that wait, one is told later; of those it has taken, a hundred are kept',
    async (store) => {
      const account = await newAccount(store, 'acme')
      await store.stayAlive(lifeMs)
      const { id: webhookId } = await store.createWebhook(newWebhook(account.id, null))
      const event = { state: 's', type: 't', atMs: 1, data: '{}' }
      const add = (n: number) =>
        store.addWebhookEvent({ webhookId, account, subject: `sheet ${n}`, told: null }, event)
      for (let n = 0; n < 200; n++) assert.equal(await add(n), true)
      assert.equal(await add(200), false)
      const [held] = await store.takeWebhooks(healthy)
      assert.ok(held && (await store.noteTaken(held, { epoch: null, seq: 200 }, null, holdMs)))
      assert.equal(await add(200), true)
      assert.deepEqual((await store.eventsAfter(webhookId, 0, 10_000)).at(0)?.seq, 102)
    },
  )

  of('that one was turned off is told once by mail', async (store) => {
    const wish = { slug: 'ada', plan: 'free', email: 'ada@x.org', passwordHash: '$', googleSubject: null }
    const made = await store.signUp({ ...wish, sessionHash: 'h', isEmailVerified: true })
    assert.ok(typeof made === 'object')
    const { account } = made
    await store.stayAlive(lifeMs)
    const sheet = await store.createSheet(newSheet(account.id, 'stock'))
    assert.ok(typeof sheet === 'object')
    const { id } = await store.createWebhook(newWebhook(account.id, sheet.id))
    await log(store, sheet, 1)
    const [held] = await store.takeWebhooks(healthy)
    assert.ok(held)
    assert.deepEqual(await store.offWebhooksToTell(), [])
    await store.noteFailed(held, delivery(), { offReason: 'gone' })
    const [news] = await store.offWebhooksToTell()
    assert.ok(news)
    const { account: _, ...told } = news
    const url = 'https://example.com/hook'
    assert.deepEqual(told, { email: 'ada@x.org', webhookId: id, url, reason: 'gone', sheetSlug: 'stock' })
    const mail = { id: 'm', accountId: account.id, sealed: 's', keyId: 'k', lifeMs: hourMs }
    assert.equal(await store.tellOffWebhook(news, mail), true)
    assert.equal(await store.tellOffWebhook(news, { ...mail, id: 'n' }), false)
    assert.deepEqual(await store.offWebhooksToTell(), [])
  })
}
