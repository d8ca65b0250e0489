import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Change } from '../../../../sheets/change.ts'
import { decodeXlsx } from '../read/xlsx.ts'
import { type TestWorkbook, unzip, withPart, workbookParts, zip } from '../workbook.fixture.ts'
import { add, editWorkbook, header, remove, rowsAfter, rowXmlAfter, SHEET, update } from './edit.fixture.ts'
import { editXlsx } from './edit.ts'

describe('the rest of the workbook', () => {
  const rows = `${header}<row r="2"><c r="A2"><v>2</v></c></row>`

  test('keeps its bytes: only the tab is another', async () => {
    const media = Buffer.from(Array.from({ length: 5000 }, (_, at) => (at * at) % 251))
    const parts = [...workbookParts({ rows }), { name: 'xl/media/Image 1.png', data: media, stored: true }]
    const before = zip(parts)
    const outcome = await editXlsx(before, undefined, [add([3])])
    assert.ok('bytes' in outcome)
    const [old, now] = [unzip(before), unzip(outcome.bytes)]
    assert.deepEqual([...now.keys()], [...old.keys()])
    for (const [name, data] of old) if (name !== SHEET) assert.deepEqual(now.get(name), data, name)
  })

  test('is calculated anew when it is opened, if it may have formulas', async () => {
    const formula = '<row r="2"><c r="A2"><f>1+1</f><v>2</v></c></row>'
    const workbookPart = async (workbook: TestWorkbook): Promise<string> =>
      String(unzip((await editWorkbook(workbook, add([1]))).bytes).get('xl/workbook.xml'))
    assert.doesNotMatch(await workbookPart({ rows }), /calcPr/)
    assert.match(
      await workbookPart({ rows: header + formula }),
      /<\/sheets><calcPr fullCalcOnLoad="1"\/><\/workbook>$/,
    )
    const tabs = [
      { name: 'One', rows },
      { name: 'Two', rows: header + formula },
    ]
    assert.match(await workbookPart({ tabs }), /<calcPr fullCalcOnLoad="1"\/>/)
    const prefixed = await workbookPart({ rows: header + formula, prefix: 'x' })
    assert.match(prefixed, /<x:calcPr fullCalcOnLoad="1"\/>/)
    const calcPr = '<calcPr calcId="191029" iterate="1"/>'
    const parts = withPart('xl/workbook.xml', {
      data: String(workbookParts({})[2]?.data).replace(
        '</sheets>',
        `</sheets><definedNames/>${calcPr}<extLst/>`,
      ),
    })
    assert.match(
      await workbookPart({ rows: header + formula, parts }),
      /<calcPr calcId="191029" iterate="1" fullCalcOnLoad="1"\/><extLst\/>/,
    )
  })

  test('an order of calculation that names a formula no longer there goes', async () => {
    const formula = '<row r="2"><c r="A2"><f>1+1</f><v>2</v></c></row><row r="3"><c r="A3"><v>2</v></c></row>'
    const chain = { name: 'xl/calcChain.xml', data: '<calcChain><c r="A2" i="1"/></calcChain>' }
    const parts = workbookParts({ rows: header + formula }).map((part) => {
      const data = String(part.data)
      if (part.name === 'xl/_rels/workbook.xml.rels') {
        const link = '<Relationship Id="c" Type="http://x/calcChain" Target="calcChain.xml"/></Rel'
        return { ...part, data: data.replace('</Rel', link) }
      }
      return part.name === '[Content_Types].xml'
        ? {
            ...part,
            data: data.replace('/>', '><Override PartName="/xl/calcChain.xml" ContentType="c"/></Types>'),
          }
        : part
    })
    const bytes = zip([...parts, chain])
    const after = async (change: Change): Promise<Map<string, Buffer>> => {
      const outcome = await editXlsx(bytes, undefined, [change])
      assert.ok('bytes' in outcome)
      return unzip(outcome.bytes)
    }
    for (const change of [update(2, [0, 5]), remove(2), remove(3)]) {
      const left = await after(change)
      assert.equal(left.has('xl/calcChain.xml'), false)
      assert.doesNotMatch(String(left.get('xl/_rels/workbook.xml.rels')), /calcChain/)
      assert.doesNotMatch(String(left.get('[Content_Types].xml')), /calcChain/)
    }
    for (const change of [update(3, [0, 5]), add([1])]) {
      assert.equal((await after(change)).has('xl/calcChain.xml'), true)
    }
  })

  test('a shared formula whose first cell is written over is kept by the others', async () => {
    const shared = (row: number, master = '') =>
      `<row r="${row}"><c r="A${row}"><v>${row}</v></c><c r="B${row}"><f t="shared"${master}si="0"${master ? '>A2*$A$2+SUM(A2:A3)</f>' : '/>'}<v>1</v></c></row>`
    const sheet =
      header +
      shared(2, ' ref="B2:B4" ') +
      shared(3, '').replace('"shared"si', '"shared" si') +
      shared(4, '').replace('"shared"si', '"shared" si')
    const after = await rowXmlAfter({ rows: sheet }, update(2, [1, 'x']))
    assert.match(after ?? '', /<c r="B2" t="inlineStr">/)
    assert.match(after ?? '', /<c r="B3"><f>A3\*\$A\$2\+SUM\(A3:A4\)<\/f><v>1<\/v><\/c>/)
    assert.match(after ?? '', /<c r="B4"><f>A4\*\$A\$2\+SUM\(A4:A5\)<\/f><v>1<\/v><\/c>/)
    const untouched = await rowXmlAfter({ rows: sheet }, update(3, [1, 'x']))
    assert.match(untouched ?? '', /<c r="B4"><f t="shared" si="0"\/>/)
  })

  test('strict OOXML, prefixed elements, UTF-16 and a byte order mark stay what they are', async () => {
    const workbook: TestWorkbook = { rows, formats: [0, 14] }
    const expected = [['a', 'b'], [2, 'é'], ['😀']]
    const changes = [update(2, [1, 'é']), add(['😀'])]
    assert.deepEqual(await rowsAfter({ ...workbook, strict: true }, ...changes), expected)
    assert.deepEqual(await rowsAfter({ ...workbook, prefix: 'x' }, ...changes), expected)
    const encodings: [mark: string, encode: (text: string) => Buffer][] = [
      ['efbbbf', (text) => Buffer.from(`\uFEFF${text}`, 'utf8')],
      ['fffe', (text) => Buffer.from(`\uFEFF${text}`, 'utf16le')],
      ['feff', (text) => Buffer.from(`\uFEFF${text}`, 'utf16le').swap16()],
    ]
    for (const [mark, encode] of encodings) {
      const parts = workbookParts(workbook).map((part) => ({ ...part, data: encode(String(part.data)) }))
      const outcome = await editXlsx(zip(parts), undefined, changes)
      assert.ok('bytes' in outcome)
      assert.deepEqual((await decodeXlsx(outcome.bytes, {})).rows, expected)
      assert.ok(unzip(outcome.bytes).get(SHEET)?.toString('hex').startsWith(mark))
    }
  })
})
