import assert from 'node:assert/strict'
import { test } from 'node:test'
import type {
  ConnectionView,
  PreviewView,
  SheetView,
  SpreadsheetChoice,
  TabsView,
} from '../../src/dashboard/contract.ts'
import { spreadsheetsScope } from '../emulator/harness.ts'
import { bearer, done } from '../harness.ts'
import { connectOwner } from '../writing/google-ground.ts'
import { refusalIn, signedIn, type Visitor } from './visitor.ts'
import { ada, googleOf, grace, items, startTogether } from './with-google.ts'

const tabsOf = (owner: Visitor, pasted: string) =>
  owner.call<TabsView>('GET', `/google/spreadsheets/${encodeURIComponent(pasted)}/tabs`)
const titles = async (owner: Visitor, search: string) => {
  const { json } = await owner.call<SpreadsheetChoice[]>(
    'GET',
    `/google/spreadsheets?search=${encodeURIComponent(search)}`,
  )
  return json.map(({ title }) => title).sort()
}

test('from the button to the rows: nothing is saved before the last step, and the addresses it shows work', async (t) => {
  const { rowport, connect, createSpreadsheet } = await startTogether(t)
  await createSpreadsheet('Prices 2026', {
    tabs: [
      { title: 'Items', values: items },
      { title: 'Empty', values: [] },
    ],
  })
  await createSpreadsheet('Holidays')
  const owner = await signedIn(rowport)
  const before = await owner.call<ConnectionView>('GET', '/google')
  assert.deepEqual(before.json, { isConfigured: true, connection: null })
  assert.match(
    (await owner.get('/connect')).headers['content-security-policy'] ?? '',
    /form-action 'self' http:\/\/127\.0\.0\.1:\d+;/,
  )

  assert.equal((await connect(owner)).location, '/connect?google=connected')
  assert.equal((await owner.call<ConnectionView>('GET', '/google')).json.connection?.email, ada)
  assert.deepEqual(await titles(owner, ''), ['Holidays', 'Prices 2026'])
  assert.deepEqual(await titles(owner, 'price'), ['Prices 2026'])
  assert.deepEqual(await titles(owner, "no'such"), [])

  const [choice] = (await owner.call<SpreadsheetChoice[]>('GET', '/google/spreadsheets?search=price')).json
  const spreadsheetId = choice?.spreadsheetId ?? ''
  const { tabs } = (await tabsOf(owner, spreadsheetId)).json
  assert.deepEqual(
    tabs.map(({ title }) => title),
    ['Items', 'Empty'],
  )
  const sourceOf = (at: number) => ({ provider: 'google', spreadsheetId, tabId: tabs[at]?.tabId })
  const empty = await owner.call('POST', '/preview', sourceOf(1))
  assert.equal(empty.status, 400)
  assert.equal(refusalIn(empty), 'Row 1 has no headers; put a name above each column.')

  const preview = await owner.call<PreviewView>('POST', '/preview', sourceOf(0))
  assert.deepEqual(preview.json, {
    suggestedSlug: 'prices-2026',
    title: 'Prices 2026',
    columns: [
      { name: 'name', type: 'string' },
      { name: 'price', type: 'number' },
      { name: 'in stock', type: 'boolean' },
    ],
    notes: [],
    rowCount: 2,
    rows: [
      { name: 'Oak table', price: 420, 'in stock': true },
      { name: 'Desk lamp', price: 59.9, 'in stock': false },
    ],
  })
  const connectAs = (slug: string) =>
    owner.call<SheetView>('POST', '/sheets', { slug, access: 'private', source: sourceOf(0) })
  const wrong = await connectAs('Price List!')
  assert.equal(wrong.status, 400)
  assert.match(refusalIn(wrong), /Use lowercase letters, numbers and single hyphens/i)
  assert.deepEqual(done(await rowport.workshop.sheets.list('acme')), [], 'nothing is saved yet')

  const connected = await connectAs('prices-2026')
  assert.equal(connected.status, 201, connected.text)
  const { paths, state, title, source } = connected.json
  assert.deepEqual([state, title], ['live', 'Prices 2026 · Items'])
  assert.equal(
    source.url,
    `https://docs.google.com/spreadsheets/d/${spreadsheetId}/edit#gid=${tabs[0]?.tabId}`,
  )
  const key = await rowport.createKey()
  const rows = await rowport.get(paths.formA, bearer(key))
  assert.equal(rows.status, 200)
  assert.deepEqual(await rows.json(), preview.json.rows)
  assert.equal((await rowport.get(paths.formB, bearer(key))).status, 200)

  const again = await owner.call<PreviewView>('POST', '/preview', sourceOf(0))
  assert.equal(again.json.suggestedSlug, 'prices-2026-2', 'a name that is taken is not suggested again')
  const taken = await connectAs('prices-2026')
  assert.equal(taken.status, 409)
  assert.equal(refusalIn(taken), 'There is already a sheet "acme/prices-2026".')
})

