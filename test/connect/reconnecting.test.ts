import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ConnectionView, DisconnectedView, SheetSummary } from '../../src/dashboard/contract.ts'
import { bearer, type ConnectedSheet, done } from '../harness.ts'
import { signedIn, type Visitor } from './visitor.ts'
import { ada, googleOf, grace, startTogether, type Together } from './with-google.ts'

/** Connects a spreadsheet of ada's as the app does. */
async function connectSheet({ rowport, createSpreadsheet }: Together, owner: Visitor, slug: string) {
  const spreadsheetId = await createSpreadsheet(slug)
  const source = { provider: 'google', spreadsheetId, tabId: 0 }
  const made = await owner.call('POST', '/sheets', { slug, access: 'private', source })
  assert.equal(made.status, 201, made.text)
  const sheet = done(await rowport.workshop.sheets.find('acme', slug))
  return { formA: `/api/sheets/acme/${slug}`, formB: `/v1/sheets/${sheet.id}`, spreadsheetId }
}

async function states(owner: Visitor): Promise<Record<string, string>> {
  const { json } = await owner.call<SheetSummary[]>('GET', '/sheets')
  return Object.fromEntries(json.map(({ slug, state }) => [slug, state]))
}

async function connectionOf(owner: Visitor) {
  return (await owner.call<ConnectionView>('GET', '/google')).json.connection
}

test('access that ends: every sheet says so at once, cached or not, and connecting again brings all back under the same address and key', async (t) => {
  const together = await startTogether(t)
  const { rowport, google, connect } = together
  const owner = await signedIn(rowport)
  assert.equal((await connect(owner)).location, '/connect?google=connected')
  const prices = await connectSheet(together, owner, 'prices')
  const stock = await connectSheet(together, owner, 'stock')
  done(await rowport.workshop.sheets.change('acme', 'prices', { cacheSeconds: 3_600 }))
  const key = await rowport.createKey()
  const read = (sheet: Pick<ConnectedSheet, 'formA'>, headers = {}) =>
    rowport.get(sheet.formA, { ...bearer(key), ...headers })
  for (const sheet of [prices, stock]) assert.equal((await read(sheet)).status, 200)

  await google.control('POST', `grants/${ada}/revoke`, {})
  assert.equal((await read(prices)).status, 200, 'nobody has asked Google yet')
  const found = await read(stock, { 'Cache-Control': 'no-cache' })
  assert.equal(found.status, 503)
  assert.deepEqual(await found.json(), {
    error: 'Unable to access sheet. The owner needs to re-authenticate.',
    code: 'token_expired',
  })
  assert.equal((await read(prices)).status, 503, 'though its rows are in memory and fresh')
  const nested = await rowport.get(prices.formB, bearer(key))
  assert.equal(((await nested.json()) as { error: { code: string } }).error.code, 'token_expired')
  const added = await fetch(rowport.url + prices.formA, {
    method: 'POST',
    headers: bearer(key),
    body: '{"name":"x"}',
  })
  assert.equal(added.status, 503)
  assert.equal((await rowport.get(prices.formA)).status, 401, 'a stranger does not learn it')

  assert.deepEqual(await states(owner), { prices: 'needs_reconnect', stock: 'needs_reconnect' })
  const ended = await connectionOf(owner)
  assert.deepEqual([ended?.email, ended?.state, ended?.sheets], [ada, 'expired', 2])
  assert.match(ended?.reason ?? '', /Google access was revoked or has expired/)
  assert.equal((await owner.call('GET', '/google/spreadsheets')).status, 502)
  assert.equal(
    (await owner.call('GET', '/sheets/prices/rows')).status,
    503,
    'nor does the owner see old rows',
  )

  assert.equal((await connect(owner)).location, '/connect?google=reconnected')
  for (const sheet of [prices, stock]) assert.equal((await read(sheet)).status, 200)
  assert.equal((await read(stock, { 'Cache-Control': 'no-cache' })).status, 200)
  assert.deepEqual(await states(owner), { prices: 'live', stock: 'live' })
})

