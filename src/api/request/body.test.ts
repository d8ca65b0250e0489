import assert from 'node:assert/strict'
import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { test } from 'node:test'
import fc from 'fast-check'
import { holdsOfFive } from '../../../test/measured-twice.ts'
import { processorMs } from '../../../test/processor-time.ts'
import { Refusal } from '../../errors.ts'
import { ClientGone } from '../../http/client-gone.ts'
import { isExactNumber, maxBodyBytes, parseRows, readBody } from './body.ts'

test('one object is one row, an array is its rows, in the order of the body', async () => {
  assert.deepEqual(await rowsOf('{"b":1,"a":"x"}'), [
    [
      ['b', 1],
      ['a', 'x'],
    ],
  ])
  assert.deepEqual(await rowsOf('[{"a":true},{"a":null}]'), [[['a', true]], [['a', null]]])
  assert.deepEqual(await rowsOf('\ufeff {"a":1}'), [[['a', 1]]], 'a byte order mark is no part of the text')
  assert.deepEqual(await rowsOf('{"__proto__":1,"constructor":2}'), [
    [
      ['__proto__', 1],
      ['constructor', 2],
    ],
  ])
  assert.deepEqual(await rowsOf('{"a":"12345678901234567890 1e999"}'), [
    [['a', '12345678901234567890 1e999']],
  ])
  assert.deepEqual(await rowsOf('{"1e999":"\\"9e999\\\\"}'), [[['1e999', '"9e999\\']]])
})

test('what cannot be kept exactly is refused in words', async () => {
  const cases: Record<string, RegExp> = {
    '': /not valid JSON/,
    '[]': /no rows/,
    '{}': /empty/,
    '[{"a":1},{}]': /^Row 2 of the array is an empty object/,
    '[{"a":1},[]]': /^Row 2 of the array is not an object/,
    '1': /not an object/,
    null: /not an object/,
    '{"a":[]}': /^"a" holds a nested value/,
    '{"a":{}}': /^"a" holds a nested value/,
    '[{"a":1},{"b":"x","\\u0061":{}}]': /^Row 2 of the array: "a" holds a nested value/,
    '[{"a":1} {"a":1}]': /not valid JSON/,
    '[{"a":1},]': /not valid JSON/,
    '[{"a":1}': /not valid JSON/,
    '[{"a":1}]]': /not valid JSON/,
    '{"a":1},{"a":1}': /not valid JSON/,
    '{"a":1': /not valid JSON/,
    '{"a":"\\"}': /not valid JSON/,
    '[1,"]"]': /^Row 1 of the array is not an object/,
    '[x]': /not valid JSON/,
    '{"a":1e400}': /"a" holds a number that is too large/,
    '{"a":12345678901234567890}': /12345678901234567890 cannot be kept exactly/,
    '{"a":"\\"","b":0.10000000000000000001}': /0\.10000000000000000001 cannot/,
    '{"a":1e-400}': /1e-400 cannot/,
    '{"a":"\\ud800"}': /"a" is not valid Unicode/,
    '{"\\ud800":1}': /field name is not valid Unicode/,
  }
  for (const [text, details] of Object.entries(cases)) assert.match(await detailsOf(text), details, text)
  assert.match(await detailsOf(JSON.stringify({ a: 'x'.repeat(50_001) })), /more than 50000 characters/)
  assert.match(await detailsOf(Buffer.from([0x7b, 0xff])), /not valid UTF-8/)
  assert.match(await detailsOf('{"a":1}', 'gzip'), /Compressed/)
  assert.equal((await parseRows(Buffer.from('{"a":1}'), 'Identity')) instanceof Refusal, false)
})

test('a hostile name does not fill the answer', async () => {
  assert.ok((await detailsOf(`{"${'x'.repeat(1_000_000)}":[]}`)).length < 250)
  assert.ok((await detailsOf(`{"a":0.${'1'.repeat(1_000_000)}}`)).length < 250)
})

