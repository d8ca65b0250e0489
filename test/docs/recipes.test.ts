import assert from 'node:assert/strict'
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import type { BrowserContextOptions } from 'playwright-core'
import { commands } from '../../src/commands/all-commands.ts'
import type { Command } from '../../src/commands/command.ts'
import { frameHtml } from '../../src/http/form-markup.ts'
import { Problem } from '../../src/management/problem.ts'
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
  const { rowport, text, copy } = await start(t, 'recipes/product-list', withBlank)
  const site = await openSite(t)
  const { key } = await obey(rowport, text, { 'http://localhost:3000': site.origin })
  const { page, problems } = await site.open(await copy('index.html', { PUBLISHABLE_KEY: key }))
  await page.locator('li').first().waitFor()
  assert.deepEqual(await page.locator('li').allTextContents(), [
    'Desk lamp: 59.90',
    'Oak table: 420.00',
    'Gift card: ask us',
  ])
  await page.getByLabel('Search').fill('oak')
  await page.locator('li', { hasText: 'Desk lamp' }).waitFor({ state: 'detached' })
  assert.deepEqual(await page.locator('li').allTextContents(), ['Oak table: 420.00'])
  await page.getByLabel('Search').fill('Tables')
  await page.locator('li').waitFor({ state: 'detached' })
  assert.deepEqual(problems, [])
  const elsewhere = await (await openSite(t)).open(await copy('index.html', { PUBLISHABLE_KEY: key }))
  await elsewhere.page.getByText("This key can't be used from this page.").waitFor()
})

test('recipe: a contact form on a static page, on another origin and without JavaScript', {
  skip: withoutChromium,
}, async (t) => {
  const { rowport, text, copy, sheet } = await start(t, 'recipes/contact-form', null, 'contact')
  const { form } = await obey(rowport, text)
  const site = await openSite(t)
  const { page } = await site.open(await copy('contact.html', { FORM_ID: form }), {
    javaScriptEnabled: false,
  })
  const rows = async () => (await readFile(sheet.path, 'utf8')).trimEnd().split('\n').slice(1)
  const fill = async (name: string, email: string, message: string) => {
    await page.getByLabel('Name').fill(name)
    await page.getByLabel('Email').fill(email)
    await page.getByLabel('Message').fill(message)
  }
  const send = page.getByRole('button', { name: 'Send' })
  await fill('Bob', 'bob@example.com', '=1+1')
  await send.dblclick()
  await page.getByText('Your entry was sent.').waitFor()
  await page.reload()
  await page.getByText('Your entry was sent.').waitFor()
  assert.match((await rows()).join('\n'), /^Bob,bob@example\.com,"=1\+1",20\S+Z$/)
  await page.goBack()
  await send.click()
  await page.getByText('Your entry was sent.').waitFor()
  assert.equal((await rows()).length, 1)

  // What the browser lets pass and the form does not comes back beside its field, with the rest kept.
  await page.goto(site.origin)
  await fill('Cem', 'cem@nowhere', 'Hello')
  await send.click()
  await page.getByText('Enter an email address.').waitFor()
  assert.equal(await page.getByLabel('Email').getAttribute('aria-invalid'), 'true')
  assert.equal(await page.getByLabel('Message').inputValue(), 'Hello')
  await page.getByLabel('Email').fill('cem@example.com')
  await send.click()
  await page.getByText('Your entry was sent.').waitFor()
  assert.equal((await rows()).length, 2)

  const spam = new URLSearchParams({
    name: 'Spam',
    email: 's@example.com',
    message: 'x',
    _gotcha: 'http://spam.example',
  })
  const address = `${rowport.url}/f/${form}`
  assert.equal((await fetch(address, { method: 'POST', body: spam })).status, 200)
  const foreign = new URLSearchParams({
    name: 'Dee',
    email: 'd@example.com',
    message: 'x',
    _next: 'https://evil.example',
  })
  foreign.set('next', 'https://evil.example')
  const refused = await fetch(address, { method: 'POST', body: foreign, redirect: 'manual' })
  assert.deepEqual([refused.status, refused.headers.get('location')], [422, null])
  assert.equal((await rows()).length, 2)
  const [held] = done(await rowport.workshop.forms.entries(form))
  assert.equal(held?.reason, 'honeypot')
})

