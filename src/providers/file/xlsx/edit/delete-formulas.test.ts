import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { decodeXmlEntities } from '../container/xml-entities.ts'
import { decodeXlsx } from '../read/xlsx.ts'
import { unzip } from '../workbook.fixture.ts'
import {
  assertRefused,
  formula,
  partsAfter,
  removals,
  sheet,
  sheetAfter,
  workbook,
} from './deletion.fixture.ts'
import { SHEET } from './edit.fixture.ts'
import { editXlsx } from './edit.ts'

test('the row goes and the rows below move up, with all that is in them', async () => {
  const bytes = workbook(
    sheet(
      { 5: '<c r="C5" s="1" t="inlineStr"><is><t>five</t></is></c>', 7: '<c r="D7"/>' },
      '',
      '<dimension ref="A1:D10"/>',
    ),
  )
  const outcome = await editXlsx(bytes, undefined, removals(3, 8))
  assert.ok('bytes' in outcome)
  assert.deepEqual(outcome.results, [
    { kind: 'delete', row: [3] },
    { kind: 'delete', row: [9] },
  ])
  assert.deepEqual((await decodeXlsx(outcome.bytes, {})).rows, [
    [1],
    [2],
    [4],
    [5, null, 'five'],
    [6],
    [7],
    [8],
    [10],
  ])
  const after = String(unzip(outcome.bytes).get(SHEET))
  assert.match(
    after,
    /<row r="4"><c r="A4"><v>5<\/v><\/c><c r="C4" s="1" t="inlineStr"><is><t>five<\/t><\/is><\/c><\/row>/,
  )
  assert.match(after, /<row r="6"><c r="A6"><v>7<\/v><\/c><c r="D6"\/><\/row>/)
  assert.match(after, /<dimension ref="A1:D8"\/>/)
})

