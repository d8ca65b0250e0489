import assert from 'node:assert/strict'
import { rm, utimes, writeFile } from 'node:fs/promises'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { bearer, done, type Rowport, startRowport } from '../harness.ts'
import { settingsFor, signUpVerified } from '../mail/mailing.ts'
import { startSmtpPeer } from '../servers/smtp-peer.ts'
import { connectOwner, owner as googleOwner, scope, startGoogleGround } from '../writing/google-ground.ts'
import { type Receiver, startReceiver, until } from './receiver.ts'

const allowed = { webhookNetworks: ['127.0.0.0/8'] }

async function listen(rowport: Rowport, receiver: Receiver, slug: string, sheetSlug: string | null = null) {
  const account = done(await rowport.workshop.accounts.find(slug))
  const wish = { account, sheetSlug, url: receiver.url, kinds: null, columns: null }
  const { record, secret } = done(await rowport.workshop.webhooks.add(wish))
  receiver.secrets = [secret]
  return record
}

test('an account hears of broken and mended sheets and of its quota, each once over all instances', async (t) => {
  const rowport = await startRowport(t, { settings: allowed, plan: 'free' })
  await startRowport(t, { beside: rowport, settings: allowed })
  const { store } = rowport.workshop
  const receiver = await startReceiver(t)
  const { id, accountId } = await listen(rowport, receiver, 'acme')
  /** A message may come again, with its id, where its sender had no time to note that it was taken: minutes are seconds here. */
  const heard = () => [...new Map(receiver.taken().map((message) => [message.id, message])).values()]
  const sheet = await rowport.connectFile('stock', 'stock.csv', 'name\nLamp\n')
  const limits = { plan: 'free', requestsPerMinute: 1_000, requestsPerMonth: 20 }
  await store.setPlan(accountId, limits)
  const key = await rowport.createKey()
  const ask = async (count: number) => {
    for (let n = 0; n < count; n++) await rowport.get(sheet.formA, bearer(key))
  }
  await ask(17)
  await until('it heard', () => heard().length === 1)
  await ask(5)
  await until('it heard', () => heard().length === 2)
  const told = () => heard().map(({ type, data }) => [type, data.percent ?? data.sheet])
  assert.deepEqual(told(), [
    ['quota.reached', 80],
    ['quota.reached', 100],
  ])
  const { data } = heard()[1] ?? {}
  assert.deepEqual(
    { ...data, used: 0 },
    {
      webhook: id,
      account: 'acme',
      percent: 100,
      used: 0,
      limit: 20,
      by: 'keys',
      resets_at: '2026-12-15T00:00:00.000Z',
    },
  )
  await store.setPlan(accountId, { plan: 'enterprise', requestsPerMinute: null, requestsPerMonth: null })
  await rm(sheet.path)
  rowport.clock.advanceMs(60_000)
  await ask(1)
  await until(
    'it heard',
    async () => {
      rowport.clock.advanceMs(2_000)
      // Who sends has a minute for it by this clock, and a thread to start: else another instance does it as well.
      await sleep(200)
      return heard().length === 3
    },
    40_000,
  )
  await writeFile(sheet.path, 'name\nLamp\n')
  await utimes(sheet.path, new Date(0), new Date(0))
  rowport.clock.advanceMs(60_000)
  await ask(1)
  await until('it heard', () => heard().length === 4, 40_000)
  assert.deepEqual(told().slice(2), [
    ['sheet.broken', 'stock'],
    ['sheet.recovered', 'stock'],
  ])
  assert.match(heard()[2]?.data.reason, /missing/)
})

