import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { commands } from '../../../src/commands/all-commands.ts'
import { connectionCommands } from '../../../src/commands/connection-commands.ts'
import type {
  ConnectionView,
  PreviewView,
  ServerView,
  SheetSummary,
  SheetView,
  SpreadsheetChoice,
  TabsView,
} from '../../../src/dashboard/contract.ts'
import { refusalIn, signedIn } from '../../connect/visitor.ts'
import { bearer, done, startRowport } from '../../harness.ts'
import { createLedger, ledgerKind } from './ledger.ts'
import { startLedgerServer } from './ledger-server.ts'

const rows = [
  ['name', 'amount'],
  ['Rent', 900],
  ['Lamps', 59.5],
]

async function start(t: TestContext) {
  const ledger = await startLedgerServer(t)
  const rowport = await startRowport(t, { createMore: (parts) => [createLedger(parts, ledger.url)] })
  const owner = await signedIn(rowport)
  const spreadsheetId = ledger.create('ada', 'Expenses', rows)
  const source = { provider: 'ledger', spreadsheetId, tabId: 0 }
  const connect = (key: string) => owner.call<{ email: string }>('POST', '/ledger/key', { key })
  const connectSheet = (slug: string) =>
    owner.call<SheetView>('POST', '/sheets', { slug, access: 'private', source })
  const states = async () =>
    (await owner.call<SheetSummary[]>('GET', '/sheets')).json.map(({ slug, state }) => `${slug} ${state}`)
  return { ledger, rowport, owner, spreadsheetId, source, connect, connectSheet, states }
}

/** The key and the address of `acme/books`, as a client has them. */
async function startBooks(t: TestContext) {
  const started = await start(t)
  const { rowport, ledger, connect, connectSheet } = started
  const token = ledger.grant('ada')
  assert.equal((await connect(token)).status, 200)
  assert.equal((await connectSheet('books')).status, 201)
  const key = await rowport.createKey()
  const read = () => rowport.get('/api/sheets/acme/books', { ...bearer(key), 'Cache-Control': 'no-cache' })
  const write = (method: string, path: string, body?: object, more = {}) =>
    fetch(`${rowport.url}/api/sheets/acme/books${path}`, {
      method,
      headers: { ...bearer(key), ...more },
      ...(body && { body: JSON.stringify(body) }),
    })
  return { ...started, token, read, write }
}

test('from a pasted token to the rows, and nothing is saved before the last step', async (t) => {
  const { ledger, rowport, owner, spreadsheetId, source, connect, connectSheet } = await start(t)
  const { sources } = (await owner.call<ServerView>('GET', '/server')).json
  assert.deepEqual(
    sources.map(({ provider, title, isOffered }) => [provider, title, isOffered]),
    [
      ['google', 'Google Sheets', true],
      ['file', 'A file', true],
      ['ledger', 'Ledger books', true],
    ],
  )
  const before = await owner.call<ConnectionView>('GET', '/ledger')
  assert.deepEqual(before.json, { isConfigured: true, connection: null })
  const early = await owner.call('POST', '/preview', source)
  assert.equal(refusalIn(early), 'Ledger is not connected; connect it first.')
  const wrong = await connect('nonsense')
  assert.equal(wrong.status, 502)
  assert.equal(refusalIn(wrong), 'The ledger does not know this token. Nothing was saved.')
  assert.equal((await owner.call('POST', '/ledger/key', { returnTo: '/connect' })).status, 400)

  const token = ledger.grant('ada')
  assert.deepEqual((await connect(token)).json, { email: 'ada' })
  const stored = await rowport.workshop.store.credentialsNotUnderKey('')
  assert.doesNotMatch(JSON.stringify([stored, rowport.seen]), new RegExp(token))
  const { json: choices } = await owner.call<SpreadsheetChoice[]>('GET', '/ledger/spreadsheets?search=Exp')
  assert.deepEqual(choices, [{ spreadsheetId, title: 'Expenses', modifiedAtMs: null }])
  const { json: tabs } = await owner.call<TabsView>('GET', `/ledger/spreadsheets/${spreadsheetId}/tabs`)
  assert.deepEqual(tabs.tabs, [{ tabId: 0, title: 'Expenses', rows: 3, columns: 2 }])
  const nonsense = await owner.call('GET', '/ledger/spreadsheets/hello/tabs')
  assert.equal(refusalIn(nonsense), 'That is not the name of a ledger.')

  const preview = await owner.call<PreviewView>('POST', '/preview', source)
  assert.equal(preview.json.suggestedSlug, 'expenses')
  assert.deepEqual(done(await rowport.workshop.sheets.list('acme')), [])
  const made = await connectSheet('books')
  assert.equal(made.status, 201, made.text)
  const { title, provider, state, source: shown } = made.json
  assert.deepEqual([title, provider, state], ['Expenses', 'ledger', 'live'])
  assert.equal(shown.url, `https://ledger.example/${spreadsheetId}`)
  const key = await rowport.createKey()
  const read = await rowport.get(made.json.paths.formA, bearer(key))
  assert.deepEqual(await read.json(), [
    { name: 'Rent', amount: 900 },
    { name: 'Lamps', amount: 59.5 },
  ])
})

