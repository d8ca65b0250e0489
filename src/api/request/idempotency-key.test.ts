import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Refusal } from '../../errors.ts'
import { fingerprintOf, parseIdempotencyKey } from './idempotency-key.ts'

test('a key is 1 to 255 visible ASCII characters, quoted or bare', () => {
  for (const [header, key] of [
    [undefined, null],
    ['abc', 'abc'],
    ['"abc"', 'abc'],
    [' abc ', 'abc'],
    ['"a\\"b\\\\c"', 'a"b\\c'],
    ['a"b', 'a"b'],
    ['x'.repeat(255), 'x'.repeat(255)],
  ] as const)
    assert.equal(parseIdempotencyKey(header), key)
  for (const header of ['', '""', 'a b', '"a b"', 'a, b', 'x'.repeat(256), 'é', 'a\u0007'])
    assert.ok(parseIdempotencyKey(header) instanceof Refusal, JSON.stringify(header))
})

test('whatever differs between two requests makes another fingerprint', () => {
  const asked = { method: 'PUT', sheetId: 's', row: '2', ifMatch: undefined, body: Buffer.from('{}') }
  const prints = [
    asked,
    { ...asked, method: 'PATCH' },
    { ...asked, sheetId: 's2', row: '' },
    { ...asked, sheetId: 's', row: '22' },
    { ...asked, ifMatch: '' },
    { ...asked, ifMatch: '"x"' },
    { ...asked, body: Buffer.from('{} ') },
  ].map(fingerprintOf)
  assert.equal(new Set(prints).size, prints.length)
  assert.equal(fingerprintOf({ ...asked }), prints[0])
})
