import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { bearer } from '../harness.ts'
import { processorMs } from '../processor-time.ts'
import {
  assertNothingFromInside,
  assertRefusal,
  type ErrorForm,
  openSocket,
  startWired,
} from './raw-client.ts'

type Expected = readonly [status: number, code: string, form: ErrorForm]
const notUnderstood: Expected = [400, 'bad_request', 'flat']
const notUnderstoodNested: Expected = [400, 'bad_request', 'nested']
const host = 'Host: rowport.test\r\n'
const oneMegabyte = 1_000_000

test('what is not a proper HTTP/1 request is refused in JSON, and the connection closed', async (t) => {
  const wired = await startWired(t)
  const { formA, formB } = wired.sheet
  const cases: Record<string, readonly [bytes: string, expected: Expected]> = {
    'HTTP/0.9': [`GET ${formA}\r\n\r\n`, notUnderstood],
    'HTTP/1.2': [`GET ${formA} HTTP/1.2\r\n${host}\r\n`, notUnderstood],
    'HTTP/2.0 in the request line': [`GET ${formB} HTTP/2.0\r\n${host}\r\n`, notUnderstoodNested],
    'HTTP/2 with prior knowledge': ['PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0', notUnderstood],
    'a TLS hello': ['\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', notUnderstood],
    NULs: ['\0\0\0\0', notUnderstood],
    'NUL in the target': ['GET /api/\0 HTTP/1.1\r\n\r\n', notUnderstood],
    'NUL in a header': [`GET ${formB} HTTP/1.1\r\nX: a\0b\r\n\r\n`, notUnderstoodNested],
    'bare line feeds': [`GET ${formA} HTTP/1.1\nHost: x\n\n`, notUnderstood],
    'a folded header': [`GET ${formA} HTTP/1.1\r\n${host}X: a\r\n b\r\n\r\n`, notUnderstood],
    'a space before the colon': [`GET ${formA} HTTP/1.1\r\n${host}X : a\r\n\r\n`, notUnderstood],
    'a header without a name': [`GET ${formA} HTTP/1.1\r\n${host}: a\r\n\r\n`, notUnderstood],
    'a header without a colon': [`GET ${formA} HTTP/1.1\r\n${host}X\r\n\r\n`, notUnderstood],
    'bytes above ASCII in the target': [`GET ${formB}/\xff\xfe HTTP/1.1\r\n${host}\r\n`, notUnderstoodNested],
    'a space in the target': [`GET ${formA}/a b HTTP/1.1\r\n${host}\r\n`, notUnderstood],
    'the authority form': [`GET rowport.test:80 HTTP/1.1\r\n${host}\r\n`, notUnderstood],
    'an unknown method': [`FETCH ${formB} HTTP/1.1\r\n${host}\r\n`, notUnderstoodNested],
    'a method in small letters': [`get ${formA} HTTP/1.1\r\n${host}\r\n`, notUnderstood],
    'no Host': [`GET ${formB} HTTP/1.1\r\n\r\n`, notUnderstoodNested],
    'no Host at /healthz': ['GET /healthz HTTP/1.1\r\n\r\n', notUnderstood],
    'two Hosts': [`GET ${formA} HTTP/1.1\r\n${host}hOST: rowport.test\r\n\r\n`, notUnderstood],
    'a Host that is none': [`GET ${formA} HTTP/1.1\r\nHost: a b/c\r\n\r\n`, notUnderstood],
    'a Host with a user': [`GET ${formA} HTTP/1.1\r\nHost: me@rowport.test\r\n\r\n`, notUnderstood],
  }
  for (const [title, [bytes, expected]] of Object.entries(cases)) {
    await t.test(title, async () => {
      const { answers, rest, isClosed, error } = await wired.talk(bytes)
      assertRefusal(answers[0], ...expected)
      assert.deepEqual(
        { count: answers.length, rest, isClosed, error },
        { count: 1, rest: '', isClosed: true, error: null },
      )
      assert.equal(answers[0]?.headers.get('connection'), 'close')
    })
  }
  await wired.assertUnharmed()
})

