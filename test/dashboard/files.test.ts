import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { writeXlsx } from 'hucre/xlsx'
import type { FileChoice } from '../../src/dashboard/contract.ts'
import { ownPage, signedIn, type Visitor } from '../connect/visitor.ts'
import { bearer, done, type Rowport, startRowport } from '../harness.ts'

type Sent = FileChoice & { error?: { code: string; message: string } }

function sender(rowport: Rowport, owner: Visitor) {
  return async (path: string, bytes: string | Uint8Array) => {
    const answer = await fetch(`${rowport.url}/dashboard/api${path}`, {
      method: 'POST',
      body: bytes,
      headers: { Cookie: owner.cookie, ...ownPage },
    })
    const json = (await answer.json()) as Sent
    return { status: answer.status, json, message: json.error?.message ?? '' }
  }
}

function replacing(name: string, broughtAs = name): string {
  return `/files/${encodeURIComponent(name)}/replace?name=${encodeURIComponent(broughtAs)}`
}

async function connect(owner: Visitor, slug: string, path: string, tab: string | null = null) {
  const source = { provider: 'file', path, tab }
  const made = await owner.call('POST', '/sheets', { slug, access: 'private', source })
  assert.equal(made.status, 201, made.text)
}

test('a file is replaced under its name: sheets, addresses and keys stay, and the next read shows it', async (t) => {
  const rowport = await startRowport(t)
  const owner = await signedIn(rowport)
  const send = sender(rowport, owner)
  assert.equal((await send('/files?name=Preise.csv', 'name,price\nLamp,1\n')).status, 201)
  await connect(owner, 'prices', 'Preise.csv')
  done(await rowport.workshop.sheets.change('acme', 'prices', { cacheSeconds: 3_600 }))
  const key = await rowport.createKey()
  const rows = async () => (await rowport.get('/api/sheets/acme/prices', bearer(key))).json()
  assert.deepEqual(await rows(), [{ name: 'Lamp', price: 1 }])
  const before = await owner.call('GET', '/sheets')

  const replaced = await send(replacing('Preise.csv', 'Preise neu (2).tsv'), 'name\tprice\nLamp\t2\nRug\t3\n')
  assert.equal(replaced.status, 200, replaced.message)
  assert.deepEqual([replaced.json.name, replaced.json.sheets], ['Preise.csv', ['prices']])
  const after = [
    { name: 'Lamp', price: 2 },
    { name: 'Rug', price: 3 },
  ]
  assert.deepEqual(await rows(), after, 'whatever cache_seconds says')
  assert.equal((await owner.call('GET', '/sheets')).text.length, before.text.length)

  for (const [broughtAs, bytes, status, says] of [
    ['Preise.xlsx', 'x', 400, /workbook with a workbook/],
    ['Preise.exe', 'x', 400, /isn’t a CSV file or a workbook/],
    ['Preise.csv', '', 400, /empty/],
    ['Preise.csv', ',,\n1,2,3\n', 400, /was not replaced.*for prices.*no headers/],
    ['Preise.csv', 'name\n"never closed', 502, /was not replaced.*for prices/],
    ['Preise.csv', new Uint8Array([0xff, 0xfe, 0xfd]), 502, /was not replaced.*for prices/],
  ] as const) {
    const refused = await send(replacing('Preise.csv', broughtAs), bytes)
    assert.deepEqual([refused.status, broughtAs], [status, broughtAs], refused.message)
    assert.match(refused.message, says)
  }
  assert.equal((await send(replacing('Nothing.csv'), 'a\n1\n')).status, 404)
  assert.deepEqual(await rows(), after, 'nothing of it was put in place')
  const { id } = done(await rowport.workshop.accounts.find('acme'))
  assert.deepEqual(
    readdirSync(join(rowport.folder, 'files', id)),
    ['Preise.csv'],
    'and nothing is left of it',
  )
})

test('a workbook is replaced only by one that has every tab that a sheet is connected to', async (t) => {
  const rowport = await startRowport(t)
  const owner = await signedIn(rowport)
  const send = sender(rowport, owner)
  const book = (...names: string[]) =>
    writeXlsx({ sheets: names.map((name) => ({ name, rows: [['tab'], [name]] })) })
  assert.equal((await send('/files?name=Shop.xlsx', await book('Notes', 'Prices'))).status, 201)
  await connect(owner, 'prices', 'Shop.xlsx', 'Prices')
  await connect(owner, 'sale', 'Shop.xlsx', 'Prices')
  const missing = await send(replacing('Shop.xlsx', 'new.xlsx'), await book('Notes', 'Rabatt'))
  assert.equal(missing.status, 502)
  assert.match(missing.message, /for prices and sale: the workbook has no tab named "Prices"; its tabs are/)
  const noBook = await send(replacing('Shop.xlsx'), 'this is no workbook')
  assert.equal(noBook.status, 502)
  assert.match(noBook.message, /not an Excel workbook/)
  const done = await send(replacing('Shop.xlsx'), await book('Prices', 'More'))
  assert.deepEqual([done.status, done.json.tabs], [200, ['Prices', 'More']], done.message)
})

