import { writeXlsx } from 'hucre/xlsx'
import { bearer, type ConnectedSheet, type Rowport } from '../harness.ts'

/** A sheet as people have them, with the description that tools get of it. */
export interface SheetOfKind extends ConnectedSheet {
  kind: string
  /** Of the rows. */
  url: string
  documentText: string
  columns: string[]
  /** As they are read. */
  rows: { [column: string]: unknown }[]
}

type Lines = readonly (readonly (string | number | boolean)[])[]

const kinds: Record<string, Lines> = {
  products: [
    ['sku', 'name', 'category', 'price', 'in_stock', 'added', 'weight', 'color', 'note', 'supplier'],
    ...Array.from({ length: 40 }, (_, n) => [
      `S${String(n).padStart(3, '0')}`,
      `Lamp ${n}`,
      n % 2 ? 'Chairs' : 'Lighting',
      n * 7.5 + 0.5,
      n % 3 > 0,
      `2026-11-${String((n % 28) + 1).padStart(2, '0')}`,
      n + 1,
      n % 4 ? 'red' : 'blue',
      `note ${n}`,
      'Acme',
    ]),
  ],
  nulls: [
    ['id', 'text', 'number', 'flag', 'never'],
    ['a', 'x', '', true, ''],
    ['b', '', 2.5, '', ''],
    ['c', '', '', false, ''],
  ],
  unicode: [
    ['名前', 'Größe', 'prix €', 'имя', '🙂'],
    ['机', 'M', 12.5, 'стол', 'ok'],
    ['椅子', 'L', 3.25, 'стул', '🙃'],
  ],
  punctuation: [
    ['First name', 'a[b]', 'a.b', 'a,b', 'a&b=c', '100%', 'x/y', "it's", 'say "hi"'],
    ['Ann', 1, 2, 3, 4, 5, 6, 7, 8],
    ['Bob', 10, 20, 30, 40, 50, 60, 70, 80],
  ],
  wide: [
    Array.from({ length: 60 }, (_, n) => `column ${n + 1}`),
    ...Array.from({ length: 10 }, (_, row) =>
      Array.from({ length: 60 }, (_, n) => (n % 2 ? row * n : `t${row}`)),
    ),
  ],
  'names of ours': [
    ['id', '__proto__', 'constructor', 'toString', 'limit', 'sort', 'api_key', 'fields', 'row', 'format'],
    ['a', 'b', 'c', 'd', 1, 's', 'k', 'f', 2, 'csv'],
    ['e', 'f', 'g', 'h', 2, 't', 'l', 'g', 3, 'json'],
  ],
  'same names': [
    ['name', 'name', 'Name', 'NAME', 'name_2'],
    ['a', 'b', 'c', 'd', 'e'],
    ['f', 'g', 'h', 'i', 'j'],
  ],
  empty: [['name', 'price', 'in stock']],
  'one column': [['only'], ['a'], ['b'], ['c']],
  mixed: [
    ['key', 'mixed', 'long', 'formula'],
    ['a', 1, 'x'.repeat(300), '=1+1'],
    ['b', 'one', `${'y'.repeat(99)}🙂 tail`, '+cmd'],
    ['c', true, 'short', '@x'],
  ],
}

export const countOfKinds = Object.keys(kinds).length + 1

/** One of each kind, connected. */
export async function connectKinds(rowport: Rowport, key: { value: string }): Promise<SheetOfKind[]> {
  const connected: SheetOfKind[] = []
  for (const [kind, lines] of Object.entries(kinds)) {
    const slug = kind.replaceAll(' ', '-')
    connected.push(await described(kind, await rowport.connectFile(slug, `${slug}.csv`, csvOf(lines))))
  }
  const workbook = await rowport.connectFile('workbook', 'workbook.xlsx', await workbookBytes())
  connected.push(await described('workbook', workbook))
  return connected

  async function described(kind: string, sheet: ConnectedSheet): Promise<SheetOfKind> {
    const answer = await rowport.get(`${sheet.formA}/openapi.json`, bearer(key))
    const documentText = await answer.text()
    const list = await rowport.get(sheet.formB, bearer(key))
    const { data, meta } = (await list.json()) as { data: SheetOfKind['rows']; meta: { columns: string[] } }
    return { ...sheet, kind, url: rowport.url + sheet.formA, documentText, columns: meta.columns, rows: data }
  }
}

function csvOf(lines: Lines): string {
  const field = (cell: string | number | boolean) => {
    if (typeof cell === 'boolean') return cell ? 'TRUE' : 'FALSE'
    const text = String(cell)
    return typeof cell === 'string' && /[",\n]|^[=+-]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
  }
  return lines.map((line) => `${line.map(field).join(',')}\n`).join('')
}

/** What a CSV file cannot hold: true dates and times. */
async function workbookBytes(): Promise<Uint8Array> {
  const day = (n: number) => new Date(Date.UTC(2026, 10, n))
  const moment = (n: number) => new Date(Date.UTC(2026, 10, n, 9, 30))
  const rows = Array.from({ length: 6 }, (_, n) => [
    `item ${n}`,
    day(n + 1),
    moment(n + 1),
    n * 1.25,
    n % 2 === 0,
  ])
  return writeXlsx({ sheets: [{ name: 'Stock', rows: [['item', 'day', 'at', 'amount', 'ok'], ...rows] }] })
}
