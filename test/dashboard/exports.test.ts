import assert from 'node:assert/strict'
import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { ownPage, signedIn } from '../connect/visitor.ts'
import { done, type Rowport, startRowport } from '../harness.ts'

const additions = 12
const rowsOfEach = 40
/** More than the system takes for a connection whose reader does not read. */
const cell = 'x'.repeat(45_000)

test('an account has one export under way, which is made as far as it is read', async (t) => {
  const { rowport, cookie, pagesRead } = await withLongLog(t)
  const first = await exportOf(rowport, cookie)
  assert.equal(first.statusCode, 200)
  const waiting = Array.from({ length: 4 }, () => exportOf(rowport, cookie))
  await sleep(100)
  const refused = await exportOf(rowport, cookie)
  assert.deepEqual([refused.statusCode, Number(refused.headers['retry-after']) >= 1], [429, true])
  assert.match(await textOf(refused), /"too_many_at_once".*exports_at_once/)
  assert.ok(rowport.seen.some((one) => one.event === 'share_used_up' && one.share === 'exports_at_once'))

  done(await rowport.workshop.accounts.create('globex', 'enterprise'))
  const other = await signedIn(rowport, 'globex')
  assert.equal((await other.call('GET', '/export')).status, 200, 'another account has its own')

  const whenUnread = await untilAtRest(pagesRead)
  first.resume()
  assert.ok(JSON.parse(await textOf(first)).changes.long.length > 0)
  const second = await Promise.any(waiting)
  assert.equal(second.statusCode, 200, 'who waited comes next')
  const ofWhole = pagesRead() - whenUnread
  assert.ok(ofWhole > 0, `${whenUnread} pages were read for nobody`)
})

test('an export ends when its client leaves, also one that waits behind another answer', async (t) => {
  const { rowport, cookie, key, pagesRead } = await withLongLog(t)
  const left = await exportOf(rowport, cookie)
  left.destroy()
  const next = await exportOf(rowport, cookie)
  assert.equal(next.statusCode, 200, 'the place is free')
  next.destroy()
  await untilAtRest(pagesRead)

  const before = pagesRead()
  const socket = connect(rowport.port, '127.0.0.1')
  const own = Object.entries({ ...ownPage, Cookie: cookie }).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.write(
    `GET /api/sheets/acme/long HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n\r\n` +
      `GET /dashboard/api/export HTTP/1.1\r\nHost: x\r\n${own.join('')}\r\n`,
  )
  await once(socket, 'readable')
  while (pagesRead() === before) await sleep(5)
  socket.resetAndDestroy()
  const last = await exportOf(rowport, cookie)
  assert.equal(last.statusCode, 200)
})

async function withLongLog(t: TestContext) {
  const rowport = await startRowport(t, { isTimePassing: true })
  await rowport.connectFile('long', 'long.csv', 'a\n1\n')
  const { value: key } = await rowport.createKey()
  for (let nth = 0; nth < additions; nth++) {
    const added = await fetch(`${rowport.url}/api/sheets/acme/long`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${key}` },
      body: JSON.stringify(Array.from({ length: rowsOfEach }, () => ({ a: cell }))),
    })
    assert.equal(added.status, 201, await added.text())
  }
  const { store } = rowport.workshop
  const read = store.loggedChanges
  let pages = 0
  store.loggedChanges = (...asked) => {
    pages++
    return read.apply(store, asked)
  }
  const { cookie } = await signedIn(rowport)
  return { rowport, cookie, key, pagesRead: () => pages }
}

/** As far as its head: nobody reads on until the test does. */
async function exportOf({ port }: Rowport, cookie: string): Promise<IncomingMessage> {
  const headers = { Cookie: cookie, ...ownPage }
  const sent = get({ host: '127.0.0.1', port, path: '/dashboard/api/export', headers, agent: false })
  const [answer] = (await once(sent, 'response')) as [IncomingMessage]
  return answer.pause()
}

async function textOf(answer: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of answer.setEncoding('utf8')) text += chunk
  return text
}

async function untilAtRest(count: () => number): Promise<number> {
  for (let [last, rest] = [-1, 0]; rest < 10; await sleep(30)) {
    rest = count() === last ? rest + 1 : 0
    last = count()
  }
  return count()
}