test('odd targets get the answer of their address, and the connection stays', async (t) => {
  const wired = await startWired(t)
  const { formA, formB } = wired.sheet
  const cases: Record<string, readonly [target: string, expected: Expected]> = {
    'broken percent-encoding': ['/api/sheets/%E0%A4%A/x', notUnderstood],
    'broken percent-encoding under /v1': ['/v1/sheets/%zz', notUnderstoodNested],
    'broken percent-encoding after a host': ['http://elsewhere.test/v1/sheets/%', notUnderstoodNested],
    'percent-encoded bytes that are no UTF-8': ['/v1/%ff%fe', notUnderstoodNested],
    'broken percent-encoding beside a page': ['/healthz%', notUnderstood],
    'broken percent-encoding in the query': [`${formB}?q=%zz`, [400, 'invalid_query', 'nested']],
    'another host before the path': [`//elsewhere.test${formA}`, [404, 'not_found', 'flat']],
    'an encoded NUL': [`${formA}%00`, [404, 'sheet_not_found', 'flat']],
    'an encoded NUL in a sheet id': [`${formB}%00`, [404, 'sheet_not_found', 'nested']],
    'an encoded slash': [formA.replaceAll('/', '%2f').replace('%2f', '/'), [404, 'not_found', 'flat']],
    'dots that climb': [`/api/sheets/../../etc/passwd`, [404, 'not_found', 'flat']],
    'a backslash and half an IPv6 address': ['/\\[::1', [404, 'not_found', 'flat']],
    'a fragment': [`${formA}#x`, [404, 'sheet_not_found', 'flat']],
    'a star': ['*', notUnderstood],
    'another scheme': ['ftp://rowport.test/v1/sheets', notUnderstood],
    'slashes only': ['/'.repeat(15_000), [404, 'not_found', 'flat']],
    'a name from every prototype': ['/v1/__proto__', [404, 'not_found', 'nested']],
    'a sheet named like a prototype': ['/v1/sheets/__proto__', [404, 'sheet_not_found', 'nested']],
    'a row that is no number': [`${formB}/1e9`, [400, 'invalid_row_number', 'nested']],
    'a row with 99 digits': [`${formB}/${'9'.repeat(99)}`, [404, 'row_not_found', 'nested']],
    'a row with 9,999 digits': [`${formB}/${'9'.repeat(9_999)}`, [400, 'invalid_row_number', 'nested']],
    'a thousand parameters': [`${formB}?${'limit=1&'.repeat(1_000)}x=1`, [400, 'invalid_query', 'nested']],
  }
  for (const [title, [target, expected]] of Object.entries(cases)) {
    await t.test(title, async () => {
      const bytes = `GET ${target} HTTP/1.1\r\n${wired.head}\r\nGET ${formA}?limit=1 HTTP/1.1\r\n${wired.head}\r\n`
      const { answers } = await wired.talk(bytes, { answers: 2 })
      assertRefusal(answers[0], ...expected)
      assert.equal(answers[1]?.status, 200, 'the next request on the same connection is served')
    })
  }
  await wired.assertUnharmed()
})

test('a target with a host, as proxies send it, is the same address', async (t) => {
  const wired = await startWired(t)
  const bytesOf = (target: string) => `GET ${target} HTTP/1.1\r\n${wired.head}\r\n`
  for (const path of [wired.sheet.formA, wired.sheet.formB, '/healthz', '/']) {
    const plain = await wired.talk(bytesOf(path), { answers: 1 })
    const absolute = await wired.talk(bytesOf(`http://elsewhere.test${path}`), { answers: 1 })
    assert.equal(absolute.answers[0]?.status, 200, path)
    assert.equal(absolute.answers[0]?.body, plain.answers[0]?.body)
  }
  const bare = await wired.talk(bytesOf('http://elsewhere.test'), { answers: 1 })
  assert.equal(bare.answers[0]?.status, 200)
  const starred = await wired.talk(`OPTIONS * HTTP/1.1\r\n${host}\r\n`, { answers: 1 })
  assert.equal(starred.answers[0]?.status, 204)
})

test('methods that are not served are 405 with Allow, everywhere; OPTIONS is answered alike everywhere', async (t) => {
  const wired = await startWired(t)
  const { formA, formB } = wired.sheet
  for (const method of ['TRACE', 'PROPFIND', 'QUERY']) {
    for (const [path, form] of [
      [formA, 'flat'],
      [formB, 'nested'],
      ['/', 'flat'],
      ['/metrics', 'flat'],
    ] as const) {
      const { answers } = await wired.talk(`${method} ${path} HTTP/1.1\r\n${wired.head}\r\n`, { answers: 1 })
      assertRefusal(answers[0], 405, 'method_not_allowed', form)
      assert.match(answers[0]?.headers.get('allow') ?? '', /GET, HEAD/)
    }
  }
  for (const path of [formA, formB, '/', '/healthz', '/nowhere', '/%zz']) {
    const { answers } = await wired.talk(`OPTIONS ${path} HTTP/1.1\r\n${host}\r\n`, { answers: 1 })
    assert.equal(answers[0]?.status, 204, path)
  }
})

