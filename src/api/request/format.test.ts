import assert from 'node:assert/strict'
import { test } from 'node:test'
import { acceptedCoding } from '../../http/content-coding.ts'
import { etagOf, plainEtag, variantHeld, variantOf } from '../response/etag.ts'
import { acceptedFormat } from './format.ts'

test('Accept chooses the format it likes best, and JSON where it does not care', () => {
  const choices: [accept: string | undefined, format: string][] = [
    [undefined, 'json'],
    ['*/*', 'json'],
    ['', 'json'],
    ['application/json', 'json'],
    ['text/csv', 'csv'],
    ['TEXT/CSV; charset=utf-8', 'csv'],
    ['application/x-ndjson', 'ndjson'],
    ['application/jsonl, */*;q=0.1', 'ndjson'],
    ['text/csv, application/json', 'json'],
    ['text/csv, application/json;q=0.9', 'csv'],
    ['text/csv;q=0.5, */*;q=0.8', 'json'],
    ['text/csv;q=0', 'json'],
    ['text/*', 'csv'],
    ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', 'json'],
    ['image/png', 'json'],
    ['text/csv;q=nonsense, application/json;q=0.1', 'json'],
    [',;,q=1', 'json'],
  ]
  for (const [accept, format] of choices) assert.equal(acceptedFormat(accept), format, String(accept))
})

test('Accept-Encoding chooses a coding, the cheapest where several are liked alike', () => {
  const choices: [acceptEncoding: string | undefined, coding: string | null][] = [
    [undefined, null],
    ['', null],
    ['identity', null],
    ['*', null],
    ['gzip, deflate, br, zstd', 'zstd'],
    ['gzip, deflate, br', 'br'],
    ['gzip, deflate', 'gzip'],
    ['x-gzip', 'gzip'],
    ['GZIP', 'gzip'],
    ['deflate', null],
    ['gzip;q=1, br;q=0.5', 'gzip'],
    ['zstd;q=0, br;q=0, gzip;q=0.001', 'gzip'],
    ['gzip;q=0.5, identity', null],
    ['gzip;q=0', null],
  ]
  for (const [acceptEncoding, coding] of choices) {
    assert.equal(acceptedCoding(acceptEncoding), coding, String(acceptEncoding))
    assert.equal(acceptedCoding(acceptEncoding), coding, `${acceptEncoding}, again`)
  }
})

test('every format and coding of the rows has an ETag of its own', () => {
  const plain = etagOf('0123456789abcdefghij-z')
  const formats = ['json', 'csv', 'ndjson'] as const
  const codings = [null, 'zstd', 'br', 'gzip'] as const
  const all = formats.flatMap((format) => codings.map((coding) => variantOf(plain, format, coding)))
  assert.equal(new Set(all).size, 12)
  assert.equal(variantOf(plain, 'json', null), plain)
  for (const etag of all) assert.equal(plainEtag(etag), plain)
  assert.equal(plainEtag('"not-ours-gzip"'), '"not-ours-gzip"')
  assert.equal(plainEtag('W/"x"'), 'W/"x"')
})

test('a client that has the right rows keeps them, compressed or not', () => {
  const plain = etagOf('0123456789abcdefghijkl')
  const [gzip, csv] = [variantOf(plain, 'json', 'gzip'), variantOf(plain, 'csv', null)]
  assert.equal(variantHeld(gzip, plain, 'json', 'gzip'), gzip)
  assert.equal(variantHeld(`W/${gzip}`, plain, 'json', 'gzip'), gzip)
  assert.equal(variantHeld(plain, plain, 'json', 'gzip'), plain)
  assert.equal(variantHeld(gzip, plain, 'json', null), null, 'it does not take gzip any more')
  assert.equal(variantHeld(csv, plain, 'json', null), null)
  assert.equal(variantHeld(csv, plain, 'csv', null), csv)
  assert.equal(variantHeld('*', plain, 'json', 'gzip'), plain)
  assert.equal(variantHeld(undefined, plain, 'json', null), null)
})
