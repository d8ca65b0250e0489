import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { withErrorTable } from './error-table.ts'

const page = readFileSync(new URL('../../docs/errors.md', import.meta.url), 'utf8')

test('docs/errors.md is what npm run docs would make of it', () => {
  assert.equal(page, withErrorTable(page))
})

test('what was changed by hand in the table is put right, and the words around it stay', () => {
  const changed = page
    .replace('The owner has paused the sheet.', 'Nobody knows.')
    .replace(/^\| `not_found`.*\n/m, '')
  assert.notEqual(changed, page)
  assert.equal(withErrorTable(changed), page)
  assert.throws(() => withErrorTable('# Errors\n'), /no table/)
})