test('CONNECT is refused, and a client that resets it does no harm', async (t) => {
  const wired = await startWired(t)
  const connectRequest = `CONNECT elsewhere.test:443 HTTP/1.1\r\n${host}`
  for (const more of ['\r\n', 'Content-Length: 5\r\n\r\nab', '\r\nearly bytes']) {
    const { answers, isClosed } = await wired.talk(connectRequest + more)
    assertRefusal(answers[0], 405, 'method_not_allowed', 'flat')
    assert.ok(isClosed)
  }
  for (const more of ['\r\n', 'Content-Length: 5\r\n\r\nab']) {
    const socket = await openSocket(t, wired.rowport.port)
    socket.write(connectRequest + more)
    await new Promise((resolve) => socket.once('data', resolve))
    socket.resetAndDestroy()
  }
  await sleep(50)
  await wired.assertUnharmed()
})

test('an offer to upgrade is declined by answering in HTTP/1.1', async (t) => {
  const wired = await startWired(t)
  for (const protocol of ['websocket', 'h2c', 'TLS/1.3']) {
    const offer = `Connection: Upgrade\r\nUpgrade: ${protocol}\r\nHTTP2-Settings: AAMAAABk\r\n`
    const bytes = `GET ${wired.sheet.formA} HTTP/1.1\r\n${wired.head}${offer}\r\n`
    const { answers } = await wired.talk(bytes, { answers: 1 })
    assert.equal(answers[0]?.status, 200)
  }
})

test('headers: at most 100 and 16 KiB, told as 431, never dropped without a word', async (t) => {
  const wired = await startWired(t)
  const { formA, formB } = wired.sheet
  // The key comes last: were headers beyond some number dropped, it would be among them.
  const withHeaders = (count: number) =>
    `GET ${formA} HTTP/1.1\r\n${'x:y\r\n'.repeat(count - 2)}${wired.head}\r\n`
  const enough = await wired.talk(withHeaders(100), { answers: 1 })
  assert.equal(enough.answers[0]?.status, 200)
  for (const count of [101, 102, 160, 2_500]) {
    const { answers, isClosed } = await wired.talk(withHeaders(count))
    assertRefusal(answers[0], 431, 'headers_too_large', 'flat')
    assert.ok(isClosed)
  }
  const cases: Record<string, readonly [bytes: string, form: ErrorForm]> = {
    'one huge value': [`GET ${formB} HTTP/1.1\r\n${host}X: ${'y'.repeat(20_000)}\r\n\r\n`, 'nested'],
    'one huge name': [`GET ${formA} HTTP/1.1\r\n${host}${'X'.repeat(20_000)}: y\r\n\r\n`, 'flat'],
    'a megabyte of slashes': [`GET ${'/'.repeat(oneMegabyte)} HTTP/1.1\r\n${host}\r\n`, 'flat'],
    'a megabyte of query': [`GET ${formB}?${'a'.repeat(oneMegabyte)} HTTP/1.1\r\n${host}\r\n`, 'nested'],
    'a megabyte of key': [`GET ${formA} HTTP/1.1\r\n${host}X-API-Key: ${'k'.repeat(oneMegabyte)}`, 'flat'],
  }
  for (const [title, [bytes, form]] of Object.entries(cases)) {
    const { answers, isClosed } = await wired.talk(bytes)
    assertRefusal(answers[0], 431, 'headers_too_large', form)
    assert.ok(isClosed, title)
  }
  const notAscii = await wired.talk(`GET ${formA} HTTP/1.1\r\n${wired.head}X: \xff\xfe\r\n\r\n`, {
    answers: 1,
  })
  assert.equal(notAscii.answers[0]?.status, 200, 'bytes above ASCII in a header nobody reads')
  await wired.assertUnharmed()
})