test('an account hears when access to Google has ended, once, and again after it was given and taken anew', async (t) => {
  const { rowport, local, newSheet } = await startGoogleGround(t, { settings: allowed })
  const sheet = await newSheet('stock', [['name'], ['Lamp']])
  assert.equal((await sheet.ask('GET')).status, 200)
  const now = { ...bearer(await rowport.createKey()), 'Cache-Control': 'no-cache' }
  const statusNow = async () => (await rowport.get('/api/sheets/acme/stock', now)).status
  const receiver = await startReceiver(t)
  const { id } = await listen(rowport, receiver, 'acme')
  const { store, sealing } = rowport.workshop
  const account = done(await rowport.workshop.accounts.find('acme'))
  for (const times of [1, 2]) {
    await local.control('POST', `grants/${googleOwner}/revoke`)
    assert.equal(await statusNow(), 503)
    await until('it heard', () => receiver.taken().length === times, 20_000)
    await connectOwner(store, sealing, account.id, (await local.tokens(googleOwner, [scope])).refresh_token)
    assert.equal(await statusNow(), 200)
  }
  assert.deepEqual(
    receiver.taken().map(({ type, data }) => [type, { ...data, connection: typeof data.connection }]),
    [1, 2].map(() => [
      'connection.expired',
      { webhook: id, account: 'acme', provider: 'google', connection: 'string', sheets: 1 },
    ]),
  )
})

test('an owner gets a mail when a webhook is turned off', async (t) => {
  const peer = await startSmtpPeer(t, {})
  const rowport = await startRowport(t, { settings: { ...settingsFor(peer), ...allowed } })
  await signUpVerified({ rowport, peer })
  const sheet = await rowport.connectFile('stock', 'stock.csv', 'name\n', { account: 'ada' })
  const account = done(await rowport.workshop.accounts.find('ada'))
  const limits = { plan: 'enterprise', requestsPerMinute: null, requestsPerMonth: null }
  await rowport.workshop.store.setPlan(account.id, limits)
  const key = await rowport.createKey({ account: 'ada' })
  await rowport.get(sheet.formB, bearer(key))
  const receiver = await startReceiver(t, () => ({ status: 410 }))
  await listen(rowport, receiver, 'ada', 'stock')
  const body = JSON.stringify({ name: 'Lamp' })
  await fetch(rowport.url + sheet.formB, { method: 'POST', headers: bearer(key), body })
  const mail = await peer.next()
  const { host } = new URL(receiver.url)
  assert.equal(mail.subject, `A webhook to ${host} was turned off`)
  assert.match(mail.text, /^ {2}It returned 410 Gone\.$/m)
  assert.ok(mail.text.includes(`${rowport.workshop.baseUrl}/webhooks\n`))
})

test('an account hears that a form holds new entries, once for those that came together', async (t) => {
  const rowport = await startRowport(t, { settings: allowed })
  await startRowport(t, { beside: rowport, settings: allowed })
  const receiver = await startReceiver(t)
  const { id, accountId } = await listen(rowport, receiver, 'acme')
  const sheet = await rowport.connectFile('guests', 'guests.csv', 'name\nAnn\n')
  const { store, forms, accounts } = rowport.workshop
  const account = done(await accounts.find('acme'))
  const named = {
    column: 'name',
    label: 'Name',
    help: '',
    kind: 'text',
    isRequired: true,
    choices: [],
  } as const
  const wish = { account, sheetSlug: 'guests', name: 'Party', settings: { fields: [named] } }
  const form = done(await forms.create(wish))
  const trap = (name: string) => {
    const body = new URLSearchParams({ name, _gotcha: 'x' })
    return fetch(`${rowport.url}/f/${form.id}`, { method: 'POST', body })
  }
  await Promise.all(['one', 'two', 'three'].map(trap))
  await until('it heard', () => receiver.taken().some(({ data }) => data.held === 3))
  const { type, data } = receiver.taken().at(-1) ?? {}
  assert.equal(type, 'form.held')
  assert.deepEqual(data, {
    ...{ webhook: id, account: 'acme', form: form.id, form_name: 'Party' },
    ...{ sheet: 'guests', sheet_id: sheet.id, held: 3 },
  })
  const [first, second] = done(await forms.entries(form.id))
  assert.ok(first && second)
  done(await forms.discard(second.id))
  assert.deepEqual(await store.heldNews(), [], 'what is less is no news')
  rowport.clock.advanceMs(1_000)
  await trap('four')
  await until(
    'it heard again',
    () => receiver.taken().filter((each) => each.type === 'form.held').length === 2,
  )
  assert.equal(receiver.taken().at(-1)?.data.held, 3)
  assert.equal((await store.webhooksOf(accountId)).length, 1)
})
