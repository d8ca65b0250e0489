import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { defaultShares, sharesFrom } from './shares.ts'

test('what is not set keeps its default', () => {
  assert.deepEqual(sharesFrom({ sheets: 7 }), { ...defaultShares, sheets: 7 })
})

test('the operator reads of every share, with its default', () => {
  const docs = readFileSync(new URL('../../docs/operating.md', import.meta.url), 'utf8')
  const section = /^## Shares$.*?(?=^## )/ms.exec(docs)?.[0] ?? ''
  const told = [...section.matchAll(/^\| `(\w+)` \| (\d+) \|/gm)].map(([, name, value]) => [
    name,
    Number(value),
  ])
  assert.deepEqual(Object.fromEntries(told), defaultShares)
})
