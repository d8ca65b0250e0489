import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parseTarget, withoutHost } from './target.ts'

test('a target is its decoded segments and its query as sent', () => {
  assert.deepEqual(parseTarget('/api/sheets/a/b?x=%20&y'), {
    segments: ['api', 'sheets', 'a', 'b'],
    query: 'x=%20&y',
  })
  assert.deepEqual(parseTarget('/'), { segments: [''], query: null })
  assert.deepEqual(parseTarget('/a/'), { segments: ['a', ''], query: null })
  assert.deepEqual(parseTarget('/a%20b/%C3%A9?'), { segments: ['a b', 'é'], query: '' })
  assert.deepEqual(parseTarget('/a?b?c'), { segments: ['a'], query: 'b?c' })
  assert.deepEqual(parseTarget('/a%2Fb').segments, ['a/b'], 'an encoded slash separates nothing')
})

test('another host in the target never becomes ours', () => {
  assert.deepEqual(parseTarget('//host/v1/sheets').segments, ['', 'host', 'v1', 'sheets'])
  assert.deepEqual(parseTarget('/\\[::1').segments, ['\\[::1'])
  assert.deepEqual(parseTarget('http://host/v1/sheets?a=b'), { segments: ['v1', 'sheets'], query: 'a=b' })
  assert.deepEqual(parseTarget('HTTPS://user@host:1/v1').segments, ['v1'])
  assert.deepEqual(parseTarget('http://host'), { segments: [''], query: null })
  assert.deepEqual(parseTarget('http://host?a'), { segments: [''], query: 'a' })
  assert.deepEqual(parseTarget('http:///v1').segments, ['v1'])
  assert.equal(withoutHost('http://host'), '/')
  assert.equal(withoutHost('/http://host'), '/http://host')
})

test('what is no path has no segments', () => {
  for (const raw of [
    '',
    '*',
    'host:80',
    'ftp://host/v1',
    'v1/sheets',
    '?a',
    '/%',
    '/%zz',
    '/a/%E0%A4%A',
    '/%ff',
  ]) {
    assert.equal(parseTarget(raw).segments, null, raw)
  }
})

test('no target is too odd to be taken apart', () => {
  const unit = fc.oneof(fc.constantFrom('/', '%', '?', '#', 'http://', '%2f', '%00', '\\', ':'), fc.string())
  fc.assert(
    fc.property(fc.array(unit), (units) => {
      const { segments, query } = parseTarget(units.join(''))
      assert.ok(segments === null || segments.length > 0)
      assert.ok(query === null || units.join('').endsWith(query))
    }),
  )
})
