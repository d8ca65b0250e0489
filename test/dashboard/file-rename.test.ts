import assert from 'node:assert/strict'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import fsPromises from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { AuditEntryView, FileChoice, HistoryView } from '../../src/dashboard/contract.ts'
import { ownPage, signedIn, type Visitor } from '../connect/visitor.ts'
import { bearer, done, type Rowport, startRowport } from '../harness.ts'

const someRows = 'name,price\nLamp,1\n'

async function startWithFiles(t: TestContext) {
  const rowport = await startRowport(t)
  const owner = await signedIn(rowport)
  const { id: accountId } = done(await rowport.workshop.accounts.find('acme'))
  const folder = join(rowport.folder, 'files', accountId)
  const { store } = rowport.workshop
  return {
    rowport,
    owner,
    folder,
    store,
    names: () => readdirSync(folder).sort(),
    upload: (name: string, bytes = someRows) => upload(rowport, owner, name, bytes),
    connect: (slug: string, path: string) => connect(owner, slug, path),
    rename: (name: string, to: string) => rename(owner, name, to),
    sheet: async (slug: string) => {
      const found = await store.findSheet(accountId, slug)
      assert.ok(found)
      return found
    },
    key: await rowport.createKey({ scope: 'read-write' }),
  }
}

async function upload(rowport: Rowport, owner: Visitor, name: string, bytes: string): Promise<void> {
  const answer = await fetch(`${rowport.url}/dashboard/api/files?name=${encodeURIComponent(name)}`, {
    method: 'POST',
    body: bytes,
    headers: { Cookie: owner.cookie, ...ownPage },
  })
  assert.equal(answer.status, 201, await answer.text())
}

async function connect(owner: Visitor, slug: string, path: string): Promise<void> {
  const source = { provider: 'file', path, tab: null }
  const made = await owner.call('POST', '/sheets', { slug, access: 'private', source })
  assert.equal(made.status, 201, made.text)
}

function rename(owner: Visitor, name: string, to: string) {
  return owner.call<FileChoice>('POST', `/files/${encodeURIComponent(name)}/rename`, { to })
}

