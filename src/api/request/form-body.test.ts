import assert from 'node:assert/strict'
import { test } from 'node:test'
import { holdsOfFive } from '../../../test/measured-twice.ts'
import { processorMs } from '../../../test/processor-time.ts'
import { Refusal } from '../../errors.ts'
import { parseForm } from './form-body.ts'

const multipart = 'multipart/form-data; boundary=b'
const mostMs = 50

function multipartOf(fields: readonly (readonly [name: string, value: string])[]): Buffer {
  const parts = fields.map(
    ([name, value]) => `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  )
  return Buffer.from(`${parts.join('')}--b--\r\n`)
}

test('lines end as a person typed them, and nothing else is changed', async () => {
  const typed = 'one\r\ntwo\r\n\r\nthree\rfour\n😀\r\r\n\r'
  const meant = 'one\ntwo\n\nthree\rfour\n😀\r\n\r'
  assert.deepEqual(await parseForm(multipartOf([['a', typed]]), multipart), [['a', meant]])
  const pairs = Buffer.from(String(new URLSearchParams({ a: typed })))
  assert.deepEqual(await parseForm(pairs, 'application/x-www-form-urlencoded'), [['a', meant]])
})

test('names and spaces are read as they were written, in every way that they are', async () => {
  const named = (written: string) =>
    parseForm(
      Buffer.from(`--b\r\nContent-Disposition: form-data; name=${written}\r\n\r\nx\r\n--b--\r\n`),
      multipart,
    )
  assert.deepEqual(await named(String.raw`"50%22 \"wide\" \\ 😀 100%"`), [['50" "wide" \\ 😀 100%', 'x']])
  assert.deepEqual(await named('"two%0D%0Alines %0d %2"'), [['two\r\nlines %0d %2', 'x']])
  assert.deepEqual(await named('plain'), [['plain', 'x']])
  const pairs = await parseForm(Buffer.from(' a+b=c+%2B+ö+=+\n'), 'application/x-www-form-urlencoded')
  assert.deepEqual(pairs, [['a b', 'c + ö = ']])
})

test('two megabytes of what has to be replaced take a moment', async () => {
  const urlencoded = 'application/x-www-form-urlencoded'
  const bodies: Record<string, [body: Buffer, contentType: string]> = {
    spaces: [Buffer.from(`a=${'+'.repeat(2_090_000)}`), urlencoded],
    'spaces of forty fields': [
      Buffer.from(Array.from({ length: 40 }, (_, n) => `f${n}=${'+'.repeat(50_000)}`).join('&')),
      urlencoded,
    ],
    'backslashes in a name': [multipartOf([[String.raw`\a`.repeat(1_040_000), 'x']]), multipart],
    'quotes in names': [
      multipartOf(Array.from({ length: 190 }, (_, n) => [`${n}${'%22'.repeat(3_600)}`, 'x'] as const)),
      multipart,
    ],
  }
  for (const [name, [body, contentType]] of Object.entries(bodies))
    await holdsOfFive(
      () => processorMs(() => parseForm(body, contentType)),
      (workMs) => (workMs < mostMs ? null : `${name}: ${workMs.toFixed(0)} ms`),
    )
})

test('parts are counted whatever they are, and the most that there may be take a moment', async () => {
  const noFile = '--b\r\nContent-Disposition: form-data; name="a"; filename=""\r\n\r\n\r\n'
  const noFiles = (count: number) => Buffer.from(`${noFile.repeat(count)}--b--\r\n`)
  assert.match(String(((await parseForm(noFiles(2_002), multipart)) as Refusal).facts.details), /2001 fields/)
  assert.match(String(((await parseForm(noFiles(2_000), multipart)) as Refusal).facts.details), /no fields/)
  assert.match(
    String(((await parseForm(noFiles(201), multipart, 200)) as Refusal).facts.details),
    /200 fields/,
  )
  const named = multipartOf(Array.from({ length: 2_001 }, (_, n) => [`field ${n}`, 'x'] as const))
  for (const body of [noFiles(30_000), named])
    await holdsOfFive(
      () => processorMs(() => parseForm(body, multipart)),
      (workMs) => (workMs < mostMs / 2 ? null : `${workMs.toFixed(0)} ms`),
    )
})

test('two megabytes of line ends, or of what nearly ends a part, take a moment', async () => {
  const bodies: Record<string, Buffer> = {
    'one field': multipartOf([['a', '\r\n--'.repeat(490_000)]]),
    'forty fields': multipartOf(
      Array.from({ length: 40 }, (_, n) => [`f${n}`, '\r\n--'.repeat(12_000)] as const),
    ),
    'one name': multipartOf(Array.from({ length: 40 }, () => ['a', '\r\n--'.repeat(12_000)] as const)),
    lines: multipartOf([['a', '\r\n'.repeat(980_000)]]),
  }
  for (const [name, body] of Object.entries(bodies))
    await holdsOfFive(
      () => processorMs(() => parseForm(body, multipart)),
      (workMs) => (workMs < mostMs ? null : `${name}: ${workMs.toFixed(0)} ms`),
    )
  assert.ok((await parseForm(bodies['one field'] ?? Buffer.alloc(0), multipart)) instanceof Refusal)
})