test('more than 1,000 rows is too large, 1,000 are not', async () => {
  const rows = (count: number) => Buffer.from(`[${Array(count).fill('{"a":1}').join()}]`)
  const refused = await parseRows(rows(1_001), undefined)
  assert.ok(refused instanceof Refusal && refused.code === 'payload_too_large')
  assert.equal(((await parseRows(rows(1_000), undefined)) as unknown[]).length, 1_000)
})

test('rows of scalars come back as JSON has them, and nothing ever throws', async () => {
  const cell = fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null))
  const rows = fc.array(fc.dictionary(fc.string(), cell, { minKeys: 1 }), { minLength: 1, maxLength: 5 })
  await fc.assert(
    fc.asyncProperty(rows, async (given) => {
      assert.deepEqual(
        await rowsOf(JSON.stringify(given)),
        given.map((row) => Object.entries(row)),
      )
    }),
  )
  await fc.assert(
    fc.asyncProperty(fc.json(), async (text) => void (await parseRows(Buffer.from(text), undefined))),
  )
  await fc.assert(
    fc.asyncProperty(fc.uint8Array(), async (bytes) => void (await parseRows(Buffer.from(bytes), undefined))),
  )
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
    'different keys': `{${Array.from({ length: 200_000 }, (_, at) => `"${at}":1e1`).join()}}`,
    'rows of many cells': `[${Array(900)
      .fill(`{${Array.from({ length: 330 }, (_, at) => `"${at}":0`)}}`)
      .join()}]`,
    'empty rows': `[${Array(690_000).fill('{}').join()}]`,
  }
  for (const [title, text] of Object.entries(cases)) {
    await holdsOfFive(
      () => longestPieceMs(text),
      (longestMs) => (longestMs < mostInOneGoMs ? null : `${title} took ${longestMs} ms in one go`),
    )
  }
})

async function longestPieceMs(text: string): Promise<number> {
  let longestMs = 0
  let begun = process.cpuUsage()
  const endPiece = () => {
    const { user, system } = process.cpuUsage(begun)
    longestMs = Math.max(longestMs, (user + system) / 1_000)
    begun = process.cpuUsage()
  }
  await parseRows(Buffer.from(text), undefined, 'any', endPiece)
  endPiece()
  return longestMs
}

/** Twenty where it was measured; the rest is for other machines, and for memory that is cleared in the meantime. */
const mostInOneGoMs = 100

test('a row has as many fields as a sheet has columns, and its number', async () => {
  const row = (fields: number) => `{${Array.from({ length: fields }, (_, at) => `"${at}":${at}`).join()}}`
  assert.equal(((await rowsOf(row(2_001))) as unknown[][])[0]?.length, 2_001)
  const details = await detailsOf(`[${row(1)},${row(2_002)}]`)
  assert.equal(details, 'A row may have 2001 fields; Row 2 of the array has more.')
})

test('a body is read to its end, up to 2 MiB and not a byte further', async () => {
  const whole = incoming()
  whole.push(Buffer.alloc(maxBodyBytes - 1))
  whole.push(Buffer.alloc(1))
  whole.push(null)
  assert.equal(((await readBody(whole, atOnce)) as Buffer).length, maxBodyBytes)

  const [there, empty] = [incoming(), incoming()]
  there.push('{"name":')
  there.push('"Ada"}')
  for (const request of [there, empty]) {
    request.push(null)
    request.complete = true
  }
  assert.equal(String(await readBody(there, atOnce)), '{"name":"Ada"}', 'also where it is all there')
  assert.equal(((await readBody(empty, atOnce)) as Buffer).length, 0)

  const announced = incoming({ 'content-length': String(maxBodyBytes + 1) })
  assert.ok((await readBody(announced, atOnce)) instanceof Refusal, 'refused before anything of it came')

  const lying = incoming({ 'content-length': '1' })
  lying.push(Buffer.alloc(maxBodyBytes + 1))
  assert.ok((await readBody(lying, atOnce)) instanceof Refusal, 'whatever it announced')
  assert.equal(lying.destroyed, false, 'the answer still needs the connection')
})