test('keys sent twice, or that are no keys, never open anything and never break anything', async (t) => {
  const wired = await startWired(t)
  const { formA, formB } = wired.sheet
  const { value } = wired.key
  const cases: Record<string, readonly [path: string, headers: string, status: number]> = {
    'the same X-API-Key twice': [formA, `X-API-Key: ${value}\r\nX-API-Key: ${value}\r\n`, 403],
    'two Authorizations: the first counts': [
      formA,
      `Authorization: Bearer ${value}\r\nAuthorization: Bearer x\r\n`,
      200,
    ],
    'a wrong Authorization first': [
      formA,
      `Authorization: Bearer x\r\nAuthorization: Bearer ${value}\r\n`,
      403,
    ],
    'two api_keys: the first counts': [`${formB}?api_key=x&api_key=${value}`, '', 403],
    'bytes above ASCII': [formA, 'Authorization: Bearer \xe9\xff\r\n', 403],
    'a NUL in the query': [`${formA}?api_key=%00`, '', 403],
    '15 KB of spaces': [formA, `Authorization: Bearer${' '.repeat(15_000)}\r\n`, 401],
    '15 KB of key': [formA, `Authorization: Bearer ${'k'.repeat(15_000)}\r\n`, 403],
    'no scheme': [formA, `Authorization: ${value}\r\n`, 401],
  }
  for (const [title, [path, headers, status]] of Object.entries(cases)) {
    const { answers } = await wired.talk(`GET ${path} HTTP/1.1\r\n${host}${headers}\r\n`, { answers: 1 })
    assert.equal(answers[0]?.status, status, title)
    JSON.parse(answers[0]?.body ?? '')
    assertNothingFromInside(answers[0]?.body ?? '')
  }
})

test('bodies whose end is doubtful are refused and nothing of them is written', async (t) => {
  const wired = await startWired(t)
  const { formA, formB } = wired.sheet
  const row = '{"name":"smuggled"}'
  const chunked = 'Transfer-Encoding: chunked\r\n\r\n'
  const cases: Record<string, readonly [path: string, rest: string, expected: Expected]> = {
    'Content-Length and Transfer-Encoding': [
      formA,
      `Content-Length: ${row.length}\r\n${chunked}${row.length.toString(16)}\r\n${row}\r\n0\r\n\r\n`,
      notUnderstood,
    ],
    'two Content-Lengths': [
      formA,
      `Content-Length: ${row.length}\r\nContent-Length: 2\r\n\r\n${row}`,
      notUnderstood,
    ],
    'a negative Content-Length': [formB, `Content-Length: -1\r\n\r\n${row}`, notUnderstoodNested],
    'a Content-Length in hex': [formA, `Content-Length: 0x13\r\n\r\n${row}`, notUnderstood],
    'a Content-Length with a plus': [formA, `Content-Length: +19\r\n\r\n${row}`, notUnderstood],
    'a Content-Length past all counting': [
      formA,
      `Content-Length: 99999999999999999999\r\n\r\n${row}`,
      notUnderstood,
    ],
    'a coding nobody undoes': [formA, `Transfer-Encoding: gzip\r\n\r\n${row}`, notUnderstood],
    'a coding before chunked': [
      formB,
      `Transfer-Encoding: gzip, chunked\r\n\r\n13\r\n${row}\r\n0\r\n\r\n`,
      notUnderstoodNested,
    ],
    'chunked twice': [
      formA,
      `Transfer-Encoding: chunked, chunked\r\n\r\n13\r\n${row}\r\n0\r\n\r\n`,
      notUnderstood,
    ],
    'chunked, nearly': [formA, `Transfer-Encoding: xchunked\r\n\r\n13\r\n${row}\r\n0\r\n\r\n`, notUnderstood],
    'a chunk size that is none': [formB, `${chunked}ZZ\r\n${row}`, notUnderstoodNested],
    'a chunk size past all counting': [formA, `${chunked}FFFFFFFFFFFFFFFFF\r\n${row}`, notUnderstood],
    'a chunk longer than it says': [formA, `${chunked}2\r\n${row}\r\n0\r\n\r\n`, notUnderstood],
    'bare line feeds between chunks': [formA, `${chunked}13\n${row}\n0\n\n`, notUnderstood],
    'a chunk extension of 20 KB': [
      formB,
      `${chunked}13;${'x'.repeat(20_000)}\r\n`,
      [413, 'payload_too_large', 'nested'],
    ],
    'trailers of 20 KB': [
      formB,
      `${chunked}13\r\n${row}\r\n0\r\nX: ${'y'.repeat(20_000)}\r\n\r\n`,
      [431, 'headers_too_large', 'nested'],
    ],
  }
  for (const [title, [path, rest, expected]] of Object.entries(cases)) {
    await t.test(title, async () => {
      const { answers, isClosed } = await wired.talk(`POST ${path} HTTP/1.1\r\n${wired.head}${rest}`)
      assertRefusal(answers[0], ...expected)
      assert.deepEqual({ count: answers.length, isClosed }, { count: 1, isClosed: true })
    })
  }
  assert.doesNotMatch(await readFile(wired.sheet.path, 'utf8'), /smuggled/)
  const extension = await wired.talk(
    `POST ${formA} HTTP/1.1\r\n${wired.head}${chunked}10;a=b\r\n{"name": "Plant"}\r\n`.replace('10;', '11;') +
      '0\r\n\r\n',
    { answers: 1 },
  )
  assert.equal(extension.answers[0]?.status, 201, 'a short chunk extension is allowed and ignored')
  await wired.assertUnharmed()
})

