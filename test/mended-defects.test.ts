import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { mendedDefects } from './browser/mended-defects.ts'

test('every defect of the dashboard that was mended has a test, and both stand where the list says', async () => {
  assert.deepEqual(
    mendedDefects.map(({ number }) => number),
    Array.from({ length: 40 }, (_, at) => at + 1),
  )
  for (const { number, heldBy } of mendedDefects) {
    assert.ok(heldBy.length > 0, `${number} is held by no test`)
    for (const { test: held, mend } of heldBy) {
      const [testFile, title] = held
      const [file, code, without] = mend
      const titles = [...(await readFile(testFile, 'utf8')).matchAll(/^test\('([^']+)'/gm)]
      assert.ok(
        titles.some(([, one]) => one === title),
        `${number}: ${testFile} has no test called “${title}”`,
      )
      const pieces = (await readFile(file, 'utf8')).split(code)
      assert.equal(pieces.length, 2, `${number}: ${file} has this once: ${code}`)
      assert.notEqual(code, without)
    }
  }
})
