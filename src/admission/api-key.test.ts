import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { crc32 } from 'node:zlib'
import { generateApiKey, hashApiKey, mayBeApiKey, shownParts } from './api-key.ts'

test('a key is its prefix, 26 random characters and 6 of their checksum', () => {
  for (const mode of ['live', 'test'] as const) {
    const key = generateApiKey(mode)
    assert.match(key, new RegExp(`^sk_${mode}_[0-9A-Za-z]{32}$`))
    const body = key.slice(0, -6)
    const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
    const checksum = [...key.slice(-6)].reduce((value, digit) => value * 62 + alphabet.indexOf(digit), 0)
    assert.equal(checksum, crc32(body))
  }
  assert.equal(new Set(Array.from({ length: 1_000 }, () => generateApiKey('live'))).size, 1_000)
})

test('what is stored is the SHA-256 of the whole key, and only of what has the shape of one', () => {
  const key = generateApiKey('live')
  assert.equal(hashApiKey(key), createHash('sha256').update(key).digest('hex'))
  for (const text of ['', 'nonsense', key.slice(1), `${key}a`, `${key}\n`, key.replace('live', 'prod')]) {
    assert.equal(hashApiKey(text), null, JSON.stringify(text))
  }
})

test('a key is told from what was never one by its text alone', () => {
  const key = generateApiKey('live')
  assert.ok(mayBeApiKey(key) && mayBeApiKey(generateApiKey('test')))
  for (let at = 0; at < key.length; at++) {
    const other = key[at] === 'a' ? 'b' : 'a'
    assert.ok(!mayBeApiKey(key.slice(0, at) + other + key.slice(at + 1)), `another character at ${at}`)
  }
  for (const text of ['', 'nonsense', key.slice(1), `${key}0`, key.replace('live', 'test')])
    assert.ok(!mayBeApiKey(text), text)
})

test('people see the start and the end, never the middle', () => {
  const key = generateApiKey('test')
  const { shownStart, shownEnd } = shownParts(key)
  assert.match(shownStart, /^sk_test_\w{4}$/)
  assert.ok(key.startsWith(shownStart) && key.endsWith(shownEnd))
  assert.equal(shownStart.length + shownEnd.length, 16)
})
