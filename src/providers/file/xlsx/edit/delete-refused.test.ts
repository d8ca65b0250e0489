import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { assertRefused, sheet, workbook } from './deletion.fixture.ts'
import { editXlsx } from './edit.ts'

describe('what cannot follow stands in the way, and is named', () => {
  const attached: [what: string, type: string, data: string, why: string][] = [
    [
      'pivot tables',
      'pivotTable',
      '<pivotTableDefinition><location ref="C3:D7"/></pivotTableDefinition>',
      'there is a pivot table at or below it',
    ],
    [
      'boxes of comments that are no XML',
      'vmlDrawing',
      '<xml><v:shape><br><x:ClientData ObjectType="Note"><x:Row>8</x:Row></x:ClientData></v:shape></xml>',
      'the tab has comments in a drawing that Rowport cannot read',
    ],
    ['form controls', 'ctrlProp', '<formControlPr/>', 'the tab has something unknown to Rowport (ctrlProp)'],
  ]
  for (const [what, type, data, why] of attached) {
    test(what, () => assertRefused(workbook(sheet(), [], [{ type, path: 'xl/x.xml', data }]), 5, why))
  }

  const sections: [section: string, why: string][] = [
    ['<scenarios/>', 'the tab has scenarios'],
    ['<customSheetViews/>', 'the tab has custom views'],
    ['<rowBreaks><brk id="5"/></rowBreaks>', 'the tab has page breaks at or below it'],
    ['<controls/>', 'the tab has form controls'],
    ['<oleObjects/>', 'the tab has embedded objects'],
    ['<mc:AlternateContent/>', 'the tab has form controls or embedded objects'],
    ['<futureThing/>', 'the tab has something unknown to Rowport (futureThing)'],
    [
      '<extLst><ext><y:futureThing/></ext></extLst>',
      'the tab has something unknown to Rowport (futureThing)',
    ],
    ['<autoFilter ref="A5:C10"/>', 'the filter of the tab begins in it'],
  ]
  for (const [section, why] of sections) {
    test(section, () => assertRefused(workbook(sheet({}, section)), 5, why))
  }

  test('a data table, macros of the old kind, controls elsewhere', async () => {
    const dataTable = { 2: '<c r="C2"><f t="dataTable" ref="C2:C4" r1="A1"/><v>0</v></c>' }
    await assertRefused(workbook(sheet(dataTable)), 9, 'the tab has a data table (What-If Analysis)')
    const macros = { type: 'xlMacrosheet', path: 'xl/m.xml', data: '<x/>', of: 'xl/workbook.xml' }
    await assertRefused(
      workbook(sheet(), [], [macros]),
      9,
      'the workbook has dialogs or macros of the old kind',
    )
    const control = { type: 'ctrlProp', path: 'xl/p.xml', data: '<x/>', of: 'xl/worksheets/sheet1.xml' }
    await assertRefused(
      workbook(sheet(), [{ name: 'Other', rows: sheet() }], [control]),
      9,
      'another tab has form controls, which may be linked to it',
    )
  })

  test('none of it stands in the way of an update or an addition', async () => {
    const bytes = workbook(
      sheet({}, '<scenarios/><futureThing/>'),
      [],
      attached
        .filter(([, type]) => type !== 'pivotTable')
        .map(([what, type, data]) => ({ type, path: `xl/${what}.xml`, data })),
    )
    const outcome = await editXlsx(bytes, undefined, [
      { kind: 'update', rowNumber: 5, cells: [{ columnIndex: 0, value: 'x' }] },
      { kind: 'add', rows: [[1]] },
    ])
    assert.ok('bytes' in outcome)
  })

  test('a cell of a pivot table is not written over', async () => {
    const data = '<pivotTableDefinition><location ref="A3:B4"/></pivotTableDefinition>'
    const bytes = workbook(sheet(), [], [{ type: 'pivotTable', path: 'xl/p.xml', data }])
    const outcome = await editXlsx(bytes, undefined, [
      { kind: 'update', rowNumber: 3, cells: [{ columnIndex: 1, value: 'x' }] },
    ])
    assert.deepEqual(outcome, { changeAt: 0, reason: 'file', details: 'The row is part of a pivot table.' })
  })
})
