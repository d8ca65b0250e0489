import assert from 'node:assert/strict'
import { Socket } from 'node:net'
import { test } from 'node:test'
import { processorMs } from '../../../test/processor-time.ts'
import { generateApiKey, hashApiKey } from '../../admission/api-key.ts'
import { presentedKey, presentedKeyHash } from './presented-key.ts'

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

test('a header full of spaces is judged at once', async () => {
  const workMs = await processorMs(() =>
    assert.equal(presentedKey({ authorization: `Bearer${' '.repeat(1_000_000)}` }, []), null),
  )
  assert.ok(workMs < 5_000, `${workMs} ms`)
})

test('each request on a connection is known by the key that came with it, wherever that stood', () => {
  const socket = new Socket()
  const keys = [generateApiKey('live'), generateApiKey('test'), generateApiKey('live')] as const
  const [first, second, third] = keys.map(hashApiKey)
  const hash = (headers: Record<string, string>, query: [string, string][] = []) =>
    presentedKeyHash({ headers, socket }, query)

  assert.equal(hash({ authorization: `Bearer ${keys[0]}` }), first)
  assert.equal(hash({ authorization: `Bearer ${keys[0]}`, 'x-api-key': keys[1] }), first)
  assert.equal(hash({ authorization: `Bearer ${keys[1]}` }), second)
  assert.equal(hash({ 'x-api-key': keys[2] }), third)
  assert.equal(hash({}), null)
  for (const key of keys) {
    assert.equal(hash({ authorization: 'Basic a2V5', 'x-api-key': key }), hashApiKey(key))
    assert.equal(hash({ authorization: 'Basic a2V5' }, [['api_key', key]]), hashApiKey(key))
  }
  assert.equal(hash({ authorization: 'Basic a2V5' }), null)
  assert.equal(hash({ authorization: 'Bearer no key' }), '')
})
