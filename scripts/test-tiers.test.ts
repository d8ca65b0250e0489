import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { test } from 'node:test'
import { inDozens, inOrder, isMeasuring, isQuick, isWaiting } from './test-tiers.ts'

const root = join(import.meta.dirname, '..')
const files = globSync('{src,test,scripts,bench,emulator}/**/*.test.ts', {
  cwd: root,
  exclude: ['**/node_modules/**'],
})

test('a quick test starts no server, process or browser that has to be installed or waited for', () => {
  const quick = files.filter(isQuick)
  assert.ok(quick.length > 100 && quick.length < files.length)
  assert.deepEqual(
    quick.filter((file) =>
      reaches(file, /^test\/(?:servers\/(?:postgres|redis|nginx|chromium)|process\/running)\.ts$/, new Set()),
    ),
    [],
  )
})

test('what measures how long somebody waits is no quick test, and is found', () => {
  const measuring = files.filter(isMeasuring)
  assert.ok(measuring.some((file) => file.startsWith('test/attacks/')))
  assert.deepEqual(measuring.filter(isQuick), [])
})

test('what mostly waits is no quick test, measures nothing, and is found', () => {
  const waiting = files.filter(isWaiting)
  assert.ok(waiting.some((file) => file.startsWith('test/mail/')))
  assert.deepEqual(
    waiting.filter((file) => isQuick(file) || isMeasuring(file)),
    [],
  )
})

test('the order leaves no file out, nor do the files that run together', () => {
  assert.deepEqual(inOrder(files).toSorted(), files.toSorted())
  assert.deepEqual(inDozens(inOrder(files)).flat().toSorted(), files.toSorted())
})

test('what runs together sets nothing up for the others', () => {
  const together = inDozens(files).filter((some) => some.length > 1)
  const setUp = together
    .flat()
    .filter((file) => /^(?:before|beforeEach|afterEach)\(/m.test(readFileSync(join(root, file), 'utf8')))
  assert.deepEqual(setUp, [])
})

function reaches(file: string, forbidden: RegExp, seen: Set<string>): boolean {
  if (forbidden.test(file)) return true
  if (seen.has(file)) return false
  seen.add(file)
  const text = readFileSync(join(root, file), 'utf8')
  const imported = [...text.matchAll(/(?:from|import\()\s*'(\.[^']+\.ts)'/g)].map(([, path]) => path ?? '')
  return imported.some((path) => reaches(normalize(join(dirname(file), path)), forbidden, seen))
}
