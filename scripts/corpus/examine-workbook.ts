import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openWorkbook } from '../../src/providers/file/xlsx/container/open.ts'
import { openZip, readCentralDirectory } from '../../src/providers/file/xlsx/container/zip.ts'
import { editXlsx } from '../../src/providers/file/xlsx/edit/edit.ts'
import { readFormatCodes } from '../../src/providers/file/xlsx/read/cell-formats.ts'
import { readWorksheet } from '../../src/providers/file/xlsx/read/worksheet.ts'
import { decodeXlsx } from '../../src/providers/file/xlsx/read/xlsx.ts'
import type { Change } from '../../src/sheets/change.ts'
import { ProviderFailure } from '../../src/sheets/provider-failure.ts'
import type { Cell } from '../../src/sheets/rows/grid.ts'
import { count, disagree, displayedAs, type Findings } from './findings.ts'
import { exportBeside, type Python, typedBeside } from './references.ts'

/** Reads every tab of a workbook, holds it against others, and makes a change of each kind to the first. */
export async function examineWorkbook(
  path: string,
  findings: Findings,
  python: Python | null,
): Promise<void> {
  const bytes = readFileSync(path)
  const { archive, workbook } = await openWorkbook(bytes)
  const theirs = python?.hasOpenpyxl ? python.workbook(path) : null
  if (theirs) findings.references.add('openpyxl')
  const typed = typedBeside(path)
  if (typed) findings.references.add(typed.name)
  const codes = await readFormatCodes(archive, workbook.stylesPath)
  for (const [at, tab] of workbook.tabs.entries()) {
    try {
      const { rows } = await decodeXlsx(bytes, { tab: tab.name })
      findings.cellsRead += rows.flat().filter((cell) => cell !== null).length
      const place = `${path} ${tab.name}`
      if (typed && at === 0) compare(place, rows, typed.rows, findings)
      const ofTab = theirs?.[tab.name]
      if (ofTab) compare(place, rows, ofTab, findings)
      const shown = exportBeside(path, at)
      if (!shown) continue
      findings.references.add(shown.name)
      const kinds = await readWorksheet(openZip(bytes), tab.path, kindReader(codes), 'none')
      const displayed = await decodeXlsx(bytes, { tab: tab.name, values: 'formatted' })
      compareDisplayed(place, displayed.rows, kinds.rows, shown.rows, findings)
    } catch (error) {
      if (!(error instanceof ProviderFailure)) throw error
      count(findings.refused, error.message)
    }
  }
  await edit(path, bytes, findings, python)
}

function compare(
  place: string,
  ours: readonly (readonly Cell[])[],
  theirs: readonly (readonly Cell[])[],
  findings: Findings,
): void {
  for (let row = 0; row < Math.max(ours.length, theirs.length); row++) {
    const width = Math.max(ours[row]?.length ?? 0, theirs[row]?.length ?? 0)
    for (let column = 0; column < width; column++) {
      const [own, their] = [ours[row]?.[column] ?? null, theirs[row]?.[column] ?? null]
      if (own === null && (their === null || their === '')) continue
      findings.cellsCompared++
      if (isSame(own, their)) continue
      disagree(
        findings,
        `${kindOf(own)}, not ${kindOf(their)}`,
        `${place} ${row + 1}:${column + 1} ${own}, not ${their}`,
      )
    }
  }
}

function isSame(own: Cell, their: Cell): boolean {
  if (own === their) return true
  if (typeof own === 'number' && typeof their === 'number')
    return Math.abs(own - their) <= Math.abs(own) * 1e-15
  // openpyxl has one type for dates with and without a time.
  return typeof own === 'string' && typeof their === 'string' && withTime(own) === withTime(their)
}