test('a refusal in the middle of a body is the only answer, whoever else wanted to answer', async (t) => {
  const wired = await startWired(t)
  // Without a key the handler refuses as well, at the same moment.
  const bytes = `POST ${wired.sheet.formA} HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\n\r\nZZ\r\n`
  for (let round = 0; round < 20; round++) {
    const { answers, rest, isClosed, error } = await wired.talk(bytes)
    assertRefusal(answers[0], ...notUnderstood)
    assert.deepEqual(
      { count: answers.length, rest, isClosed, error },
      { count: 1, rest: '', isClosed: true, error: null },
    )
  }
})

test('JSON that cannot become rows is 400 invalid_body', async (t) => {
  const wired = await startWired(t)
  const deep = 1_000_000
  const cases: Record<string, string | Uint8Array> = {
    nothing: '',
    'half a JSON': '{"name":',
    'a million nested arrays': '['.repeat(deep) + ']'.repeat(deep),
    'a million open arrays': '['.repeat(deep),
    'a cell with nested arrays': `{"name":${'['.repeat(deep)}${']'.repeat(deep)}}`,
    'deep objects': `${'{"name":'.repeat(200_000)}1${'}'.repeat(200_000)}`,
    'a number too large': '{"price":1e400}',
    'a number of 2 MB': `{"price":${'9'.repeat(2_000_000)}}`,
    'a number too exact': '{"price":12345678901234567890}',
    'a number too small': '{"price":1e-400}',
    'a long way behind the point': `{"price":0.1${'0'.repeat(1_900_000)}1}`,
    'a lone surrogate': '{"name":"\\ud800"}',
    'a lone surrogate as a name': '{"\\udc00":1}',
    'invalid UTF-8': Buffer.concat([Buffer.from('{"name":"'), Buffer.from([0xc3, 0x28]), Buffer.from('"}')]),
    'UTF-16': Buffer.from('{"name":"Oak"}', 'utf16le'),
    'a string': '"name"',
    null: 'null',
    'an array of arrays': '[[]]',
    'an empty array': '[]',
    'an empty object': '{}',
    'a nested value': '{"name":{"__proto__":{"polluted":true}}}',
    'a cell of 50,001 characters': JSON.stringify({ name: 'x'.repeat(50_001) }),
    '100,000 fields': `{${Array.from({ length: 100_000 }, (_, at) => `"f${at}":1`).join()}}`,
    'a field from every prototype': '{"constructor":1}',
    NaN: '{"price":NaN}',
    'a NUL between tokens': '{"price":\0 1}',
  }
  for (const [title, body] of Object.entries(cases)) {
    for (const path of [wired.sheet.formA, wired.sheet.formB]) {
      const form = path === wired.sheet.formA ? 'flat' : 'nested'
      const workMs = await processorMs(async () => {
        const answer = await wired.post(path, body)
        const text = await answer.text()
        assertRefusal(
          { status: answer.status, headers: new Map(answer.headers), body: text },
          400,
          'invalid_body',
          form,
        )
      })
      assert.ok(workMs < 5_000, `${title} took ${workMs} ms`)
    }
  }
  assert.equal(({} as { polluted?: boolean }).polluted, undefined)
  assert.equal(
    await readFile(wired.sheet.path, 'utf8'),
    'name,price,__proto__\nOak,1,x\n',
    'nothing was written',
  )
  await wired.assertUnharmed()
})

test('a body may name a column like a prototype, repeat a key, and begin with a byte order mark', async (t) => {
  const wired = await startWired(t)
  const added = await wired.post(wired.sheet.formA, '\ufeff{"__proto__":"p","name":"first","name":"second"}')
  assert.equal(added.status, 201)
  assert.match(await added.text(), /\{"_row":3,"name":"second","price":null,"__proto__":"p"\}/)
})

test('a compressed body is refused in words', async (t) => {
  const wired = await startWired(t)
  const headers = { ...bearer(wired.key), 'Content-Encoding': 'gzip' }
  const answer = await fetch(wired.rowport.url + wired.sheet.formA, { method: 'POST', headers, body: 'x' })
  assert.equal(answer.status, 400)
  assert.match(await answer.text(), /Compressed bodies are not supported/)
})

