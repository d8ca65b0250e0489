import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { done, type Rowport, startRowport } from '../harness.ts'
import { patienceMs } from '../soak.ts'
import { signInByLink } from './at-the-dashboard.ts'
import { newProfile, skip } from './looks.ts'

const csv = 'name,price\nLamp,5\n'

test('a click is done once, though the browser sends it again when the answer is lost', {
  skip,
  timeout: patienceMs,
}, async (t) => {
  const { page, rowport, wire, rows, keys } = await openThrough(t)
  await page.goto(`${rowport.workshop.baseUrl}/sheets/lamps/console`)
  await page.getByLabel('Method').selectOption('POST')
  await page.getByLabel('Body').fill('{"name": "Sent", "price": 1}')
  const sendButton = page.getByRole('button', { name: 'Add row to spreadsheet', exact: true })
  await sendButton.click()
  await page.getByText('201 Created').waitFor()
  assert.equal(await rows(), 2)

  wire.loseAnswerTo(/^POST \/api\/sheets\/acme\/lamps /)
  await sendButton.click()
  await page.getByText('idempotent-replayed').waitFor({ state: 'attached' })
  assert.deepEqual({ arrived: wire.arrived(), rows: await rows() }, { arrived: 2, rows: 3 })

  await page.goto(`${rowport.workshop.baseUrl}/keys`)
  await page.getByRole('button', { name: 'Create key', exact: true }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name').fill('Website')
  const before = await keys()
  wire.loseAnswerTo(/^POST \/dashboard\/api\/keys /)
  await dialog.getByRole('button', { name: 'Create key', exact: true }).click()
  await dialog.getByText('your browser sent this again').waitFor()
  assert.deepEqual({ arrived: wire.arrived(), keys: await keys() }, { arrived: 2, keys: before + 1 })
})

test('a double click sends once', { skip, timeout: patienceMs }, async (t) => {
  const { page, rowport, rows } = await openThrough(t)
  await page.goto(`${rowport.workshop.baseUrl}/sheets/lamps/console`)
  await page.getByLabel('Method').selectOption('POST')
  await page.getByLabel('Body').fill('{"name": "Sent", "price": 1}')
  const box = await page.getByRole('button', { name: 'Add row to spreadsheet', exact: true }).boundingBox()
  await page.mouse.move((box?.x ?? 0) + 10, (box?.y ?? 0) + 10)
  for (const clickCount of [1, 2]) {
    await page.mouse.down({ clickCount })
    await page.mouse.up({ clickCount })
    // Answered before the second half comes: a quick server and a slow finger.
    await page.getByText('201 Created').waitFor()
    await page.getByRole('button', { name: 'Add row to spreadsheet', exact: true, disabled: false }).waitFor()
  }
  await page.evaluate("fetch('/dashboard/api/server')")
  assert.equal(await rows(), 2)
})

test('the console sends nothing when its key is long in coming, also when it comes after all', {
  skip,
  timeout: patienceMs,
}, async (t) => {
  const { page, rowport, rows } = await openThrough(t)
  await page.clock.install()
  await page.goto(`${rowport.workshop.baseUrl}/sheets/lamps/console`)
  await page.getByLabel('Method').selectOption('DELETE')
  await page.getByLabel('Row', { exact: true }).fill('2')
  const isAsked = Promise.withResolvers<void>()
  const goOn = Promise.withResolvers<void>()
  await page.route('**/console-key', async (route) => {
    isAsked.resolve()
    await goOn.promise
    await route.continue()
  })
  await page.getByRole('button', { name: 'Delete row 2', exact: true }).click()
  await isAsked.promise
  await page.clock.runFor(5_000)
  await page.getByText('Nothing was sent. Try again.').waitFor()
  const keyCame = page.waitForResponse('**/console-key')
  goOn.resolve()
  await keyCame
  await page.evaluate("fetch('/dashboard/api/server')")
  assert.equal(await rows(), 1)
})

/** A page whose way to the server can lose answers. */
async function openThrough(t: TestContext) {
  const wire = await startWire(t)
  const rowport = await startRowport(t, { settings: { baseUrl: `http://127.0.0.1:${wire.port}` } })
  wire.leadTo(rowport)
  const { path } = await rowport.connectFile('lamps', 'lamps.csv', csv)
  const page = await (await newProfile(t)).newPage()
  await signInByLink(page, rowport, '/sheets')
  return {
    page,
    rowport,
    wire,
    rows: async () => (await readFile(path, 'utf8')).trim().split('\n').length - 1,
    keys: async () => done(await rowport.workshop.keys.list('acme')).length,
  }
}

/** Carries bytes, and cuts a connection in the place of one answer. */
async function startWire(t: TestContext) {
  let port = 0
  let losing: RegExp | null = null
  let watched: RegExp | null = null
  let arrived = 0
  const open = new Set<Socket>()
  const server = createServer((browser) => {
    const rowport = connect(port, '127.0.0.1')
    let isLosing = false
    for (const socket of [browser, rowport]) {
      open.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        open.delete(socket)
        browser.destroy()
        rowport.destroy()
      })
    }
    browser.on('data', (bytes) => {
      const text = bytes.toString('latin1')
      if (watched?.test(text)) arrived++
      if (losing?.test(text)) {
        isLosing = true
        losing = null
      }
      rowport.write(bytes)
    })
    rowport.on('data', (bytes) => (isLosing ? browser.destroy() : browser.write(bytes)))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    for (const socket of open) socket.destroy()
    server.close()
  })
  return {
    port: (server.address() as AddressInfo).port,
    leadTo(rowport: Rowport) {
      port = rowport.port
    },
    loseAnswerTo(request: RegExp) {
      losing = request
      watched = request
      arrived = 0
    },
    arrived: () => arrived,
  }
}
