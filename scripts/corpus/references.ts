import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { decodeCsv } from '../../src/providers/file/csv/csv.ts'
import type { Cell } from '../../src/sheets/rows/grid.ts'

/** What others make of a file: another program's rows, or its own export. */
export interface Reference {
  name: string
  rows: readonly (readonly Cell[])[]
}

/** Beside a file may lie `<file>.typed.json`, its first tab as JSON, and `<file>.<n>.csv`, tab n as its program exports it. */
export function typedBeside(path: string): Reference | null {
  const beside = `${path}.typed.json`
  return existsSync(beside) ? { name: 'own', rows: JSON.parse(readFileSync(beside, 'utf8')) } : null
}

export function exportBeside(path: string, tabAt: number): Reference | null {
  const beside = `${path}.${tabAt}.csv`
  if (!existsSync(beside)) return null
  try {
    return { name: 'exports', rows: decodeCsv(readFileSync(beside), { values: 'formatted' }).rows }
  } catch {
    return null
  }
}

/** Python with its own CSV reader, and openpyxl where that is installed; null where there is none. */
export interface Python {
  hasOpenpyxl: boolean
  /** What waiting for it has taken so far. */
  spentMs(): number
  workbook(path: string): Record<string, Cell[][]> | null
  csv(path: string, delimiter: string, encoding: string): string[][] | null
}

const script = join(import.meta.dirname, 'read-with-python.py')
const maxOutputBytes = 512 * 1024 * 1024
const limitMs = 120_000

export function findPython(): Python | null {
  for (const python of ['/usr/bin/python3', 'python3']) {
    const asked = spawnSync(python, [script, 'openpyxl'], { encoding: 'utf8' })
    if (asked.status !== 0) continue
    let spentMs = 0
    const run = (...args: string[]): unknown => {
      const options = { encoding: 'utf8', maxBuffer: maxOutputBytes, timeout: limitMs } as const
      const startMs = performance.now()
      const { status, stdout } = spawnSync(python, [script, ...args], options)
      spentMs += performance.now() - startMs
      return status === 0 ? JSON.parse(stdout) : null
    }
    return {
      hasOpenpyxl: asked.stdout.trim() === 'yes',
      spentMs: () => spentMs,
      workbook: (path) => run('workbook', path) as Record<string, Cell[][]> | null,
      csv: (path, delimiter, encoding) => run('csv', path, delimiter, encoding) as string[][] | null,
    }
  }
  return null
}