function withTime(text: string): string {
  return /^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00:00` : text.replaceAll('\r\n', '\n')
}

function kindOf(cell: Cell): string {
  if (cell === null) return 'nothing'
  if (typeof cell !== 'string') return typeof cell
  return /^(?:\d{4}-\d\d-\d\d(?:T.*)?|\d+:\d\d:\d\d(?:\.\d+)?)$/.test(cell) ? 'date or time' : 'text'
}

/** Gives each cell the kind of its format instead of its value. */
function kindReader(codes: readonly string[]) {
  const kind = (style: string | undefined): string => kindOfCode(codes[Number(style ?? 0)] ?? 'General')
  return {
    value: (_raw: string, type: string | undefined, style: string | undefined): Cell =>
      type === undefined || type === 'n' || type === 'd' ? kind(style) : 'text, boolean, error',
    inlineText: (): Cell => 'text, boolean, error',
  }
}

function kindOfCode(code: string): string {
  const plain = code.replace(/"[^"]*"?|[\\_*]./g, '')
  const [first = ''] = plain.split(';')
  const letters = first.replace(/\[(?!h+\]|m+\]|s+\])[^\]]*\]/gi, '').replace(/general|am\/pm|a\/p/gi, '')
  if (/\[(?:h+|m+|s+)\]/i.test(letters)) return 'elapsed'
  if (/^(?:general)?$/i.test(first.trim())) return 'General'
  const hasTime = /[hs]/i.test(letters)
  if (
    /[ydbg]|mmm|^[^0#?]*m[^0#?]*$/i.test(letters) &&
    !/[0#?](?![^.]*s)/.test(letters.replace(/s\.0+/i, 's'))
  ) {
    if (!hasTime) return 'date'
    return /[yd]/i.test(letters) ? 'date-time' : 'time'
  }
  if (hasTime) return 'time'
  if (/[?#0]\s*\/\s*[?#0\d]/.test(first)) return 'fraction'
  if (/e[+-]/i.test(first)) return 'scientific'
  if (first.includes('%')) return 'percent'
  if (/\$|€|£|¥/.test(code)) return 'currency'
  if (/[0#?],[0#?]/.test(first)) return 'thousands'
  if (first.trim() === '@') return 'text format'
  return /[0#?]/.test(first) ? 'number' : 'other'
}

function compareDisplayed(
  place: string,
  ours: readonly (readonly Cell[])[],
  kinds: readonly (readonly Cell[])[],
  theirs: readonly (readonly Cell[])[],
  findings: Findings,
): void {
  kinds.forEach((row, at) => {
    row.forEach((kind, column) => {
      if (typeof kind !== 'string') return
      const [own, their] = [String(ours[at]?.[column] ?? ''), String(theirs[at]?.[column] ?? '')]
      // What a column was too narrow for is not in an export.
      if (/^#+$/.test(their)) return
      displayedAs(findings, kind, own === their)
      if (own !== their && !findings.examples.has(`displayed, ${kind}`)) {
        findings.examples.set(
          `displayed, ${kind}`,
          `${place} ${at + 1}:${column + 1} "${own}", not "${their}"`,
        )
      }
    })
  })
}

async function edit(
  path: string,
  bytes: Uint8Array,
  findings: Findings,
  python: Python | null,
): Promise<void> {
  const { rows } = await decodeXlsx(bytes, {})
  if (rows.length < 2) return
  const row = Math.max(2, Math.ceil(rows.length / 2))
  const cell = (value: Cell): Change => ({
    kind: 'update',
    rowNumber: row,
    cells: [{ columnIndex: 0, value }],
  })
  const changes: Change[] = [
    cell('Rowport'),
    cell(1234.5),
    { kind: 'add', rows: [['Rowport']] },
    { kind: 'delete', rowNumber: row },
  ]
  for (const change of changes) {
    findings.editsTried++
    try {
      const edited = await editXlsx(bytes, undefined, [change])
      if ('reason' in edited) {
        count(findings.editsRefused, edited.details.replace(/Row \d+/, 'Row'))
        continue
      }
      findings.editsMade++
      for (const what of await damagesOf(bytes, edited.bytes, change, python)) {
        findings.damaged.push(`${path}: ${change.kind}: ${what}`)
      }
    } catch (error) {
      if (!(error instanceof ProviderFailure)) throw error
      count(findings.editsRefused, error.message)
    }
  }
}

/** The editor has held the tab against its rows by then; this looks at the rest, with other eyes where there are any. */
async function damagesOf(
  before: Uint8Array,
  after: Uint8Array,
  change: Change,
  python: Python | null,
): Promise<string[]> {
  const damages: string[] = []
  const { workbook } = await openWorkbook(before)
  const edited = workbook.tabs.find(({ visible }) => visible)
  for (const { name } of workbook.tabs) {
    if (name === edited?.name) continue
    const [was, is] = [await rowsOf(before, name), await rowsOf(after, name)]
    if (was !== is) damages.push(`the tab ${name} is another`)
  }
  const names = (bytes: Uint8Array): string[] =>
    readCentralDirectory(Buffer.from(bytes)).map(({ key }) => key)
  const left = new Set(names(after))
  const gone = names(before).filter((name) => !left.has(name) && !name.endsWith('calcchain.xml'))
  if (gone.length > 0) damages.push(`${gone.join(', ')} is gone`)
  if (python?.hasOpenpyxl && change.kind !== 'update') {
    const folder = mkdtempSync(join(tmpdir(), 'corpus-'))
    const [one, other] = [join(folder, 'before.xlsx'), join(folder, 'after.xlsx')]
    writeFileSync(one, before)
    writeFileSync(other, after)
    if (python.workbook(one) !== null && python.workbook(other) === null)
      damages.push('openpyxl no longer opens it')
    rmSync(folder, { recursive: true })
  }
  return damages
}

async function rowsOf(bytes: Uint8Array, tab: string): Promise<string> {
  try {
    return JSON.stringify((await decodeXlsx(bytes, { tab })).rows)
  } catch (error) {
    if (error instanceof ProviderFailure) return error.message
    throw error
  }
}