test('rows are added, changed and deleted there; an edit there is seen; a write whose answer is lost is done once', async (t) => {
  const { ledger, spreadsheetId, read, write } = await startBooks(t)
  assert.equal((await write('POST', '', { name: 'Paper', amount: 4 })).status, 201)
  assert.equal((await write('PATCH', '/2', { amount: 950 })).status, 200)
  assert.equal((await write('DELETE', '/3')).status, 200)
  assert.deepEqual(ledger.rowsOf(spreadsheetId), [rows[0], ['Rent', 950], ['Paper', 4]])
  ledger.edit(spreadsheetId, [
    ['name', 'amount'],
    ['Rent', 1_000],
  ])
  assert.deepEqual(await (await read()).json(), [{ name: 'Rent', amount: 1_000 }])

  ledger.loseAnswers(1)
  const lost = await write('POST', '', { name: 'Ink', amount: 7 }, { 'Idempotency-Key': 'once' })
  assert.equal(lost.status, 201, await lost.text())
  const again = await write('POST', '', { name: 'Ink', amount: 7 }, { 'Idempotency-Key': 'once' })
  assert.equal(again.status, 201)
  assert.deepEqual(ledger.rowsOf(spreadsheetId), [rows[0], ['Rent', 1_000], ['Ink', 7]])
})

test('a token that was ended there: its sheets say so, no others, and another token brings them back', async (t) => {
  const { ledger, rowport, owner, token, source, connect, read, states } = await startBooks(t)
  await rowport.connectFile('local', 'local.csv', 'a\n1\n')
  assert.equal((await read()).status, 200)
  await fetch(`${ledger.url}/revoke`, { method: 'POST', headers: { Authorization: `Bearer ${token}` } })
  const over = await read()
  assert.equal(over.status, 503)
  assert.equal(((await over.json()) as { code: string }).code, 'token_expired')
  assert.deepEqual(await states(), ['books needs_reconnect', 'local live'])
  const { connection } = (await owner.call<ConnectionView>('GET', '/ledger')).json
  assert.equal(connection?.state, 'expired')
  assert.match(connection?.reason ?? '', /^Ledger access was revoked or has expired/)
  assert.equal((await owner.call('POST', '/preview', source)).status, 502)

  assert.equal((await connect(ledger.grant('ada'))).status, 200)
  assert.equal((await read()).status, 200)
  assert.deepEqual(await states(), ['books live', 'local live'])
})

test('access that ends while the owner chooses sends them to the provider that it was, and to no other', async (t) => {
  const { ledger, owner, source, connect } = await startBooks(t)
  // When its tabs are asked for, and when its rows are.
  for (const callsBefore of [0, 1]) {
    ledger.endAccessAfter(callsBefore)
    const preview = await owner.call('POST', '/preview', source)
    assert.equal(preview.status, 502)
    assert.equal(refusalIn(preview), 'Ledger does not let Rowport in any more; paste another token.')
    ledger.endAccessAfter(Number.POSITIVE_INFINITY)
    assert.equal((await connect(ledger.grant('ada'))).status, 200)
  }
})

test('disconnecting ends the token there; so does the end of the account', async (t) => {
  const { ledger, owner, token, connect, read } = await startBooks(t)
  assert.deepEqual((await owner.call('POST', '/ledger/disconnect')).json, {
    isRevokedAtLedger: true,
    endItThere: 'end the token where it was made',
  })
  assert.equal(ledger.isGranted(token), false)
  assert.equal((await read()).status, 503)
  const another = ledger.grant('ada')
  assert.equal((await connect(another)).status, 200)
  const told = await owner.call<Record<string, { email: string } | null>>('GET', '/export')
  assert.deepEqual([told.json.google, told.json.ledger?.email], [null, 'ada'])
  assert.equal((await owner.call('POST', '/account/delete', { confirmSlug: 'acme' })).status, 200)
  assert.equal(ledger.isGranted(another), false)
})

test('the operator sees and ends it by the same commands', async (t) => {
  const { rowport, ledger, token } = await startBooks(t)
  const [status, disconnect] = connectionCommands(ledgerKind)
  const list = commands.find(({ words }) => words.join(' ') === 'sheet list')
  assert.ok(status && disconnect && list && 'run' in list)
  const run = async ({ run }: typeof status) => done(await run(rowport.workshop, ['acme'], {}))
  assert.match((await run(status)).text, /^Account acme is connected to ada, since /)
  assert.match((await run(list)).text, /\nbooks +live +private +sh_\w+ +Expenses$/)
  const over = await run(disconnect)
  assert.deepEqual(over.json, { connected: false, ledger_account: 'ada', revoked_at_ledger: true })
  assert.match(over.text, /Its sheets now return token_expired\. Ledger has withdrawn the access as well\.$/)
  assert.equal(ledger.isGranted(token), false)
  assert.match((await run(list)).text, /\nbooks +needs reconnect /)
})
