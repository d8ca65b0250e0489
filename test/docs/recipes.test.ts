import assert from 'node:assert/strict'
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { bearer, done, type Rowport, startRowport } from '../harness.ts'
import { findChromium, launchChromium } from '../servers/chromium.ts'
import { findProgram } from '../servers/find-program.ts'
import { freePort } from '../servers/free-port.ts'

/*
 * Every page is fetched from the server as a reader gets it, what it shows is copied into files, and these are run as they stand. The
 * addresses in them are the server's own.
 */

const products =
  'name,category,price,in_stock\nOak table,Tables,420,TRUE\nDesk lamp,Lighting,59.9,TRUE\nShelf,Storage,30,FALSE\n'
/** One empty cell, as people leave them, and nobody's page is empty for it. */
const withBlank = `${products}Gift card,Other,,TRUE\n`
const withoutChromium = findChromium() ? false : 'Chromium is not on this machine'
const run = promisify(execFile)

test('recipe: a product list on a static page, on another origin', { skip: withoutChromium }, async (t) => {
  const { rowport, copy } = await start(t, 'recipes/product-list', withBlank)
  done(await rowport.workshop.sheets.change('demo', 'products', { access: 'public-read' }))
  const { page, problems } = await openPage(t, await copy('index.html'))
  await page.locator('li').first().waitFor()
  assert.deepEqual(await page.locator('li').allTextContents(), [
    'Desk lamp: 59.90',
    'Oak table: 420.00',
    'Gift card: ask us',
  ])
  await page.getByLabel('Search').fill('oak')
  await page.locator('li', { hasText: 'Desk lamp' }).waitFor({ state: 'detached' })
  assert.deepEqual(await page.locator('li').allTextContents(), ['Oak table: 420.00'])
  assert.deepEqual(problems, [])
})

test('recipe: a contact form that fills a sheet, also on a double click', {
  skip: withoutChromium,
}, async (t) => {
  const { rowport, key, sheet, copy } = await start(
    t,
    'recipes/contact-form',
    'name,email,message\nAnn,a@example.com,hello\n',
    'contact',
  )
  const url = await serve(t, await copy('contact.mjs'), key)
  const browser = await launchChromium()
  t.after(() => browser.close())
  const page = await (await browser.newContext({ javaScriptEnabled: false })).newPage()
  await page.goto(url)
  await page.getByLabel('Name').fill('Bob')
  await page.getByLabel('Email').fill('bob@example.com')
  await page.getByLabel('Message').fill('=1+1\nsecond line')
  await page.getByRole('button', { name: 'Send' }).click()
  await page.getByText('Thank you.').waitFor()
  await page.reload()
  await page.getByText('Thank you.').waitFor()
  const form = new URLSearchParams({
    name: 'Spam',
    email: 's@example.com',
    message: 'x',
    website: 'http://spam.example',
  })
  assert.equal((await fetch(url, { method: 'POST', body: form })).status, 200)
  const rows = await (await rowport.get(sheet.formA, bearer(key))).json()
  assert.deepEqual(rows, [
    { name: 'Ann', email: 'a@example.com', message: 'hello' },
    { name: 'Bob', email: 'bob@example.com', message: '=1+1\nsecond line' },
  ])
})

test('recipe: a nightly copy in a database', async (t) => {
  const { rowport, key, sheet, copy } = await start(t, 'recipes/nightly-sync', products)
  const path = await copy('sync.mjs')
  const sync = async () => {
    const env = { ...process.env, ROWPORT_KEY: key.value }
    return (await run(process.execPath, [path], { cwd: dirname(path), env })).stdout.trim()
  }
  assert.equal(await sync(), '3 rows copied')
  assert.equal(await sync(), 'nothing has changed')
  await fetch(rowport.url + sheet.formA, {
    method: 'POST',
    headers: bearer(key),
    body: '{"name":"Chair","price":12}',
  })
  assert.equal(await sync(), '4 rows copied')
  const database = new DatabaseSync(join(dirname(path), 'copy.db'))
  const rows = database.prepare('SELECT name, price, in_stock FROM products ORDER BY price').all()
  database.close()
  assert.deepEqual(rows.map((row) => ({ ...row }))[0], { name: 'Chair', price: 12, in_stock: null })
  assert.equal(rows.length, 4)
})