describe('formulas follow', () => {
  const cases: [before: string, after: string][] = [
    ['A2+A8', 'A2+A7'],
    ['SUM(A2:A10)', 'SUM(A2:A9)'],
    ['SUM(A5:A8)', 'SUM(A5:A7)'],
    ['SUM(A4:A5)', 'SUM(A4:A4)'],
    ['SUM($A$5:$A$10)', 'SUM($A$5:$A$9)'],
    ['SUM(A10:A2)', 'SUM(A9:A2)'],
    ['SUM(A:A)+SUM($A:$B)', 'SUM(A:A)+SUM($A:$B)'],
    ['SUM(2:8)+SUM($6:$7)', 'SUM(2:7)+SUM($5:$6)'],
    ['A2:A1048576', 'A2:A1048576'],
    ['Data!A8&data!$A$9', 'Data!A7&data!$A$8'],
    ["'Data'!A8", "'Data'!A7"],
    ['Other!A8+[1]Data!A8+[1]!Name', 'Other!A8+[1]Data!A8+[1]!Name'],
    ['"A8"&A8&"say ""A8"""', '"A8"&A7&"say ""A8"""'],
    ['LOG10(A8)+A8B+A8.x+_A8+XFE8+A8_', 'LOG10(A7)+A8B+A8.x+_A8+XFE8+A8_'],
    ['Table1[[#This Row],[A8]]+Table1[A8]+[@A8]+A8', 'Table1[[#This Row],[A8]]+Table1[A8]+[@A8]+A7'],
    ["Table1[it''s A8]", "Table1[it''s A8]"],
    ['#REF!+A8+Data!#REF!+IF(ISNA(#N/A),1,A9)', '#REF!+A7+Data!#REF!+IF(ISNA(#N/A),1,A8)'],
    ['A8#+@A8+A8:INDEX(A:A,9)', 'A7#+@A7+A7:INDEX(A:A,9)'],
    ['-A8%^2', '-A7%^2'],
    ['1E8+A8*1.5', '1E8+A7*1.5'],
    ['{1,2;"A8",3}', '{1,2;"A8",3}'],
    ['a8+$a8', 'A7+$A7'],
    ['A1048576', 'A1048575'],
  ]
  for (const [before, after] of cases) {
    test(before, async () => {
      const bytes = workbook(sheet({ 2: formula('C2', before), 9: formula('C9', before) }))
      const cells = (await sheetAfter(bytes, 5)).matchAll(/<c r="C\d"><f(?: ca="1")?>(.*?)<\/f>/g)
      const found = [...cells].map(([, text]) => decodeXmlEntities(text ?? ''))
      assert.deepEqual(found, [after, after])
    })
  }

  test('on other tabs, in names, validations and rules; where none does, the part keeps its text', async () => {
    const other = `<worksheet><sheetData><row r="1">${formula('A1', "Data!A8+A8+'my tab'!A8")}</row><row r="8"><c r="A8"><v>1</v></c></row></sheetData><conditionalFormatting sqref="A1"><cfRule><formula>Data!$A$8&gt;A8</formula></cfRule></conditionalFormatting><dataValidations count="1"><dataValidation sqref="A8"><formula1>Data!$A$2:$A$9</formula1></dataValidation></dataValidations></worksheet>`
    const third = `<worksheet><sheetData><row r="1">${formula('A1', 'A8+Database!A8')}</row></sheetData></worksheet>`
    const names =
      '<definedNames><definedName name="_xlnm.Print_Area" localSheetId="0">Data!$A$1:$C$10</definedName><definedName name="Both">Data!$A$8,\'my tab\'!$A$8</definedName></definedNames>'
    const parts = await partsAfter(
      workbook(
        sheet(),
        [
          { name: 'my tab', rows: other },
          { name: 'Database', rows: third },
        ],
        [],
        names,
      ),
      5,
    )
    const after = parts.get('xl/worksheets/sheet1.xml') ?? ''
    assert.match(after, /<f>Data!A7\+A8\+'my tab'!A8<\/f>/)
    assert.match(after, /<formula>Data!\$A\$7&gt;A8<\/formula>/)
    assert.match(after, /<dataValidation sqref="A8"><formula1>Data!\$A\$2:\$A\$8</)
    assert.equal(parts.get('xl/worksheets/sheet2.xml'), third)
    assert.match(parts.get('xl/workbook.xml') ?? '', />Data!\$A\$1:\$C\$9<.*>Data!\$A\$7,'my tab'!\$A\$8</)
  })

  test('shared ones become the formulas of their cells', async () => {
    const shared = Object.fromEntries(
      [2, 3, 4, 6, 7].map((row) => [row, `<c r="C${row}"><f t="shared" si="3"/><v>0</v></c>`]),
    )
    shared[2] = '<c r="C2"><f t="shared" ref="C2:C7" si="3" ca="1">A2*2+B$9&amp;"A2"</f><v>0</v></c>'
    const after = await sheetAfter(workbook(sheet(shared)), 3)
    const found = [...after.matchAll(/<c r="(C\d)"><f(.*?)<\/f>/g)].map(([, cell, text]) => `${cell} ${text}`)
    assert.deepEqual(found, [
      'C2 ca="1">A2*2+B$8&amp;"A2"'.replace('C2 ca', 'C2  ca'),
      'C3 >A3*2+B$8&amp;"A2"',
      'C5 >A5*2+B$8&amp;"A2"',
      'C6 >A6*2+B$8&amp;"A2"',
    ])
    const withoutFirst = await sheetAfter(workbook(sheet(shared)), 2)
    assert.match(withoutFirst, /<c r="C2"><f>A2\*2\+B\$8/)
    assert.doesNotMatch(withoutFirst, /shared/)
  })

  test('an array formula moves as a whole', async () => {
    const array = {
      7: '<c r="C7"><f t="array" ref="C7:C8">A7:A8*2</f><v>0</v></c>',
      8: '<c r="C8"><v>0</v></c>',
    }
    assert.match(
      await sheetAfter(workbook(sheet(array)), 3),
      /<c r="C6"><f t="array" ref="C6:C7">A6:A7\*2<\/f>/,
    )
    await assertRefused(workbook(sheet(array)), 8, 'one formula fills this row and others')
    const single = { 7: '<c r="C7"><f t="array" ref="C7:D7">A7*2</f><v>0</v></c>' }
    assert.doesNotMatch(await sheetAfter(workbook(sheet(single)), 7), /array/)
  })

  test('a formula in the row goes with it; one elsewhere that names it alone is not broken', async () => {
    assert.doesNotMatch(await sheetAfter(workbook(sheet({ 5: formula('C5', 'A5*2') })), 5), /<f/)
    await assertRefused(
      workbook(sheet({ 7: formula('C7', 'A5*2') })),
      5,
      'the formula in Data!C7 refers to it',
    )
    const outcome = await editXlsx(
      workbook(sheet({ 9: formula('C9', 'SUM(A5:A6)') })),
      undefined,
      removals(2, 4, 4),
    )
    assert.deepEqual(outcome, {
      changeAt: 1,
      reason: 'file',
      details: 'Row 4 cannot be deleted: the formula in Data!C9 refers to it.',
    })
    const other = `<worksheet><sheetData><row r="1">${formula('B1', 'Data!A5')}</row></sheetData></worksheet>`
    await assertRefused(
      workbook(sheet(), [{ name: 'Sums', rows: other }]),
      5,
      'the formula in Sums!B1 refers to it',
    )
    const names = '<definedNames><definedName name="Best">Data!$A$5</definedName></definedNames>'
    await assertRefused(workbook(sheet(), [], [], names), 5, 'the name Best refers to it')
    await assertRefused(
      workbook(sheet({ 2: formula('C2', 'SUM(Data:Sums!A5)') })),
      5,
      'the formula in Data!C2 refers to several tabs at once',
    )
  })
})
