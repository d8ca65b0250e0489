import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { errorMeanings } from './error-meanings.ts'

test('the dashboard explains every error as docs/errors.md does', () => {
  const page = readFileSync(new URL('../../docs/errors.md', import.meta.url), 'utf8')
  const rows = page.matchAll(/^\| `(\w+)` \|[^|]*\|[^|]*\| ([^|]*) \|/gm)
  const told = Object.fromEntries([...rows].map(([, code, when = '']) => [code, when.replaceAll('`', '')]))
  assert.deepEqual(errorMeanings, told)
})
