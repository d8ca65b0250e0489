import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { times } from '../../../../../test/soak.ts'
import type { Change } from '../../../../sheets/change.ts'
import { ProviderFailure } from '../../../../sheets/provider-failure.ts'
import { decodeXlsx } from '../read/xlsx.ts'
import {
  buildWorkbook,
  repeatedPart,
  type TestWorkbook,
  withPart,
  workbookParts,
  type ZipPart,
  zip,
} from '../workbook.fixture.ts'
import { editXlsx } from './edit.ts'

const SHEET = 'xl/worksheets/sheet0.xml'
const MIB = 1024 * 1024
const seed = 2003

const changes: Change[] = [
  { kind: 'add', rows: [['x', 1]] },
  { kind: 'update', rowNumber: 2, cells: [{ columnIndex: 1, value: 'y' }] },
  { kind: 'delete', rowNumber: 3 },
]

describe('what reading refuses, editing refuses in the same words', () => {
  const fixture = (name: string): Buffer => readFileSync(new URL(`../fixtures/${name}`, import.meta.url))
  const row = '<row r="1"><c r="A1"><v>1</v></c></row>'
  const spaces = `${' '.repeat(MIB - 7)}<!---->`
  const refused: [what: string, bytes: Uint8Array][] = [
    ['nothing', new Uint8Array(0)],
    ['an old workbook', fixture('old-excel.xls')],
    ['a password', fixture('password.xlsx')],
    ['OpenDocument', fixture('opendocument.ods')],
    ['a cut file', buildWorkbook({ rows: row }).subarray(0, 300)],
    ['a wrong checksum', buildWorkbook({ rows: row, parts: withPart(SHEET, { claims: { checksum: 1 } }) })],
    ['a document type', buildWorkbook({ parts: withPart(SHEET, { data: '<!DOCTYPE x><worksheet/>' }) })],
    ['deep nesting', buildWorkbook({ parts: withPart(SHEET, { data: `<worksheet>${'<x>'.repeat(1000)}` }) })],
    [
      'a ZIP bomb',
      buildWorkbook({
        parts: withPart(SHEET, repeatedPart(SHEET, '<worksheet>', spaces, 40, '</worksheet>')),
      }),
    ],
    [
      'too many cells',
      buildWorkbook({
        rows: Array.from({ length: 1000 }, (_, at) => `<row><c r="XFD${at + 1}"><v>1</v></c></row>`).join(''),
      }),
    ],
  ]
  for (const [what, bytes] of refused) {
    test(what, async () => {
      const reading = await decodeXlsx(bytes, {}).catch((error: unknown) => error)
      assert.ok(reading instanceof ProviderFailure)
      await assert.rejects(editXlsx(bytes, undefined, changes), {
        name: 'ProviderFailure',
        message: reading.message,
      })
    })
  }
})

test('elements beside the rows are counted', async () => {
  const merges = repeatedPart(
    SHEET,
    '<worksheet><sheetData/><mergeCells>',
    '<mergeCell ref="A1"/>'.repeat(10_000),
    101,
    '</mergeCells></worksheet>',
  )
  const bytes = buildWorkbook({ parts: withPart(SHEET, merges) })
  await assert.rejects(editXlsx(bytes, undefined, [{ kind: 'add', rows: [['x']] }]), /too large/)
})

test('a change that would make the tab too large to read is refused', async () => {
  // 305 rows that reach the last column are just within the limit.
  const rows = Array.from({ length: 305 }, (_, at) => `<row><c r="XFD${at + 1}"><v>1</v></c></row>`).join('')
  const bytes = buildWorkbook({ rows })
  const wide = Array.from({ length: 16_384 }, (_, at) => (at === 16_383 ? 1 : null))
  assert.ok('bytes' in (await editXlsx(bytes, undefined, [{ kind: 'add', rows: [[1]] }])))
  await assert.rejects(editXlsx(bytes, undefined, [{ kind: 'add', rows: [wide] }]), {
    name: 'ProviderFailure',
    message: /too large/,
  })
})

