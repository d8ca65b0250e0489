import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import type { ShareView, UsedUpSharesView } from '../../src/dashboard/contract.ts'
import { defaultShares } from '../../src/shares/shares.ts'
import { signedIn, type Visitor } from '../connect/visitor.ts'
import { bearer, done, startRowport } from '../harness.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs

test('an owner is told what was used up of the account’s shares, how often and when, for a day; and nobody else', async (t) => {
  const shares = { ...defaultShares, sessions: 2, following_at_once: 1 }
  const rowport = await startRowport(t, { settings: { shares, maxSnapshotBytes: 100_000 } })
  done(await rowport.workshop.accounts.create('other', 'free'))
  const key = await rowport.createKey()
  const owner = await signedIn(rowport)
  assert.deepEqual(await usedUp(owner), { seenForMs: 0, shares: [] })

  const { formB } = await rowport.connectFile('followed', 'followed.csv', 'a\n1\n')
  const leaving = new AbortController()
  const stream = { headers: { ...bearer(key), Accept: 'text/event-stream' }, signal: leaving.signal }
  const first = await fetch(`${rowport.url}${formB}/changes`, stream)
  assert.equal(first.status, 200)
  for (let n = 0; n < 2; n++) {
    const refused = await fetch(`${rowport.url}${formB}/changes`, stream)
    assert.equal(refused.status, 429)
    assert.match(await refused.text(), /too_many_at_once/)
  }
  leaving.abort()

  rowport.clock.advanceMs(10 * minuteMs)
  // Each is larger than the account's quarter, and there is room for one.
  for (const name of ['one', 'two']) {
    const sheet = await rowport.connectFile(name, `${name}.csv`, `a\n${'x'.repeat(30_000)}\n`.repeat(2))
    assert.equal((await rowport.get(sheet.formB, bearer(key))).status, 200)
  }
  rowport.clock.advanceMs(10 * minuteMs)
  const second = await signedIn(rowport)
  rowport.clock.advanceMs(10 * minuteMs)
  const third = await signedIn(rowport)
  assert.equal((await owner.call('GET', '/session')).status, 401, 'the oldest')

  for (const visitor of [second, third]) {
    const { seenForMs, shares: used } = await usedUp(visitor)
    assert.equal(seenForMs, 30 * minuteMs)
    const evicted = used.find(({ share }) => share === 'snapshot_percent')?.times ?? 0
    assert.ok(evicted >= 1)
    assert.deepEqual(used, [
      { share: 'sessions', times: 1, agoMs: 0 },
      { share: 'snapshot_percent', times: evicted, agoMs: 20 * minuteMs },
      { share: 'following_at_once', times: 2, agoMs: 30 * minuteMs },
    ])
  }
  assert.deepEqual((await usedUp(await signedIn(rowport, 'other'))).shares, [])
  rowport.clock.advanceMs(25 * hourMs)
  assert.deepEqual(await usedUp(await signedIn(rowport)), { seenForMs: 24 * hourMs, shares: [] })
})

test('of the shares that last, an owner is told of webhooks and of the history too', async (t) => {
  const settings = { webhookNetworks: ['127.0.0.0/8'] }
  const rowport = await startRowport(t, { settings })
  const owner = await signedIn(rowport)
  const kept = async () => {
    const { json } = await owner.call<ShareView[]>('GET', '/shares')
    const of = (name: ShareView['share']) => json.find(({ share }) => share === name)
    return { webhooks: of('webhooks'), history: of('history_mb') }
  }
  assert.deepEqual(await kept(), {
    webhooks: { share: 'webhooks', used: 0, limit: defaultShares.webhooks },
    history: { share: 'history_mb', used: 0, limit: defaultShares.history_mb },
  })
  const lines = Array.from({ length: 300 }, () => randomBytes(750).toString('base64'))
  const { formB } = await rowport.connectFile('stock', 'stock.csv', `name\n${lines.join('\n')}\n`)
  const key = await rowport.createKey()
  assert.equal((await rowport.get(formB, bearer(key))).status, 200)
  // The rows are stored a moment after they are sent.
  const added = { method: 'POST', headers: bearer(key), body: '{"name":"Lamp"}' }
  assert.equal((await fetch(rowport.url + formB, added)).status, 201)
  const hook = { sheetSlug: 'stock', url: 'http://127.0.0.1:1024/', kinds: null, columns: null }
  const made = await owner.call('POST', '/webhooks', hook)
  assert.equal(made.status, 201, made.text)
  const { webhooks, history } = await kept()
  assert.equal(webhooks?.used, 1)
  assert.ok((history?.used ?? 0) > 0.2 && (history?.used ?? 0) < 1, `${history?.used} MB`)
})

async function usedUp(visitor: Visitor): Promise<UsedUpSharesView> {
  const { status, json } = await visitor.call<UsedUpSharesView>('GET', '/shares/used-up')
  assert.equal(status, 200)
  return json
}
