import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { filterOperators, offeredOperators } from './operators.ts'

const docs = new URL('../../../../docs/', import.meta.url)

test('docs/api.md and docs/contract.md name every operator, and no other', () => {
  const api = readFileSync(new URL('api.md', docs), 'utf8')
  const rows = api.split('| Operator | Finds cells that |\n|---|---|\n')[1]?.split('\n\n', 1)[0] ?? ''
  const explained = rows.split('\n').flatMap((row) => {
    const [, names = ''] = row.split(' | ', 1)[0]?.split('| ') ?? []
    return [...names.matchAll(/`(\w+)`/g)].map(([, name]) => name)
  })
  assert.deepEqual(explained, filterOperators)
  const contract = readFileSync(new URL('contract.md', docs), 'utf8')
  assert.deepEqual(/Operators: `([\w ]+)`/.exec(contract)?.[1]?.split(' '), filterOperators)
})

test('the dashboard offers them kind by kind, in words', () => {
  assert.deepEqual(
    offeredOperators.map(({ operator, words }) => `${operator}: ${words}`),
    [
      'eq: is',
      'ne: is not',
      'in: is one of',
      'nin: is none of',
      'contains: contains',
      'starts: starts with',
      'ends: ends with',
      'gt: is greater than',
      'gte: is at least',
      'lt: is less than',
      'lte: is at most',
      'empty: is empty',
    ],
  )
})
