import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { type TestContext, test } from 'node:test'
import { writeHead } from './write-head.ts'

interface Head {
  status: number
  base: readonly string[]
  own: readonly string[]
  ending: readonly string[]
}

const usual: Head = {
  status: 200,
  base: ['Content-Type', 'application/json', 'Vary', 'Accept'],
  own: ['ETag', '"abc"', 'Age', '3'],
  ending: ['Content-Length', '2'],
}

/** Everything that comes back for these requests, with the time of day left out. */
async function bytesOf(
  t: TestContext,
  requests: string,
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<string> {
  const server = createServer({ keepAliveTimeout: 0 }, answer).on('checkContinue', answer)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  let text = ''
  socket.on('data', (bytes) => (text += bytes.toString('latin1')))
  socket.write(requests)
  await once(socket, 'close')
  return text.replaceAll(/Date: .*\r\n/g, '')
}

function withOurs({ status, ...head }: Head, body?: string) {
  return (_: IncomingMessage, response: ServerResponse) => {
    writeHead(response, status, head)
    response.end(body)
  }
}

function withNodes({ status, base, own, ending }: Head, body?: string) {
  return (_: IncomingMessage, response: ServerResponse) => {
    response.writeHead(status, [...base, ...own, ...ending])
    response.end(body)
  }
}

/** Header lines may stand in another order, and how long connections are kept is ours to say. */
function inOrder(text: string): string[] {
  return text.replaceAll('Keep-Alive: timeout=65\r\n', '').split('\r\n').sort()
}

const get = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'
const last = 'GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'

const cases: [name: string, requests: string, head: Head, body?: string][] = [
  ['a body of known length, twice on one connection', get + last, usual, '{}'],
  ['a body of unknown length, in chunks', get + last, { ...usual, ending: [] }, '{}'],
  ['304', get + last, { ...usual, status: 304, ending: [] }],
  ['204', get + last, { ...usual, status: 204, ending: [] }],
  ['HEAD', `${get.replace('GET', 'HEAD')}${last.replace('GET', 'HEAD')}`, usual],
  ['HTTP/1.0', 'GET / HTTP/1.0\r\nHost: x\r\n\r\n', usual, '{}'],
  ['the end of a connection', get, { ...usual, ending: [...usual.ending, 'Connection', 'close'] }, '{}'],
  ['the end of a connection for all of a kind', get, { ...usual, base: ['Connection', 'close'] }, '{}'],
  [
    'a body that is awaited',
    get.replace('\r\n\r\n', '\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n'),
    usual,
    '{}',
  ],
  ['letters beyond ASCII', get + last, { ...usual, own: ['X-Name', 'Stra\u00dfe'] }, '{}'],
]

for (const [name, requests, head, body] of cases) {
  test(`what goes out is what Node would send: ${name}`, async (t) => {
    const ours = await bytesOf(t, requests, withOurs(head, body))
    const nodes = await bytesOf(t, requests, withNodes(head, body))
    assert.match(ours, /^HTTP\/1\.1 /)
    assert.deepEqual(inOrder(ours), inOrder(nodes))
  })
}

test('how long a connection is kept is told where it is kept', async (t) => {
  const text = await bytesOf(t, get + last, withOurs(usual, '{}'))
  const [first = '', second = ''] = text.split('{}')
  assert.match(first, /Keep-Alive: timeout=65\r\n/)
  assert.doesNotMatch(second, /Keep-Alive/)
})

test('a line break in a value is never sent', async (t) => {
  const problems: unknown[] = []
  await bytesOf(t, last, (_, response) => {
    for (const own of [
      ['X-Name', 'a\r\nSet-Cookie: b'],
      ['X-Name', 'a\nb'],
      ['X-Name', 'a\u0000'],
    ]) {
      try {
        writeHead(response, 200, { base: [], own, ending: [] })
      } catch (error) {
        problems.push((error as { code?: string }).code)
      }
    }
    response.destroy()
  })
  assert.deepEqual(problems, ['ERR_INVALID_CHAR', 'ERR_INVALID_CHAR', 'ERR_INVALID_CHAR'])
})

test('headers that somebody set before are sent too', async (t) => {
  const text = await bytesOf(t, last, (request, response) => {
    response.setHeader('X-Before', 'yes')
    withOurs(usual, '{}')(request, response)
  })
  assert.match(text, /X-Before: yes\r\n/)
})
