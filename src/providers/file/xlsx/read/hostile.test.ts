import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { ProviderFailure } from '../../../../sheets/provider-failure.ts'
import { MAX_DIRECTORY_PART_BYTES, MAX_INFLATED_BYTES, MAX_STYLES_PART_BYTES } from '../container/limits.ts'
import {
  buildWorkbook,
  repeatedPart,
  type TestWorkbook,
  withPart,
  workbookParts,
  zip,
} from '../workbook.fixture.ts'
import { decodeXlsx } from './xlsx.ts'

const SHEET = 'xl/worksheets/sheet0.xml'
const MIB = 1024 * 1024

async function assertRefused(bytes: Uint8Array, message: RegExp, cause = /^/): Promise<void> {
  await assert.rejects(decodeXlsx(bytes, {}), (error) => {
    assert.ok(error instanceof ProviderFailure, String(error))
    assert.match(error.message, message)
    assert.match(String(error.cause), cause)
    return true
  })
}

/** A MiB that is quick to pass over and compresses as little as real worksheets do. */
const filler = Array.from({ length: 1024 }, (_, index) => {
  const noise = hash('sha512', String(index)).repeat(8)
  return `<!--${noise.slice(0, 200)}${'x'.repeat(1024 - 207)}-->`
}).join('')

const bombs: [what: string, part: string, start: string, limitBytes: number][] = [
  ['a worksheet', SHEET, '<worksheet>', MAX_INFLATED_BYTES],
  ['a table of shared strings', 'xl/sharedStrings.xml', '<sst>', MAX_INFLATED_BYTES],
  ['a styles part', 'xl/styles.xml', '<styleSheet>', MAX_STYLES_PART_BYTES],
  ['a workbook part', 'xl/workbook.xml', '<workbook>', MAX_DIRECTORY_PART_BYTES],
  ['a part of relationships', '_rels/.rels', '<Relationships>', MAX_DIRECTORY_PART_BYTES],
]

for (const [what, name, start, limitBytes] of bombs) {
  test(`${what} that inflates past its limit is refused`, async () => {
    const part = repeatedPart(name, start, filler, limitBytes / MIB, start.replace('<', '</'))
    // A bomb would not admit its size.
    part.claims = { ...part.claims, inflatedBytes: 100 }
    await assertRefused(buildWorkbook({ parts: withPart(name, part) }), /too large/, /past its limit/)
  })
}

test('a part that inflates out of all proportion is refused long before the limit', async () => {
  const spaces = `${' '.repeat(MIB - 7)}<!---->`
  const part = repeatedPart(SHEET, '<worksheet>', spaces, 40, '</worksheet>')
  await assertRefused(buildWorkbook({ parts: withPart(SHEET, part) }), /too large/, /ZIP bomb/)
  const small = repeatedPart(SHEET, '<worksheet>', spaces, 20, '</worksheet>')
  assert.deepEqual((await decodeXlsx(buildWorkbook({ parts: withPart(SHEET, small) }), {})).rows, [])
})

test('the limit holds for all parts together, also where they share their bytes', async () => {
  const count = MAX_INFLATED_BYTES / MIB / 2 + 1
  const half = repeatedPart('xl/sharedStrings.xml', '<worksheet>', filler, count, '</worksheet>')
  const parts = workbookParts({}).filter(({ name }) => name !== SHEET && name !== half.name)
  const compressedBytes = half.compressed?.length ?? 0
  const again = { name: SHEET, data: '', overlaps: parts.length, claims: { ...half.claims, compressedBytes } }
  await assertRefused(zip([...parts, half, again]), /too large/, /sheet0.*past its limit/)
})

const lies: [what: string, claims: object][] = [
  ['a smaller size', { inflatedBytes: 10 }],
  ['a larger size', { inflatedBytes: 1_000_000 }],
  ['a huge size', { inflatedBytes: 0xfffffffe }],
  ['another checksum', { checksum: 1 }],
  ['fewer compressed bytes', { compressedBytes: 20 }],
  ['no compressed bytes', { compressedBytes: 0 }],
  ['more compressed bytes than the file has', { compressedBytes: 0x7fffffff }],
  ['an unknown method', { method: 12 }],
  ['no compression where there is one', { method: 0 }],
]

for (const [what, claims] of lies) {
  test(`a header with ${what} is damage`, async () => {
    await assertRefused(buildWorkbook({ parts: withPart(SHEET, { claims }) }), /damaged/)
  })
}

