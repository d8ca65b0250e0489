import assert from 'node:assert/strict'
import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { test } from 'node:test'
import fc from 'fast-check'
import { processorMs } from '../../../test/processor-time.ts'
import { Refusal } from '../../errors.ts'
import { ClientGone, maxBodyBytes, parseRows, readBody } from './body.ts'

test('one object is one row, an array is its rows, in the order of the body', () => {
  assert.deepEqual(rowsOf('{"b":1,"a":"x"}'), [
    [
      ['b', 1],
      ['a', 'x'],
    ],
  ])
  assert.deepEqual(rowsOf('[{"a":true},{"a":null}]'), [[['a', true]], [['a', null]]])
  assert.deepEqual(rowsOf('\ufeff {"a":1}'), [[['a', 1]]], 'a byte order mark is no part of the text')
  assert.deepEqual(rowsOf('{"__proto__":1,"constructor":2}'), [
    [
      ['__proto__', 1],
      ['constructor', 2],
    ],
  ])
  assert.deepEqual(rowsOf('{"a":"12345678901234567890 1e999"}'), [[['a', '12345678901234567890 1e999']]])
  assert.deepEqual(rowsOf('{"1e999":"\\"9e999\\\\"}'), [[['1e999', '"9e999\\']]])
})

test('what cannot be kept exactly is refused in words', () => {
  const cases: Record<string, RegExp> = {
    '': /not valid JSON/,
    '[]': /no rows/,
    '{}': /empty/,
    '[{"a":1},{}]': /^Row 2 of the array is an empty object/,
    '[{"a":1},[]]': /^Row 2 of the array is not an object/,
    '1': /not an object/,
    null: /not an object/,
    '{"a":[]}': /"a" holds a nested value/,
    '{"a":{}}': /"a" holds a nested value/,
    '{"a":1e400}': /"a" holds a number that is too large/,
    '{"a":12345678901234567890}': /12345678901234567890 cannot be kept exactly/,
    '{"a":"\\"","b":0.10000000000000000001}': /0\.10000000000000000001 cannot/,
    '{"a":1e-400}': /1e-400 cannot/,
    '{"a":"\\ud800"}': /"a" is not valid Unicode/,
    '{"\\ud800":1}': /field name is not valid Unicode/,
  }
  for (const [text, details] of Object.entries(cases)) assert.match(detailsOf(text), details, text)
  assert.match(detailsOf(JSON.stringify({ a: 'x'.repeat(50_001) })), /more than 50000 characters/)
  assert.match(detailsOf(Buffer.from([0x7b, 0xff])), /not valid UTF-8/)
  assert.match(detailsOf('{"a":1}', 'gzip'), /Compressed/)
  assert.equal(parseRows(Buffer.from('{"a":1}'), 'Identity') instanceof Refusal, false)
})

test('a hostile name does not fill the answer', () => {
  assert.ok(detailsOf(`{"${'x'.repeat(1_000_000)}":[]}`).length < 250)
  assert.ok(detailsOf(`{"a":0.${'1'.repeat(1_000_000)}}`).length < 250)
})

test('more than 1,000 rows is too large, 1,000 are not', () => {
  const rows = (count: number) => Buffer.from(`[${Array(count).fill('{"a":1}').join()}]`)
  const refused = parseRows(rows(1_001), undefined)
  assert.ok(refused instanceof Refusal && refused.code === 'payload_too_large')
  assert.equal((parseRows(rows(1_000), undefined) as unknown[]).length, 1_000)
})

test('rows of scalars come back as JSON has them, and nothing ever throws', () => {
  const cell = fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null))
  const rows = fc.array(fc.dictionary(fc.string(), cell, { minKeys: 1 }), { minLength: 1, maxLength: 5 })
  fc.assert(
    fc.property(rows, (given) => {
      assert.deepEqual(
        rowsOf(JSON.stringify(given)),
        given.map((row) => Object.entries(row)),
      )
    }),
  )
  fc.assert(fc.property(fc.json(), (text) => void parseRows(Buffer.from(text), undefined)))
  fc.assert(fc.property(fc.uint8Array(), (bytes) => void parseRows(Buffer.from(bytes), undefined)))
})

test('the hardest 2 MB are judged while the client waits, not the whole server', async () => {
  const numbers = Array.from(
    { length: 1_000 },
    () => `{${Array.from({ length: 100 }, (_, at) => `"n${at}":1.5e3`).join()}}`,
  )
  const cases = {
    'nested arrays': '['.repeat(1_000_000) + ']'.repeat(1_000_000),
    'nested objects in a cell': `[{"a":${'{"a":'.repeat(330_000)}1${'}'.repeat(330_000)}}]`,
    'zeros behind the point': `{"a":0.1${'0'.repeat(1_900_000)}1}`,
    'numbers with exponents': `[${numbers.join()}]`,
    backslashes: `{"a":"${'\\\\'.repeat(20_000)}","b":1e5}`,
  }
  for (const [title, text] of Object.entries(cases)) {
    const workMs = await processorMs(() => parseRows(Buffer.from(text), undefined))
    assert.ok(workMs < 10_000, `${title} took ${workMs} ms`)
  }
})

test('a body is read to its end, up to 2 MiB and not a byte further', async () => {
  const whole = incoming()
  whole.push(Buffer.alloc(maxBodyBytes - 1))
  whole.push(Buffer.alloc(1))
  whole.push(null)
  assert.equal(((await readBody(whole)) as Buffer).length, maxBodyBytes)

  const announced = incoming({ 'content-length': String(maxBodyBytes + 1) })
  assert.ok((await readBody(announced)) instanceof Refusal, 'refused before anything of it came')

  const lying = incoming({ 'content-length': '1' })
  lying.push(Buffer.alloc(maxBodyBytes + 1))
  assert.ok((await readBody(lying)) instanceof Refusal, 'whatever it announced')
  assert.equal(lying.destroyed, false, 'the answer still needs the connection')
})

test('a client that goes away while sending is told apart from every other failure', async () => {
  const request = incoming()
  const reading = readBody(request)
  request.push(Buffer.from('{'))
  request.destroy(new Error('aborted'))
  await assert.rejects(reading, ClientGone)
  await assert.rejects(readBody(request), ClientGone, 'also when it was gone before')
})

function incoming(headers: Record<string, string> = {}): IncomingMessage {
  const request = new IncomingMessage(new Socket())
  Object.assign(request.headers, headers)
  return request
}

function rowsOf(text: string): unknown {
  const rows = parseRows(Buffer.from(text), undefined)
  assert.ok(!(rows instanceof Refusal), text)
  return rows
}

function detailsOf(body: string | Buffer, contentEncoding?: string): string {
  const refused = parseRows(Buffer.from(body as string), contentEncoding)
  assert.ok(refused instanceof Refusal)
  assert.equal(refused.code, 'invalid_body')
  return refused.facts.details ?? ''
}
