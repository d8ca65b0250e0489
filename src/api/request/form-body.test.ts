import assert from 'node:assert/strict'
import { test } from 'node:test'
import { holdsOfTwo } from '../../../test/measured-twice.ts'
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

test('lines end as a person typed them, and nothing else is changed', () => {
  const typed = 'one\r\ntwo\r\n\r\nthree\rfour\n😀\r\r\n\r'
  const meant = 'one\ntwo\n\nthree\rfour\n😀\r\n\r'
  assert.deepEqual(parseForm(multipartOf([['a', typed]]), multipart), [['a', meant]])
  const pairs = Buffer.from(String(new URLSearchParams({ a: typed })))
  assert.deepEqual(parseForm(pairs, 'application/x-www-form-urlencoded'), [['a', meant]])
})

test('parts are counted whatever they are, and the most that there may be take a moment', async () => {
  const noFile = '--b\r\nContent-Disposition: form-data; name="a"; filename=""\r\n\r\n\r\n'
  const noFiles = (count: number) => Buffer.from(`${noFile.repeat(count)}--b--\r\n`)
  assert.match(String((parseForm(noFiles(2_002), multipart) as Refusal).facts.details), /2001 fields/)
  assert.match(String((parseForm(noFiles(2_000), multipart) as Refusal).facts.details), /no fields/)
  assert.match(String((parseForm(noFiles(201), multipart, 200) as Refusal).facts.details), /200 fields/)
  const named = multipartOf(Array.from({ length: 2_001 }, (_, n) => [`field ${n}`, 'x'] as const))
  for (const body of [noFiles(30_000), named])
    await holdsOfTwo(
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
    await holdsOfTwo(
      () => processorMs(() => parseForm(body, multipart)),
      (workMs) => (workMs < mostMs ? null : `${name}: ${workMs.toFixed(0)} ms`),
    )
  assert.ok(parseForm(bodies['one field'] ?? Buffer.alloc(0), multipart) instanceof Refusal)
})
