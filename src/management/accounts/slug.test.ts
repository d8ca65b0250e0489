import assert from 'node:assert/strict'
import { test } from 'node:test'
import { problemWithSlug, suggestSlug } from './slug.ts'

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
    assert.match(
      problemWithSlug(slug) ?? '',
      /^use lowercase letters, numbers and single hyphens|^enter a name$/,
      slug,
    )
  }
})

test('a suggestion looks like the title, can stand in an address, and is free', () => {
  const cases: [title: string, slug: string][] = [
    ['Price list', 'price-list'],
    ['  Größe & Crème — 2026 (Büro)!', 'grosse-creme-2026-buro'],
    ['商品', 'sheet'],
    ['', 'sheet'],
    ['ﬁnal--draft--', 'final-draft'],
    ['x'.repeat(200), 'x'.repeat(63)],
    [`${'x'.repeat(62)} y`, 'x'.repeat(62)],
  ]
  for (const [title, slug] of cases) {
    assert.equal(suggestSlug(title, new Set()), slug)
    assert.equal(problemWithSlug(slug), null)
  }
  assert.equal(suggestSlug('Stock', new Set(['stock', 'stock-2'])), 'stock-3')
  const long = suggestSlug('x'.repeat(80), new Set(['x'.repeat(63)]))
  assert.equal(long, `${'x'.repeat(61)}-2`)
})