test('of a long body no more is taken than there are turns for', async () => {
  const request = incoming()
  const turns: (() => void)[] = []
  const reading = readBody(request, () => new Promise<void>((resolve) => void turns.push(resolve)))
  for (let nth = 0; nth < 3; nth++) {
    request.push(Buffer.alloc(100, nth))
    await new Promise(setImmediate)
    assert.equal(turns.length, 1, 'the others wait in the connection')
  }
  request.push(null)
  for (let nth = 0; nth < 3; nth++) {
    turns[nth]?.()
    await new Promise(setImmediate)
  }
  assert.equal(((await reading) as Buffer).length, 300)
})

test('a client that goes away while sending is told apart from every other failure', async () => {
  const request = incoming()
  const reading = readBody(request, atOnce)
  request.push(Buffer.from('{'))
  request.destroy(new Error('aborted'))
  await assert.rejects(reading, ClientGone)
  await assert.rejects(readBody(request, atOnce), ClientGone, 'also when it was gone before')
  const late = incoming()
  late.push('{}')
  late.push(null)
  late.complete = true
  late.destroy()
  await assert.rejects(readBody(late, atOnce), ClientGone, 'also when all of it had come')
})

function incoming(headers: Record<string, string> = {}): IncomingMessage {
  const request = new IncomingMessage(new Socket())
  Object.assign(request.headers, headers)
  return request
}

test('a number that prints as the same decimal again is exact, however it is written', () => {
  for (const source of [
    '0',
    '-0',
    '0.0',
    '0e99',
    '1',
    '-1',
    '1.0',
    '1.50',
    '0.1',
    '1.50e3',
    '1500',
    '15E+2',
    '1e21',
    '123456789012345',
    '9007199254740992',
    '1e-7',
    '0.0000001',
    '5e-324',
    '1.7976931348623157e308',
    `1${'0'.repeat(300)}`,
  ]) {
    assert.ok(isExactNumber(source, Number(source)), source)
  }
})

test('a number that loses something is not', () => {
  for (const source of [
    '12345678901234567890',
    '9007199254740993',
    '0.1000000000000000055511151231257827',
    '1e400',
    '-1e400',
    '1e-400',
    '1.7976931348623157e309',
    '3.14159265358979323846',
    `0.${'0'.repeat(400)}1`,
  ]) {
    assert.ok(!isExactNumber(source, Number(source)), source)
  }
})

test('every number that JavaScript prints is exact, in all its notations', () => {
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
      assert.ok(isExactNumber(String(value), value))
      assert.ok(isExactNumber(value.toExponential(), value))
      assert.ok(isExactNumber(JSON.stringify(value), value))
    }),
  )
})

test('a million digits are judged at once, wherever the zeros are', async () => {
  const zeros = '0'.repeat(1_000_000)
  for (const source of [
    `0.1${zeros}1`,
    `0.${zeros}1${zeros}`,
    `1${zeros}`,
    `0.5${zeros}`,
    `0.${'1'.repeat(1_000_000)}`,
  ]) {
    const workMs = await processorMs(() => isExactNumber(source, Number(source)))
    assert.ok(workMs < 5_000, `${source.slice(0, 5)}… took ${workMs} ms`)
  }
})

const atOnce = () => undefined

async function rowsOf(text: string): Promise<unknown> {
  const rows = await parseRows(Buffer.from(text), undefined)
  assert.ok(!(rows instanceof Refusal), text)
  return rows
}

async function detailsOf(body: string | Buffer, contentEncoding?: string): Promise<string> {
  const refused = await parseRows(Buffer.from(body as string), contentEncoding)
  assert.ok(refused instanceof Refusal)
  assert.equal(refused.code, 'invalid_body')
  return refused.facts.details ?? ''
}
