import assert from 'node:assert/strict'
import { existsSync, readdirSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { writeXlsx } from 'hucre/xlsx'
import type {
  FileChoice,
  KeyView,
  PreviewView,
  RecentRequest,
  SheetView,
  StartView,
  UsageView,
} from '../../src/dashboard/contract.ts'
import { ownPage, refusalIn, signedIn, type Visitor } from '../connect/visitor.ts'
import { startTogether } from '../connect/with-google.ts'
import { bearer, done, type Rowport, startRowport } from '../harness.ts'

async function upload(rowport: Rowport, owner: Visitor, name: string, bytes: string | Uint8Array) {
  const answer = await fetch(`${rowport.url}/dashboard/api/files?name=${encodeURIComponent(name)}`, {
    method: 'POST',
    body: bytes,
    headers: { Cookie: owner.cookie, 'Sec-Fetch-Site': 'same-origin', 'X-Rowport-Dashboard': '1' },
  })
  return {
    status: answer.status,
    json: (await answer.json()) as FileChoice & { error?: { message: string } },
  }
}

test('usage: what clients did shows up at once, by day, sheet and key, and outlives the process', async (t) => {
  const rowport = await startRowport(t, { plan: 'free' })
  const sheet = await rowport.connectFile('s', 's.csv', 'a\n1\n')
  await rowport.connectFile('open', 'open.csv', 'a\n1\n', { access: 'public-read' })
  const key = await rowport.createKey()
  let owner = await signedIn(rowport)
  const start = async () => (await owner.call<StartView>('GET', '/start')).json
  assert.equal((await start()).firstRequestAtMs, null)
  const firstAtMs = rowport.clock.nowMs()
  for (let n = 0; n < 40; n++) await (await rowport.get(sheet.formA, bearer(key))).arrayBuffer()
  assert.equal((await start()).firstRequestAtMs, firstAtMs, 'the last step of the list ticks itself off')
  const [used] = (await owner.call<KeyView[]>('GET', '/keys')).json
  assert.deepEqual([used?.requestsThisMonth, used?.lastUsedAtMs], [40, firstAtMs], 'they agree')
  rowport.clock.advanceMs(24 * 3_600_000)
  owner = await signedIn(rowport)
  for (let n = 0; n < 65; n++) await (await rowport.get(sheet.formB, bearer(key))).arrayBuffer()
  await rowport.get('/api/sheets/acme/open/2')
  await rowport.get(`${sheet.formA}/99`, { 'X-API-Key': 'wrong' })

  const usage = async (query = '') => (await owner.call<UsageView>('GET', `/usage?days=7${query}`)).json
  const all = await usage()
  assert.equal(all.days.length, 7)
  assert.deepEqual(all.days.slice(5), [
    { day: '2026-11-15', success: 40, clientError: 0, rateLimited: 0, serverError: 0 },
    { day: '2026-11-16', success: 61, clientError: 0, rateLimited: 5, serverError: 0 },
  ])
  const resetsAtMs = Date.UTC(2026, 11, 15)
  assert.deepEqual(all.month, { used: 100, publicUsed: 1, limit: 5_000, resetsAtMs })
  assert.equal(all.rateLimited, 5)
  assert.equal(all.providerCalls, 3, 'once a day: a day is longer than cache_seconds')
  assert.equal(all.providerCallsSaved, 98)
  assert.equal(all.cacheHitShare, 98 / 101)
  assert.ok(all.latencyMs && all.latencyMs.p50 <= all.latencyMs.p99)
  assert.deepEqual(all.byKey.map(({ name, requests, errors }) => [name, requests, errors]).sort(), [
    ['Without a key', 1, 0],
    ['test', 105, 5],
  ])
  assert.deepEqual((await usage('&sheet=open')).bySheet, [{ slug: 'open', requests: 1, errors: 0 }])
  assert.equal((await usage(`&key=${key.id}`)).rateLimited, 5)
  assert.equal((await owner.call('GET', '/usage?sheet=nothing')).status, 404)

  const recent = (await owner.call<RecentRequest[]>('GET', '/sheets/s/requests')).json
  // What was held was too old on the second day: these rows came from the spreadsheet.
  assert.ok(recent.some(({ cache }) => cache === 'miss'))
  assert.ok(!recent.some(({ cache }) => cache === 'stale'))
  assert.equal(recent.length, 100)
  assert.deepEqual(
    [recent[0]?.status, recent[0]?.code, recent[0]?.keyName, recent[99]?.status],
    [429, 'rate_limited', 'test', 200],
  )
  const keys = (await owner.call<KeyView[]>('GET', '/keys')).json
  assert.equal(keys[0]?.requestsThisMonth, 105)

  await rowport.stopServer()
  const { store } = rowport.workshop
  const { id } = done(await rowport.workshop.accounts.find('acme'))
  const kept = await store.usageSince(id, '')
  assert.equal(
    kept.reduce((sum, { requests }) => sum + requests, 0),
    106,
  )
})

test('a sheet that cannot be read is broken, with the reason, until it can be read again', async (t) => {
  const rowport = await startRowport(t)
  const sheet = await rowport.connectFile('s', 's.csv', 'a\n1\n')
  const key = await rowport.createKey()
  const owner = await signedIn(rowport)
  const view = async () => (await owner.call<SheetView>('GET', '/sheets/s')).json
  assert.equal((await view()).rowCount, 1)
  await rm(sheet.path)
  rowport.clock.advanceMs(60_000)
  assert.equal((await rowport.get(sheet.formA, bearer(key))).status, 502)
  const broken = await view()
  assert.equal(broken.state, 'broken')
  assert.match(broken.stateReason ?? '', /file/)
  assert.ok(!JSON.stringify(broken.stateReason).includes(rowport.folder), 'without a path of the server')
  const rows = await owner.call('GET', '/sheets/s/rows')
  assert.equal(rows.status, 502)
  assert.match(refusalIn(rows), /^Failed to read from sheet: /)
  await rowport.connectFile('again', 's.csv', 'a\n1\n2\n')
  rowport.clock.advanceMs(60_000)
  assert.equal((await rowport.get(sheet.formA, bearer(key))).status, 200)
  assert.deepEqual([(await view()).state, (await view()).rowCount], ['live', 2])
})

test('settings of a sheet hold from the next request on, all or none; a disconnected one is gone with its keys', async (t) => {
  const rowport = await startRowport(t)
  const sheet = await rowport.connectFile('s', 's.csv', 'a\n1\n')
  await rowport.connectFile('other', 'other.csv', 'a\n1\n')
  const [all, only] = [await rowport.createKey(), await rowport.createKey({ sheet: 's' })]
  const owner = await signedIn(rowport)
  const change = (settings: object) => owner.call<SheetView>('PATCH', '/sheets/s', settings)
  const status = async (key = all) => (await rowport.get(sheet.formB, bearer(key))).status
  assert.equal((await change({ paused: true })).json.state, 'paused')
  assert.equal(await status(), 503)
  assert.equal((await change({ paused: false, cacheSeconds: 60 })).json.settings.cacheSeconds, 60)
  assert.equal(await status(), 200)
  assert.equal((await change({ paused: true, slug: 'other' })).status, 409)
  for (const wrong of [{ cacheSeconds: 3_601 }, { cacheSeconds: -1 }, { slug: 'No!' }, { id: 'x' }])
    assert.equal((await change(wrong)).status, 400, JSON.stringify(wrong))
  assert.equal(await status(), 200, 'nothing of a refused change was made')
  assert.equal((await change({ slug: 'renamed' })).json.paths.formA, '/api/sheets/acme/renamed')
  assert.equal((await rowport.get(sheet.formA, bearer(all))).status, 404)
  assert.equal(await status(), 200, 'the address by id stays')
  assert.equal((await owner.call('DELETE', '/sheets/renamed')).status, 200)
  assert.equal(await status(), 404)
  assert.equal((await rowport.get('/api/sheets/acme/other', bearer(only))).status, 403, 'it opens no other')
  assert.equal((await rowport.get('/api/sheets/acme/other', bearer(all))).status, 200)
})

test('the console’s key: for one sheet, for an hour, and a new one ends the former', async (t) => {
  const rowport = await startRowport(t)
  const sheet = await rowport.connectFile('s', 's.csv', 'a\n1\n')
  const other = await rowport.connectFile('other', 'other.csv', 'a\n1\n')
  const owner = await signedIn(rowport)
  const fresh = async () =>
    (await owner.call<{ value: string; lifeMs: number }>('POST', '/sheets/s/console-key')).json
  const status = async (path: string, key: { value: string }) => (await rowport.get(path, bearer(key))).status
  const first = await fresh()
  assert.match(first.value, /^sk_test_\w{32}$/)
  assert.equal(first.lifeMs, 3_600_000)
  assert.equal(await status(sheet.formA, first), 200)
  assert.equal(await status(other.formA, first), 403)
  const { firstRequestAtMs } = (await owner.call<StartView>('GET', '/start')).json
  assert.equal(firstRequestAtMs, null, 'what the owner tries out is no client’s first request')
  const { byKey } = (await owner.call<UsageView>('GET', '/usage?days=7')).json
  assert.deepEqual(
    byKey.map(({ name }) => name),
    ['Console (s)'],
  )
  const second = await fresh()
  assert.equal(await status(sheet.formA, first), 403)
  rowport.clock.advanceMs(3_600_000 - 1)
  assert.equal(await status(sheet.formA, second), 200)
  rowport.clock.advanceMs(1)
  assert.equal(await status(sheet.formA, second), 403)
  assert.equal(await status('/v1/sheets', second), 403)
  assert.deepEqual((await owner.call('GET', '/keys')).json, [], 'it is not among the owner’s keys')
})

test('an expired key does not come back beyond the number of active ones', async (t) => {
  const rowport = await startRowport(t)
  const owner = await signedIn(rowport)
  const wish = { name: 'k', mode: 'live', scope: 'read', sheetSlug: null }
  const inMs = (ms: number) => rowport.clock.nowMs() + ms
  const make = async (expiresAtMs: number | null) =>
    (await owner.call<{ key: KeyView }>('POST', '/keys', { ...wish, expiresAtMs })).json.key
  const brief = [await make(inMs(1_000)), await make(inMs(1_000))]
  rowport.clock.advanceMs(2_000)
  for (let n = 0; n < 49; n++) await make(null)
  const bringBack = (key: KeyView | undefined) =>
    owner.call('PATCH', `/keys/${key?.id}`, { expiresAtMs: inMs(60_000) })
  const outcomes = await Promise.all(brief.map(bringBack))
  assert.deepEqual(outcomes.map(({ status }) => status).sort(), [200, 400])
  assert.equal((await bringBack(brief[outcomes[0]?.status === 200 ? 0 : 1])).status, 200, 'it is active')
  const refused = await bringBack(brief[outcomes[0]?.status === 200 ? 1 : 0])
  assert.equal(refused.status, 400)
  assert.match(JSON.stringify(refused.json), /up to 50 active keys/)
  const keys = (await owner.call<KeyView[]>('GET', '/keys')).json
  assert.equal(keys.filter(({ state }) => state === 'active').length, 50)
})

test('the console works on a sheet that refuses test keys', async (t) => {
  const rowport = await startRowport(t)
  const sheet = await rowport.connectFile('s', 's.csv', 'a\n1\n')
  const other = await rowport.connectFile('other', 'other.csv', 'a\n1\n')
  const owner = await signedIn(rowport)
  await owner.call('POST', '/sheets/s/console-key')
  assert.equal((await owner.call('PATCH', '/sheets/s', { accepts: 'live' })).status, 200)
  const key = (await owner.call<{ value: string }>('POST', '/sheets/s/console-key')).json
  assert.equal((await rowport.get(sheet.formA, bearer(key))).status, 200)
  assert.equal((await rowport.get(other.formA, bearer(key))).status, 403)
})

test('files: kept apart for each account, with safe names, never too long, and nothing else can be named', async (t) => {
  const rowport = await startRowport(t)
  const owner = await signedIn(rowport)
  const { id } = done(await rowport.workshop.accounts.find('acme'))
  const folder = join(rowport.folder, 'files', id)
  for (const [name, kept] of [
    ['Prices.csv', 'Prices.csv'],
    ['Prices.csv', 'Prices-2.csv'],
    ['../../../escape.csv', 'escape.csv'],
    ['C:\\Users\\x\\win.csv', 'win.csv'],
    ['..hidden.csv', 'hidden.csv'],
    ['Größe\u0000 €.csv', 'Größe_ _.csv'],
  ] as const) {
    const saved = await upload(rowport, owner, name, 'a\n1\n')
    assert.equal(saved.status, 201, name)
    assert.equal(saved.json.path, kept)
  }
  assert.equal(readdirSync(folder).length, 6)
  for (const [name, bytes] of [
    ['x.exe', 'a'],
    ['.csv', 'a'],
    ['', 'a'],
    ['empty.csv', ''],
    ['broken.xlsx', 'this is no workbook'],
    ['long.csv', new Uint8Array(50 * 1024 * 1024 + 1)],
  ] as const) {
    const refused = await upload(rowport, owner, name, bytes).catch(() => null)
    assert.ok(refused === null || refused.status >= 400, name)
  }
  assert.equal(readdirSync(folder).length, 6, 'nothing is left of what was refused')
  for (const path of ['../../rowport.db', '/etc/hosts', 'nothing.csv', '../secret.csv']) {
    const answer = await owner.call('POST', '/preview', { provider: 'file', path, tab: null })
    assert.equal(answer.status, 404, path)
  }
})

test('a workbook is uploaded with its tabs, one of them becomes a sheet, and clients read and write it', async (t) => {
  const rowport = await startRowport(t)
  const owner = await signedIn(rowport)
  const sheets = [
    { name: 'Notes', rows: [['text'], ['hello']] },
    {
      name: 'Prices 2026',
      rows: [['name', 'price'], ...Array.from({ length: 30 }, (_, n) => [`Lamp ${n}`, n])],
    },
  ]
  const saved = await upload(rowport, owner, 'Shop.xlsx', await writeXlsx({ sheets }))
  assert.equal(saved.status, 201)
  const { bytes, modifiedAtMs, ...choice } = saved.json
  assert.deepEqual(choice, {
    name: 'Shop.xlsx',
    path: 'Shop.xlsx',
    tabs: ['Notes', 'Prices 2026'],
    problem: null,
    sheets: [],
  })
  assert.deepEqual((await owner.call('GET', '/files')).json, [saved.json])
  const source = { provider: 'file', path: 'Shop.xlsx', tab: 'Prices 2026' }
  const preview = await owner.call<PreviewView>('POST', '/preview', source)
  assert.deepEqual([preview.json.rowCount, preview.json.rows[1]], [30, { name: 'Lamp 1', price: 1 }])
  const wish = { slug: 'prices', access: 'private', source }
  assert.equal((await owner.call('POST', '/sheets', wish)).status, 201)
  const key = await rowport.createKey()
  const path = '/api/sheets/acme/prices'
  const add = await fetch(rowport.url + path, {
    method: 'POST',
    headers: bearer(key),
    body: '{"name":"New"}',
  })
  assert.equal(add.status, 201)
  assert.deepEqual(await (await rowport.get(`${path}/32`, bearer(key))).json(), { name: 'New', price: null })
  assert.equal((await owner.call('POST', '/preview', { ...source, tab: 'Nothing' })).status, 502)
})

test('an upload that keeps coming outlasts the time limit of other requests', async (t) => {
  const timeLimits = { headersMs: 200, requestMs: 300, checkEveryMs: 20 }
  const rowport = await startRowport(t, { timeLimits })
  const owner = await signedIn(rowport)
  const send = (path: string, type: string) => {
    const headers = { ...ownPage, Cookie: owner.cookie, 'Content-Type': type }
    const slow = Readable.from(
      (async function* () {
        for (let n = 0; n < 10; n++) {
          yield n === 0 ? 'a\n' : `${n}\n`
          await sleep(80)
        }
      })(),
    )
    const init = { method: 'POST', body: slow, headers, duplex: 'half' }
    return fetch(`${rowport.url}/dashboard/api${path}`, init as RequestInit).then(
      ({ status }) => status,
      () => 'cut off',
    )
  }
  const [upload, other] = await Promise.all([
    send('/files?name=slow.csv', 'text/csv'),
    send('/preview', 'application/json'),
  ])
  assert.equal(upload, 201)
  assert.ok(other === 408 || other === 'cut off', `${other}`)
  assert.equal((await owner.call<FileChoice[]>('GET', '/files')).json[0]?.bytes, 20)
})

test('all of an account’s data can be taken along, without a secret in it', async (t) => {
  const { rowport, connect } = await startTogether(t)
  const owner = await signedIn(rowport)
  await connect(owner)
  await rowport.connectFile('s', 's.csv', 'a\n1\n')
  const key = await rowport.createKey()
  await rowport.get('/api/sheets/acme/s', bearer(key))
  const added = await fetch(`${rowport.url}/api/sheets/acme/s`, {
    method: 'POST',
    headers: bearer(key),
    body: JSON.stringify(Array.from({ length: 1_000 }, (_, n) => ({ a: n }))),
  })
  assert.equal(added.status, 201, await added.text())
  await owner.call('POST', '/password', { current: null, next: 'a long password', email: 'a@x.org' })
  const url = 'https://203.0.114.7/hook'
  const hook = { sheetSlug: 's', url, kinds: ['added'], columns: null }
  const made = await owner.call<{ secret: string }>('POST', '/webhooks', hook)
  assert.equal(made.status, 201, made.text)
  const answer = await owner.call<Record<string, unknown>>('GET', '/export')
  assert.match(answer.headers['content-disposition'] ?? '', /^attachment; filename="rowport-acme\.json"$/)
  assert.deepEqual(Object.keys(answer.json), [
    'exported_at',
    'account',
    'owner',
    'google',
    'sheets',
    'keys',
    'webhooks',
    'usage',
    'changes',
  ])
  const { s: log = [] } = answer.json.changes as Record<string, { kind: string; after: { a: number } }[]>
  assert.deepEqual(
    log.map(({ kind, after }) => `${kind} ${after.a}`),
    Array.from({ length: 1_000 }, (_, n) => `added ${n}`),
    'what became of rows, in order',
  )
  const [webhook] = answer.json.webhooks as Record<string, unknown>[]
  assert.deepEqual(
    [webhook?.sheet, webhook?.url, webhook?.kinds, webhook?.state],
    ['s', url, ['added'], 'on'],
  )
  assert.match(made.json.secret, /^whsec_/)
  assert.equal((answer.json.usage as { sheet: string }[])[0]?.sheet, 's')
  const { id } = done(await rowport.workshop.accounts.find('acme'))
  const credential = await rowport.workshop.store.credentialOf(id, 'google')
  for (const secret of [
    key.value,
    made.json.secret,
    'argon2',
    credential?.sealedToken ?? '?',
    owner.cookie.split('=')[1] ?? '?',
  ])
    assert.ok(!answer.text.includes(secret))
})

test('a deleted account is gone at once: keys, sessions, files, and access at Google', async (t) => {
  const { rowport, google, connect } = await startTogether(t)
  const owner = await signedIn(rowport)
  await connect(owner)
  const { id } = done(await rowport.workshop.accounts.find('acme'))
  await upload(rowport, owner, 'mine.csv', 'a\n1\n')
  const source = { provider: 'file', path: 'mine.csv', tab: null }
  await owner.call('POST', '/sheets', { slug: 'mine', access: 'public-read', source })
  const other = await signedIn(rowport)
  const key = await rowport.createKey()
  const status = async () => (await rowport.get('/api/sheets/acme/mine', bearer(key))).status
  assert.equal(await status(), 200)
  assert.equal((await owner.call('POST', '/account/delete', { confirmSlug: 'acm' })).status, 400)
  assert.equal(await status(), 200)
  assert.equal((await owner.call('POST', '/account/delete', { confirmSlug: 'acme' })).status, 200)
  assert.equal(await status(), 404)
  assert.equal((await rowport.get('/v1/sheets', bearer(key))).status, 403)
  for (const visitor of [owner, other]) assert.equal((await visitor.call('GET', '/session')).status, 401)
  assert.equal(existsSync(join(rowport.folder, 'files', id)), false)
  const { calls } = await google.control<{ calls: { path: string; status: number }[] }>('GET', 'calls')
  assert.equal(calls.findLast(({ path }) => path === '/revoke')?.status, 200)
})
