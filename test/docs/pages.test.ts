import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { test } from 'node:test'
import { renderMarkdown } from '../../src/dashboard/docs/markdown.ts'
import { done, startRowport } from '../harness.ts'

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
  assert.equal(addresses.length, 17)
  const links = new Set<string>()
  for (const [, path = '', summary = ''] of addresses) {
    assert.ok(summary.length > 20, path)
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
    for (const [, link = ''] of html.matchAll(/href="\/rowport(\/docs[^"#?]*)/g)) links.add(link)
  }
  for (const link of links) assert.equal((await rowport.get(link)).status, 200, link)
  const first = await (await rowport.get('/docs')).text()
  assert.match(first, /https:\/\/sheets\.example\.com\/rowport\/api\/sheets\/demo\/products/)
  assert.equal((await rowport.get('/docs/no-such-page')).status, 404)
  assert.equal((await rowport.get('/docs/../../package.json')).status, 404)
  assert.equal((await rowport.get('/docs/decisions/001-pinned-runtime')).status, 404)
})

test('whoever is signed in reads their own addresses, of the sheet that they choose, and nobody else does', async (t) => {
  const rowport = await startRowport(t, { settings: { baseUrl: 'http://127.0.0.1:1' } })
  await rowport.connectFile('lamps', 'lamps.csv', 'a\n1\n')
  await rowport.connectFile('chairs', 'chairs.csv', 'a\n1\n')
  const { token } = done(await rowport.workshop.signIn.createLink('acme'))
  const entered = await fetch(`${rowport.url}/dashboard/api/sign-in-link`, {
    method: 'POST',
    headers: { 'X-Rowport-Dashboard': '1', Origin: 'http://127.0.0.1:1', 'Content-Type': 'application/json' },
    body: JSON.stringify({ token }),
  })
  assert.equal(entered.status, 200)
  const cookie = entered.headers.getSetCookie()[0]?.split(';')[0] ?? ''
  const signedIn = await rowport.get('/docs/recipes/nightly-sync?sheet=chairs', { Cookie: cookie })
  assert.equal(signedIn.headers.get('cache-control'), 'no-store')
  const html = await signedIn.text()
  assert.match(html, /http:\/\/127\.0\.0\.1:1\/api\/sheets\/acme\/chairs/)
  assert.match(html, /<option>lamps<\/option>|<option selected>lamps/)
  const markdown = await (await rowport.get('/docs/api.md?sheet=lamps', { Cookie: cookie })).text()
  assert.match(markdown, /\/api\/sheets\/acme\/lamps/)
  const stranger = await (await rowport.get('/docs/api.md?sheet=lamps', { Cookie: `${cookie}x` })).text()
  assert.doesNotMatch(stranger, /acme/)
})

test('Markdown: what our pages use, and nothing of it is taken for HTML', () => {
  const { title, summary, html } = renderMarkdown(
    [
      '# A `title`',
      '',
      'First **paragraph** and **`a*b`** with [a link](api.md) & <b>',
      'that goes on.',
      '',
      '- one `a|b`',
      '  and more',
      '- two',
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
    (target) => (target === 'nowhere.md' ? null : `/docs/${target}`),
  )
  assert.equal(title, 'A title')
  assert.equal(summary, 'First paragraph and ab with a link & <b> that goes on.')
  assert.equal(
    html,
    [
      '<h1 id="a-title">A <code>title</code></h1>',
      '<p>First <strong>paragraph</strong> and <strong><code>a&#42;b</code></strong> with <a href="/docs/api.md">a link</a> &amp; &lt;b&gt; that goes on.</p>',
      '<ul><li>one <code>a|b</code> and more</li><li>two</li></ul>',
      '<ol start="3"><li>three</li></ol>',
      '<div class="wide" tabindex="0" role="region" aria-label="Table"><table><thead><tr><th>a</th><th>b</th></tr></thead>' +
        '<tbody><tr><td><code>x|y</code></td><td>z</td></tr></tbody></table></div>',
      '<pre tabindex="0" role="region" aria-label="js"><code># &lt;no heading&gt;\n</code></pre>',
    ].join('\n'),
  )
})
