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
