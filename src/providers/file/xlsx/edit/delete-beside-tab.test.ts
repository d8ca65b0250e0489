import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Change } from '../../../../sheets/change.ts'
import { unzip, zip } from '../workbook.fixture.ts'
import { assertRefused, partsAfter, sheet, workbook } from './deletion.fixture.ts'
import { editXlsx } from './edit.ts'

describe('what hangs on the tab follows', () => {
  const chart = '<c:chart><c:f>Data!$A$2:$A$10</c:f><c:f>Other!$A$9</c:f></c:chart>'
  const anchor = (mode: string, from: number, to: number, offsets = '7') =>
    `<xdr:twoCellAnchor${mode}><xdr:from><xdr:row>${from}</xdr:row><xdr:rowOff>${offsets}</xdr:rowOff></xdr:from><xdr:to><xdr:row>${to}</xdr:row><xdr:rowOff>7</xdr:rowOff></xdr:to></xdr:twoCellAnchor>`

  test('pictures and charts move and shrink as they are told to', async () => {
    const oneCell = ' editAs="oneCell"'
    const absolute = ' editAs="absolute"'
    const drawing = (anchors: string[]) => `<xdr:wsDr>${anchors.join('')}</xdr:wsDr>`
    const before = drawing([
      anchor('', 0, 8),
      anchor('', 6, 8),
      anchor('', 4, 8),
      anchor(oneCell, 6, 9),
      anchor(absolute, 6, 9),
    ])
    const parts = await partsAfter(
      workbook(
        sheet(),
        [],
        [
          { type: 'drawing', path: 'xl/drawings/d.xml', data: before },
          { type: 'chart', path: 'xl/charts/c.xml', data: chart, of: 'xl/drawings/d.xml' },
        ],
      ),
      5,
    )
    assert.equal(
      parts.get('xl/drawings/d.xml'),
      drawing([
        anchor('', 0, 7),
        anchor('', 5, 7),
        anchor('', 4, 7, '0'),
        anchor(oneCell, 5, 8),
        anchor(absolute, 6, 9),
      ]),
    )
    assert.equal(parts.get('xl/charts/c.xml'), chart.replace('$A$10', '$A$9'))
  })

  const table = (ref: string, attributes = '', formulas = '') =>
    `<table displayName="T"${attributes} ref="${ref}"><autoFilter ref="${ref}"><sortState ref="A2:B9"/></autoFilter><tableColumns><tableColumn>${formulas}</tableColumn></tableColumns></table>`

  test('tables shrink, but for their headers, totals and last row', async () => {
    const attached = (data: string) =>
      workbook(sheet(), [], [{ type: 'table', path: 'xl/tables/t.xml', data }])
    const formulas = '<calculatedColumnFormula>A2*Data!$A$9</calculatedColumnFormula>'
    const parts = await partsAfter(attached(table('A1:B10', '', formulas)), 5)
    assert.equal(
      parts.get('xl/tables/t.xml'),
      table('A1:B9', '', formulas.replace('$A$9', '$A$8')).replace('A2:B9', 'A2:B8'),
    )
    const inTheWay = 'it holds the headers or the totals of the table T'
    await assertRefused(attached(table('A5:B10')), 5, inTheWay)
    await assertRefused(attached(table('A1:B10', ' totalsRowCount="1"')), 10, inTheWay)
    await assertRefused(
      attached(table('A4:B5').replace('A2:B9', 'A4:B5')),
      5,
      'it is the only row of the table T',
    )
  })

  test('a table takes in rows that are added right below it, unless it ends with totals', async () => {
    const added = async (data: string, ...cells: (number | null)[]): Promise<string> => {
      const bytes = workbook(sheet(), [], [{ type: 'table', path: 'xl/tables/t.xml', data }])
      const outcome = await editXlsx(bytes, undefined, [
        { kind: 'delete', rowNumber: 4 },
        { kind: 'add', rows: [cells, cells] },
      ])
      assert.ok('bytes' in outcome, JSON.stringify(outcome))
      return String(unzip(outcome.bytes).get('xl/tables/t.xml'))
    }
    const shrunk = (ref: string, attributes = '') => table(ref, attributes).replace('A2:B9', 'A2:B8')
    assert.equal(await added(table('A1:B10'), 1), shrunk('A1:B11'))
    assert.equal(await added(table('A1:B9'), 1), shrunk('A1:B8'), 'a row lies between')
    assert.equal(await added(table('A1:B11'), 1), shrunk('A1:B11'), 'its last row was empty')
    assert.equal(await added(table('B1:B10'), 1), shrunk('B1:B9'), 'nothing in its columns')
    const withTotals = (end: number, filterEnd: number): string =>
      table(`A1:B${end}`, ' totalsRowCount="1"').replace(
        `<autoFilter ref="A1:B${end}"`,
        `<autoFilter ref="A1:B${filterEnd}"`,
      )
    assert.equal(await added(withTotals(10, 9), 1), withTotals(9, 8).replace('A2:B9', 'A2:B8'))
  })

  test('the filter of a table ends above its totals, whatever is written', async () => {
    const data = table('A1:B8', ' totalsRowCount="1"')
      .replace('<autoFilter ref="A1:B8"', '<autoFilter ref="A1:B7"')
      .replace('A2:B9', 'A2:B7')
    const bytes = workbook(sheet(), [], [{ type: 'table', path: 'xl/tables/t.xml', data }])
    const after = async (...changes: Change[]): Promise<string> => {
      const outcome = await editXlsx(bytes, undefined, changes)
      assert.ok('bytes' in outcome, JSON.stringify(outcome))
      return String(unzip(outcome.bytes).get('xl/tables/t.xml'))
    }
    const change: Change = { kind: 'update', rowNumber: 3, cells: [{ columnIndex: 0, value: 'x' }] }
    assert.equal(await after(change), data)
    assert.equal(await after({ kind: 'add', rows: [['below the totals']] }), data)
    const shorter = data
      .replace('A1:B8', 'A1:B7')
      .replace('<autoFilter ref="A1:B7"', '<autoFilter ref="A1:B6"')
    assert.equal(await after({ kind: 'delete', rowNumber: 4 }), shorter.replace('A2:B7', 'A2:B6'))
  })

  test('headers and totals of a table are not written over', async () => {
    const data = table('A3:A10', ' totalsRowCount="1"')
    const bytes = workbook(sheet(), [], [{ type: 'table', path: 'xl/tables/t.xml', data }])
    const change = (rowNumber: number, columnIndex: number): Change => ({
      kind: 'update',
      rowNumber,
      cells: [{ columnIndex, value: 'x' }],
    })
    for (const row of [3, 10]) {
      assert.deepEqual(await editXlsx(bytes, undefined, [change(row, 0)]), {
        changeAt: 0,
        reason: 'file',
        details: 'The row holds the headers or the totals of the table T.',
      })
    }
    assert.ok('bytes' in (await editXlsx(bytes, undefined, [change(3, 1), change(5, 0)])))
  })

  test('formulas of tables on other tabs, and sources of pivot tables', async () => {
    const source = (ref: string) =>
      `<pivotCacheDefinition><cacheSource><worksheetSource ref="${ref}" sheet="data"/></cacheSource></pivotCacheDefinition>`
    const foreign = (row: number) =>
      table('A1:B10', '', `<totalsRowFormula>Data!A${row}+A9</totalsRowFormula>`)
    const bytes = workbook(
      sheet(),
      [{ name: 'Other', rows: sheet() }],
      [
        { type: 'table', path: 'xl/tables/f.xml', data: foreign(9), of: 'xl/worksheets/sheet1.xml' },
        { type: 'pivotCacheDefinition', path: 'xl/pivot.xml', data: source('A1:C10'), of: 'xl/workbook.xml' },
      ],
    )
    const parts = await partsAfter(bytes, 5)
    assert.equal(parts.get('xl/tables/f.xml'), foreign(8))
    assert.equal(parts.get('xl/pivot.xml'), source('A1:C9'))
  })

  test('comments move along with their rows, and go with them', async () => {
    const comments = (...refs: string[]) =>
      `<comments><commentList>${refs.map((ref) => `<comment ref="${ref}"><text><t>${ref[0]}</t></text></comment>`).join('')}</commentList></comments>`
    const threads = (...refs: string[]) =>
      `<ThreadedComments>${refs.map((ref) => `<threadedComment ref="${ref}" id="{1}"/>`).join('')}</ThreadedComments>`
    const box = (row: number, top: number, type = 'Note') =>
      `<v:shape id="s${type}"><v:textbox/><x:ClientData ObjectType="${type}"><x:MoveWithCells/><x:Anchor>1, 15, ${top}, 2, 3, 15, ${top + 4}, 4</x:Anchor><x:Row>${row}</x:Row><x:Column>1</x:Column></x:ClientData></v:shape>`
    const boxes = (...shapes: string[]) =>
      `<xml xmlns:v="urn:v" xmlns:x="urn:x"><v:shapetype/>${shapes.join('')}</xml>`
    const parts = await partsAfter(
      workbook(
        sheet(),
        [],
        [
          { type: 'comments', path: 'xl/c.xml', data: comments('B4', 'C5', 'D9') },
          { type: 'threadedComment', path: 'xl/t.xml', data: threads('B4', 'C5', 'D9') },
          {
            type: 'vmlDrawing',
            path: 'xl/v.vml',
            data: boxes(box(3, 2), box(4, 3), box(8, 7), box(8, 7, 'Button')),
          },
        ],
      ),
      5,
    )
    assert.equal(parts.get('xl/c.xml'), comments('B4', 'D8'))
    assert.equal(parts.get('xl/t.xml'), threads('B4', 'D8'))
    assert.equal(parts.get('xl/v.vml'), boxes(box(3, 2), box(7, 6), box(8, 7, 'Button')))
  })

  test('a drawing that is named and absent, and the view of a page on a Mac, stand in no way', async () => {
    const view = '<extLst><ext><mx:PLV Mode="0" OnePage="0" WScale="0"/></ext></extLst>'
    const bytes = workbook(
      sheet({}, `<drawing/>${view}`),
      [],
      [{ type: 'drawing', path: 'xl/d.xml', data: '<x/>' }],
    )
    const without = [...unzip(bytes)].filter(([name]) => name !== 'xl/d.xml')
    const parts = await partsAfter(zip(without.map(([name, data]) => ({ name, data }))), 5)
    assert.ok(parts.get('xl/worksheets/sheet0.xml')?.includes(view))
  })
})