test('too much is 413: over 2 MiB announced, over 2 MiB sent, over 1,000 rows', async (t) => {
  const wired = await startWired(t)
  const { formA, formB } = wired.sheet
  const limit = 2 * 1024 * 1024
  const announced = await wired.talk(
    `POST ${formB} HTTP/1.1\r\n${wired.head}Content-Length: ${limit + 1}\r\n\r\n`,
  )
  assertRefusal(announced.answers[0], 413, 'payload_too_large', 'nested')
  assert.ok(announced.isClosed, 'what the client would still send is not waited for')
  assert.equal(announced.answers[0]?.headers.get('connection'), 'close')

  const endless = `POST ${formA} HTTP/1.1\r\n${wired.head}Transfer-Encoding: chunked\r\n\r\n`
  const sent = await wired.talk(`${endless}${`10000\r\n${' '.repeat(65_536)}\r\n`.repeat(40)}`)
  assertRefusal(sent.answers[0], 413, 'payload_too_large', 'flat')
  assert.ok(sent.isClosed)

  const exactly = await wired.post(formA, `{"name":"fits"}${' '.repeat(limit - 15)}`)
  assert.equal(exactly.status, 201)
  await exactly.body?.cancel()
  const rows = (count: number) => JSON.stringify(Array.from({ length: count }, () => ({ name: 'row' })))
  const tooMany = await wired.post(formB, rows(1_001))
  assert.equal(tooMany.status, 413)
  assert.match(await tooMany.text(), /"code":"payload_too_large"/)
  const enough = await wired.post(formB, rows(1_000))
  assert.equal(enough.status, 201)
  await enough.body?.cancel()
  await wired.assertUnharmed()
})

test('a client that is still sending gets the refusal whole, and no reset', async (t) => {
  const wired = await startWired(t)
  const { formA, formB } = wired.sheet
  // More than the buffers of both ends hold: a simple client that writes all first can only do so if it is read.
  const muchMore = Buffer.alloc(12 * oneMegabyte, 'x')
  const post = `POST ${formA} HTTP/1.1\r\n${wired.head}`
  const announced = `Content-Length: ${2 * muchMore.length}\r\n\r\n`
  const chunked = 'Transfer-Encoding: chunked\r\n\r\n'
  const cases: Record<string, readonly [bytes: string, expected: Expected]> = {
    garbage: ['\x01', notUnderstood],
    'a header without end': [`GET ${formB} HTTP/1.1\r\nX: `, [431, 'headers_too_large', 'nested']],
    'no Host': [`POST ${formA} HTTP/1.1\r\n${announced}`, notUnderstood],
    'bad chunks': [`${post}${chunked}ZZ\r\n`, notUnderstood],
    'bad chunks, and no key either': [`POST ${formA} HTTP/1.1\r\n${host}${chunked}ZZ\r\n`, notUnderstood],
    'an expectation': [`${post}Expect: miracles\r\n${announced}`, [417, 'expectation_failed', 'flat']],
    CONNECT: [`CONNECT elsewhere.test:443 HTTP/1.1\r\n${host}\r\n`, [405, 'method_not_allowed', 'flat']],
    'too much, announced': [`${post}${announced}`, [413, 'payload_too_large', 'flat']],
    'too much, in chunks': [`${post}${chunked}FFFFFFF\r\n`, [413, 'payload_too_large', 'flat']],
  }
  for (const [title, [head, expected]] of Object.entries(cases)) {
    await t.test(title, async () => {
      const bytes = Buffer.concat([Buffer.from(head, 'latin1'), muchMore])
      const { answers, rest, isClosed, error } = await wired.talk(bytes, { readsLate: true })
      assertRefusal(answers[0], ...expected)
      assert.deepEqual(
        { count: answers.length, rest, isClosed, error },
        { count: 1, rest: '', isClosed: true, error: null },
      )
    })
  }
  await wired.assertUnharmed()
})

test('a client that never stops sending after a refusal is cut off', async (t) => {
  const wired = await startWired(t)
  const socket = await openSocket(t, wired.rowport.port, true)
  const begunMs = performance.now()
  socket.write(`POST ${wired.sheet.formA} HTTP/1.1\r\n${wired.head}Content-Length: ${10 ** 12}\r\n\r\n`)
  socket.resume()
  const sending = setInterval(() => socket.write('x'.repeat(10_000)), 10)
  await new Promise((resolve) => socket.once('close', resolve))
  clearInterval(sending)
  assert.ok(performance.now() - begunMs < 20_000, 'about two seconds later, and not at the end of the body')
  await wired.assertUnharmed()
})

