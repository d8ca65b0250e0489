import assert from 'node:assert/strict'
import type { Change, Edited, Unfit } from '../../../../sheets/change.ts'
import { escapeXml, type TestWorkbook, unzip, workbookParts, type ZipPart, zip } from '../workbook.fixture.ts'
import { SHEET } from './edit.fixture.ts'
import { editXlsx } from './edit.ts'

/** What tests of deletions share: a tab of ten rows with things on it, and what became of them. */
export const removals = (...rowNumbers: number[]): Change[] =>
  rowNumbers.map((rowNumber) => ({ kind: 'delete', rowNumber }))

const DATA_ROWS = 10

/** Rows 1 to 10, each with its number in A, and what else is wanted in a row. */
function rows(extra: Record<number, string> = {}): string {
  return Array.from({ length: DATA_ROWS }, (_, at) => {
    const row = at + 1
    return `<row r="${row}"><c r="A${row}"><v>${row}</v></c>${extra[row] ?? ''}</row>`
  }).join('')
}

export const sheet = (extra: Record<number, string> = {}, after = '', before = ''): string =>
  `<worksheet>${before}<sheetData>${rows(extra)}</sheetData>${after}</worksheet>`

export const formula = (cell: string, text: string): string =>
  `<c r="${cell}"><f>${escapeXml(text)}</f><v>0</v></c>`

interface Attachment {
  type: string
  path: string
  data: string
}

/** The first tab is `Data`; attachments hang on it, or on the part at `of`. */
export function workbook(
  data: string,
  others: TestWorkbook['tabs'] = [],
  attachments: (Attachment & { of?: string })[] = [],
  definedNames = '',
): Uint8Array {
  const parts = workbookParts({ tabs: [{ name: 'Data', rows: data }, ...others] }).map((part): ZipPart => {
    if (part.name !== 'xl/workbook.xml') return part
    return { ...part, data: String(part.data).replace('</sheets>', `</sheets>${definedNames}`) }
  })
  const owners = Map.groupBy(attachments, ({ of = SHEET }) => of)
  for (const [owner, owned] of owners) {
    const links = owned
      .map(({ type, path }, at) => `<Relationship Id="a${at}" Type="http://x/${type}" Target="/${path}"/>`)
      .join('')
    const slash = owner.lastIndexOf('/') + 1
    const name = `${owner.slice(0, slash)}_rels/${owner.slice(slash)}.rels`
    const existing = parts.find((part) => part.name === name)
    if (existing) existing.data = String(existing.data).replace('</Rel', `${links}</Rel`)
    else parts.push({ name, data: `<Relationships>${links}</Relationships>` })
    for (const { path, data: content } of owned) parts.push({ name: path, data: content })
  }
  return zip(parts)
}

export async function partsAfter(bytes: Uint8Array, ...rowNumbers: number[]): Promise<Map<string, string>> {
  const outcome = await editXlsx(bytes, undefined, removals(...rowNumbers))
  assert.ok('bytes' in outcome, JSON.stringify(outcome))
  return new Map([...unzip(outcome.bytes)].map(([name, data]) => [name, String(data)]))
}

export async function sheetAfter(bytes: Uint8Array, ...rowNumbers: number[]): Promise<string> {
  return (await partsAfter(bytes, ...rowNumbers)).get(SHEET) ?? ''
}

export async function assertRefused(bytes: Uint8Array, rowNumber: number, why: string): Promise<void> {
  const outcome: Edited | Unfit = await editXlsx(bytes, undefined, [
    { kind: 'update', rowNumber: 2, cells: [{ columnIndex: 0, value: 0 }] },
    ...removals(rowNumber),
  ])
  assert.deepEqual(outcome, {
    changeAt: 1,
    reason: 'file',
    details: `Row ${rowNumber} cannot be deleted: ${why}.`,
  })
}