test('a pasted link: with a tab, with one tab only, of somebody else, of nothing', async (t) => {
  const { rowport, connect, createSpreadsheet } = await startTogether(t)
  const two = await createSpreadsheet('Two', {
    tabs: [
      { title: 'One', values: [['a'], [1]] },
      { title: 'Other', values: [['b'], [2]] },
    ],
  })
  const single = await createSpreadsheet('Single')
  const foreign = await createSpreadsheet('Secret plans', { owner: grace })
  const unpicked = await createSpreadsheet('Not picked', { pickedBy: false })
  const owner = await signedIn(rowport)
  await connect(owner)

  const { json: plain } = await tabsOf(owner, `https://docs.google.com/spreadsheets/d/${two}/edit`)
  assert.equal(plain.preferredTabId, null)
  const gid = plain.tabs[1]?.tabId
  const link = `https://docs.google.com/spreadsheets/u/0/d/${two}/edit?gid=${gid}#gid=${gid}`
  assert.equal((await tabsOf(owner, link)).json.preferredTabId, gid)
  assert.equal((await tabsOf(owner, ` ${single} `)).json.title, 'Single')

  for (const id of [foreign, unpicked]) {
    const refused = await tabsOf(owner, `https://docs.google.com/spreadsheets/d/${id}/edit`)
    assert.equal(refused.status, 502)
    assert.match(refusalIn(refused), /not chosen for Rowport.*“Select spreadsheets in Google”/)
    assert.doesNotMatch(refused.text, /Secret plans|Not picked/)
    const source = { provider: 'google', spreadsheetId: id, tabId: 0 }
    assert.equal((await owner.call('POST', '/preview', source)).status, 502)
  }
  for (const nonsense of ['hello', 'https://example.com/spreadsheets/d/x', '<script>']) {
    const refused = await tabsOf(owner, nonsense)
    assert.equal(refused.status, 400)
    assert.match(refusalIn(refused), /That is not the link of a Google spreadsheet/)
  }
  const source = { provider: 'google', spreadsheetId: two, tabId: 123_456 }
  const gone = await owner.call('POST', '/preview', source)
  assert.equal(refusalIn(gone), '"Two" has no such tab anymore; its tabs are "One", "Other".')
})

test('with the scope "spreadsheets" nothing can be listed, and every link of the owner can be pasted', async (t) => {
  const { rowport, connect, createSpreadsheet } = await startTogether(t, { scope: 'spreadsheets' })
  const unpicked = await createSpreadsheet('Not picked', { pickedBy: false })
  const owner = await signedIn(rowport)
  await connect(owner)
  assert.deepEqual(await titles(owner, ''), [])
  assert.equal(
    (await owner.call<ConnectionView>('GET', '/google')).json.connection?.canSeeAllSpreadsheets,
    true,
  )
  assert.equal((await tabsOf(owner, unpicked)).json.title, 'Not picked')
})

test('what comes back from Google counts only for the session that asked, once, within ten minutes', async (t) => {
  const { rowport, google, askGoogle } = await startTogether(t)
  await google.control('POST', 'settings', { autoConsent: true })
  const owner = await signedIn(rowport)
  const { id: accountId } = done(await rowport.workshop.accounts.find('acme'))
  const isSaved = async () => (await rowport.workshop.store.credentialOf(accountId, 'google')) !== null
  const refused = '/connect?google=state_invalid'

  const back = await askGoogle(owner)
  const path = back.pathname + back.search
  const other = await signedIn(rowport)
  done(await rowport.workshop.accounts.create('other', 'free'))
  const stranger = await signedIn(rowport, 'other')
  for (const visitor of [other, stranger]) assert.equal((await visitor.get(path)).location, refused)
  const nobody = await fetch(back, { redirect: 'manual' })
  assert.equal(nobody.headers.get('location'), refused, 'without any session')
  const withoutState = new URLSearchParams(back.search)
  withoutState.delete('state')
  for (const query of [`?${withoutState}`, '?state=', '?code=x', '']) {
    assert.equal((await owner.get(back.pathname + query)).location, refused)
  }
  assert.equal(await isSaved(), false)
  assert.equal((await owner.get(path)).location, '/connect?google=connected', 'nobody else could use it up')
  assert.equal(await isSaved(), true)
  assert.equal((await owner.get(path)).location, refused, 'once')

  await googleOf(rowport).disconnect(accountId)
  const late = await askGoogle(owner)
  rowport.clock.advanceMs(10 * 60_000)
  assert.equal((await owner.get(late.pathname + late.search)).location, refused)
  assert.equal((await googleOf(rowport).status(accountId))?.state, 'ended')
})

test('the owner comes back to the page from which they went, and to no other', async (t) => {
  const { rowport, google } = await startTogether(t)
  await google.control('POST', 'settings', { autoConsent: { user: ada } })
  const owner = await signedIn(rowport)
  const asked = await owner.call<{ url: string }>('POST', '/google/connect', { returnTo: '/settings' })
  const answer = await fetch(asked.json.url, { redirect: 'manual' })
  const back = new URL(answer.headers.get('location') ?? '')
  assert.equal((await owner.get(back.pathname + back.search)).location, '/settings?google=connected')
  for (const returnTo of ['https://evil.test', '//evil.test', '/keys', null]) {
    assert.equal((await owner.call('POST', '/google/connect', { returnTo })).status, 400)
  }
})

