import { copyFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { writeCsvText } from '../../src/providers/file/csv/text.ts'
import { sheet, workbook } from '../../src/providers/file/xlsx/edit/deletion.fixture.ts'
import { shown } from '../../src/providers/file/xlsx/read/display/display-cases.fixture.ts'
import { buildWorkbook, escapeXml } from '../../src/providers/file/xlsx/workbook.fixture.ts'
import type { Cell } from '../../src/sheets/rows/grid.ts'
import { type DisplayedCell, generatedCells } from './generated-cells.ts'

const fixtures = fileURLToPath(new URL('../../src/providers/file/xlsx/fixtures', import.meta.url))

/** Files that we make, each of a kind that a stranger's file was found to be, with what must come of them beside them. */
export function writeOwnFiles(folder: string): void {
  const put = (name: string, bytes: Uint8Array | string, typed?: Cell[][]): void => {
    writeFileSync(join(folder, name), bytes)
    if (typed) writeFileSync(join(folder, `${name}.typed.json`), JSON.stringify(typed))
  }
  for (const name of readdirSync(fixtures)) copyFileSync(join(fixtures, name), join(folder, name))

  const cells: DisplayedCell[] = [...Object.values(shown).flat(), ...generatedCells()]
  put('displayed.xlsx', displayed(cells))
  const texts = cells.map(([, , text]) => `"${text.replaceAll('"', '""')}"`)
  put('displayed.xlsx.0.csv', `"shown"\n${texts.join('\n')}\n`)

  put('dates.xlsx', dates(false), dateRows)
  put('strict.xlsx', dates(true), dateRows)
  put('rich.xlsx', rich())

  const numbers =
    'id,n,note\r\n1,.31,a\r\n2,1.00E+05,b\r\n3, 7 ,"c, d"\r\n4,-18.430000000000007,\r\n5,0050,é\r\n,,\r\n,,\r\n'
  const typed: Cell[][] = [
    ['id', 'n', 'note'],
    [1, 0.31, 'a'],
    [2, 100_000, 'b'],
    [3, 7, 'c, d'],
    [4, '-18.430000000000007', null],
    [5, '0050', 'é'],
  ]
  for (const encoding of ['utf-8', 'utf-16le', 'utf-16be', 'utf-32le', 'utf-32be', 'windows-1252'] as const) {
    const hasBom = encoding.startsWith('utf-16') || encoding.startsWith('utf-32')
    put(`numbers-${encoding}.csv`, writeCsvText({ text: numbers, encoding, hasBom }), typed)
  }
  put('bars.csv', 'a|b\n1|x\n2|"y|z"\n\n\n', [
    ['a', 'b'],
    [1, 'x'],
    [2, 'y|z'],
  ])
  put('semicolons.csv', 'Preis, EUR;Ort\n3,50;Köln\n', [
    ['Preis, EUR', 'Ort'],
    ['3,50', 'Köln'],
  ])
  put('tabs.tsv', 'a\tb\n1\t\n\t2\n', [
    ['a', 'b'],
    [1, null],
    [null, 2],
  ])
}

function displayed(cells: readonly DisplayedCell[]): Uint8Array {
  const codes = [...new Set(cells.map(([code]) => code))]
  const rows = cells.map(([code, value], at) => {
    const style = `s="${codes.indexOf(code)}"`
    const content =
      typeof value === 'number'
        ? `<c r="A${at + 2}" ${style}><v>${value}</v></c>`
        : `<c r="A${at + 2}" ${style} t="inlineStr"><is><t>${escapeXml(value)}</t></is></c>`
    return `<row r="${at + 2}">${content}</row>`
  })
  const header = '<row r="1"><c r="A1" t="inlineStr"><is><t>shown</t></is></c></row>'
  return buildWorkbook({ formats: codes, rows: header + rows.join('') })
}

const dateRows: Cell[][] = [
  ['day', 'moment', 'time', 'length'],
  ['2026-11-15', '2026-11-15T09:30:00.250', '00:11:00', '26:30:00'],
  ['1900-01-01', '1900-01-01T12:00:00', '09:41:28.500', '00:00:01'],
  [0, 60, '00:00:00', '24:00:00'],
  ['1900-03-01', '9999-12-31T23:59:59', '23:59:59', '100:00:00'],
]

/** The same cells as numbers, or as the texts that Strict workbooks have. */
function dates(strict: boolean): Uint8Array {
  const ms = (hours: number, minutes: number, seconds: number) =>
    (hours * 3600 + minutes * 60 + seconds) / 86_400
  const numbers: [number, string][][] = [
    [
      [46_341, '2026-11-15'],
      [46_341 + ms(9, 30, 0.25), '2026-11-15T09:30:00.250'],
      [ms(0, 11, 0), 'PT0H11M0.000S'],
      [ms(26, 30, 0), 'PT26H30M0S'],
    ],
    [
      [1, '1899-12-31'],
      [1.5, '1899-12-31T12:00:00'],
      [ms(9, 41, 28.5), 'PT9H41M28.500S'],
      [ms(0, 0, 1), 'PT1S'],
    ],
    [
      [0, '1899-12-30'],
      [60, '1900-02-28T00:00:00'],
      [0, 'PT0S'],
      [1, 'P1D'],
    ],
    [
      [61, '1900-03-01'],
      [2_958_465 + ms(23, 59, 59), '9999-12-31T23:59:59'],
      [ms(23, 59, 59), 'PT23H59M59S'],
      [ms(100, 0, 0), 'PT100H0M0S'],
    ],
  ]
  const rows = numbers.map((row, at) => {
    const cells = row.map(([number, iso], column) =>
      strict ? `<c s="${column}" t="d"><v>${iso}</v></c>` : `<c s="${column}"><v>${number}</v></c>`,
    )
    return `<row r="${at + 2}">${cells.join('')}</row>`
  })
  const header = dateRows[0]?.map((name) => `<c t="str"><v>${name}</v></c>`).join('')
  const formats = ['yyyy-mm-dd', 'yyyy-mm-dd hh:mm:ss.000', 'h:mm:ss', '[h]:mm:ss']
  return buildWorkbook({ strict, formats, rows: `<row r="1">${header}</row>${rows.join('')}` })
}

/** What stood in the way of a deletion, or was damaged by a write, all in one. */
function rich(): Uint8Array {
  const view = '<extLst><ext><mx:PLV Mode="0"/></ext></extLst>'
  const totals =
    '<table displayName="T" totalsRowCount="1" ref="A1:B10"><autoFilter ref="A1:B9"/><tableColumns count="2"><tableColumn/><tableColumn/></tableColumns></table>'
  const box =
    '<xml xmlns:v="urn:v" xmlns:x="urn:x"><v:shape><x:ClientData ObjectType="Note"><x:Anchor>1, 0, 6, 0, 2, 0, 9, 0</x:Anchor><x:Row>6</x:Row><x:Column>0</x:Column></x:ClientData></v:shape></xml>'
  return workbook(
    sheet({ 3: '<c r="C3"><f>SUM(A2:A9)</f><v>44</v></c>' }, `<drawing/>${view}`),
    [{ name: 'Sums', rows: sheet({ 2: '<c r="B2"><f>SUM(Data!A:A)</f><v>55</v></c>' }) }],
    [
      { type: 'table', path: 'xl/tables/t.xml', data: totals },
      {
        type: 'comments',
        path: 'xl/c.xml',
        data: '<comments><commentList><comment ref="A7"/></commentList></comments>',
      },
      { type: 'vmlDrawing', path: 'xl/v.vml', data: box },
    ],
  )
}
