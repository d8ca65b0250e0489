import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { defaultShares, isShareName, type ShareName, sharesFrom, whenUsedUp } from './shares.ts'

test('what is not set keeps its default', () => {
  assert.deepEqual(sharesFrom({ sheets: 7 }), { ...defaultShares, sheets: 7 })
})

test('the operator reads of every share, with its default and what becomes of whoever has used it up', () => {
  const docs = readFileSync(new URL('../../docs/operating.md', import.meta.url), 'utf8')
  const section = /^## Shares$.*?(?=^## )/ms.exec(docs)?.[0] ?? ''
  const told = [...section.matchAll(/^\| `(\w+)` \| (\d+) \| ([^|]+) \|/gm)]
  assert.deepEqual(Object.fromEntries(told.map(([, name, value]) => [name, Number(value)])), defaultShares)
  const inWords = Object.entries(whenUsedUp).map(([name, what]) => [
    name,
    typeof what === 'string' ? what : `as \`${what.seenAs}\``,
  ])
  assert.deepEqual(
    told.map(([, name, , what]) => [name, what]),
    inWords,
  )
})

/** Where a name stands as a value: a choice of settings is none. */
const asType = /\bPick<[^>]*>/g
const observing = /'share_used_up'|'turn_waited'|\bcreateTurnstile\(|\bopenDoor\(/

test('of every share it is observed when it is used up, or the table says under which other one', () => {
  const sources = globSync('src/**/*.ts', { exclude: ['**/*.test.ts', 'src/shares/shares.ts'] })
    .map((file) => readFileSync(file, 'utf8').replace(asType, ''))
    .filter((source) => observing.test(source))
  const isObserved = (name: string) => sources.some((source) => source.includes(`'${name}'`))
  const names = Object.keys(defaultShares) as ShareName[]
  const unseen = names.filter((name) => {
    const told = whenUsedUp[name]
    if (typeof told === 'string') return !isObserved(name)
    return !isShareName(told.seenAs) || typeof whenUsedUp[told.seenAs] !== 'string'
  })
  assert.deepEqual(unseen, [])
  assert.ok(!isObserved('no_such_share'))
})