test('a consent that was refused, cut short or cannot be used leaves everything as it was, and says why', async (t) => {
  const { rowport, google, connect, askGoogle } = await startTogether(t)
  const owner = await signedIn(rowport)
  assert.equal((await connect(owner, { deny: true })).location, '/connect?google=denied')

  // The person brings back a code that is not the one of this attempt: PKCE.
  await google.control('POST', 'settings', { autoConsent: true })
  const first = await askGoogle(owner)
  const second = await askGoogle(owner)
  second.searchParams.set('code', first.searchParams.get('code') ?? '')
  assert.equal((await owner.get(second.pathname + second.search)).location, '/connect?google=failed')

  await google.control('POST', 'faults', {
    match: { service: 'oauth', path: '/token' },
    kind: '503',
    times: 9,
  })
  assert.equal((await connect(owner)).location, '/connect?google=failed')
  const { id } = done(await rowport.workshop.accounts.find('acme'))
  assert.equal(await rowport.workshop.store.credentialOf(id, 'google'), null)
})

test('a box that was not ticked is told, where Google has boxes', async (t) => {
  const { rowport, connect } = await startTogether(t, { scope: 'spreadsheets' })
  const unticked = await connect(await signedIn(rowport), { scopes: ['openid', 'email'] })
  assert.equal(unticked.location, '/connect?google=scope_missing')
})

test('consent is asked for as it should be: offline, with PKCE, for one scope, and back to one address', async (t) => {
  const { rowport } = await startTogether(t)
  const owner = await signedIn(rowport)
  const ask = async () =>
    new URL((await owner.call<{ url: string }>('POST', '/google/connect', { returnTo: '/connect' })).json.url)
  const { searchParams: asked } = await ask()
  const { state, code_challenge, client_id, ...rest } = Object.fromEntries(asked)
  assert.deepEqual(rest, {
    redirect_uri: `http://127.0.0.1:${rowport.port}/connect/google/callback`,
    response_type: 'code',
    scope: 'https://www.googleapis.com/auth/drive.file',
    access_type: 'offline',
    prompt: 'consent',
    include_granted_scopes: 'false',
    trigger_onepick: 'true',
    allow_multiple: 'true',
    mimetypes: 'application/vnd.google-apps.spreadsheet',
    code_challenge_method: 'S256',
  })
  for (const secret of [state, code_challenge]) assert.match(secret ?? '', /^[\w-]{43}$/)
  const again = (await ask()).searchParams
  assert.notEqual(again.get('state'), state)
  assert.notEqual(again.get('code_challenge'), code_challenge)
})

test('the token is nowhere as it is: not in the store, not in what is reported, not in an answer', async (t) => {
  const { rowport, google, connect } = await startTogether(t)
  const owner = await signedIn(rowport)
  const back = await connect(owner)
  const { id } = done(await rowport.workshop.accounts.find('acme'))
  const credential = await rowport.workshop.store.credentialOf(id, 'google')
  assert.match(credential?.sealedToken ?? '', /^v1\./)
  assert.ok(credential?.scopes.includes('drive.file') && !credential.scopes.includes(spreadsheetsScope))
  const told = [await owner.call('GET', '/google'), await owner.call('GET', '/export')]
  assert.doesNotMatch(JSON.stringify([credential, rowport.seen, back, told]), /1\/\/|ya29\./)
  assert.ok(!told.some(({ text }) => text.includes(credential?.sealedToken ?? '')), 'nor is its seal')
  assert.ok(google.url)
})

test('without a client id nobody can consent at Google, and a sheet that needs it says what the operator must do', async (t) => {
  const bare = await startTogether(t, { isRegistered: false })
  const owner = await signedIn(bare.rowport)
  const forced = await owner.call('POST', '/google/connect', { returnTo: '/connect' })
  assert.equal(forced.status, 403)
  assert.match(refusalIn(forced), /Google isn't set up on this server/)
  assert.equal((await owner.get('/dashboard/google/sign-in')).location, '/sign-in?problem=google_failed')

  const { workshop } = bare.rowport
  const { id } = done(await workshop.accounts.find('acme'))
  const { refresh_token } = await bare.google.tokens(ada)
  const credentialId = await connectOwner(workshop.store, workshop.sealing, id, refresh_token)
  done(
    await workshop.sheets.connect({
      accountSlug: 'acme',
      sheetSlug: 'g',
      access: 'public-read',
      provider: 'google',
      source: 'google:x',
      location: '{"spreadsheetId":"x","tabId":0}',
      credentialId,
    }),
  )
  const answer = await bare.rowport.get('/api/sheets/acme/g')
  assert.equal(answer.status, 502)
  const { error, details } = (await answer.json()) as { error: string; details: string }
  assert.equal(error, 'Failed to read from sheet: Google Sheets is not set up on this server')
  assert.match(details, /GOOGLE_CLIENT_ID/)
})
