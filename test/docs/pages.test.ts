import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { createDocs } from '../../src/dashboard/docs/docs.ts'
import { renderMarkdown } from '../../src/dashboard/docs/markdown.ts'
import { siteAt } from '../../src/dashboard/site.ts'
import { StoreFailure } from '../../src/errors.ts'
import { defaultShares } from '../../src/shares/shares.ts'
import { done, type Rowport, startRowport } from '../harness.ts'

test('docs are pages, Markdown and a list, for everybody, with the addresses of this server', async (t) => {
  const settings = { baseUrl: 'https://sheets.example.com/rowport', isBaseUrlSet: true }
  const rowport = await startRowport(t, { settings })
  const list = await (await rowport.get('/llms.txt')).text()
  assert.match(list, /^# Rowport\n\n> /)
  const addresses = [
    ...list.matchAll(/\]\(https:\/\/sheets\.example\.com\/rowport(\/docs\/[^)]+\.md)\): (.+)/g),
  ]
  const listed = addresses.map(([, path = '']) => path)
  for (const folder of ['quickstarts', 'recipes'])
    for (const file of await readdir(`docs/${folder}`))
      assert.ok(listed.includes(`/docs/${folder}/${file}`), file)
  assert.equal(addresses.length, 21)
  const links = new Set<string>()
  for (const [, path = '', summary = ''] of addresses) {
    assert.ok(summary.length > 20 && summary.length < 160, `${path}: ${summary}`)
    assert.match(summary, /[^.]\.$/, path)
    const markdown = await rowport.get(path)
    assert.equal(markdown.headers.get('content-type'), 'text/markdown; charset=utf-8')
    const text = await markdown.text()
    assert.doesNotMatch(text, /localhost:8787\/(?:api|v1)/, path)
    const page = await rowport.get(path.replace(/\.md$/, ''))
    assert.equal(page.status, 200)
    assert.equal(page.headers.get('content-type'), 'text/html; charset=utf-8')
    assert.equal(page.headers.get('cache-control'), 'no-cache')
    const html = await page.text()
    const [title = ''] = /^# .*/m.exec(text) ?? []
    assert.ok(html.includes(`<h1 id=`), title)
    assert.doesNotMatch(html, />[\w-]+\.md<\/a>/, 'a page is called by its title')
    for (const [, link = ''] of html.matchAll(/href="\/rowport(\/docs[^"#?]*)/g)) links.add(link)
  }
  for (const link of links) assert.equal((await rowport.get(link)).status, 200, link)
  const first = await (await rowport.get('/docs')).text()
  assert.match(first, /https:\/\/sheets\.example\.com\/rowport\/api\/sheets\/demo\/products/)
  const operating = await (await rowport.get('/docs/operating')).text()
  assert.match(
    operating,
    /serves on <a href="http:\/\/localhost:8787">/,
    'a fresh start is where it is, not here',
  )
  assert.match(
    await (await rowport.get('/docs/errors')).text(),
    /<code>Expect<\/code>[^|]*<code>100-continue<\/code>/,
    'what is code is marked as code',
  )
  assert.equal((await rowport.get('/docs/no-such-page')).status, 404)
  assert.equal((await rowport.get('/docs/../../package.json')).status, 404)
  assert.equal((await rowport.get('/docs/decisions/001-pinned-runtime')).status, 404)
})

test('what all strangers get is sent once, and short', async (t) => {
  const rowport = await startRowport(t)
  for (const path of [
    '/docs',
    '/docs/api',
    '/docs/api.md',
    '/docs/style.css',
    '/docs/script.js',
    '/llms.txt',
  ]) {
    const plain = await rowport.get(path, { 'Accept-Encoding': 'identity' })
    const etag = plain.headers.get('etag') ?? ''
    assert.ok(etag.length > 10, path)
    const packed = await rowport.get(path, { 'Accept-Encoding': 'gzip' })
    assert.equal(packed.headers.get('content-encoding'), 'gzip')
    assert.ok(Number(packed.headers.get('content-length')) < Number(plain.headers.get('content-length')))
    assert.equal(await packed.text(), await plain.text())
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*'])
      assert.equal((await rowport.get(path, { 'If-None-Match': known })).status, 304, known)
  }
})

test('no page of Markdown leads to what the server does not have', async (t) => {
  const rowport = await startRowport(t)
  const list = await (await rowport.get('/llms.txt')).text()
  const pages = [...list.matchAll(/\]\((?:https?:\/\/[^/)]+)?(\/docs\/[^)]+\.md)\)/g)].map(
    ([, path = '']) => path,
  )
  assert.ok(pages.length > 10, list)
  for (const path of pages) {
    const text = await (await rowport.get(path)).text()
    for (const [, target = ''] of text.matchAll(/\]\(([^()\s]+)\)/g)) {
      if (/^(?:https?:|#|\/)/.test(target)) continue
      const { pathname } = new URL(target, `http://here${path}`)
      assert.equal((await rowport.get(pathname)).status, 200, `${path} leads to ${target}`)
    }
  }
})