test('recipe: a spreadsheet as the backend of a small app', { skip: withoutChromium }, async (t) => {
  const { rowport, key, sheet, copy } = await start(
    t,
    'recipes/small-app',
    'item,done\nBread,FALSE\n',
    'shopping',
  )
  const { page } = await openPage(t, null, await serve(t, await copy('app.mjs'), key))
  await page.getByLabel('New').fill('Milk & <eggs>')
  await page.getByRole('button', { name: 'Add' }).click()
  await page.getByText('Milk & <eggs>').waitFor()
  await page.locator('li', { hasText: 'Bread' }).getByRole('button', { name: 'Done' }).click()
  await page.locator('s', { hasText: 'Bread' }).waitFor()
  // Somebody deletes a row in the spreadsheet while the page still shows it.
  await fetch(`${rowport.url}${sheet.formA}/2`, { method: 'DELETE', headers: bearer(key) })
  await page.locator('li', { hasText: 'Bread' }).getByRole('button', { name: 'Remove' }).click()
  await page.getByText('Somebody has just changed that').waitFor()
  const rows = await (await rowport.get(sheet.formA, bearer(key))).json()
  assert.deepEqual(rows, [{ item: 'Milk & <eggs>', done: false }])
})

test('recipe: an agent that edits a sheet, by tools made of its description', async (t) => {
  const { rowport, key, sheet, copy } = await start(t, 'recipes/agent', products)
  process.env.ROWPORT_KEY = key.value
  const { tools } = (await import(pathToFileURL(await copy('sheet-tools.mjs')).href)) as { tools: Tool[] }
  const use = (name: string, input: object, id: string) =>
    tools.find((each) => each.name === name)?.run(input, id)
  const found = await use('query_rows', { filters: { 'price[lt]': '100' }, sort: 'price' }, '1')
  assert.deepEqual(found?.result, [
    { _row: 4, name: 'Shelf', category: 'Storage', price: 30, in_stock: false },
    { _row: 3, name: 'Desk lamp', category: 'Lighting', price: 59.9, in_stock: true },
  ])
  const change = { row: 3, expected: { name: 'Desk lamp' }, cells: { price: 49 } }
  assert.equal((await use('update_row', change, '2'))?.error, undefined)
  assert.match(
    String((await use('delete_row', { row: 3, expected: { name: 'Shelf' } }, '3'))?.error),
    /another one/,
  )
  const wrong = await use('add_row', { cells: { nmae: 'x' } }, '4')
  assert.match(JSON.stringify(wrong?.error), /Did you mean \\\\?"name/)
  await use('add_row', { cells: { name: 'Stool' } }, '5')
  await use('add_row', { cells: { name: 'Stool' } }, '5')
  const rows = (await (await rowport.get(`${sheet.formA}?fields=name,price`, bearer(key))).json()) as object[]
  assert.deepEqual(rows.slice(1), [
    { name: 'Desk lamp', price: 49 },
    { name: 'Shelf', price: 30 },
    { name: 'Stool', price: null },
  ])
})

test('recipe: told of changes in a chat', async (t) => {
  const { rowport, key, sheet, copy } = await start(t, 'recipes/change-notices', products)
  done(await rowport.workshop.sheets.change('demo', 'products', { cacheSeconds: 0 }))
  const told: string[] = []
  const chat = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += chunk
    told.push((JSON.parse(text) as { text: string }).text)
    response.end('ok')
  })
  await new Promise<void>((resolve) => chat.listen(0, '127.0.0.1', resolve))
  t.after(() => chat.close())
  const path = await copy('watch.mjs')
  const env = {
    CHAT_WEBHOOK: `http://127.0.0.1:${(chat.address() as AddressInfo).port}/`,
    EVERY_SECONDS: '0.05',
  }
  background(t, path, { ...env, ROWPORT_KEY: key.value })
  const reads = () => rowport.seen.filter(({ event }) => event === 'request_answered').length
  const before = reads()
  await until(() => reads() > before + 1)
  const write = (method: string, below: string, body?: object) =>
    fetch(rowport.url + sheet.formA + below, {
      method,
      headers: bearer(key),
      ...(body && { body: JSON.stringify(body) }),
    })
  await write('PATCH', '/3', { price: 50 })
  await until(() => told.includes('Desk lamp: price was 59.9, is 50'))
  await write('DELETE', '/2')
  await until(() => told.includes('removed Oak table'))
  await write('POST', '', { name: 'Chair' })
  await until(() => told.includes('added Chair'))
  assert.equal(told.length, 3)
})

test('quickstart: plain HTML', { skip: withoutChromium }, async (t) => {
  const { rowport, copy } = await start(t, 'quickstarts/html', products)
  done(await rowport.workshop.sheets.change('demo', 'products', { access: 'public-read' }))
  const { page, problems } = await openPage(t, await copy('table.html'))
  await page.getByText('Desk lamp').waitFor()
  assert.deepEqual(await page.locator('thead td').allTextContents(), [
    'name',
    'category',
    'price',
    'in_stock',
  ])
  assert.equal(await page.locator('tbody tr').count(), 3)
  assert.deepEqual(problems, [])
})