test('forms: in a frame where they allow it, and nowhere else', { skip: withoutChromium }, async (t) => {
  const { rowport, text } = await start(t, 'recipes/contact-form', null, 'contact')
  const site = await openSite(t)
  const { form } = await obey(rowport, text, {
    '--name Contact': `--name Contact --framed-by ${site.origin}`,
  })
  const frame = (await rowport.get(`/f/${form}`)).url
  const folder = await mkdtemp(join(tmpdir(), 'rowport-frame-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const path = join(folder, 'index.html')
  await writeFile(path, frameHtml({ title: 'Contact' }, frame))
  const { page } = await site.open(path)
  const inside = page.frameLocator('iframe')
  await inside.getByLabel('Name').fill('Framed')
  await inside.getByLabel('Email').fill('f@example.com')
  await inside.getByLabel('Message').fill('x')
  await inside.getByRole('button', { name: 'Send' }).click()
  await inside.getByText('Your entry was sent.').waitFor()
  const refusals: string[] = []
  const elsewhere = await openSite(t)
  const { page: other } = await elsewhere.open(null)
  other.on('console', (message) => refusals.push(message.text()))
  elsewhere.show(path)
  await other.goto(elsewhere.origin)
  await until(() => refusals.some((refusal) => refusal.includes('frame-ancestors')))
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
  const app = await copy('app.mjs')
  await installClient(dirname(app))
  const { page } = await openPage(t, null, await serve(t, app, key))
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
async function start(t: TestContext, name: string, csv: string | null, slug = 'products') {
  const port = await freePort()
  const baseUrl = `http://127.0.0.1:${port}`
  const rowport: Rowport = await startRowport(t, {
    account: 'demo',
    settings: { port, baseUrl, isBaseUrlSet: true },
  })
  // Where the page itself tells how to make it, what it tells is done.
  const header = 'name,email,message,received\n'
  const sheet = await rowport.connectFile(slug, `${slug}.csv`, csv ?? header, { account: 'demo' })
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
  const copy = async (file: string, own: Record<string, string> = {}): Promise<string> => {
    const path = join(folder, file)
    await mkdir(dirname(path), { recursive: true })
    const code = files.get(file) ?? assert.fail(`${name} has no ${file}`)
    await writeFile(path, withOwn(code, own))
    return path
  }
  return { rowport, sheet, key, text, copy }
}

/** `npm install @rowport/client`, of what is in this repository. */
async function installClient(folder: string): Promise<void> {
  const home = join(folder, 'node_modules/@rowport/client')
  await mkdir(home, { recursive: true })
  await symlink(join(import.meta.dirname, '../../client/src'), join(home, 'src'))
  await writeFile(join(home, 'package.json'), '{"type":"module","exports":"./src/rowport.ts"}')
}

/** What readers put in place of what a page has. */
function withOwn(text: string, own: Record<string, string>): string {
  return Object.entries(own).reduce((shown, [from, to]) => shown.replaceAll(from, to), text)
}

/** Runs the commands of a page that make a key or a form, as they stand, and tells what they made. */
async function obey({ workshop }: Rowport, text: string, own: Record<string, string> = {}) {
  const lines = [...text.matchAll(/^npm run rowport -- ((?:key|form) create .*)$/gm)].map(
    ([, line = '']) => line,
  )
  assert.equal(lines.length, 1)
  const [subject = '', verb = '', target = '', ...rest] = withOwn(lines[0] ?? '', own).split(' ')
  const command = commands.find(({ words }) => words.join(' ') === `${subject} ${verb}`) as Command
  const names = rest.flatMap((word) => (word.startsWith('--') ? [word.slice(2)] : []))
  const known = [...command.options, ...(command.flags ?? [])]
  for (const name of names) assert.ok(known.includes(name), name)
  const options = names.map((name) => {
    const value = rest[rest.indexOf(`--${name}`) + 1] ?? ''
    return [name, value.startsWith('--') ? '' : value]
  })
  const outcome = await command.run(workshop, [target], Object.fromEntries(options))
  assert.ok(!(outcome instanceof Problem), String(outcome))
  const made = outcome.json as { id?: string; key?: string }
  return { form: made.id ?? '', key: made.key ?? '' }
}

/** A static server on an origin of its own. */
async function openSite(t: TestContext) {
  let shown: string | null = null
  const site = createServer(async (_request, response) => {
    response
      .setHeader('Content-Type', 'text/html; charset=utf-8')
      .end(shown === null ? '' : await readFile(shown))
  })
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve))
  t.after(() => site.close())
  const origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`
  return {
    origin,
    show(file: string) {
      shown = file
    },
    async open(file: string | null, options: BrowserContextOptions = {}) {
      shown = file
      const browser = await launchChromium()
      t.after(() => browser.close())
      const page = await (await browser.newContext(options)).newPage()
      page.setDefaultTimeout(30_000)
      const problems: string[] = []
      page.on('pageerror', (error) => problems.push(error.message))
      await page.goto(origin)
      return { page, problems }
    },
  }
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
