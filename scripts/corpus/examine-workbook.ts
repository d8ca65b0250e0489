import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MAX_INFLATED_BYTES } from '../../src/providers/file/xlsx/container/limits.ts'
import { openWorkbook } from '../../src/providers/file/xlsx/container/open.ts'
import { readPartText } from '../../src/providers/file/xlsx/container/part.ts'
import { openZip, partKey, readCentralDirectory } from '../../src/providers/file/xlsx/container/zip.ts'
import { editXlsx } from '../../src/providers/file/xlsx/edit/edit.ts'
import { formulaCellsIn } from '../../src/providers/file/xlsx/edit/stale/formula-cells.ts'
import { readFormatCodes } from '../../src/providers/file/xlsx/read/cell-formats.ts'
import { readWorksheet } from '../../src/providers/file/xlsx/read/worksheet.ts'
import { decodeXlsx } from '../../src/providers/file/xlsx/read/xlsx.ts'
import type { Change } from '../../src/sheets/change.ts'
import { ProviderFailure } from '../../src/sheets/provider-failure.ts'
import type { Cell } from '../../src/sheets/rows/grid.ts'
import { type DisplayedCell, whyDisplayedOtherwise } from './displayed-otherwise.ts'
import { count, disagree, displayedAs, type Findings } from './findings.ts'
import { exportsBeside, type Python, type PythonTab, type Reference, typedBeside } from './references.ts'

/** Above that a second opinion on every edit takes minutes. */
const maxBytesForPython = 1_000_000

/** Reads every tab of a workbook, holds it against others, and makes a change of each kind to the first. */
export async function examineWorkbook(
  path: string,
  findings: Findings,
  python: Python | null,
): Promise<void> {
  const bytes = readFileSync(path)
  const { archive, workbook } = await openWorkbook(bytes)
  const theirs = python?.hasOpenpyxl ? await python.workbook(path) : null
  if (theirs) findings.references.add('openpyxl')
  const typed = typedBeside(path)
  if (typed) findings.references.add(typed.name)
  const codes = await readFormatCodes(archive, workbook.stylesPath)
  for (const [at, tab] of workbook.tabs.entries()) {
    try {
      const { rows } = await decodeXlsx(bytes, { tab: tab.name })
      findings.cellsRead += rows.flat().filter((cell) => cell !== null).length
      const place = { path, tab: tab.name }
      if (typed && at === 0) compare(place, rows, typed.rows, [], findings)
      const ofTab = theirs?.[tab.name]
      if (ofTab) compare(place, rows, ofTab.rows, ofTab.covered, findings)
      const exports = exportsBeside(path, at)
      if (exports.length === 0) continue
      const shownCells = await cellsToShow(bytes, tab.path, codes, workbook.uses1904)
      const displayed = await decodeXlsx(bytes, { tab: tab.name, values: 'formatted' })
      for (const shown of exports) {
        findings.references.add(shown.name)
        compareDisplayed(place, displayed.rows, shownCells, shown, findings)
      }
    } catch (error) {
      if (!(error instanceof ProviderFailure)) throw error
      count(findings.refused, error.message)
    }
  }
  await edit(path, bytes, findings, theirs === null ? null : python, theirs)
}

interface Place {
  path: string
  tab: string
}

