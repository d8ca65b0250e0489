import assert from 'node:assert/strict'
import { test } from 'node:test'
import { writeXlsx } from 'hucre/xlsx'
import { decodeTabNames } from './uploaded-tabs.ts'

const tabsOf = async (names: readonly string[]) =>
  decodeTabNames(await writeXlsx({ sheets: names.map((name) => ({ name, rows: [['a']] })) }), {
    kind: 'xlsx',
  })

test('a workbook with more tabs than can be listed is told so, in its own thread', async () => {
  const names = (count: number) => Array.from({ length: count }, (_, n) => `T${n}`)
  assert.equal((await tabsOf(names(1_000))).rows.length, 1_001)
  for (const many of [names(1_001), Array.from({ length: 700 }, (_, n) => `${n} ${'x'.repeat(27)}`)]) {
    const [head, [problem] = []] = (await tabsOf(many)).rows
    assert.deepEqual(head, ['problem'])
    assert.match(String(problem), /more than 1,000 tabs, or very long names/)
  }
})
