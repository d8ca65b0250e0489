import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { type AddressInfo, connect, createServer as createTcpServer } from 'node:net'
import { test } from 'node:test'
import { startRowport } from '../harness.ts'
import { findChromium, launchChromium } from '../servers/chromium.ts'

const skip = findChromium() ? false : 'Chromium is not on this machine'

test('an EventSource in a page of another origin follows a public sheet, also over a break', {
  skip,
}, async (t) => {
  const rowport = await startRowport(t)
  const sheet = await rowport.connectFile('s', 's.csv', 'a\n1\n', { access: 'public-read' })
  const key = await rowport.createKey()
  const other = await startRowport(t, { beside: rowport })
  const elsewhere = createServer((_request, response) => response.end('<title>elsewhere</title>'))
  await new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.1', resolve))
  // What a load balancer does: the next connection goes to whoever is there.
  let target = other.port
  const balancer = await startBalancer(() => target)
  const browser = await launchChromium()
  const write = (a: number) =>
    fetch(rowport.url + sheet.formA, {
      method: 'POST',
      headers: { Authorization: `Bearer ${key.value}` },
      body: JSON.stringify({ a }),
    })
  try {
    const page = await browser.newPage()
    await page.goto(`http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}/`)
    await page.evaluate((url) => {
      const came: number[] = []
      const source = new EventSource(url)
      source.onmessage = ({ data }) => came.push(JSON.parse(data).after.a)
      Object.assign(globalThis, { came, source })
      return new Promise((resolve) => source.addEventListener('open', resolve, { once: true }))
    }, `http://127.0.0.1:${balancer.port}${sheet.formA}/changes`)
    const until = (count: number) =>
      page.waitForFunction((wanted) => (Reflect.get(globalThis, 'came') as number[]).length >= wanted, count)
    assert.equal((await write(2)).status, 201)
    await until(1)
    target = rowport.port
    await other.stopServer()
    assert.equal((await write(3)).status, 201)
    await until(2)
    assert.equal((await write(4)).status, 201)
    await until(3)
    assert.deepEqual(await page.evaluate(() => Reflect.get(globalThis, 'came')), [2, 3, 4])
  } finally {
    await browser.close()
    balancer.close()
    elsewhere.close()
  }
})

async function startBalancer(targetPort: () => number) {
  const server = createTcpServer((near) => {
    const far = connect(targetPort(), '127.0.0.1')
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      from.on('error', () => {})
      from.on('close', () => to.destroy())
      from.pipe(to)
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { port: (server.address() as AddressInfo).port, close: () => server.close() }
}