test('what else the archive holds is never inflated', async () => {
  const media = repeatedPart('xl/media/image1.png', '', filler, 2 * (MAX_INFLATED_BYTES / MIB), '')
  const strays = Array.from({ length: 20_000 }, (_, index) => ({
    name: `xl/${index}.zip`,
    data: '',
    stored: true,
  }))
  const rows = '<row r="1"><c r="A1"><v>1</v></c></row>'
  const bytes = buildWorkbook({ rows, parts: (parts) => [...parts, media, ...strays] })
  assert.deepEqual((await decodeXlsx(bytes, {})).rows, [[1]])
})

test('directories that claim more than the file holds are damage', async () => {
  const parts = workbookParts({})
  await assertRefused(zip(parts, 60_000), /damaged/)
  await assertRefused(zip(parts, 0xffff), /damaged/)

  const claimsOf64Bits = Buffer.alloc(56 + 20 + 22)
  claimsOf64Bits.writeUInt32LE(0x06064b50, 0)
  claimsOf64Bits.writeBigUInt64LE(2n ** 60n, 32)
  claimsOf64Bits.writeUInt32LE(0x07064b50, 56)
  claimsOf64Bits.writeUInt32LE(0x06054b50, 76)
  claimsOf64Bits.writeUInt16LE(0xffff, 86)
  const local = Buffer.from('PK\x03\x04')
  claimsOf64Bits.writeBigUInt64LE(4n, 64)
  await assertRefused(Buffer.concat([local, claimsOf64Bits]), /too large/)
  claimsOf64Bits.writeBigUInt64LE(2n ** 63n, 64)
  await assertRefused(Buffer.concat([local, claimsOf64Bits]), /damaged/)
})

const laughs = `<!DOCTYPE x [<!ENTITY a "ha">${Array.from({ length: 20 }, (_, index) => `<!ENTITY a${index} "&a${index - 1};&a${index - 1};">`).join('')}]>`

const documentTypes = [
  laughs,
  '<!DOCTYPE x SYSTEM "file:///etc/passwd">',
  '<!DOCTYPE x [<!ENTITY a SYSTEM "http://localhost/">]>',
]

test('a document type is refused in every part, so that no entity is expanded or fetched', async () => {
  for (const documentType of documentTypes) {
    for (const name of ['_rels/.rels', 'xl/workbook.xml', 'xl/styles.xml', 'xl/sharedStrings.xml', SHEET]) {
      const parts = workbookParts({}).map((part) =>
        part.name === name ? { ...part, data: `${documentType}${part.data}` } : part,
      )
      await assertRefused(zip(parts), /damaged/)
    }
  }
})

test('elements nested a million deep are refused', async () => {
  const data = `<worksheet><sheetData>${'<row>'.repeat(1_000_000)}`
  await assertRefused(buildWorkbook({ parts: withPart(SHEET, { data }) }), /damaged/)
})

const impossible = [
  '<row r="0"/>',
  '<row r="-1"/>',
  '<row r="1048577"/>',
  '<row r="99999999999"/>',
  '<row r="1e3"/>',
  '<row r=""/>',
  '<row r="x"/>',
  '<row r="1048576"/><row/>',
  '<row r="1"><c r="XFE1"/></row>',
  '<row r="1"><c r="AAAA1"/></row>',
  '<row r="1"><c r="A0"/></row>',
  '<row r="1"><c r="A-1"/></row>',
  '<row r="1"><c r="A1048577"/></row>',
  '<row r="1"><c r="A99999999999"/></row>',
  '<row r="1"><c r="1"/></row>',
  '<row r="1"><c r="A"/></row>',
  '<row r="1"><c r=""/></row>',
  '<row r="1"><c r="$A$1"/></row>',
  '<row r="1"><c r="__proto__"/></row>',
  '<row r="1"><c r="XFD1"/><c/></row>',
]

for (const rows of impossible) {
  test(`a place that no sheet has is damage: ${rows}`, () =>
    assertRefused(buildWorkbook({ rows }), /damaged/))
}

test('values far to the right in many rows are refused before they fill the memory', async () => {
  const rows = Array.from({ length: 100_000 }, (_, index) => `<row><c r="XFD${index + 1}"><v>1</v></c></row>`)
  await assertRefused(buildWorkbook({ rows: rows.join('') }), /too large/)
})

test('formats far to the right cost nothing', async () => {
  const rows = Array.from(
    { length: 1000 },
    (_, index) => `<row><c r="A${index + 1}"><v>1</v></c><c r="XFD${index + 1}" s="0"/></row>`,
  )
  const { rows: decoded } = await decodeXlsx(buildWorkbook({ rows: rows.join('') }), {})
  assert.equal(decoded.length, 1000)
  assert.ok(decoded.every((row) => row.length === 1))
})

