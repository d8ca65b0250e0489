import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { bearer, startRowport } from '../../harness.ts'

const fixture = new URL('../../../src/providers/file/xlsx/fixtures/opendocument.ods', import.meta.url)

test('an OpenDocument spreadsheet is read, and refused in words for writing', async (t) => {
  const rowport = await startRowport(t)
  const key = bearer(await rowport.createKey())
  const before = await readFile(fixture)
  const { formA, path } = await rowport.connectFile('open', 'open.ods', before)
  const list = await rowport.get(formA, key)
  assert.equal(list.status, 200)
  const rows = (await list.json()) as Record<string, unknown>[]
  assert.ok(rows.length > 0)
  const [column] = Object.keys(rows[0] ?? {})
  for (const [method, address, body] of [
    ['POST', formA, JSON.stringify({ [column ?? '']: 'x' })],
    ['PATCH', `${formA}/2`, JSON.stringify({ [column ?? '']: 'x' })],
    ['DELETE', `${formA}/2`, undefined],
  ] as const) {
    const refused = await fetch(rowport.url + address, { method, headers: key, ...(body && { body }) })
    assert.equal(refused.status, 403)
    const { code, details } = (await refused.json()) as { code: string; details: string }
    assert.equal(code, 'sheet_read_only')
    assert.match(details, /\.ods\) are read, not written to\. Save it as \.xlsx/)
  }
  assert.deepEqual(await readFile(path), before)
})
