import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createOwnAddress } from './own-address.ts'

test('the name that a client used is taken only where it is a plain one', () => {
  const guess = createOwnAddress(() => 'http://localhost:8787', false)
  const cases: [host: string | undefined, address: string][] = [
    ['127.0.0.1:8080', 'http://127.0.0.1:8080'],
    ['Sheets.example.com', 'http://Sheets.example.com'],
    ['[::1]:8787', 'http://[::1]:8787'],
    [undefined, 'http://localhost:8787'],
    ['', 'http://localhost:8787'],
    ['a/b', 'http://localhost:8787'],
    ['user@example.com', 'http://localhost:8787'],
    ['a">; rel="next', 'http://localhost:8787'],
    ['a:123456', 'http://localhost:8787'],
  ]
  for (const [host, address] of cases)
    assert.equal(guess({ headers: host === undefined ? {} : { host } }), address, String(host))
})

test('what the operator has set holds for everyone', () => {
  const set = createOwnAddress(() => 'https://sheets.example.com/rowport', true)
  assert.equal(set({ headers: { host: 'elsewhere.example.com' } }), 'https://sheets.example.com/rowport')
})
