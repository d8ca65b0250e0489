import assert from 'node:assert/strict'
import { test } from 'node:test'
import { routesFor } from '../../src/dashboard/owner-api/routes.ts'
import { connectableKinds } from '../../src/providers/provider-table.ts'
import { bearer, done } from '../harness.ts'
import { createVisitor, signedIn, type Visitor } from './visitor.ts'
import { ada, grace, startTogether } from './with-google.ts'

const allRoutes = routesFor(connectableKinds)

test("no verb shows or changes anything of another owner's, whatever it is asked for", async (t) => {
  const { rowport, google, connect, askGoogle, createSpreadsheet } = await startTogether(t)
  const spreadsheetId = await createSpreadsheet('Ada’s secret prices')
  const owner = await signedIn(rowport)
  await connect(owner)
  const source = { provider: 'google', spreadsheetId, tabId: 0 }
  const made = await owner.call('POST', '/sheets', { slug: 'secret-prices', access: 'private', source })
  assert.equal(made.status, 201, made.text)
  const password = { current: null, next: 'a long password', email: 'ada@rowport.test' }
  assert.equal((await owner.call('POST', '/password', password)).status, 200)
  const key = await rowport.createKey()
  const isServed = async () => (await rowport.get('/api/sheets/acme/secret-prices', bearer(key))).status
  assert.equal(await isServed(), 200)
  await rowport.connectFile('secret-file', 'secret.csv', 'secret\nOak table\n')
  const uploaded = await fetch(`${rowport.url}/dashboard/api/files?name=ada-secret.csv`, {
    method: 'POST',
    body: 'secret\nOak table\n',
    headers: { Cookie: owner.cookie, 'Sec-Fetch-Site': 'same-origin', 'X-Rowport-Dashboard': '1' },
  })
  assert.equal(uploaded.status, 201)

  done(await rowport.workshop.accounts.create('mallory', 'free'))
  const mallory = await signedIn(rowport, 'mallory')
  const before = await owner.call('GET', '/export')
  // Once without access to Google of their own, once with.
  for (const isConnected of [false, true]) {
    if (isConnected) await connect(mallory, { user: grace })
    await google.control('POST', 'settings', { autoConsent: { user: ada } })
    const back = await askGoogle(owner)
    for (const visitor of [mallory, createVisitor(rowport)]) {
      await walk(visitor, { key: key.id, spreadsheetId })
      // It asks nearly as often as somebody may in a minute.
      rowport.clock.advanceMs(61_000)
    }
    const stolen = await mallory.get(back.pathname + back.search)
    assert.equal(stolen.location, '/connect?google=state_invalid')
    assert.equal(await isServed(), 200)
    const own = await owner.get(back.pathname + back.search)
    assert.equal(own.location, '/connect?google=reconnected', 'the attempt was not used up')
  }
  assert.deepEqual(done(await rowport.workshop.sheets.list('mallory')), [])
  const told = (text: string) => {
    const { exported_at, usage, google: connection, keys, ...rest } = JSON.parse(text)
    // When a key was last used is written every few seconds, and its owner has used it.
    return { ...rest, keys: keys.map(({ last_used_at, ...key }: Record<string, unknown>) => key) }
  }
  assert.deepEqual(told((await owner.call('GET', '/export')).text), told(before.text), 'nothing was changed')
})

/** Every route, with all that is known of the other account filled in wherever it fits. */
async function walk(visitor: Visitor, known: { key: string; spreadsheetId: string }): Promise<void> {
  const leaving = new Set(['/sign-out', '/sign-out-everywhere', '/sign-in', '/sign-up', '/sign-in-link'])
  const bodies = [
    undefined,
    { provider: 'google', spreadsheetId: known.spreadsheetId, tabId: 0 },
    ...['ada-secret.csv', '../acme/ada-secret.csv', '/etc/hosts.txt', 'secret.csv'].map((path) => ({
      provider: 'file',
      path,
      tab: null,
    })),
    { slug: 'stolen', access: 'public-read', source: { provider: 'google', ...known, tabId: 0 } },
    { name: 'k', mode: 'live', scope: 'read-write', sheetSlug: 'secret-prices' },
    { paused: true },
    { slug: 'acme' },
    { confirmSlug: 'acme' },
  ]
  let asked = 0
  for (const { method, path } of allRoutes) {
    if (leaving.has(path)) continue
    const address = path
      .replace('{slug}', 'secret-prices')
      .replace('{id}', known.key)
      .replace('{pasted}', known.spreadsheetId)
      .replace('{name}', 'ada-secret.csv')
    const query = `?sheet=secret-prices&key=${known.key}&search=secret&slug=secret-prices&name=x.csv`
    for (const body of method === 'GET' ? [undefined] : bodies) {
      const seen = await visitor.call(method, address + query, body)
      const where = `${method} ${path} ${JSON.stringify(body)}: ${seen.status} ${seen.text.slice(0, 200)}`
      assert.ok(seen.status < 500 || seen.status === 502, where)
      assert.doesNotMatch(seen.text, /Ada’s secret|Oak table|ada@|secret\.csv|sk_/, where)
      if (/\{slug\}|\{id\}|\{name\}/.test(path)) assert.ok([400, 401, 404].includes(seen.status), where)
      asked++
    }
  }
  assert.ok(asked > 60)
}