test('quickstart: React and Next.js, the part that asks Rowport', async (t) => {
  const { key, copy } = await start(t, 'quickstarts/react', products)
  process.env.ROWPORT_KEY = key.value
  const { listProducts, addProduct } = await import(pathToFileURL(await copy('lib/products.ts')).href)
  assert.equal(await addProduct({ name: 'Chair', price: 12 }), 5)
  assert.deepEqual(
    (await listProducts()).map(({ name }: { name: string }) => name),
    ['Chair', 'Shelf', 'Desk lamp', 'Oak table'],
  )
})

test('quickstart: Astro, the loader', async (t) => {
  const { key, copy } = await start(t, 'quickstarts/astro', withBlank)
  process.env.ROWPORT_KEY = key.value
  const { loadProducts } = await import(pathToFileURL(await copy('src/products.mjs')).href)
  assert.deepEqual((await loadProducts())[1], {
    id: '3',
    name: 'Desk lamp',
    category: 'Lighting',
    price: 59.9,
    in_stock: true,
  })
})

const python = findProgram(['python3'])

test('quickstart: Python', { skip: python ? false : 'Python is not on this machine' }, async (t) => {
  const { key, copy } = await start(t, 'quickstarts/python', products)
  const { stdout } = await run(python ?? '', [await copy('read.py')], {
    env: { ...process.env, ROWPORT_KEY: key.value },
  })
  assert.equal(stdout, 'Desk lamp 59.9\nShelf 30\nadded, changed and deleted row 5\n')
})

test('quickstarts: n8n and Excel, the addresses that they ask', async (t) => {
  for (const name of ['quickstarts/n8n', 'quickstarts/excel']) {
    const { rowport, key, sheet, text } = await start(t, name, products)
    const addresses = [...text.matchAll(/^\s*(?:Address = ")?(http[^\s"]+)/gm)].map(
      ([, address = '']) => address,
    )
    assert.ok(addresses.length >= 2)
    for (const address of addresses) {
      assert.ok(address.startsWith(rowport.url), address)
      const answer = await fetch(address.replace('SHEET_ID', sheet.id), { headers: bearer(key) })
      assert.equal(answer.status, 200, address)
      if (address.includes('bom=true')) assert.equal(Buffer.from(await answer.arrayBuffer())[0], 0xef)
    }
  }
})

interface Tool {
  name: string
  run(input: object, id: string): Promise<{ result?: unknown; error?: unknown }>
}

/** A server whose sheet `demo/products` is as fresh as after the first start, and a page of its docs. */
async function start(t: TestContext, name: string, csv: string, slug = 'products') {
  const port = await freePort()
  const baseUrl = `http://127.0.0.1:${port}`
  const rowport: Rowport = await startRowport(t, {
    account: 'demo',
    settings: { port, baseUrl, isBaseUrlSet: true },
  })
  const sheet = await rowport.connectFile(slug, `${slug}.csv`, csv, { account: 'demo' })
  const key = await rowport.createKey({ account: 'demo' })
  const answer = await rowport.get(`/docs/${name}.md`)
  assert.equal(answer.headers.get('content-type'), 'text/markdown; charset=utf-8')
  const text = await answer.text()
  const folder = await mkdtemp(join(tmpdir(), 'rowport-recipe-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const files = new Map(
    [...text.matchAll(/\*\*`([^`]+)`\*\*\n\n```\w*\n([\s\S]*?)\n```/g)].map(([, file = '', code = '']) => [
      file,
      code,
    ]),
  )
  const copy = async (file: string): Promise<string> => {
    const path = join(folder, file)
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, files.get(file) ?? assert.fail(`${name} has no ${file}`))
    return path
  }
  return { rowport, sheet, key, text, copy }
}

async function openPage(t: TestContext, file: string | null, address?: string) {
  const site = createServer(async (_request, response) => {
    response
      .setHeader('Content-Type', 'text/html; charset=utf-8')
      .end(file === null ? '' : await readFile(file))
  })
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve))
  const browser = await launchChromium()
  t.after(async () => {
    await browser.close()
    site.close()
  })
  const page = await browser.newPage()
  const problems: string[] = []
  page.on('pageerror', (error) => problems.push(error.message))
  await page.goto(address ?? `http://127.0.0.1:${(site.address() as AddressInfo).port}/`)
  return { page, problems }
}

/** Runs a script that listens, and waits until it does. */
async function serve(t: TestContext, path: string, key: { value: string }): Promise<string> {
  const port = await freePort()
  background(t, path, { PORT: String(port), ROWPORT_KEY: key.value })
  const url = `http://127.0.0.1:${port}/`
  await until(() =>
    fetch(url).then(
      (answer) => answer.ok,
      () => false,
    ),
  )
  return url
}

function background(t: TestContext, path: string, env: Record<string, string>): ChildProcess {
  const child = spawn(process.execPath, [path], {
    env: { ...process.env, ...env },
    stdio: 'inherit',
    cwd: dirname(path),
  })
  t.after(() => void child.kill())
  return child
}

async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await sleep(20)
}
