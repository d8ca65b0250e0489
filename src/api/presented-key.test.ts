import assert from 'node:assert/strict'
import { test } from 'node:test'
import { presentedKey } from './presented-key.ts'

test('Bearer comes before X-API-Key, and that before the query', () => {
  const query = [['api_key', 'third']] as const
  assert.equal(presentedKey({ authorization: 'Bearer first', 'x-api-key': 'second' }, query), 'first')
  assert.equal(presentedKey({ 'x-api-key': 'second' }, query), 'second')
  assert.equal(presentedKey({}, query), 'third')
  assert.equal(presentedKey({}, []), null)
})

test('the scheme may be written in any case, with any number of spaces', () => {
  for (const authorization of ['bearer key', 'BEARER   key', 'Bearer key  ']) {
    assert.equal(presentedKey({ authorization }, []), 'key', authorization)
  }
})

test('another scheme, or a place left empty, counts as absent', () => {
  for (const authorization of ['', 'Bearer', 'Bearer ', 'Basic a2V5', 'Bearerkey', 'key', 'Token key']) {
    assert.equal(presentedKey({ authorization, 'x-api-key': 'second' }, []), 'second', authorization)
  }
  assert.equal(presentedKey({ 'x-api-key': '' }, [['api_key', '']]), null)
  assert.equal(
    presentedKey({}, [
      ['api_key', ''],
      ['api_key', 'key'],
    ]),
    'key',
  )
  assert.equal(presentedKey({}, [['API_KEY', 'key']]), null, 'names of parameters are exact')
})

test('what is sent in a place is judged as a whole: two keys in one are no key', () => {
  assert.equal(presentedKey({ authorization: 'Bearer one two' }, []), 'one two')
  assert.equal(presentedKey({ 'x-api-key': 'one, two' }, []), 'one, two')
})

test('a header full of spaces is judged at once', () => {
  const begunMs = performance.now()
  assert.equal(presentedKey({ authorization: `Bearer${' '.repeat(1_000_000)}` }, []), null)
  assert.ok(performance.now() - begunMs < 5_000)
})
