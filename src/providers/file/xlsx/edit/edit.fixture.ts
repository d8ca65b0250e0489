import assert from 'node:assert/strict'
import type { Change, Edited, Unfit } from '../../../../sheets/change.ts'
import type { Cell } from '../../../../sheets/rows/grid.ts'
import { decodeXlsx } from '../read/xlsx.ts'
import { buildWorkbook, type TestWorkbook, unzip } from '../workbook.fixture.ts'
import { editXlsx } from './edit.ts'

/** What tests of editing share: changes in short, and workbooks after them. */
export const SHEET = 'xl/worksheets/sheet0.xml'

export const update = (rowNumber: number, ...cells: [column: number, value: Cell][]): Change => ({
  kind: 'update',
  rowNumber,
  cells: cells.map(([columnIndex, value]) => ({ columnIndex, value })),
})
export const remove = (rowNumber: number): Change => ({ kind: 'delete', rowNumber })
export const add = (...rows: Cell[][]): Change => ({ kind: 'add', rows })

export const edit = (workbook: TestWorkbook, ...changes: Change[]): Promise<Edited | Unfit> =>
  editXlsx(buildWorkbook(workbook), undefined, changes)

export async function editWorkbook(workbook: TestWorkbook, ...changes: Change[]): Promise<Edited> {
  const outcome = await edit(workbook, ...changes)
  assert.ok('bytes' in outcome, JSON.stringify(outcome))
  return outcome
}

export async function rowsAfter(workbook: TestWorkbook, ...changes: Change[]): Promise<Cell[][]> {
  return (await decodeXlsx((await editWorkbook(workbook, ...changes)).bytes, {})).rows
}

/** What stands between the tags of `sheetData`. */
export async function rowXmlAfter(workbook: TestWorkbook, ...changes: Change[]): Promise<string | undefined> {
  const sheet = String(unzip((await editWorkbook(workbook, ...changes)).bytes).get(SHEET))
  return /<sheetData>(.*)<\/sheetData>/s.exec(sheet)?.[1]
}

export const worksheet = (rows: string, before = '', after = ''): TestWorkbook => ({
  tabs: [{ name: 'S', rows: `<worksheet>${before}<sheetData>${rows}</sheetData>${after}</worksheet>` }],
})

export const header = '<row r="1"><c r="A1" t="str"><v>a</v></c><c r="B1" t="str"><v>b</v></c></row>'