test('writes that are under way when a file is replaced are in the new one, or were answered before', async (t) => {
  const rowport = await startRowport(t)
  const owner = await signedIn(rowport)
  const send = sender(rowport, owner)
  await send('/files?name=log.csv', 'name\nfirst\n')
  await connect(owner, 'log', 'log.csv')
  const key = await rowport.createKey()
  const told: { name: string; endedMs: number; begunMs: number }[] = []
  let isOver = false
  const writing = Promise.all(
    Array.from({ length: 4 }, async (_, lane) => {
      for (let n = 0; !isOver; n++) {
        const name = `row-${lane}-${n}`
        const begunMs = performance.now()
        const answer = await fetch(`${rowport.url}/api/sheets/acme/log`, {
          method: 'POST',
          headers: bearer(key),
          body: JSON.stringify({ name }),
        })
        assert.equal(answer.status, 201, await answer.text())
        told.push({ name, begunMs, endedMs: performance.now() })
      }
    }),
  )
  let replacedMs = { begunMs: 0, endedMs: 0 }
  for (let round = 0; round < 3; round++) {
    const begunMs = performance.now()
    const { status, message } = await send(replacing('log.csv'), `name\nreplacement ${round}\n`)
    assert.equal(status, 200, message)
    replacedMs = { begunMs, endedMs: performance.now() }
  }
  isOver = true
  await writing
  const { id } = done(await rowport.workshop.accounts.find('acme'))
  const lines = readFileSync(join(rowport.folder, 'files', id, 'log.csv'), 'utf8')
    .trim()
    .split('\n')
  assert.equal(lines[1], 'replacement 2')
  const standing = new Set(lines)
  const lost = told.filter(({ name, begunMs }) => begunMs > replacedMs.endedMs && !standing.has(name))
  const kept = told.filter(({ name, endedMs }) => endedMs < replacedMs.begunMs && standing.has(name))
  assert.deepEqual([lost, kept], [[], []])
  assert.equal(standing.size, lines.length, 'none is there twice')
})

test('a file is downloaded as it is, to be kept and never shown', async (t) => {
  const rowport = await startRowport(t)
  const owner = await signedIn(rowport)
  const send = sender(rowport, owner)
  const html = 'a\n<script>alert(1)</script>\n'
  await send(`/files?name=${encodeURIComponent("Größe (1)'s.csv")}`, html)
  const [file] = (await owner.call<FileChoice[]>('GET', '/files')).json
  const path = `/dashboard/api/files/${encodeURIComponent(file?.name ?? '')}/content`
  const got = await owner.get(path, { 'Sec-Fetch-Site': 'same-origin' })
  assert.deepEqual([got.status, got.text], [200, html])
  assert.equal(got.headers['content-type'], 'application/octet-stream')
  assert.equal(got.headers['x-content-type-options'], 'nosniff')
  assert.equal(got.headers['cache-control'], 'no-store')
  assert.match(got.headers['content-security-policy'] ?? '', /default-src 'none'/)
  assert.equal(
    got.headers['content-disposition'],
    `attachment; filename="Gr__e (1)_s.csv"; filename*=UTF-8''Gr%C3%B6%C3%9Fe%20%281%29_s.csv`,
  )
  const head = await fetch(rowport.url + path, { method: 'HEAD', headers: { Cookie: owner.cookie } })
  assert.deepEqual([head.status, head.headers.get('content-length')], [200, String(html.length)])
  const elsewhere = await owner.get(path, { 'Sec-Fetch-Site': 'cross-site' })
  assert.equal(elsewhere.status, 403)
})

