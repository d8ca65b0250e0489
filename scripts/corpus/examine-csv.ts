import { readFileSync } from 'node:fs'
import { decodeCsv } from '../../src/providers/file/csv/csv.ts'
import { detectDelimiter } from '../../src/providers/file/csv/dialect.ts'
import { editCsv } from '../../src/providers/file/csv/edit.ts'
import { CsvScanner } from '../../src/providers/file/csv/scanner.ts'
import { readCsvText } from '../../src/providers/file/csv/text.ts'
import type { Change } from '../../src/sheets/change.ts'
import type { Cell } from '../../src/sheets/rows/grid.ts'
import { count, disagree, type Findings } from './findings.ts'
import { type Python, typedBeside } from './references.ts'

/** Reads a CSV file, holds it against others, and makes a change of each kind. */
export async function examineCsv(path: string, findings: Findings, python: Python | null): Promise<void> {
  const bytes = readFileSync(path)
  const { rows } = decodeCsv(bytes)
  findings.cellsRead += rows.reduce((sum, row) => sum + row.filter((cell) => cell !== null).length, 0)
  const typed = typedBeside(path)
  if (typed) compareTyped(path, rows, typed.rows, findings)
  countNumbersAsText(bytes, rows, findings)
  await comparePython(path, bytes, findings, python)
  edit(path, bytes, rows, findings)
}

function compareTyped(
  path: string,
  rows: readonly (readonly Cell[])[],
  wanted: readonly (readonly Cell[])[],
  findings: Findings,
): void {
  findings.references.add('own')
  for (let row = 0; row < Math.max(rows.length, wanted.length); row++) {
    const width = Math.max(rows[row]?.length ?? 0, wanted[row]?.length ?? 0)
    for (let column = 0; column < width; column++) {
      const [ours, theirs] = [rows[row]?.[column] ?? null, wanted[row]?.[column] ?? null]
      findings.cellsCompared++
      if (ours !== theirs)
        disagree(findings, 'CSV, typed', path, `${row + 1}:${column + 1} ${ours}, not ${theirs}`)
    }
  }
}

/** A column of numbers in which some cells are texts is what filters and sums stumble over. */
function countNumbersAsText(bytes: Uint8Array, rows: readonly (readonly Cell[])[], findings: Findings): void {
  const texts = decodeCsv(bytes, { values: 'formatted' }).rows
  const hasNumbers = new Set<number>()
  const causes = new Map<number, string[]>()
  rows.slice(1).forEach((row, at) => {
    row.forEach((cell, column) => {
      if (typeof cell === 'number') hasNumbers.add(column)
      if (typeof cell !== 'string') return
      const cause = whyNoNumber(String(texts[at + 1]?.[column] ?? ''))
      if (cause !== null) causes.set(column, [...(causes.get(column) ?? []), cause])
    })
  })
  for (const [column, found] of causes) {
    if (!hasNumbers.has(column)) continue
    findings.mixedColumns++
    for (const cause of found) count(findings.numbersAsText, cause)
  }
}

/** null where the text spells no number at all. */
function whyNoNumber(text: string): string | null {
  const spelled = text.trim()
  if (!/^[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?$/.test(spelled)) return null
  if (/^[-+]?0\d/.test(spelled)) return 'leading zeros'
  if (
    spelled
      .replace(/[eE].*/, '')
      .replace(/\D/g, '')
      .replace(/^0+|0+$/g, '').length > 15
  )
    return 'over 15 digits'
  if (spelled.startsWith('+')) return 'a plus'
  if (/\d\.(?!\d)/.test(spelled)) return 'a point at the end'
  if (/[eE]/.test(spelled)) return 'exponent'
  if (/^-?\./.test(spelled)) return 'leading point'
  return spelled === text ? 'in quotes' : 'spaces around'
}

const pythonNames: Record<string, string> = {
  'utf-8': 'utf-8-sig',
  'utf-16le': 'utf-16',
  'utf-16be': 'utf-16',
  'utf-32le': 'utf-32',
  'utf-32be': 'utf-32',
}

/** Given the delimiter and the encoding that we chose. */
async function comparePython(
  path: string,
  bytes: Uint8Array,
  findings: Findings,
  python: Python | null,
): Promise<void> {
  if (!python) return
  const { text, encoding } = readCsvText(bytes)
  const theirs = await python.csv(path, detectDelimiter(text), pythonNames[encoding] ?? encoding)
  if (!theirs) return
  findings.references.add('Python csv')
  const ours = decodeCsv(bytes, { values: 'formatted' }).rows
  ours.forEach((row, at) => {
    const other = theirs[at] ?? []
    for (let column = 0; column < Math.max(row.length, other.length); column++) {
      findings.cellsCompared++
      const [own, their] = [row[column] ?? '', other[column] ?? '']
      if (own !== their) disagree(findings, 'CSV, text', path, `${at + 1}:${column + 1} ${own}, not ${their}`)
    }
  })
}

function edit(path: string, bytes: Uint8Array, rows: readonly (readonly Cell[])[], findings: Findings): void {
  if (rows.length < 2) return
  const row = Math.max(2, Math.ceil(rows.length / 2))
  const last = rows.length
  const changes: [change: Change, recordsLeft: (records: string[]) => string[]][] = [
    [
      { kind: 'update', rowNumber: row, cells: [{ columnIndex: 0, value: 'Rowport' }] },
      (records) => records.toSpliced(row - 1, 1),
    ],
    [{ kind: 'add', rows: [['Rowport']] }, (records) => records],
    [{ kind: 'delete', rowNumber: last }, (records) => records.toSpliced(last - 1, 1)],
  ]
  for (const [change, left] of changes) {
    findings.editsTried++
    const edited = editCsv(bytes, [change])
    if ('reason' in edited) {
      count(findings.editsRefused, edited.details)
      continue
    }
    findings.editsMade++
    const before = left(recordsOf(bytes))
    const after = recordsOf(edited.bytes)
    const own = change.kind === 'update' ? row - 1 : last
    const others = change.kind === 'delete' ? after : after.toSpliced(own, 1)
    if (before.join('\0') !== others.join('\0'))
      findings.damaged.push(`${path}: ${change.kind} changed another record`)
  }
}

/** Each record as it is written, without its line end. */
function recordsOf(bytes: Uint8Array): string[] {
  const { text } = readCsvText(bytes)
  const scanner = new CsvScanner(text, detectDelimiter(text))
  const records: string[] = []
  while (scanner.next()) if (scanner.endsRecord) records.push(text.slice(scanner.recordStart, scanner.end))
  return records
}
