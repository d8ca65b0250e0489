import assert from 'node:assert/strict'
import { test } from 'node:test'
import { problemWithSlug } from './slug.ts'

test('a slug can stand in an address as it is', () => {
  for (const slug of ['a', '7', 'acme', 'acme-2', 'a-b-c', 'a'.repeat(63)]) {
    assert.equal(problemWithSlug(slug), null, slug)
    assert.equal(encodeURIComponent(slug), slug)
  }
})

test('anything else is refused, and the sentence says why', () => {
  const wrong = [
    '',
    'Acme',
    '-a',
    'a-',
    'a--b',
    'a_b',
    'a.b',
    'a b',
    'a/b',
    'ä',
    'a\n',
    '%61',
    '..',
    'a'.repeat(64),
  ]
  for (const slug of wrong) {
    assert.match(problemWithSlug(slug) ?? '', /cannot stand in an address: use a–z, 0–9 and hyphens/, slug)
  }
})