test('one long text used in many cells is refused before answers grow by it', async () => {
  const sharedStrings = `<si><t>${'x'.repeat(500_000)}</t></si>`
  const rows = `<row><c><v>1</v></c></row>${'<row><c t="s"><v>0</v></c></row>'.repeat(1000)}`
  await assertRefused(buildWorkbook({ sharedStrings, rows }), /too large/)
})

test('the text of one cell is bounded in however many pieces it comes', async () => {
  const pieces = `${'x'.repeat(1000)}<!---->`.repeat(1100)
  for (const cell of [`<c t="str"><v>${pieces}</v></c>`, `<c><is><t>${pieces}</t></is></c>`]) {
    await assertRefused(buildWorkbook({ rows: `<row>${cell}</row>` }), /too large/, /endless text/)
  }
  const runs = `<r><t>${'x'.repeat(100_000)}</t></r>`.repeat(11)
  await assertRefused(buildWorkbook({ sharedStrings: `<si>${runs}</si>` }), /too large/, /endless text/)
})

test('more attributes than any element has are refused', async () => {
  const row = (count: number) => `<row ${'a="" '.repeat(count)}/>`
  assert.deepEqual((await decodeXlsx(buildWorkbook({ rows: row(256) }), {})).rows, [])
  await assertRefused(buildWorkbook({ rows: row(257) }), /damaged/)
})

test('more shared strings than a tab has cells are refused', async () => {
  const strings = repeatedPart('xl/sharedStrings.xml', '<sst>', '<si/>'.repeat(100_000), 51, '</sst>')
  await assertRefused(
    buildWorkbook({ parts: withPart(strings.name, strings) }),
    /too large/,
    /shared strings/,
  )
})

test('more cell formats than Excel can have are refused', async () => {
  await assertRefused(buildWorkbook({ formats: Array.from({ length: 70_000 }, () => 0) }), /too large/)
})

const sample: TestWorkbook = {
  tabs: [
    {
      name: 'S',
      rows:
        '<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" s="1"><v>46341.5</v></c><c r="C1" t="inlineStr"><is><r><t>x</t></r></is></c></row>' +
        '<row r="3"><c r="B3" t="b"><v>1</v></c><c t="e"><f>1/0</f><v>#DIV/0!</v></c><c t="d"><v>2026-11-15</v></c></row>',
    },
  ],
  sharedStrings: '<si><t>a_x000D_b &amp; c</t></si>',
  formats: [0, 'yyyy-mm-dd hh:mm', 46],
}

async function assertGridOrFailure(bytes: Uint8Array): Promise<void> {
  try {
    const { rows } = await decodeXlsx(bytes, {})
    for (const row of rows) for (const cell of row) assert.ok(cell !== undefined && cell !== '')
  } catch (error) {
    assert.ok(error instanceof ProviderFailure, `${error}`)
    // A cause that is not a message of ours would be a bug that the last net caught.
    assert.ok(!(error.cause instanceof TypeError || error.cause instanceof RangeError), `${error.cause}`)
  }
}

const seed = 2003

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
        ']]>',
        '\0',
        '-',
        '9999999999',
        '__proto__',
        '<row>',
        '<c r="XFD1048576">',
      ),
      fc.string({ maxLength: 4 }),
    ),
  }),
  { minLength: 1, maxLength: 4 },
)

test('whatever happens to the bytes of a workbook, it is a grid or a failure in words', async () => {
  const whole = Buffer.from(buildWorkbook(sample))
  await fc.assert(
    fc.asyncProperty(edits, async (changes) => {
      let bytes = whole
      for (const { at, remove, insert } of changes) {
        const from = Math.floor(at * bytes.length)
        bytes = Buffer.concat([bytes.subarray(0, from), Buffer.from(insert), bytes.subarray(from + remove)])
      }
      await assertGridOrFailure(bytes)
    }),
    { seed, numRuns: 300 },
  )
})

test('whatever happens to the text of its parts, it is a grid or a failure in words', async () => {
  const parts = workbookParts(sample)
  await fc.assert(
    fc.asyncProperty(fc.nat({ max: parts.length - 1 }), edits, async (index, changes) => {
      let text = String(parts[index]?.data)
      for (const { at, remove, insert } of changes) {
        const from = Math.floor(at * text.length)
        text = text.slice(0, from) + insert + text.slice(from + remove)
      }
      await assertGridOrFailure(
        zip(parts.map((part, other) => (other === index ? { ...part, data: text } : part))),
      )
    }),
    { seed, numRuns: 500 },
  )
})