test('whoever is signed in reads their own addresses, of the sheet that they choose, and nobody else does', async (t) => {
  const rowport = await startRowport(t, { settings: { baseUrl: 'http://127.0.0.1:1' } })
  const { formB } = await rowport.connectFile('lamps', 'lamps.csv', 'a\n1\n')
  await rowport.connectFile('chairs', 'chairs.csv', 'a\n1\n')
  const cookie = await cookieOf(rowport)
  const signedIn = await rowport.get('/docs/recipes/nightly-sync?sheet=chairs', { Cookie: cookie })
  assert.equal(signedIn.headers.get('cache-control'), 'no-store')
  const html = await signedIn.text()
  assert.match(html, /http:\/\/127\.0\.0\.1:1\/api\/sheets\/acme\/chairs/)
  assert.match(html, /<option>lamps<\/option>|<option selected>lamps/)
  assert.match(html, /href="\/docs\/recipes\/agent\?sheet=chairs"/, 'the choice goes along')
  const form = await (await rowport.get('/docs/recipes/contact-form?sheet=chairs', { Cookie: cookie })).text()
  assert.match(form, /sheet connect acme\/contact /)
  assert.match(form, /href="\/docs\/api\?sheet=chairs#forms">The API</, 'also by the links in the text')
  const n8n = await (await rowport.get('/docs/quickstarts/n8n?sheet=lamps', { Cookie: cookie })).text()
  assert.ok(n8n.includes(`127.0.0.1:1${formB}?limit`), n8n)
  const markdown = await (await rowport.get('/docs/api.md?sheet=lamps', { Cookie: cookie })).text()
  assert.match(markdown, /\/api\/sheets\/acme\/lamps/)
  const stranger = await (await rowport.get('/docs/api.md?sheet=lamps', { Cookie: `${cookie}x` })).text()
  assert.doesNotMatch(stranger, /acme/)
})

test('whoever asks too often, or cannot be known, reads what strangers read', async (t) => {
  const shares = { ...defaultShares, owner_requests_per_minute: 2 }
  const rowport = await startRowport(t, { settings: { baseUrl: 'http://127.0.0.1:1', shares } })
  await rowport.connectFile('lamps', 'lamps.csv', 'a\n1\n')
  const cookie = await cookieOf(rowport)
  const read = async () => (await rowport.get('/docs', { Cookie: cookie })).text()
  assert.match(await read(), /sheets\/acme\/lamps/)
  assert.match(await read(), /sheets\/acme\/lamps/)
  assert.match(await read(), /sheets\/demo\/products/)

  const docs = createDocs({
    docsFolder: 'docs',
    signIn: { find: () => Promise.reject(new StoreFailure('The store is away')) },
    sheets: { list: () => Promise.resolve([]) },
    pace: { countCall: () => Promise.resolve(null) },
  })
  const site = siteAt('http://127.0.0.1:1')
  const server = createServer((request, response) => {
    void docs.answer(request, response, request.url ?? '', new URLSearchParams(), site)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/docs`
  assert.match(await (await fetch(url, { headers: { Cookie: cookie } })).text(), /sheets\/demo\/products/)
})

test('Markdown: what our pages use, and nothing of it is taken for HTML', () => {
  const { title, summary, html, sections } = renderMarkdown(
    [
      '# A `title`',
      '',
      'First **paragraph** and **`a*b`** with [a link](api.md) & <b>',
      'that goes on. And a second sentence.',
      '',
      '## A part',
      '',
      '- one `a|b`',
      '  and more',
      '- two, [api.md](api.md), <https://example.com/?a&b>',
      '',
      '3. three',
      '',
      '| a | b |',
      '|---|---|',
      '| `x|y` | [z](nowhere.md) |',
      '',
      '```js',
      '# <no heading>',
      '```',
    ].join('\n'),
    (target) => (target === 'nowhere.md' ? null : { address: `/docs/${target}`, title: 'The & API' }),
  )
  assert.equal(title, 'A title')
  assert.deepEqual(sections, [{ id: 'a-part', words: 'A part' }])
  assert.equal(summary, 'First paragraph and ab with a link & <b> that goes on.')
  assert.equal(
    html,
    [
      '<h1 id="a-title">A <code>title</code></h1>',
      '<p>First <strong>paragraph</strong> and <strong><code>a&#42;b</code></strong> with <a href="/docs/api.md">a link</a> &amp; &lt;b&gt; that goes on. And a second sentence.</p>',
      '<h2 id="a-part">A part</h2>',
      '<ul><li>one <code>a|b</code> and more</li><li>two, <a href="/docs/api.md">The &amp; API</a>, <a href="/docs/https://example.com/?a&amp;b">https://example.com/?a&amp;b</a></li></ul>',
      '<ol start="3"><li>three</li></ol>',
      '<div class="wide" tabindex="0" role="region" aria-label="Table"><table><thead><tr><th>a</th><th>b</th></tr></thead>' +
        '<tbody><tr><td><code>x|y</code></td><td>z</td></tr></tbody></table></div>',
      '<pre tabindex="0" role="region" aria-label="js"><code># &lt;no heading&gt;\n</code></pre>',
    ].join('\n'),
  )
})

async function cookieOf(rowport: Rowport): Promise<string> {
  const { token } = done(await rowport.workshop.signIn.createLink('acme'))
  const entered = await fetch(`${rowport.url}/dashboard/api/sign-in-link`, {
    method: 'POST',
    headers: { 'X-Rowport-Dashboard': '1', Origin: 'http://127.0.0.1:1', 'Content-Type': 'application/json' },
    body: JSON.stringify({ token }),
  })
  assert.equal(entered.status, 200)
  return entered.headers.getSetCookie()[0]?.split(';')[0] ?? ''
}
