import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { MAX_ROWS } from '../container/limits.ts'
import { decodeXlsx } from '../read/xlsx.ts'
import { buildWorkbook, unzip } from '../workbook.fixture.ts'
import {
  add,
  edit,
  editWorkbook,
  header,
  remove,
  rowsAfter,
  rowXmlAfter,
  SHEET,
  update,
  worksheet,
} from './edit.fixture.ts'
import { editXlsx } from './edit.ts'

describe('rows are added after the last one with data', () => {
  test('numbered, in order, with a dimension that holds them', async () => {
    const workbook = worksheet(`${header}<row r="4"><c r="A4"><v>1</v></c></row>`, '<dimension ref="A1:B4"/>')
    const { bytes, results } = await editWorkbook(workbook, add([2, 'x'], [null, null, 'wide']), add([4]))
    assert.deepEqual(results, [
      {
        kind: 'add',
        rowNumbers: [5, 6],
        rows: [
          [2, 'x'],
          [null, null, 'wide'],
        ],
      },
      { kind: 'add', rowNumbers: [7], rows: [[4]] },
    ])
    assert.deepEqual((await decodeXlsx(bytes, {})).rows, [
      ['a', 'b'],
      [],
      [],
      [1],
      [2, 'x'],
      [null, null, 'wide'],
      [4],
    ])
    assert.match(String(unzip(bytes).get(SHEET)), /<dimension ref="A1:C7"\/>/)
  })

  test('into rows that have only formats, whose styles stay', async () => {
    const rows =
      `${header}<row r="2"><c r="A2" s="1"><v>1</v></c></row>` +
      '<row r="3" ht="9"><c r="A3" s="2"/><c r="B3" s="2"/></row><row r="5"><c r="A5" s="2"/></row>'
    assert.equal(
      await rowXmlAfter({ rows, formats: [0, 1, 2] }, add([7], ['x'])),
      `${header}<row r="2"><c r="A2" s="1"><v>1</v></c></row>` +
        '<row r="3" ht="9"><c r="A3" s="2"><v>7</v></c><c r="B3" s="2"/></row>' +
        '<row r="4"><c r="A4" s="1" t="inlineStr"><is><t xml:space="preserve">x</t></is></c></row>' +
        '<row r="5"><c r="A5" s="2"/></row>',
    )
  })

  test('they look like the row above, their empty cells too, but not like the header', async () => {
    const rows =
      '<row r="1"><c r="A1" s="2" t="str"><v>a</v></c><c r="B1" s="2" t="str"><v>b</v></c><c r="C1" t="str"><v>c</v></c></row>'
    const data =
      '<row r="2"><c r="A2" s="1"><v>1</v></c><c r="B2"><v>2</v></c><c r="C2" s="3"/><c r="Z2" s="3"/></row>'
    const formats = [0, 1, 2, 4]
    const cells = (row: number) => `<c r="A${row}" s="1"><v>5</v></c><c r="C${row}" s="3"/>`
    assert.equal(
      await rowXmlAfter({ rows: rows + data, formats }, add([5]), add([5])),
      `${rows}${data}<row r="3">${cells(3)}</row><row r="4">${cells(4)}</row>`,
    )
    assert.equal(
      await rowXmlAfter({ rows, formats }, add([5])),
      `${rows}<row r="2"><c r="A2"><v>5</v></c></row>`,
    )
  })

  test('a formula that is prepared below the data stays, one without a result is not written over', async () => {
    const prepared = `${header}<row r="2"><c r="A2"><v>1</v></c><c r="B2"><f>A2*2</f><v>2</v></c></row>`
    const empty = '<row r="3"><c r="B3" t="str"><f>IF(A3="","",A3*2)</f><v></v></c></row>'
    assert.equal(
      await rowXmlAfter({ rows: prepared + empty }, add([7])),
      `${prepared}<row r="3"><c r="A3"><v>7</v></c><c r="B3" t="str"><f ca="1">IF(A3="","",A3*2)</f></c></row>`,
    )
    const running = [3, 4].map(
      (row) =>
        `<row r="${row}"><c r="B${row}" t="str"><f>IF(A${row}="","",SUM(A$2:A${row}))</f><v></v></c></row>`,
    )
    const first = await editWorkbook({ rows: prepared + running.join('') }, add([7]))
    const second = await editXlsx(first.bytes, undefined, [add([8])])
    assert.ok('bytes' in second && second.results[0]?.kind === 'add')
    assert.deepEqual(second.results[0].rowNumbers, [4])
    const totals = '<row r="4"><c r="A4"><f>SUM(A2:A3)</f><v/></c></row>'
    const { bytes, results } = await editWorkbook({ rows: prepared + totals }, remove(2), add([7]))
    const stale = { columns: [], cells: 1 }
    assert.deepEqual(results[1], { kind: 'add', rowNumbers: [4], rows: [[7]], stale })
    assert.deepEqual((await decodeXlsx(bytes, {})).rows, [['a', 'b'], [], [], [7]])
  })

  test('into a tab without rows', async () => {
    for (const rows of [
      '<worksheet><sheetData/></worksheet>',
      '<worksheet><sheetData></sheetData></worksheet>',
    ]) {
      assert.deepEqual(await rowsAfter({ tabs: [{ name: 'S', rows }] }, add(['x', 1])), [['x', 1]])
    }
  })

  test('up to the last row of a sheet', async () => {
    const rows = `${header}<row r="${MAX_ROWS - 1}"><c r="A${MAX_ROWS - 1}"><v>1</v></c></row>`
    const { results } = await editWorkbook({ rows }, add([2]))
    assert.deepEqual(results, [{ kind: 'add', rowNumbers: [MAX_ROWS], rows: [[2]] }])
    const outcome = await edit({ rows }, remove(2), add([2], [3]), add([4]))
    assert.ok('reason' in outcome)
    assert.deepEqual([outcome.changeAt, outcome.reason], [2, 'file'])
  })
})