test('Expect: 100-continue is granted where the body may come, and other expectations are 417', async (t) => {
  const wired = await startWired(t)
  const { formA, formB } = wired.sheet
  const expecting = (path: string, expectation: string, length: number) =>
    `POST ${path} HTTP/1.1\r\n${wired.head}Expect: ${expectation}\r\nContent-Length: ${length}\r\n\r\n`
  const granted = await wired.talk(`${expecting(formA, '100-continue', 16)}{"name":"Plant"}`, { answers: 2 })
  assert.deepEqual(
    granted.answers.map(({ status }) => status),
    [100, 201],
  )
  const tooLarge = await wired.talk(expecting(formB, '100-continue', 3_000_000))
  assert.equal(tooLarge.answers.length, 1, 'the client is not invited to send what is refused anyway')
  assertRefusal(tooLarge.answers[0], 413, 'payload_too_large', 'nested')
  const other = await wired.talk(`${expecting(formB, '200-maybe', 2)}{}`)
  assertRefusal(other.answers[0], 417, 'expectation_failed', 'nested')
  assert.ok(other.isClosed)
})

test('whoever sends many requests without waiting for an answer is cut off, before others have to wait', async (t) => {
  const wired = await startWired(t)
  const one = `GET /nowhere HTTP/1.1\r\n${host}\r\n`
  const few = await wired.talk(one.repeat(40), { answers: 40 })
  assert.equal(few.answers.length, 40)
  const before = answeredIn(wired.rowport.seen)
  const many = await wired.talk(one.repeat(2_000))
  assert.ok(many.isClosed)
  const begun = answeredIn(wired.rowport.seen) - before
  assert.ok(begun <= 51, `${begun} of 2,000 were begun`)
})

