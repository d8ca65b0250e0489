import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { ownPage, signedIn } from '../connect/visitor.ts'
import { assertRefusal, startWired } from './raw-client.ts'

const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`
const inChunks = (text: string, bytes: number) =>
  Array.from({ length: Math.ceil(text.length / bytes) }, (_, at) =>
    chunk(text.slice(at * bytes, (at + 1) * bytes)),
  ).join('')

test('a body in chunks of a byte or a few is refused, and nothing of it is written', async (t) => {
  const wired = await startWired(t)
  const row = (length: number) => `{"name":"tiny${' '.repeat(length)}"}`
  for (const [path, form] of [
    [wired.sheet.formA, 'flat'],
    [wired.sheet.formB, 'nested'],
  ] as const) {
    // The last comes with its end in one packet.
    for (const [bytes, length] of [
      [1, 30_000],
      [10, 30_000],
      [1, 1_100],
    ] as const) {
      const head = `POST ${path} HTTP/1.1\r\n${wired.head}Transfer-Encoding: chunked\r\n\r\n`
      const { answers, rest, isClosed } = await wired.talk(`${head}${inChunks(row(length), bytes)}0\r\n\r\n`)
      assert.equal(answers.length, 1)
      assertRefusal(answers[0], 400, 'bad_request', form)
      assert.match(answers[0]?.body ?? '', /chunks of fewer than 16 bytes/)
      assert.equal(rest, '')
      assert.ok(isClosed)
    }
  }
  assert.doesNotMatch(await readFile(wired.sheet.path, 'utf8'), /tiny/)
  await wired.assertUnharmed()
})

test('the same for a file that an owner brings', async (t) => {
  const wired = await startWired(t)
  const owner = await signedIn(wired.rowport)
  const own = Object.entries(ownPage).map(([name, value]) => `${name}: ${value}\r\n`)
  const head =
    `POST /dashboard/api/files?name=s.csv HTTP/1.1\r\nHost: rowport.test\r\nCookie: ${owner.cookie}\r\n${own.join('')}` +
    'Content-Type: application/octet-stream\r\nTransfer-Encoding: chunked\r\n\r\n'
  const { answers } = await wired.talk(`${head}${inChunks('a\n1\n'.repeat(300), 1)}0\r\n\r\n`)
  assertRefusal(answers[0], 400, 'bad_request', 'flat')
  await wired.assertUnharmed()
})

test('small chunks of an honest client, and a short body in chunks of a byte, are read', async (t) => {
  const wired = await startWired(t)
  for (const [bytes, length] of [
    [1, 500],
    [16, 40_000],
    [100, 40_000],
    [1_000, 40_000],
  ] as const) {
    const row = `{"name":"${'x'.repeat(length)}"}`
    const head = `POST ${wired.sheet.formA} HTTP/1.1\r\n${wired.head}Transfer-Encoding: chunked\r\n\r\n`
    const { answers } = await wired.talk(`${head}${inChunks(row, bytes)}0\r\n\r\n`, { answers: 1 })
    assert.equal(answers[0]?.status, 201, `${bytes} bytes: ${answers[0]?.body}`)
    assert.notEqual(answers[0]?.headers.get('connection'), 'close')
  }
})

test('whoever is refused before its body is read keeps its connection for a short one, not for one without end', async (t) => {
  const wired = await startWired(t)
  const post = (path: string, headers: string) =>
    `POST ${path} HTTP/1.1\r\nHost: rowport.test\r\n${headers}\r\n`
  for (const path of ['/nowhere', wired.sheet.formA, '/metrics', '/sheets']) {
    const short = await wired.talk(`${post(path, 'Content-Length: 5\r\n')}short`.repeat(2), { answers: 2 })
    assert.equal(short.answers.length, 2, `${path}: the second is answered on the same connection`)
    for (const headers of ['Transfer-Encoding: chunked\r\n', 'Content-Length: 1000000\r\n']) {
      const { answers, isClosed } = await wired.talk(post(path, headers))
      assert.ok([401, 404, 405].includes(answers[0]?.status ?? 0), `${path}: ${answers[0]?.status}`)
      assert.equal(answers[0]?.headers.get('connection'), 'close', `${path} ${headers}`)
      assert.ok(isClosed)
    }
  }
})