describe('changes are made one after the other', () => {
  test('each in the numbering that holds when its turn comes', async () => {
    const rows = `${header}<row r="2"><c r="A2"><v>2</v></c></row><row r="3"><c r="A3"><v>3</v></c></row><row r="5"><c r="A5"><v>5</v></c></row>`
    const { bytes, results } = await editWorkbook(
      { rows },
      remove(2),
      add([6, 'six'], [7]),
      update(5, [1, 'new']),
      remove(4),
      update(3, [0, 'was blank']),
      remove(2),
      update(3, [0, 8]),
    )
    assert.deepEqual(results, [
      { kind: 'delete', row: [2] },
      { kind: 'add', rowNumbers: [5, 6], rows: [[6, 'six'], [7]] },
      { kind: 'update', row: [6, 'new'] },
      { kind: 'delete', row: [5] },
      { kind: 'update', row: ['was blank'] },
      { kind: 'delete', row: [3] },
      { kind: 'update', row: [8, 'new'] },
    ])
    assert.deepEqual((await decodeXlsx(bytes, {})).rows, [['a', 'b'], ['was blank'], [8, 'new'], [7]])
  })

  test('a row emptied at the end is no row any more, and is filled again', async () => {
    const rows = `${header}<row r="2"><c r="A2"><v>2</v></c></row><row r="3"><c r="A3" s="0"><v>3</v></c><c r="B3"><v>4</v></c></row>`
    assert.deepEqual(await rowsAfter({ rows }, update(3, [0, null], [1, null]), add([9])), [
      ['a', 'b'],
      [2],
      [9],
    ])
    const outcome = await edit({ rows }, update(3, [0, null], [1, null]), remove(3))
    assert.deepEqual(outcome, { changeAt: 1, reason: 'row', details: 'There is no row 3.' })
  })

  test('none is no change', async () => {
    const bytes = buildWorkbook({ rows: header })
    assert.deepEqual(await editXlsx(bytes, undefined, []), { bytes, results: [], header: [] })
  })
})
