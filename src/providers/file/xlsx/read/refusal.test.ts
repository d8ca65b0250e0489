import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { ProviderFailure } from '../../../../sheets/provider-failure.ts'
import { MAX_WORKBOOK_BYTES } from '../container/limits.ts'
import { buildWorkbook, withPart, workbookParts, zip } from '../workbook.fixture.ts'
import { decodeXlsx, listXlsxTabs } from './xlsx.ts'

const fixture = (name: string): Buffer => readFileSync(new URL(`../fixtures/${name}`, import.meta.url))

async function assertRefused(bytes: Uint8Array, message: RegExp): Promise<void> {
  for (const attempt of [() => decodeXlsx(bytes, {}), () => listXlsxTabs(bytes)]) {
    await assert.rejects(attempt, (error) => {
      assert.ok(error instanceof ProviderFailure, String(error))
      assert.match(error.message, message)
      assert.doesNotMatch(error.message, /xl\/|\.ts|Error|zlib|ZIP|XML/)
      return true
    })
  }
}

const officeDocument = (target: string): string =>
  '<Relationships><Relationship Id="r" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument"' +
  ` Target="${target}"/></Relationships>`

const compoundFile = Buffer.alloc(2048)
compoundFile.write('d0cf11e0a1b11ae1', 'hex')
compoundFile.write('WordDocument\0', 1024, 'utf16le')
/** The words of a stream's name, where no directory entry can be. */
compoundFile.write('EncryptedPackage\0', 1100, 'utf16le')
compoundFile[1100 + 64] = 34
compoundFile[1100 + 66] = 2

const olderExcel = Buffer.alloc(2048)
olderExcel.write('d0cf11e0a1b11ae1', 'hex')
olderExcel.write('Book\0', 1024, 'utf16le')
olderExcel[1024 + 64] = 10
olderExcel[1024 + 66] = 2

const refused: [what: string, bytes: Uint8Array, message: RegExp][] = [
  ['an empty file', new Uint8Array(0), /^the file is empty$/],
  ['a picture', Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'), /not an Excel workbook/],
  ['a renamed CSV file', Buffer.from('name,city\nAda,London\n'), /not an Excel workbook/],
  ['an empty ZIP', zip([]), /not an Excel workbook/],
  ['a ZIP of other things', zip([{ name: 'notes.txt', data: 'hello' }]), /not an Excel workbook/],
  [
    'a text document',
    zip([
      { name: '_rels/.rels', data: officeDocument('word/document.xml') },
      { name: 'word/document.xml', data: '<w:document><w:body/></w:document>' },
    ]),
    /not an Excel workbook/,
  ],
  [
    'a binary workbook',
    zip([
      { name: '_rels/.rels', data: officeDocument('xl/workbook.bin') },
      { name: 'xl/workbook.bin', data: 'x' },
    ]),
    /\.xlsb/,
  ],
  ['an OpenDocument spreadsheet', fixture('opendocument.ods'), /\.ods.*save it as \.xlsx/],
  [
    'an OpenDocument text',
    zip([{ name: 'mimetype', data: 'application/vnd.oasis.opendocument.text', stored: true }]),
    /not an Excel workbook/,
  ],
  ['an old workbook', fixture('old-excel.xls'), /\.xls\).*save it as \.xlsx/],
  ['an even older workbook', olderExcel, /\.xls\).*save it as \.xlsx/],
  ['a workbook with a password', fixture('password.xlsx'), /password/],
  ['an old document of another kind', compoundFile, /not an Excel workbook/],
  ['the start of a compound file', compoundFile.subarray(0, 8), /not an Excel workbook/],
  [
    'a ZIP with a password',
    buildWorkbook({ parts: withPart('xl/workbook.xml', { claims: { flags: 1 } }) }),
    /password/,
  ],
  ['a file too large to look into', new Uint8Array(MAX_WORKBOOK_BYTES + 1), /too large/],
  ['a workbook without tabs', buildWorkbook({ tabs: [] }), /no visible tab/],
]

for (const [what, bytes, message] of refused) {
  if (what === 'a workbook without tabs') {
    test(`${what} cannot be served, and lists none`, async () => {
      await assert.rejects(decodeXlsx(bytes, {}), message)
      await assert.rejects(decodeXlsx(bytes, { tab: 'x' }), message)
      assert.deepEqual(await listXlsxTabs(bytes), [])
    })
  } else {
    test(`refused in words: ${what}`, () => assertRefused(bytes, message))
  }
}

test('a workbook cut off anywhere is refused', async () => {
  const whole = buildWorkbook({ rows: '<row r="1"><c r="A1"><v>1</v></c></row>' })
  for (let length = 4; length < whole.length; length += 13) {
    await assertRefused(whole.subarray(0, length), /incomplete|damaged/)
  }
})

const damagedParts: [what: string, part: string, data: string][] = [
  ['relationships that do not parse', '_rels/.rels', '<Relationships>'],
  ['a workbook part that does not parse', 'xl/workbook.xml', '<workbook><sheets></workbook>'],
  ['styles that do not parse', 'xl/styles.xml', '<styleSheet>'],
  ['shared strings that do not parse', 'xl/sharedStrings.xml', '<sst><si></sst>'],
  ['a worksheet that does not parse', 'xl/worksheets/sheet0.xml', '<worksheet><sheetData>'],
  ['a worksheet with something else in it', 'xl/worksheets/sheet0.xml', '<chartsheet/>'],
  ['an empty worksheet part', 'xl/worksheets/sheet0.xml', ''],
  ['text after the worksheet', 'xl/worksheets/sheet0.xml', '<worksheet/>x'],
]

for (const [what, name, data] of damagedParts) {
  test(`damaged: ${what}`, async () => {
    await assert.rejects(decodeXlsx(buildWorkbook({ parts: withPart(name, { data }) }), {}), {
      name: 'ProviderFailure',
      message: /damaged/,
    })
  })
}

for (const missing of ['xl/workbook.xml', 'xl/worksheets/sheet0.xml']) {
  test(`damaged: ${missing} is missing`, async () => {
    const parts = workbookParts({}).filter(({ name }) => name !== missing)
    await assert.rejects(decodeXlsx(zip(parts), {}), { name: 'ProviderFailure', message: /damaged/ })
  })
}

test('a text that the workbook does not contain is damage, not an empty cell', async () => {
  for (const index of ['1', '-1', '1.5', '99999999999999999999', 'x', '__proto__', 'length']) {
    const rows = `<row r="1"><c r="A1" t="s"><v>${index}</v></c></row>`
    const bytes = buildWorkbook({ rows, sharedStrings: '<si><t>only</t></si>' })
    await assert.rejects(decodeXlsx(bytes, {}), { name: 'ProviderFailure', message: /damaged/ })
  }
})

test('the bytes of the caller may stand in the middle of a larger buffer', async () => {
  const whole = buildWorkbook({ rows: '<row r="1"><c r="A1"><v>1</v></c></row>' })
  const larger = new Uint8Array(whole.length + 20).fill(0x50)
  larger.set(whole, 10)
  const { rows } = await decodeXlsx(larger.subarray(10, 10 + whole.length), {})
  assert.deepEqual(rows, [[1]])
})

test('an error nobody thought of still reaches the owner as words', async () => {
  const bytes = new Uint8Array(buildWorkbook({}))
  structuredClone(bytes, { transfer: [bytes.buffer] })
  await assertRefused(bytes, /damaged|empty/)
  await assert.rejects(decodeXlsx(null as never, {}), { name: 'ProviderFailure' })
})
