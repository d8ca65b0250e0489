import assert from 'node:assert/strict'
import { test } from 'node:test'
import { holdsOfFive } from '../../test/measured-twice.ts'
import { processorMs } from '../../test/processor-time.ts'
import { cutCsv } from './cells.ts'

const shown = (field: string) => cutCsv(`a\n${field}\n`, true).text.split('\n')[1]

test('a long cell is shown by its beginning, and says how much more there is', () => {
  assert.equal(shown('x'.repeat(500)), 'x'.repeat(500))
  assert.equal(shown('x'.repeat(1_700)), `"${'x'.repeat(500)}… [1,200 more characters]"`)
  assert.equal(shown(`"${'x,'.repeat(300)}"`), `"${'x,'.repeat(250)}… [100 more characters]"`)
  assert.equal(shown(`"${'""'.repeat(501)}"`), `"${'""'.repeat(500)}… [1 more characters]"`)
  assert.equal(shown(`"x${'""'.repeat(600)}"`), `"x${'""'.repeat(499)}… [101 more characters]"`)
  const short = `"${'""'.repeat(300)}"`
  assert.equal(shown(short), short, 'it is long only as it is written')
})

test('half a megabyte of quotes is shown in a moment', async () => {
  const csv = `a\n${`"${'""'.repeat(25_000)}"\n`.repeat(10)}`
  // The first time, most of it is V8 that compiles, on other threads.
  cutCsv(csv, true)
  await holdsOfFive(
    () => processorMs(() => cutCsv(csv, true)),
    (workMs) => (workMs < 25 ? null : `${workMs.toFixed(0)} ms`),
  )
})