test('a file is renamed under its sheets: rows, ETags, history and what is known of them stay', async (t) => {
  const { rowport, owner, names, upload, connect, rename, sheet, key } = await startWithFiles(t)
  await upload('Preise.csv')
  await connect('prices', 'Preise.csv')
  const url = `${rowport.url}/api/sheets/acme/prices`
  const headers = bearer(key)
  assert.equal((await fetch(url, { method: 'POST', headers, body: '{"name":"Rug","price":2}' })).status, 201)
  const before = await fetch(url, { headers })
  const wholeHistory = async () =>
    (await owner.call<HistoryView>('GET', '/sheets/prices/history')).json.changes
  const formerHistory = await wholeHistory()
  assert.ok(formerHistory.length > 0)
  const formerSheet = await sheet('prices')

  const renamed = await rename('Preise.csv', 'Preise 2027.csv')
  assert.deepEqual(
    [renamed.status, renamed.json.name, renamed.json.sheets],
    [200, 'Preise 2027.csv', ['prices']],
  )
  assert.deepEqual(names(), ['Preise 2027.csv'])
  const after = await fetch(url, { headers })
  assert.equal(after.headers.get('etag'), before.headers.get('etag'))
  const etag = before.headers.get('etag') ?? ''
  assert.equal((await fetch(url, { headers: { ...headers, 'If-None-Match': etag } })).status, 304)
  assert.deepEqual(await after.json(), await before.json())
  assert.deepEqual(await wholeHistory(), formerHistory, 'nobody changed a row')
  const { location, writeSeq, ...same } = await sheet('prices')
  assert.deepEqual(same, (({ location, writeSeq, ...rest }) => rest)(formerSheet))
  assert.match(location, /\/Preise 2027\.csv"/)
  assert.ok(writeSeq > formerSheet.writeSeq, 'what was read at its former place is not served')
  assert.equal((await fetch(url, { method: 'POST', headers, body: '{"name":"Mug"}' })).status, 201)
  assert.equal(((await (await fetch(url, { headers })).json()) as unknown[]).length, 3)
  const entries = (await owner.call<AuditEntryView[]>('GET', '/audit')).json
  const entry = entries.find(({ action }) => action === 'file.renamed')
  assert.equal(entry?.subject, 'Preise.csv')
  assert.match(JSON.stringify(entry), /Preise 2027\.csv/)
})

test('who takes the former name of a file shares nothing with it, and who connects to it shares its lane', async (t) => {
  const { rowport, owner, names, upload, connect, rename, sheet, key } = await startWithFiles(t)
  await upload('a.csv')
  await connect('first', 'a.csv')
  assert.equal((await rename('a.csv', 'b.csv')).status, 200)
  await upload('a.csv', 'name,price\nOther,9\n')
  await connect('newcomer', 'a.csv')
  await connect('newcomers-twin', 'a.csv')
  await connect('firsts-twin', 'b.csv')
  const sourceOf = async (slug: string) => (await sheet(slug)).source
  assert.equal(await sourceOf('firsts-twin'), await sourceOf('first'))
  assert.notEqual(await sourceOf('newcomer'), await sourceOf('first'))
  assert.equal(await sourceOf('newcomers-twin'), await sourceOf('newcomer'))
  const rows = async (slug: string) =>
    (await rowport.get(`/api/sheets/acme/${slug}`, bearer(key))).json() as Promise<{ name: string }[]>
  await fetch(`${rowport.url}/api/sheets/acme/newcomer`, {
    method: 'POST',
    headers: bearer(key),
    body: '{"name":"More"}',
  })
  assert.deepEqual(
    (await rows('newcomers-twin')).map(({ name }) => name),
    ['Other', 'More'],
  )
  assert.deepEqual(
    (await rows('firsts-twin')).map(({ name }) => name),
    ['Lamp'],
  )

  // A third one, while both of the others are elsewhere.
  assert.equal((await rename('a.csv', 'c.csv')).status, 200)
  await upload('a.csv')
  await connect('third', 'a.csv')
  const sources = await Promise.all(['first', 'newcomer', 'third'].map(sourceOf))
  assert.equal(new Set(sources).size, 3)
  const files = (await owner.call<FileChoice[]>('GET', '/files')).json
  assert.deepEqual(
    files.map(({ name, sheets }) => [name, sheets.length]),
    [
      ['a.csv', 1],
      ['b.csv', 2],
      ['c.csv', 2],
    ],
  )
  assert.equal((await owner.call('DELETE', '/files/b.csv')).status, 409, 'its sheets need it')
  assert.equal((await rename('b.csv', 'd.csv')).status, 200)
  assert.deepEqual(
    (await rows('firsts-twin')).map(({ name }) => name),
    ['Lamp'],
    'all of its sheets follow',
  )
  assert.deepEqual(names(), ['a.csv', 'c.csv', 'd.csv'])
})

test('a rename that cannot be done changes nothing, and says why', async (t) => {
  const { names, folder, upload, connect, rename } = await startWithFiles(t)
  await upload('a.csv')
  await connect('a', 'a.csv')
  await upload('b.csv', 'name\nof b\n')
  for (const [name, to, status, says] of [
    ['a.csv', 'b.csv', 409, /already have a file named b\.csv/],
    ['a.csv', 'a.xlsx', 400, /must end with \.csv/],
    ['a.csv', 'a.tsv', 400, /must end with \.csv/],
    ['a.csv', 'a', 400, /must end with \.csv/],
    ['a.csv', '.csv', 400, /must end with \.csv/],
    ['a.csv', `${'漢'.repeat(90)}.csv`, 400, /too long/],
    ['missing.csv', 'c.csv', 404, /File not found/],
    ['../a.csv', 'c.csv', 404, /File not found/],
  ] as const) {
    const { status: got, text } = await rename(name, to)
    assert.deepEqual([name, to, got], [name, to, status], text)
    assert.match(text, says)
  }
  assert.equal((await rename('a.csv', 'a.csv')).status, 200, 'it is called so')
  assert.deepEqual(names(), ['a.csv', 'b.csv'])
  assert.equal(readFileSync(join(folder, 'b.csv'), 'utf8'), 'name\nof b\n')
  assert.equal((await rename('a.csv', '../../x/Größe\n<1>.CSV')).json.name, 'Größe__1_.CSV')
  assert.deepEqual(names(), ['Größe__1_.CSV', 'b.csv'])
})

test('writes and reads that are under way while a file is renamed are all done, each once', async (t) => {
  const { rowport, folder, names, upload, connect, rename, key } = await startWithFiles(t)
  await upload('log.csv', 'name\nfirst\n')
  await connect('log', 'log.csv')
  const url = `${rowport.url}/api/sheets/acme/log`
  const headers = bearer(key)
  const told: string[] = []
  const statuses: Record<string, number> = {}
  let isOver = false
  const writing = Array.from({ length: 4 }, async (_, client) => {
    for (let n = 0; !isOver; n++) {
      const name = `row-${client}-${n}`
      const sent = { ...headers, 'Idempotency-Key': name }
      const answer = await fetch(url, { method: 'POST', headers: sent, body: JSON.stringify({ name }) })
      assert.equal(answer.status, 201, await answer.text())
      told.push(name)
    }
  })
  const reading = Array.from({ length: 2 }, async () => {
    while (!isOver) {
      const { status } = await rowport.get('/api/sheets/acme/log', headers)
      statuses[status] = (statuses[status] ?? 0) + 1
    }
  })
  let name = 'log.csv'
  const renames = 25
  for (let round = 0; round < renames; round++) {
    const to = `log ${round}.csv`
    const { status, text } = await rename(name, to)
    assert.equal(status, 200, text)
    name = to
  }
  isOver = true
  await Promise.all([...writing, ...reading])
  assert.deepEqual(names(), [name])
  const lines = readFileSync(join(folder, name), 'utf8').trim().split('\n')
  const standing = new Set(lines)
  assert.deepEqual(
    told.filter((one) => !standing.has(one)),
    [],
    'none is lost',
  )
  assert.equal(standing.size, lines.length, 'none is there twice')
  assert.equal(lines.length, told.length + 2)
  assert.deepEqual(Object.keys(statuses), ['200'])
  t.diagnostic(`${renames} renames under ${told.length} writes and ${statuses[200]} reads: 0 lost, 0 refused`)
})

for (const [when, isDone] of [
  ['before its sheets follow', false],
  ['after its sheets have followed', true],
] as const) {
  test(`a rename that is cut off ${when} leaves every sheet with its rows, and can be done again`, async (t) => {
    const { rowport, store, folder, names, upload, connect, rename, key } = await startWithFiles(t)
    await upload('old.csv')
    await connect('prices', 'old.csv')
    const { relocateSheets } = store
    store.relocateSheets = async (...asked) => {
      if (isDone) await relocateSheets(...asked)
      throw new Error('cut off')
    }
    const cutOff = await rename('old.csv', 'new.csv')
    assert.equal(cutOff.status, 500)
    store.relocateSheets = relocateSheets
    assert.deepEqual(names(), ['new.csv', 'old.csv'], 'the bytes have both names')
    const url = `${rowport.url}/api/sheets/acme/prices`
    const rows = async () => (await (await fetch(url, { headers: bearer(key) })).json()) as { name: string }[]
    assert.deepEqual(
      (await rows()).map(({ name }) => name),
      ['Lamp'],
    )

    assert.equal((await rename('old.csv', 'new.csv')).status, 200)
    assert.deepEqual(names(), ['new.csv'])
    const add = { method: 'POST', headers: bearer(key), body: '{"name":"Rug"}' }
    assert.equal((await fetch(url, add)).status, 201)
    assert.deepEqual(
      (await rows()).map(({ name }) => name),
      ['Lamp', 'Rug'],
    )
    assert.match(readFileSync(join(folder, 'new.csv'), 'utf8'), /Rug/)
  })
}

test('where a rename was cut off and rows were written since, the other name is only a copy', async (t) => {
  const { rowport, store, folder, names, upload, connect, rename, key } = await startWithFiles(t)
  await upload('old.csv')
  await connect('prices', 'old.csv')
  const { relocateSheets } = store
  store.relocateSheets = async () => {
    throw new Error('cut off')
  }
  assert.equal((await rename('old.csv', 'new.csv')).status, 500)
  store.relocateSheets = relocateSheets
  const url = `${rowport.url}/api/sheets/acme/prices`
  const add = { method: 'POST', headers: bearer(key), body: '{"name":"Rug"}' }
  assert.equal((await fetch(url, add)).status, 201)
  assert.equal((await rename('old.csv', 'new.csv')).status, 409)
  assert.match(readFileSync(join(folder, 'old.csv'), 'utf8'), /Rug/)
  assert.equal((await rename('old.csv', 'third.csv')).status, 200)
  assert.deepEqual(names(), ['new.csv', 'third.csv'])
  assert.match(readFileSync(join(folder, 'third.csv'), 'utf8'), /Rug/)
})

test('what somebody else puts under the former name in the middle of a rename is the file', async (t) => {
  const { rowport, store, folder, names, upload, connect, rename, key } = await startWithFiles(t)
  await upload('old.csv')
  await connect('prices', 'old.csv')
  const { relocateSheets } = store
  store.relocateSheets = async (...asked) => {
    writeFileSync(join(folder, 'saved'), 'name,price\nSaved,2\n')
    await fsPromises.rename(join(folder, 'saved'), join(folder, 'old.csv'))
    return relocateSheets(...asked)
  }
  assert.equal((await rename('old.csv', 'new.csv')).status, 200)
  assert.deepEqual(names(), ['new.csv'])
  const rows = await (await rowport.get('/api/sheets/acme/prices', bearer(key))).json()
  assert.deepEqual(rows, [{ name: 'Saved', price: 2 }])
})

test('while a write is on its way that nobody has settled, nothing is renamed', async (t) => {
  const { store, names, upload, connect, rename } = await startWithFiles(t)
  await upload('old.csv')
  await connect('prices', 'old.csv')
  store.relocateSheets = async () => 'being_written'
  const { status, text } = await rename('old.csv', 'new.csv')
  assert.equal(status, 503)
  assert.match(text, /Nothing was renamed/)
  assert.deepEqual(names(), ['old.csv'])
})

test('a disk without links renames files just the same, and replaces none', async (t) => {
  const { rowport, folder, names, upload, connect, rename, key } = await startWithFiles(t)
  await upload('a.csv')
  await upload('b.csv', 'name\nof b\n')
  await connect('prices', 'a.csv')
  t.mock.method(fsPromises, 'link', async () => {
    throw Object.assign(new Error('operation not permitted'), { code: 'EPERM' })
  })
  syncBuiltinESMExports()
  t.after(() => {
    t.mock.restoreAll()
    syncBuiltinESMExports()
  })
  assert.equal((await rename('a.csv', 'b.csv')).status, 409)
  assert.equal((await rename('a.csv', 'c.csv')).status, 200)
  assert.deepEqual(names(), ['b.csv', 'c.csv'])
  assert.equal(readFileSync(join(folder, 'b.csv'), 'utf8'), 'name\nof b\n')
  assert.equal((await rowport.get('/api/sheets/acme/prices', bearer(key))).status, 200)
})