/** Something of everything that editing looks at. */
const sample: TestWorkbook = {
  tabs: [
    {
      name: 'Data',
      rows:
        '<worksheet><dimension ref="A1:C4"/><cols><col min="1" max="2" style="1"/></cols><sheetData>' +
        '<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" s="1"><v>46341.5</v></c><c r="C1" t="inlineStr"><is><r><t>x</t></r></is></c></row>' +
        '<row r="2"><c r="A2"><v>1</v></c><c r="C2"><f t="shared" ref="C2:C4" si="0">A2*2</f><v>2</v></c></row>' +
        '<row r="3"><c r="B3" t="b"><v>1</v></c><c r="C3"><f t="shared" si="0"/><v>2</v></c></row>' +
        '<row r="4"><c r="B4" t="e"><f>1/0</f><v>#DIV/0!</v></c><c r="C4"><f t="shared" si="0"/><v>2</v></c></row></sheetData>' +
        '<autoFilter ref="A1:C4"/><mergeCells count="1"><mergeCell ref="E1:F2"/></mergeCells>' +
        '<conditionalFormatting sqref="A2:A9"><cfRule><formula>$A2&gt;1</formula></cfRule></conditionalFormatting>' +
        '<dataValidations count="1"><dataValidation sqref="B2:B9"><formula1>"a"</formula1></dataValidation></dataValidations>' +
        '<hyperlinks><hyperlink ref="A4"/></hyperlinks><extLst><ext><x:sparklineGroups/></ext></extLst></worksheet>',
    },
    { name: 'Sum', rows: '<row r="1"><c r="A1"><f>SUM(Data!A2:A9)</f><v>1</v></c></row>' },
  ],
  sharedStrings: '<si><t>a_x000D_b &amp; c</t></si>',
  formats: [0, 'yyyy-mm-dd hh:mm', 46],
}

function sampleParts(): ZipPart[] {
  const link =
    '<Relationships><Relationship Id="t" Type="http://x/table" Target="/xl/t.xml"/></Relationships>'
  return [
    ...workbookParts(sample),
    { name: 'xl/worksheets/_rels/sheet0.xml.rels', data: link },
    { name: 'xl/t.xml', data: '<table displayName="T" ref="A1:C4"><autoFilter ref="A1:C4"/></table>' },
  ]
}

const edits = fc.array(
  fc.record({
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    remove: fc.nat({ max: 8 }),
    insert: fc.oneof(
      fc.constantFrom(
        '<',
        '>',
        '"',
        '&',
        '/',
        '</',
        '<!--',
        '<![CDATA[',
        ']]>',
        '\0',
        '-',
        '99999999',
        '__proto__',
      ),
      fc.constantFrom(
        '<row>',
        '<row r="2">',
        '<c r="XFD1048576">',
        ' r="A1"',
        ' ref="A1:B2"',
        ':',
        '!',
        "'",
        '$',
        '[',
      ),
      fc.string({ maxLength: 4 }),
    ),
  }),
  { minLength: 1, maxLength: 3 },
)

/** Edited bytes can be read, and read as the results say. */
async function assertEditedOrRefused(bytes: Uint8Array): Promise<boolean> {
  try {
    const outcome = await editXlsx(bytes, 'Data', changes)
    if ('reason' in outcome) return false
    const { rows } = await decodeXlsx(outcome.bytes, { tab: 'Data' })
    const [added, updated] = outcome.results
    assert.ok(added?.kind === 'add' && updated?.kind === 'update')
    // The third row of all is gone by then, so what was added moved up by one.
    assert.deepEqual(rows[(added.rowNumbers[0] ?? 0) - 2], added.rows[0])
    assert.deepEqual(rows[1], updated.row)
    return true
  } catch (error) {
    assert.ok(error instanceof ProviderFailure, `${error}`)
    // A cause that is not a message of ours would be a bug that the last net caught.
    assert.ok(!(error.cause instanceof TypeError || error.cause instanceof RangeError), `${error.cause}`)
    return false
  }
}

test('whatever happens to the bytes of a workbook, it is edited or refused in words', async () => {
  const whole = Buffer.from(zip(sampleParts()))
  assert.ok(await assertEditedOrRefused(whole))
  await fc.assert(
    fc.asyncProperty(edits, async (list) => {
      let bytes = whole
      for (const { at, remove, insert } of list) {
        const from = Math.floor(at * bytes.length)
        bytes = Buffer.concat([bytes.subarray(0, from), Buffer.from(insert), bytes.subarray(from + remove)])
      }
      await assertEditedOrRefused(bytes)
    }),
    { seed, numRuns: times(60, 2_000) },
  )
})

test('whatever happens to the text of its parts, it is edited or refused in words', async () => {
  const parts = sampleParts()
  let made = 0
  await fc.assert(
    fc.asyncProperty(fc.nat({ max: parts.length - 1 }), edits, async (index, list) => {
      let text = String(parts[index]?.data)
      for (const { at, remove, insert } of list) {
        const from = Math.floor(at * text.length)
        text = text.slice(0, from) + insert + text.slice(from + remove)
      }
      const mangled = parts.map((part, other) => (other === index ? { ...part, data: text } : part))
      if (await assertEditedOrRefused(zip(mangled))) made++
    }),
    { seed, numRuns: times(100, 3_000) },
  )
  assert.ok(made > 5, `only ${made} were edited`)
})