test('answers to pipelined requests come in order, and after them the refusal of what is none', async (t) => {
  const wired = await startWired(t)
  const { formA, formB } = wired.sheet
  // The first is slower than the second: it asks the provider.
  const slow = `GET ${formA} HTTP/1.1\r\n${wired.head}Cache-Control: no-cache\r\n\r\n`
  const quick = `GET ${formB}/2 HTTP/1.1\r\n${wired.head}\r\n`
  const missing = `GET ${formB}/99 HTTP/1.1\r\n${wired.head}\r\n`
  const many = await wired.talk(`${slow}${quick}${missing}${slow}`, { answers: 4 })
  assert.deepEqual(
    many.answers.map(({ status }) => status),
    [200, 200, 404, 200],
  )
  assert.match(many.answers[0]?.body ?? '', /^\[/)
  assert.match(many.answers[1]?.body ?? '', /^\{"data":\{/)

  const thenGarbage = await wired.talk(`${slow}${slow}GARBAGE\r\n\r\n`)
  assert.deepEqual(
    thenGarbage.answers.map(({ status }) => status),
    [200, 200, 400],
  )
  assert.ok(thenGarbage.isClosed)
  const badChunk = `POST ${formB} HTTP/1.1\r\n${wired.head}Transfer-Encoding: chunked\r\n\r\nZZ\r\n`
  const thenBadBody = await wired.talk(`${slow}${badChunk}`)
  assert.deepEqual(
    thenBadBody.answers.map(({ status }) => status),
    [200, 400],
  )
  assertRefusal(thenBadBody.answers[1], ...notUnderstoodNested)
  assert.ok(thenBadBody.isClosed)
  // This one was already refused, for want of a key, when its bad body was seen.
  const thenStranger = await wired.talk(`${slow}${badChunk.replace(wired.head, host)}`)
  assert.deepEqual(
    thenStranger.answers.map(({ status }) => status),
    [200, 401],
  )
  assert.ok(thenStranger.isClosed)
})

test('a body longer than its Content-Length: the announced part is done and said to be done, then 400', async (t) => {
  const wired = await startWired(t)
  const bytes = `POST ${wired.sheet.formA} HTTP/1.1\r\n${wired.head}Content-Length: 16\r\n\r\n{"name":"Plant"}and so on\r\n\r\n`
  const { answers, isClosed } = await wired.talk(bytes)
  assert.deepEqual(
    answers.map(({ status }) => status),
    [201, 400],
  )
  assert.ok(isClosed)
})

test('a client that closes its half after asking still gets its answer; one that stops in a body gets 400', async (t) => {
  const wired = await startWired(t)
  const { formA, formB } = wired.sheet
  const slow = `GET ${formA} HTTP/1.1\r\n${wired.head}Cache-Control: no-cache\r\n\r\n`
  const asked = await wired.talk(`${slow}${slow}`, { halfClose: true })
  assert.deepEqual(
    asked.answers.map(({ status }) => status),
    [200, 200],
  )
  assert.ok(asked.isClosed)
  const added = await wired.talk(
    `POST ${formA} HTTP/1.1\r\n${wired.head}Content-Length: 16\r\n\r\n{"name":"Plant"}`,
    { halfClose: true },
  )
  assert.deepEqual(
    added.answers.map(({ status }) => status),
    [201],
  )
  const stopped = await wired.talk(`POST ${formB} HTTP/1.1\r\n${wired.head}Content-Length: 99\r\n\r\n{`, {
    halfClose: true,
  })
  assertRefusal(stopped.answers[0], ...notUnderstoodNested)
  assert.ok(stopped.isClosed)
  const nothing = await wired.talk('', { halfClose: true })
  assert.deepEqual({ answers: nothing.answers, isClosed: nothing.isClosed }, { answers: [], isClosed: true })
  await wired.assertUnharmed()
})

test('a client that disappears at any moment does no harm', async (t) => {
  const wired = await startWired(t)
  const row = '{"name":"Plant"}'
  const bytes = `POST ${wired.sheet.formA} HTTP/1.1\r\n${wired.head}Content-Length: ${row.length}\r\n\r\n${row}`
  const leave = async (sentLength: number, isReset: boolean) => {
    const socket = await openSocket(t, wired.rowport.port)
    socket.write(bytes.slice(0, sentLength))
    if (sentLength % 2) await sleep(1)
    if (isReset) socket.resetAndDestroy()
    else socket.destroy()
  }
  const lengths = Array.from({ length: 60 }, (_, at) => Math.round((at * bytes.length) / 59))
  await Promise.all(lengths.flatMap((length) => [leave(length, true), leave(length, false)]))
  await sleep(50)
  await wired.assertUnharmed()
})

test('the connection is kept after a refusal, and HEAD of a refusal has its head only', async (t) => {
  const wired = await startWired(t)
  const { formA, formB } = wired.sheet
  const bad = `POST ${formB} HTTP/1.1\r\n${wired.head}Content-Length: 2\r\n\r\n[]`
  const strange = `POST ${formA} HTTP/1.1\r\n${host}Content-Length: 5\r\n\r\nabcde`
  const good = `GET ${formA} HTTP/1.1\r\n${wired.head}\r\n`
  const { answers } = await wired.talk(bad + strange + bad + good, { answers: 4 })
  assert.deepEqual(
    answers.map(({ status }) => status),
    [400, 401, 400, 200],
  )
  assert.equal(answers[0]?.headers.get('connection'), 'keep-alive')

  for (const [line, status] of [
    [`HEAD ${formA}/99`, 404],
    ['HEAD /v1/%zz', 400],
    ['HEAD /nowhere', 404],
  ] as const) {
    const head = await wired.talk(`${line} HTTP/1.1\r\n${wired.head}Connection: close\r\n\r\n`, {
      isHead: true,
    })
    assert.equal(head.answers[0]?.status, status)
    assert.ok(Number(head.answers[0]?.headers.get('content-length')) > 0)
    assert.equal(head.rest, '')
  }
  for (const [bytes, status] of [
    [`HEAD ${formA} HTTP/1.1\r\n\r\n`, 400],
    [`HEAD ${formB} HTTP/1.1\r\n${host}X: ${'y'.repeat(20_000)}\r\n\r\n`, 431],
    [`HEAD ${formB} HTTP/1.1\r\n${host}X\0\r\n\r\n`, 400],
  ] as const) {
    const head = await wired.talk(bytes, { isHead: true })
    assert.equal(head.answers[0]?.status, status)
    assert.equal(head.rest, '', 'no body after the head')
  }
})

function answeredIn(seen: readonly { event: string }[]): number {
  return seen.filter(({ event }) => event === 'request_answered').length
}

test('a connection that breaks after it was refused and handed over ends nothing but itself', async (t) => {
  const wired = await startWired(t)
  for (let nth = 0; nth < 300; nth++) {
    const socket = connect(wired.rowport.port, '127.0.0.1')
    socket.on('error', () => {})
    await new Promise((resolve) => socket.once('connect', resolve))
    socket.write('GET / HTTP/1.1\r\nHost: a b\r\n\r\nCONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n')
    socket.resetAndDestroy()
  }
  await wired.assertUnharmed()
})
