import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { decodeXlsx } from '../read/xlsx.ts'
import { buildWorkbook, type TestWorkbook, workbookParts, zip } from '../workbook.fixture.ts'
import { add, edit, header, remove, rowsAfter, SHEET, update, worksheet } from './edit.fixture.ts'
import { editXlsx } from './edit.ts'

describe('what cannot be done is said, and nothing is done', () => {
  const rows = `${header}<row r="2"><c r="A2"><v>2</v></c></row>`

  test('a row that is not there', async () => {
    for (const row of [0, 1, 3, -1, 1.5, Number.NaN]) {
      for (const change of [update(row, [0, 1]), remove(row)]) {
        const outcome = await edit({ rows }, update(2, [0, 5]), change)
        assert.deepEqual(outcome, { changeAt: 1, reason: 'row', details: `There is no row ${row}.` })
      }
    }
  })

  test('a value that would not read back', async () => {
    for (const [value, says] of [
      ['x'.repeat(32_768), /32,767/],
      ['a\0b', /U\+0000/],
      ['\uD800', /surrogate/],
      [Number.NaN, /finite/],
      [Number.NEGATIVE_INFINITY, /finite/],
      [5e-324, /small/],
    ] as const) {
      for (const change of [update(2, [0, value]), add([1], [value])]) {
        const outcome = await edit({ rows }, add([1]), change)
        assert.ok('reason' in outcome)
        assert.deepEqual([outcome.changeAt, outcome.reason], [1, 'value'])
        assert.match(outcome.details, says)
      }
    }
  })

  test('a value under merged cells, a new row there, a part of what one formula fills', async () => {
    const merged = worksheet(rows, '', '<mergeCells count="1"><mergeCell ref="A2:B3"/></mergeCells>')
    for (const [change, cell] of [
      [update(2, [1, 5]), 'B2'],
      [add([1]), 'A3'],
    ] as const) {
      const outcome = await edit(merged, update(2, [0, 1]), change)
      assert.deepEqual(outcome, {
        changeAt: 1,
        reason: 'file',
        details: `${cell} lies under merged cells, where its value would not be seen.`,
      })
    }
    assert.deepEqual((await rowsAfter(merged, update(2, [0, 7], [1, null])))[1], [7])
    const array = {
      rows: `${header}<row r="2"><c r="A2"><f t="array" ref="A2:A3">B2:B3</f><v>1</v></c><c r="B2"><f t="array" ref="B2">1</f><v>1</v></c></row><row r="3"><c r="A3"><v>2</v></c></row>`,
    }
    for (const row of [2, 3]) {
      const outcome = await edit(array, update(row, [0, 9]))
      assert.ok('reason' in outcome)
      assert.match(outcome.details, /^One formula fills A\d and other cells/)
    }
    assert.deepEqual((await rowsAfter(array, update(2, [1, 9])))[1], [null, 9])
  })
})

describe('what the workbook as a whole forbids is a failure in words', () => {
  const rows = `${header}<row r="2"><c r="A2"><v>2</v></c></row>`
  const refused: [what: string, workbook: TestWorkbook, says: RegExp][] = [
    [
      'a protected tab',
      worksheet(rows, '', '<sheetProtection password="CC1A" sheet="1"/>'),
      /the tab is protected/,
    ],
    [
      'a signed workbook',
      {
        rows,
        parts: (parts) =>
          parts.map((part) =>
            part.name === '_rels/.rels'
              ? {
                  ...part,
                  data: String(part.data).replace(
                    '</Rel',
                    '<Relationship Id="s" Type="http://schemas.openxmlformats.org/package/2006/relationships/digital-signature/origin" Target="_xmlsignatures/origin.sigs"/></Rel',
                  ),
                }
              : part,
          ),
      },
      /signed/,
    ],
    ['rows out of order', { rows: `${rows}<row r="1"/>` }, /unusual order/],
    ['a row twice', { rows: `${rows}<row r="2"/>` }, /unusual order/],
    ['cells out of order', { rows: '<row r="1"><c r="B1"/><c r="A1"/></row>' }, /unusual order/],
    ['a cell in the wrong row', { rows: '<row r="1"><c r="A2"/></row>' }, /unusual order/],
    ['another encoding', worksheet(rows), /damaged/],
  ]
  for (const [what, workbook, says] of refused) {
    test(what, async () => {
      let bytes = buildWorkbook(workbook)
      if (what === 'another encoding') {
        const parts = workbookParts(workbook).map((part) =>
          part.name === SHEET
            ? { ...part, data: `<?xml version="1.0" encoding="ISO-8859-1"?>${part.data}` }
            : part,
        )
        bytes = zip(parts)
      }
      for (const change of [update(2, [0, 1]), add([1])]) {
        await assert.rejects(editXlsx(bytes, undefined, [change]), { name: 'ProviderFailure', message: says })
      }
    })
  }

  test('a protection that is not in force forbids nothing', async () => {
    assert.deepEqual(await rowsAfter(worksheet(rows, '', '<sheetProtection sheet="0"/>'), add([1])), [
      ['a', 'b'],
      [2],
      [1],
    ])
  })

  test('an unknown tab is a failure, another tab is edited by its name', async () => {
    const tabs = ['One', 'Two'].map((name) => ({ name, rows }))
    const bytes = buildWorkbook({ tabs })
    await assert.rejects(editXlsx(bytes, 'Three', [add([1])]), {
      name: 'ProviderFailure',
      message: /no tab named/,
    })
    const outcome = await editXlsx(bytes, 'two', [add([1])])
    assert.ok('bytes' in outcome)
    assert.equal((await decodeXlsx(outcome.bytes, { tab: 'Two' })).rows.length, 3)
    assert.equal((await decodeXlsx(outcome.bytes, { tab: 'One' })).rows.length, 2)
  })
})
