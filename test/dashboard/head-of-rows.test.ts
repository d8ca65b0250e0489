import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ownPage, signedIn } from '../connect/visitor.ts'
import { bearer, startRowport } from '../harness.ts'

test('asking for the head of long rows again and again leaves the compressors to others', async (t) => {
  const rowport = await startRowport(t)
  const lines = Array.from({ length: 2_000 }, (_, n) => `${n},${'abc '.repeat(200)}${n}\n`)
  const sheet = await rowport.connectFile('long', 'long.csv', `id,text\n${lines.join('')}`)
  const key = await rowport.createKey()
  const owner = await signedIn(rowport)
  const headers = { ...ownPage, Cookie: owner.cookie, 'Accept-Encoding': 'gzip' }
  for (let nth = 0; nth < 12; nth++) {
    const head = await fetch(`${rowport.url}/dashboard/api/sheets/long/rows?limit=500&sort=-id`, {
      method: 'HEAD',
      headers,
    })
    assert.deepEqual([head.status, head.headers.get('content-encoding')], [200, 'gzip'])
  }
  const list = await rowport.get(`${sheet.formA}?limit=1500&sort=-id`, {
    ...bearer(key),
    'Accept-Encoding': 'gzip',
  })
  assert.equal(list.headers.get('content-encoding'), 'gzip')
  await list.arrayBuffer()
})

test('HEAD of what owners read makes no body: it says what GET would, but for the length', async (t) => {
  const rowport = await startRowport(t)
  await rowport.connectFile('products', 'products.csv', 'name\nLamp\n')
  const owner = await signedIn(rowport)
  const ask = async (path: string, method: string) => {
    const headers = { ...ownPage, Cookie: owner.cookie }
    const answer = await fetch(`${rowport.url}/dashboard/api${path}`, { method, headers })
    // What becomes of the connection is as this client asks, and it asks to close it behind a HEAD.
    const { date, connection, 'content-length': length, ...head } = Object.fromEntries(answer.headers)
    return { status: answer.status, head, length, body: await answer.text() }
  }
  for (const path of ['/sheets', '/keys', '/sheets/products', '/sheets/nothing']) {
    const get = await ask(path, 'GET')
    const head = await ask(path, 'HEAD')
    assert.deepEqual([head.status, head.head], [get.status, get.head], path)
    assert.equal(head.body, '')
    assert.notEqual(get.length, undefined)
    // What is refused is short, and there already.
    assert.equal(head.length, path === '/sheets/nothing' ? get.length : undefined, path)
  }
})