test('a file that sheets are connected to is not deleted, and the refusal names them', async (t) => {
  const rowport = await startRowport(t)
  const owner = await signedIn(rowport)
  const send = sender(rowport, owner)
  await send('/files?name=a.csv', 'a\n1\n')
  await connect(owner, 'one', 'a.csv')
  await connect(owner, 'two', 'a.csv')
  const refused = await owner.call<Sent>('DELETE', '/files/a.csv')
  assert.equal(refused.status, 409)
  assert.match(refused.text, /connected to the file: one and two\. Disconnect them first/)
  assert.equal((await owner.call('DELETE', '/sheets/one')).status, 200)
  assert.match((await owner.call('DELETE', '/files/a.csv')).text, /: two\. Disconnect it first/)
  assert.equal((await owner.call('DELETE', '/sheets/two')).status, 200)
  assert.equal((await owner.call('DELETE', '/files/a.csv')).status, 200)
  assert.equal((await owner.call('DELETE', '/files/a.csv')).status, 404)
  assert.deepEqual((await owner.call('GET', '/files')).json, [])
})

test('no name reaches out of the account’s own folder', async (t) => {
  const rowport = await startRowport(t)
  done(await rowport.workshop.accounts.create('mallory', 'free'))
  const [owner, mallory] = [await signedIn(rowport), await signedIn(rowport, 'mallory')]
  const { id } = done(await rowport.workshop.accounts.find('acme'))
  await sender(rowport, owner)('/files?name=a.csv', 'a\nsecret\n')
  await sender(rowport, mallory)('/files?name=own.csv', 'a\n1\n')
  for (const name of [
    'a.csv',
    `../${id}/a.csv`,
    `..\\${id}\\a.csv`,
    `${rowport.folder}/files/${id}/a.csv`,
    '../../rowport.db',
    '../../secret',
    '.own.csv',
    'own.csv\0',
    'OWN.csv',
  ]) {
    const address = `/files/${encodeURIComponent(name)}`
    const got = await mallory.call('GET', `${address}/content`)
    assert.equal(got.status, 404, name)
    assert.doesNotMatch(got.text, /secret/)
    assert.equal((await mallory.call('DELETE', address)).status, 404, name)
    assert.equal((await sender(rowport, mallory)(replacing(name, 'x.csv'), 'a\n2\n')).status, 404, name)
  }
  assert.equal((await owner.call<FileChoice[]>('GET', '/files')).json.length, 1)
})

test('a name that is too long for a disk is refused in words, and is in no line of the log', async (t) => {
  const rowport = await startRowport(t)
  const send = sender(rowport, await signedIn(rowport))
  const outcomes = []
  for (const letter of ['a', 'ü', '漢', '𠮷']) {
    for (const count of [60, 66, 67, 96, 300]) {
      const name = `${letter.repeat(count)}.csv`
      const { status, json, message } = await send(`/files?name=${encodeURIComponent(name)}`, 'a\n1\n')
      outcomes.push(`${letter}×${count} ${status}`)
      if (status === 201) assert.ok(Buffer.byteLength(json.name) <= 200)
      else assert.match(message, /The name of the file is too long/)
    }
  }
  t.diagnostic(outcomes.join(', '))
  assert.ok(outcomes.every((outcome) => /201|400/.test(outcome)))
  assert.ok(
    outcomes.includes('漢×96 400') && outcomes.includes('a×300 201') && outcomes.includes('漢×60 201'),
  )
  assert.deepEqual(
    rowport.seen.filter(({ event }) => event === 'malfunction'),
    [],
  )
})

test('an upload or a replacement whose session ends meanwhile is refused, and nothing is kept', async (t) => {
  const rowport = await startRowport(t)
  const owner = await signedIn(rowport)
  const send = sender(rowport, owner)
  await send('/files?name=kept.csv', 'a\nbefore\n')
  const { id } = done(await rowport.workshop.accounts.find('acme'))
  for (const path of ['/files?name=new.csv', replacing('kept.csv')]) {
    const visitor = await signedIn(rowport)
    const { promise: isBegun, resolve: begun } = Promise.withResolvers<void>()
    const { promise: goOn, resolve: end } = Promise.withResolvers<void>()
    const body = Readable.from(
      (async function* () {
        yield 'a\n'
        begun()
        await goOn
        yield 'after\n'
      })(),
    )
    const headers = { Cookie: visitor.cookie, ...ownPage }
    const init = { method: 'POST', body, headers, duplex: 'half' } as RequestInit
    const answered = fetch(`${rowport.url}/dashboard/api${path}`, init)
    await isBegun
    await visitor.call('POST', '/sign-out')
    end()
    assert.equal((await answered).status, 401, path)
  }
  const folder = join(rowport.folder, 'files', id)
  // The answer does not wait for the draft to be removed.
  for (let tries = 0; tries < 100 && readdirSync(folder).length > 1; tries++) await sleep(20)
  assert.deepEqual(readdirSync(folder), ['kept.csv'])
  assert.equal(readFileSync(join(folder, 'kept.csv'), 'utf8'), 'a\nbefore\n')
})
