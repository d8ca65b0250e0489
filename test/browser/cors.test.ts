import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { startRowport } from '../harness.ts'
import { findChromium, launchChromium } from '../servers/chromium.ts'

const skip = findChromium() ? false : 'Chromium is not on this machine'

test('a page of any origin reads and writes with a key, and sees headers and errors', { skip }, async (t) => {
  const rowport = await startRowport(t)
  const sheet = await rowport.connectFile('s', 's.csv', 'a\n1\n')
  const key = await rowport.createKey()
  const elsewhere = createServer((_request, response) => response.end('<title>elsewhere</title>'))
  await new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.1', resolve))
  const browser = await launchChromium()
  try {
    const page = await browser.newPage()
    await page.goto(`http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}/`)
    const call = (path: string, init: { method?: string; body?: string; headers?: Record<string, string> }) =>
      page.evaluate(
        async ({ url, init }) => {
          const answer = await fetch(url, init)
          return {
            status: answer.status,
            etag: answer.headers.get('etag'),
            total: answer.headers.get('x-total-count'),
            location: answer.headers.get('location'),
            body: await answer.text(),
          }
        },
        { url: rowport.url + path, init },
      )
    const headers = { Authorization: `Bearer ${key.value}`, 'Content-Type': 'application/json' }

    const list = await call(sheet.formA, { headers })
    assert.equal(list.status, 200)
    assert.equal(list.body, '[{"a":1}]')
    assert.equal(list.total, '1')
    assert.match(list.etag ?? '', /^"/)

    const added = await call(sheet.formA, { method: 'POST', headers, body: '{"a":2}' })
    assert.equal(added.status, 201)
    assert.equal(added.location, `${sheet.formA}/3`)

    // What tracing tools and older libraries add to every request, without asking anyone.
    const traced = {
      traceparent: '00-1-1-01',
      baggage: 'a=b',
      'sentry-trace': '1',
      'X-Requested-With': 'XMLHttpRequest',
    }
    const more = { Prefer: 'return=minimal', Range: 'bytes=0-1', 'X-Anything-At-All': '1' }
    const sent = await call(sheet.formA, { headers: { ...headers, ...traced, ...more } })
    assert.equal(sent.status, 200)

    const refused = await call(sheet.formB, { headers: { 'X-API-Key': 'wrong' } })
    assert.equal(refused.status, 403)
    assert.match(refused.body, /"forbidden"/)

    const nowhere = await call('/nothing/here', { method: 'DELETE', headers })
    assert.equal(nowhere.status, 404)
  } finally {
    await browser.close()
    elsewhere.close()
  }
})

test('a preflight is answered alike everywhere, known address or not', async (t) => {
  const rowport = await startRowport(t)
  const sheet = await rowport.connectFile('s', 's.csv', 'a\n1\n')
  const answers = await Promise.all(
    [sheet.formA, sheet.formB, '/api/sheets/no/thing', '/nowhere'].map(async (path) => {
      const answer = await fetch(rowport.url + path, {
        method: 'OPTIONS',
        headers: { Origin: 'https://example.com', 'Access-Control-Request-Method': 'DELETE' },
      })
      return { status: answer.status, headers: [...answer.headers].filter(([name]) => name !== 'date') }
    }),
  )
  for (const answer of answers) assert.deepEqual(answer, answers[0])
  assert.equal(answers[0]?.status, 204)
})
