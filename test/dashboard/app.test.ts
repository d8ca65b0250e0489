import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { brotliCompressSync } from 'node:zlib'
import { createAppFiles } from '../../src/dashboard/app-files.ts'
import { pageAddresses } from '../../src/dashboard/pages.ts'
import { siteAt } from '../../src/dashboard/site.ts'

const index = `<!doctype html><meta name="rowport-base" content="" />
<script type="module" src="./assets/index-abc.js"></script><link rel="icon" href="./icon.svg" />`
const script = 'export const a = 1;\n'.repeat(200)

async function serve(t: TestContext, baseUrl: string, isBuilt = true) {
  const folder = await mkdtemp(join(tmpdir(), 'rowport-app-'))
  t.after(() => rm(folder, { recursive: true }))
  const build = async () => {
    await mkdir(join(folder, 'assets'))
    await writeFile(join(folder, 'index.html'), index)
    await writeFile(join(folder, 'icon.svg'), '<svg/>')
    await writeFile(join(folder, 'assets', 'index-abc.js'), script)
    await writeFile(join(folder, 'assets', 'frame-def.js'), script)
    await writeFile(join(folder, 'assets', 'frame-def.js.br'), brotliCompressSync(script))
    await writeFile(join(folder, '.sources'), 'a hash')
  }
  if (isBuilt) await build()
  const app = createAppFiles(folder, ['https://accounts.google.com'])
  const server = createServer((asked, response) => {
    const path = asked.url ?? ''
    if (app.isAt(path)) void app.answer(asked, response, path, siteAt(baseUrl))
    else response.writeHead(404).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    build,
    get: (path: string, headers = {}) => fetch(url + path, { headers }),
    /** `fetch` would tidy the path up. */
    status: (path: string) =>
      new Promise((resolve, reject) => {
        const asked = request(url, { path }, (answer) => resolve(answer.resume().statusCode))
        asked.on('error', reject).end()
      }),
  }
}

test('every page of the app is its index; files with a hash in their name are kept for ever', async (t) => {
  const { get } = await serve(t, 'http://localhost:8787')
  const pages = pageAddresses.map((page) => page.replace('$slug', 'a-b'))
  for (const path of ['/', '/sheets', '/sheets/a-b/console', '/sign-in-link', '/confirmed'])
    assert.ok(pages.includes(path))
  for (const path of pages) {
    const answer = await get(path)
    assert.equal(answer.status, 200)
    assert.equal(answer.headers.get('cache-control'), 'no-store')
    assert.equal(
      answer.headers.get('content-security-policy'),
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
        "font-src 'self'; form-action 'self' https://accounts.google.com; frame-ancestors 'none'; base-uri 'none'",
    )
    assert.match(await answer.text(), /src="\/assets\/index-abc\.js"/)
  }
  const asset = await get('/assets/index-abc.js', { 'Accept-Encoding': 'gzip, br' })
  assert.equal(asset.headers.get('cache-control'), 'public, max-age=31536000, immutable')
  assert.equal(asset.headers.get('content-encoding'), 'br')
  assert.equal(await asset.text(), script)
  assert.ok(Number(asset.headers.get('content-length')) < script.length / 10)
  for (const [accepted, coding] of [
    ['gzip, deflate, br, zstd', 'zstd'],
    ['br;q=0, gzip;q=0.5', 'gzip'],
    ['GZIP;q=0.8,br;q=0.9', 'br'],
    ['br;q=0.2, identity;q=0.9', null],
  ] as const) {
    const answer = await get('/assets/index-abc.js', { 'Accept-Encoding': accepted })
    assert.equal(answer.headers.get('content-encoding'), coding, accepted)
    assert.equal(await answer.text(), script)
  }
  // What was compressed when it was built is sent so to whoever likes it as well.
  for (const [accepted, coding] of [
    ['gzip, deflate, br, zstd', 'br'],
    ['br;q=0.1, gzip', 'gzip'],
    ['zstd', 'zstd'],
    ['identity', null],
  ] as const) {
    const answer = await get('/assets/frame-def.js', { 'Accept-Encoding': accepted })
    assert.equal(answer.headers.get('content-encoding'), coding, accepted)
    assert.equal(await answer.text(), script)
  }
  assert.equal((await get('/assets/frame-def.js.br')).status, 404, 'it is no file of its own')
  const plain = await get('/assets/index-abc.js', { 'Accept-Encoding': 'identity' })
  assert.equal(plain.headers.get('content-encoding'), null)
  const icon = await get('/icon.svg')
  assert.equal(icon.headers.get('cache-control'), 'no-cache')
  const unchanged = await get('/icon.svg', { 'If-None-Match': icon.headers.get('etag') ?? '' })
  assert.equal(unchanged.status, 304)
})

test('nothing else is served: no stamp, no way out of the folder, no index by its name', async (t) => {
  const { status } = await serve(t, 'http://localhost:8787')
  assert.equal(await status('/icon.svg'), 200)
  for (const path of [
    '/.sources',
    '/index.html',
    '/assets/../index.html',
    '/assets/%2e%2e/icon.svg',
    '/../package.json',
    '//icon.svg',
    '/nope',
    '/sheets/a/b',
  ])
    assert.equal(await status(path), 404, path)
})

test('behind a proxy that takes a part of the path away, the page puts it back', async (t) => {
  const { get } = await serve(t, 'https://example.com/rowport')
  const text = await (await get('/sheets')).text()
  assert.match(text, /src="\/rowport\/assets\/index-abc\.js"/)
  assert.match(text, /href="\/rowport\/icon\.svg"/)
  assert.match(text, /name="rowport-base" content="\/rowport"/)
})

test('what is not built yet says so, and appears once it is', async (t) => {
  const { get, build } = await serve(t, 'http://localhost:8787', false)
  const before = await get('/')
  assert.equal(before.status, 503)
  assert.match(await before.text(), /has not been built yet/)
  await build()
  assert.equal((await get('/')).status, 200)
})