test('another Google account is told, and its own access is what counts from then on', async (t) => {
  const together = await startTogether(t)
  const { rowport, connect } = together
  const owner = await signedIn(rowport)
  await connect(owner)
  const sheet = await connectSheet(together, owner, 'prices')
  const key = await rowport.createKey()
  assert.equal((await connect(owner, { user: grace })).location, '/connect?google=other_account')
  assert.equal((await connectionOf(owner))?.email, grace)
  const answer = await rowport.get(sheet.formA, { ...bearer(key), 'Cache-Control': 'no-cache' })
  assert.equal(answer.status, 502, 'grace may not open what is ada’s')
  const broken = (await owner.call<SheetSummary[]>('GET', '/sheets')).json[0]
  assert.equal(broken?.state, 'broken')
  assert.ok((broken?.stateReason ?? '').length > 10, 'and the owner is told why')
  // A failure is not asked for again at once by everybody.
  rowport.clock.advanceMs(10_000)
  assert.equal((await connect(owner)).location, '/connect?google=other_account')
  const fine = await rowport.get(sheet.formA, { ...bearer(key), 'Cache-Control': 'no-cache' })
  assert.equal(fine.status, 200)
  assert.deepEqual(await states(owner), { prices: 'live' }, 'the next success clears it')
})

test('disconnecting: withdraws the access at Google, forgets it here, and can be undone by connecting', async (t) => {
  const together = await startTogether(t)
  const { rowport, google, connect } = together
  const owner = await signedIn(rowport)
  await connect(owner)
  const sheet = await connectSheet(together, owner, 'prices')
  const key = await rowport.createKey()
  const { id } = done(await rowport.workshop.accounts.find('acme'))
  assert.equal((await connectionOf(owner))?.sheets, 1, 'what the question names')

  const over = await owner.call('POST', '/google/disconnect')
  assert.equal((over.json as DisconnectedView).isRevokedAtGoogle, true)
  const credential = await rowport.workshop.store.credentialOf(id, 'google')
  assert.equal(credential?.sealedToken, '')
  const calls = await google.control<{ calls: { path: string; status: number }[] }>('GET', 'calls')
  assert.equal(calls.calls.findLast(({ path }) => path === '/revoke')?.status, 200)
  assert.equal(
    (await rowport.get(sheet.formA, bearer(key))).status,
    503,
    'fresh in memory, but not the account’s any more',
  )
  assert.match((await connectionOf(owner))?.reason ?? '', /disconnected it here/)
  assert.equal((await owner.call('POST', '/google/disconnect')).status, 400, 'there is nothing left')
  await connect(owner)
  assert.equal((await rowport.get(sheet.formA, bearer(key))).status, 200)
})

test('disconnecting works when Google is away, and says that Google was not told', async (t) => {
  const { rowport, google, connect } = await startTogether(t)
  const owner = await signedIn(rowport)
  await connect(owner)
  await google.control('POST', 'faults', {
    match: { service: 'oauth', path: '/revoke' },
    kind: 'reset',
    times: 9,
  })
  const over = await owner.call('POST', '/google/disconnect')
  assert.equal((over.json as DisconnectedView).isRevokedAtGoogle, false)
  const { id } = done(await rowport.workshop.accounts.find('acme'))
  assert.equal((await rowport.workshop.store.credentialOf(id, 'google'))?.sealedToken, '')
})

test('a paused sheet is called paused, also when access has ended', async (t) => {
  const together = await startTogether(t)
  const { rowport, connect } = together
  const owner = await signedIn(rowport)
  await connect(owner)
  await connectSheet(together, owner, 'prices')
  await connectSheet(together, owner, 'stock')
  await rowport.connectFile('local', 'local.csv', 'a\n1\n')
  done(await rowport.workshop.sheets.setPaused('acme', 'stock', true))
  const { id } = done(await rowport.workshop.accounts.find('acme'))
  done(await googleOf(rowport).disconnect(id))
  assert.deepEqual(await states(owner), { local: 'live', prices: 'needs_reconnect', stock: 'paused' })
})
