import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { constants, crc32, deflateRawSync } from 'node:zlib'
import { ProviderFailure } from '../../../../sheets/provider-failure.ts'
import { MAX_INFLATION_RATIO } from '../container/limits.ts'
import { readCentralDirectory } from '../container/zip.ts'
import { decodeXlsx } from '../read/xlsx.ts'
import { buildWorkbook, withPart, workbookParts, type ZipPart, zip } from '../workbook.fixture.ts'
import { add, header, SHEET, update } from './edit.fixture.ts'
import { editXlsx } from './edit.ts'
import { refuseUnlessReadBack } from './read-back.ts'

describe('what was written can be read', () => {
  const row = (number: number): string =>
    `<row r="${number}"><c r="A${number}" t="str"><v>${'x'.repeat(30_000)}</v></c></row>`
  const rows = (count: number): string =>
    header + Array.from({ length: count }, (_, at) => row(at + 2)).join('')

  /** As Excel stores it, in a hurry. */
  function quicklyCompressed(text: string): ZipPart {
    const compressed = deflateRawSync(text, { strategy: constants.Z_FIXED })
    return {
      name: SHEET,
      data: '',
      compressed,
      claims: { inflatedBytes: Buffer.byteLength(text), checksum: crc32(text) },
    }
  }

  test('also a large and very repetitive tab, which could be compressed beyond what is opened', async () => {
    const text = `<worksheet><sheetData>${rows(1_200)}</sheetData></worksheet>`
    assert.ok(text.length > 32 * 1024 * 1024)
    const parts = workbookParts({ rows: header })
    const before = zip(parts.map((part) => (part.name === SHEET ? quicklyCompressed(text) : part)))
    const { rows: former } = await decodeXlsx(before, {})
    assert.equal(former.length, 1_201)
    const outcome = await editXlsx(before, undefined, [update(3, [0, 'x']), add(['y'])])
    assert.ok('bytes' in outcome, JSON.stringify(outcome))
    const { rows: now } = await decodeXlsx(outcome.bytes, {})
    assert.deepEqual([now.length, now[1], now[2], now.at(-1)], [1_202, former[1], ['x'], ['y']])
    const sheet = readCentralDirectory(Buffer.from(outcome.bytes)).find(({ key }) => key === SHEET)
    assert.ok(sheet && sheet.inflatedBytes < MAX_INFLATION_RATIO * sheet.compressedBytes)
  })

  test('and is held against what was there and what was meant, before it takes its place', async () => {
    const rows = `${header}<row r="2"><c r="A2"><v>2</v></c></row>`
    const former = buildWorkbook({ rows })
    const changes = [update(2, [0, 5]), add([7])]
    const outcome = await editXlsx(former, undefined, changes)
    assert.ok('bytes' in outcome)
    const good = { rows: [['a', 'b'], [5], [7]] }
    const meant = {
      tab: undefined,
      tabPart: SHEET,
      grid: good,
      changedParts: new Set([SHEET]),
      goneParts: new Set<string>(),
    }
    await refuseUnlessReadBack(former, outcome.bytes, meant)

    const refused = async (now: Uint8Array, more: Partial<typeof meant> = {}) => {
      await assert.rejects(refuseUnlessReadBack(former, now, { ...meant, ...more }), (error: unknown) => {
        assert.ok(error instanceof ProviderFailure, String(error))
        return true
      })
    }
    await refused(former)
    await refused(outcome.bytes, { grid: { rows: [['a', 'b'], [5], [8]] } })
    await refused(outcome.bytes, { grid: { rows: [['a', 'b'], [5]] } })
    const sheet = (content: string) => ({ data: `<worksheet><sheetData>${content}</sheetData></worksheet>` })
    const changed = `${header}<row r="2"><c r="A2"><v>5</v></c></row><row r="3"><c r="A3"><v>7</v></c></row>`
    const withSheet = (content: string) => withPart(SHEET, sheet(content))
    await refuseUnlessReadBack(former, buildWorkbook({ rows, parts: withSheet(changed) }), meant)
    await refused(buildWorkbook({ rows, parts: withSheet(changed.replace('<v>5', '<v>6')) }))
    await refused(buildWorkbook({ rows, parts: withSheet(changed.slice(0, -6)) }))
    const other = withPart('xl/styles.xml', { data: '<styleSheet/>' })
    await refused(buildWorkbook({ rows, parts: (parts) => other(withSheet(changed)(parts)) }))
    await refused(buildWorkbook({ rows, parts: (parts) => withSheet(changed)(parts).slice(1) }))
    await refused(outcome.bytes.subarray(0, outcome.bytes.length - 30))
  })
  test('shared strings that are read already are taken for what they are only while their part is the same', async () => {
    const path = 'xl/sharedStrings.xml'
    const rows = `${header}<row r="2"><c r="A2" t="s"><v>0</v></c></row>`
    const item = (text: string) => `<si><t>${text}</t></si>`
    const workbook = (text: string) => buildWorkbook({ rows, sharedStrings: item(text) })
    const strings = { path, strings: ['one'] }
    const meant = { tab: undefined, tabPart: SHEET, grid: { rows: [['a', 'b'], ['one']] }, strings }
    const changing = (...keys: string[]) => ({
      changedParts: new Set(keys),
      goneParts: new Set<string>(),
    })
    await refuseUnlessReadBack(workbook('one'), workbook('one'), { ...meant, ...changing() })
    for (const changes of [changing(), changing(path.toLowerCase())])
      await assert.rejects(
        refuseUnlessReadBack(workbook('one'), workbook('two'), { ...meant, ...changes }),
        ProviderFailure,
      )
  })
})
