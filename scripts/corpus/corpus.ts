import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { kindOf } from '../../src/providers/file/file-location.ts'
import { decodeOds, listOdsTabs } from '../../src/providers/file/ods/ods.ts'
import { ProviderFailure } from '../../src/sheets/provider-failure.ts'
import { examineCsv } from './examine-csv.ts'
import { examineWorkbook } from './examine-workbook.ts'
import { count, type Findings, noFindings } from './findings.ts'
import type { Python } from './references.ts'

/** Reads and edits every spreadsheet below a folder with Rowport's own modules. Nothing in the folder is changed. */
export async function runCorpus(
  folder: string,
  python: Python | null,
  onFile: (path: string) => void = () => {},
): Promise<Findings> {
  const findings = noFindings()
  for (const path of spreadsheetsIn(folder)) {
    onFile(path)
    const startMs = performance.now() - (python?.spentMs() ?? 0)
    findings.files++
    try {
      await examine(path, findings, python)
    } catch (error) {
      if (error instanceof ProviderFailure) count(findings.refused, error.message)
      else findings.crashes.push(`${path}: ${error instanceof Error ? error.stack : error}`)
    }
    const ms = performance.now() - (python?.spentMs() ?? 0) - startMs
    if (ms > findings.slowest.ms) findings.slowest = { file: basename(path), ms }
    findings.peakMegabytes = Math.max(findings.peakMegabytes, Math.round(process.memoryUsage().rss / 1e6))
  }
  return findings
}

async function examine(path: string, findings: Findings, python: Python | null): Promise<void> {
  const kind = kindOf(path)
  if (kind === 'csv') return examineCsv(path, findings, python)
  if (kind === 'xlsx') return examineWorkbook(path, findings, python)
  const bytes = readFileSync(path)
  for (const tab of await listOdsTabs(bytes)) {
    const { rows } = await decodeOds(bytes, { tab })
    findings.cellsRead += rows.flat().filter((cell) => cell !== null).length
  }
}

/** Without the exports that lie beside workbooks as references (`book.xlsx.0.csv`). */
function spreadsheetsIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(
      (entry) =>
        entry.isFile() &&
        kindOf(entry.name) !== null &&
        !/\.\w+\.\d+(?:\.libreoffice)?\.csv$/.test(entry.name),
    )
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
}
