import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { zip } from '../../../src/providers/file/xlsx/workbook.fixture.ts'
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

test('how long rows may be goes by the parts that they are read from, and not by the pictures beside them', async (t) => {
  const rowport = await startRowport(t)
  const key = bearer(await rowport.createKey())
  const row = (text: string, times: number) =>
    `<table:table-row table:number-rows-repeated="${times}"><table:table-cell office:value-type="string"><text:p>${text}</text:p></table:table-cell></table:table-row>`
  const document = (rows: string) =>
    '<office:document-content xmlns:office="urn:o" xmlns:table="urn:t" xmlns:text="urn:x"><office:body><office:spreadsheet>' +
    `<table:table table:name="A">${row('name', 1)}${rows}</table:table></office:spreadsheet></office:body></office:document-content>`
  const file = (name: string, rows: string) =>
    rowport.connectFile(
      name,
      `${name}.ods`,
      zip([
        { name: 'mimetype', data: 'application/vnd.oasis.opendocument.spreadsheet', stored: true },
        { name: 'content.xml', data: document(rows) },
        { name: 'Pictures/one.png', data: randomBytes(6_000_000), stored: true },
      ]),
    )
  const served = await rowport.get((await file('short', row('x'.repeat(800), 70_000))).formA, key)
  assert.equal(served.status, 200)
  await served.body?.cancel()
  const refused = await rowport.get((await file('long', row('x'.repeat(800), 90_000))).formA, key)
  assert.equal(refused.status, 502)
  assert.match(await refused.text(), /as JSON, where each repeats the headers, more than 64 MiB/)
})