function compare(
  { path, tab }: Place,
  ours: readonly (readonly Cell[])[],
  theirs: readonly (readonly Cell[])[],
  covered: readonly (readonly number[])[],
  findings: Findings,
): void {
  const coveredCells = new Set(covered.map(([row, column]) => `${row}:${column}`))
  for (let row = 0; row < Math.max(ours.length, theirs.length); row++) {
    const width = Math.max(ours[row]?.length ?? 0, theirs[row]?.length ?? 0)
    for (let column = 0; column < width; column++) {
      const [own, their] = [ours[row]?.[column] ?? null, theirs[row]?.[column] ?? null]
      if (own === null && (their === null || their === '')) continue
      findings.cellsCompared++
      if (isSame(own, their)) continue
      const cell = `${row + 1}:${column + 1}`
      const kind = kindOfDifference(own, their, coveredCells.has(cell))
      disagree(findings, kind, path, `${tab} ${cell} ${own}, not ${their}`)
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

/** With openpyxl, where the reason is known: the classes in which Rowport may be wrong are the others. */
function kindOfDifference(own: Cell, their: Cell, isCovered: boolean): string {
  if (isCovered) return 'known: a value under merged cells'
  if (typeof their === 'string' && /_x[\da-f]{4}_/i.test(their)) return 'known: openpyxl leaves escapes'
  if (own === null && typeof their === 'string' && /^(?:\w+:|#|.*!\$?[A-Z]+\$?\d)/.test(their))
    return 'known: openpyxl gives an empty cell its link'
  if (typeof own === 'number' && kindOf(their) === 'date or time' && (own < 1 || Math.floor(own) === 60))
    return 'known: a date format on 0, day 60 or less is a number'
  if (typeof own === 'number' && their === '#VALUE!') return 'known: a date format on what is past 9999'
  return `${kindOf(own)}, not ${kindOf(their)}`
}

/** A cell before it is displayed; the texts are for whoever displays it. */
type CellToShow = Omit<DisplayedCell, 'own' | 'their'>

async function cellsToShow(
  bytes: Uint8Array,
  path: string,
  codes: readonly string[],
  uses1904: boolean,
): Promise<(CellToShow | undefined)[][]> {
  const archive = openZip(bytes)
  const { text } = await readPartText(archive, path, MAX_INFLATED_BYTES)
  const calculated = new Set(formulaCellsIn(text).map(({ row, column }) => `${row}:${column}`))
  const described: Omit<CellToShow, 'isCalculated'>[] = []
  const describe = (raw: string, type: string | undefined, style: string | undefined): Cell => {
    const code = codes[Number(style ?? 0)] ?? 'General'
    const isNumber = type === undefined || type === 'n' || type === 'd'
    const kind = isNumber ? kindOfCode(code) : 'text, boolean, error'
    const value = isNumber && type !== 'd' && raw.trim() !== '' ? Number(raw) : undefined
    return described.push({ kind, code, value, uses1904 }) - 1
  }
  const { rows } = await readWorksheet(
    archive,
    path,
    { value: describe, inlineText: (text, style) => describe(text, 'inlineStr', style) },
    'none',
  )
  return rows.map((row, at) =>
    row.map((index, column) => {
      const cell = typeof index === 'number' ? described[index] : undefined
      return cell && { ...cell, isCalculated: calculated.has(`${at + 1}:${column + 1}`) }
    }),
  )
}

function kindOfCode(code: string): string {
  if (/\[DBNum\d\]/i.test(code)) return 'numerals of another script'
  const plain = code.replace(/"[^"]*"?|[\\_*]./g, '')
  const [first = ''] = plain.split(';')
  const letters = first.replace(/\[(?!h+\]|m+\]|s+\])[^\]]*\]/gi, '').replace(/general|am\/pm|a\/p/gi, '')
  if (/\[(?:h+|m+|s+)\]/i.test(letters)) return 'elapsed'
  if (/^(?:general)?$/i.test(first.trim())) return 'General'
  const hasTime = /[hs]/i.test(letters)
  if (
    /[ydbg]|mmm|aaa|^[^0#?]*m[^0#?]*$/i.test(letters) &&
    !/[0#?](?![^.]*s)/.test(letters.replace(/s\.0+/i, 's'))
  ) {
    if (/mmm|ddd|aaa/i.test(letters) && /\[\$[^\]-]*-(?!\w{0,4}09\]|en|f[48]00|x-)/i.test(code))
      return 'date in a language'
    if (!hasTime) return 'date'
    return /[yd]/i.test(letters) ? 'date-time' : 'time'
  }
  if (hasTime) return 'time'
  if (/[?#0]\s*\/\s*[?#0\d]/.test(first)) return 'fraction'
  if (/e[+-]/i.test(first)) return 'scientific'
  if (first.includes('%')) return 'percent'
  if (/\$|€|£|¥/.test(code.replace(/\[\$-[^\]]*\]/g, ''))) return 'currency'
  if (/[0#?],[0#?]/.test(first)) return 'thousands'
  if (first.trim() === '@') return 'text format'
  return /[0#?]/.test(first) ? 'number' : 'other'
}

function compareDisplayed(
  { path, tab }: Place,
  ours: readonly (readonly Cell[])[],
  cells: readonly (readonly (CellToShow | undefined)[])[],
  theirs: Reference,
  findings: Findings,
): void {
  const start = startOfExport(ours, theirs)
  cells.forEach((row, at) => {
    row.forEach((cell, column) => {
      if (cell === undefined) return
      const own = String(ours[at]?.[column] ?? '')
      const their = String(theirs.rows[at - start.row]?.[column - start.column] ?? '')
      const difference = own === their ? '' : `${tab} ${at + 1}:${column + 1} "${own}", not "${their}"`
      const reason =
        difference === '' ? undefined : whyDisplayedOtherwise(theirs.name, { ...cell, own, their })
      displayedAs(findings, theirs.name, cell.kind, path, difference, reason)
    })
  })
}

/** Excel for Mac leaves the blank rows and columns before the first cell out of its exports, others do not. */
function startOfExport(
  ours: readonly (readonly Cell[])[],
  theirs: Reference,
): { row: number; column: number } {
  const row = Math.max(
    ours.findIndex((cells) => cells.some((cell) => cell !== null)),
    0,
  )
  const column = Math.min(
    ...ours.map((cells) => cells.findIndex((cell) => cell !== null)).filter((at) => at >= 0),
  )
  const first = ours[row]?.find((cell) => cell !== null)
  const isLeftOut =
    theirs.name === 'exports' &&
    theirs.rows[row]?.[ours[row]?.indexOf(first ?? null) ?? 0] !== first &&
    theirs.rows[0]?.[(ours[row]?.indexOf(first ?? null) ?? 0) - column] === first
  return isLeftOut ? { row, column } : { row: 0, column: 0 }
}

async function edit(
  path: string,
  bytes: Uint8Array,
  findings: Findings,
  python: Python | null,
  byPython: Record<string, PythonTab> | null,
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
        count(
          findings.editsRefused,
          edited.details.replace(/Row \d+/, 'Row').replace(/(?<=formula in ).*(?= refers)/, 'a cell'),
        )
        continue
      }
      findings.editsMade++
      const damages = await damagesOf(bytes, edited.bytes)
      if (python && byPython && bytes.length < maxBytesForPython) {
        damages.push(...(await damagesByPython(edited.bytes, change, rows.length, python, byPython)))
      }
      for (const what of damages) findings.damaged.push(`${path}: ${change.kind}: ${what}`)
    } catch (error) {
      if (!(error instanceof ProviderFailure)) throw error
      count(findings.editsRefused, error.message)
    }
  }
}

/** The editor has held the tab against its rows by then; this looks at the rest. */
async function damagesOf(before: Uint8Array, after: Uint8Array): Promise<string[]> {
  const damages: string[] = []
  const { workbook } = await openWorkbook(before)
  const edited = workbook.tabs.find(({ visible }) => visible)
  const [was, is] = [checksumsOf(before), checksumsOf(after)]
  const isUntouched = (path: string | undefined): boolean =>
    path === undefined || was.get(partKey(path)) === is.get(partKey(path))
  const areTextsUntouched = isUntouched(workbook.sharedStringsPath) && isUntouched(workbook.stylesPath)
  for (const { name, path } of workbook.tabs) {
    if (name === edited?.name || (areTextsUntouched && isUntouched(path))) continue
    const outdated = await outdatedIn(after, name)
    if ((await rowsOf(before, name, outdated)) !== (await rowsOf(after, name, outdated)))
      damages.push(`the tab ${name} is another`)
  }
  const gone = [...was.keys()].filter((name) => !is.has(name) && !name.endsWith('calcchain.xml'))
  if (gone.length > 0) damages.push(`${gone.join(', ')} is gone`)
  return damages
}

function checksumsOf(bytes: Uint8Array): Map<string, number> {
  return new Map(readCentralDirectory(Buffer.from(bytes)).map(({ key, checksum }) => [key, checksum]))
}

/** With openpyxl's eyes: every cell but the changed one is as before, moved where a row was deleted. */
async function damagesByPython(
  after: Uint8Array,
  change: Change,
  rowCount: number,
  python: Python,
  before: Record<string, PythonTab>,
): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'corpus-'))
  const file = join(folder, 'after.xlsx')
  writeFileSync(file, after)
  const tabs = await python.workbook(file)
  rmSync(folder, { recursive: true })
  if (tabs === null) return ['openpyxl no longer opens it']
  const { workbook } = await openWorkbook(after)
  const edited = workbook.tabs.find(({ visible }) => visible)?.name
  const damages: string[] = []
  for (const [name, was] of Object.entries(before)) {
    const is = tabs[name]
    if (is === undefined) damages.push(`openpyxl misses the tab ${name}`)
    else if (name !== edited) {
      const outdated = await outdatedIn(after, name)
      const seen = [was, is].map((tab) =>
        JSON.stringify({ ...tab, rows: without(tab.rows, outdated).map(filled) }),
      )
      if (seen[0] !== seen[1]) damages.push(`openpyxl sees another tab ${name}`)
    } else {
      const [wanted, found] = [
        withoutChanged(was.rows, change, rowCount),
        withoutAdded(without(is.rows, await outdatedIn(after, name)), change, rowCount),
      ]
      for (const [row, cells] of found.entries()) {
        const former = wanted[row] ?? []
        wanted[row] = Array.from({ length: Math.max(cells.length, former.length) }, (_, column) =>
          cells[column] === OUTDATED ? OUTDATED : (former[column] ?? null),
        )
      }
      const at = Array.from({ length: Math.max(wanted.length, found.length) }).findIndex(
        (_, row) => filled(wanted[row]) !== filled(found[row]),
      )
      if (at !== -1)
        damages.push(`openpyxl sees another row ${at + 1}: ${filled(found[at])}, not ${filled(wanted[at])}`)
      if (change.kind === 'update' && was.surroundings.join() !== is.surroundings.join())
        damages.push(`openpyxl sees ${is.surroundings.join()}, not ${was.surroundings.join()}`)
    }
  }
  return damages
}

function withoutChanged(rows: readonly Cell[][], change: Change, rowCount: number): Cell[][] {
  if (change.kind === 'update')
    return rows.toSpliced(change.rowNumber - 1, 1, ['', ...(rows[change.rowNumber - 1] ?? []).slice(1)])
  if (change.kind === 'delete') return rows.toSpliced(change.rowNumber - 1, 1)
  return rows.toSpliced(rowCount, 1)
}

function withoutAdded(rows: readonly Cell[][], change: Change, rowCount: number): Cell[][] {
  if (change.kind === 'update') return withoutChanged(rows, change, rowCount)
  return change.kind === 'add' ? rows.toSpliced(rowCount, 1) : [...rows]
}

/** The empty cells at a row's end are nothing. */
function filled(row: readonly Cell[] = []): string {
  return JSON.stringify(row.slice(0, row.findLastIndex((cell) => cell !== null && cell !== '') + 1))
}

/** Stands for the result of a formula that a change has taken away, as it must. */
const OUTDATED = '(outdated)'

type Outdated = ReadonlyMap<number, ReadonlySet<number>>

async function outdatedIn(after: Uint8Array, tab: string): Promise<Outdated> {
  try {
    return (await decodeXlsx(after, { tab })).stale ?? new Map()
  } catch (error) {
    if (error instanceof ProviderFailure) return new Map()
    throw error
  }
}

function without(rows: readonly Cell[][], outdated: Outdated): Cell[][] {
  const last = Math.max(rows.length - 1, ...outdated.keys())
  return Array.from({ length: last + 1 }, (_, at) => {
    const row = [...(rows[at] ?? [])]
    for (const column of outdated.get(at) ?? []) {
      while (row.length < column) row.push(null)
      row[column] = OUTDATED
    }
    return row
  })
}

async function rowsOf(bytes: Uint8Array, tab: string, outdated: Outdated): Promise<string> {
  try {
    return JSON.stringify(without((await decodeXlsx(bytes, { tab })).rows, outdated).map(filled))
  } catch (error) {
    if (error instanceof ProviderFailure) return error.message
    throw error
  }
}
