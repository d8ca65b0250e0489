import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { decodeCsv } from '../../src/providers/file/csv/csv.ts'
import type { Cell } from '../../src/sheets/rows/grid.ts'

/** What others make of a file: another program's rows, or its own export. */
export interface Reference {
  name: string
  rows: readonly (readonly Cell[])[]
}

/** Beside a file may lie `<file>.typed.json`, its first tab as JSON, and `<file>.<n>.csv` or `<file>.<n>.libreoffice.csv`, tab n as its
 * own program or LibreOffice exports it. */
export function typedBeside(path: string): Reference | null {
  const beside = `${path}.typed.json`
  return existsSync(beside) ? { name: 'own', rows: JSON.parse(readFileSync(beside, 'utf8')) } : null
}

export function exportsBeside(path: string, tabAt: number): Reference[] {
  return [
    { name: 'exports', beside: `${path}.${tabAt}.csv` },
    { name: 'LibreOffice', beside: `${path}.${tabAt}.libreoffice.csv` },
  ].flatMap(({ name, beside }) => {
    if (!existsSync(beside)) return []
    try {
      return [{ name, rows: decodeCsv(readFileSync(beside), { values: 'formatted' }).rows }]
    } catch {
      return []
    }
  })
}

/** A tab as openpyxl has it. */
export interface PythonTab {
  rows: Cell[][]
  /** The cells that lie under a merged one, from 1: openpyxl has no values for them. */
  covered: [row: number, column: number][]
  /** Tables, charts and the like, in words. */
  surroundings: string[]
}

/** Python with its own CSV reader, and openpyxl where that is installed; null where it cannot read a file. */
export interface Python {
  hasOpenpyxl: boolean
  /** What waiting for it has taken so far. */
  spentMs(): number
  workbook(path: string): Promise<Record<string, PythonTab> | null>
  csv(path: string, delimiter: string, encoding: string): Promise<string[][] | null>
  close(): void
}

const script = join(import.meta.dirname, 'read-with-python.py')
const limitMs = 120_000

/** null where there is none. */
export async function findPython(): Promise<Python | null> {
  for (const command of ['/usr/bin/python3', 'python3']) {
    if (spawnSync(command, ['--version']).status !== 0) continue
    const process = new PythonProcess(command)
    return {
      hasOpenpyxl: (await process.ask({ what: 'openpyxl' })) === true,
      spentMs: () => process.spentMs,
      workbook: (path) =>
        process.ask({ what: 'workbook', path }) as Promise<Record<string, PythonTab> | null>,
      csv: (path, delimiter, encoding) =>
        process.ask({ what: 'csv', path, delimiter, encoding }) as Promise<string[][] | null>,
      close: () => process.stop(),
    }
  }
  return null
}

/** One for all files, as starting it takes longer than most of them. It is started again after a file that it died or hung of. */
class PythonProcess {
  spentMs = 0
  readonly #command: string
  #child: ChildProcess | null = null

  constructor(command: string) {
    this.#command = command
  }

  async ask(question: Record<string, string>): Promise<unknown> {
    const startMs = performance.now()
    try {
      return JSON.parse(await this.#answer(JSON.stringify(question)))
    } catch {
      this.stop()
      return null
    } finally {
      this.spentMs += performance.now() - startMs
    }
  }

  #answer(question: string): Promise<string> {
    this.#child ??= spawn(this.#command, [script], { stdio: ['pipe', 'pipe', 'ignore'] })
    const { stdin, stdout } = this.#child
    const { promise, resolve, reject } = Promise.withResolvers<string>()
    const chunks: Buffer[] = []
    const onData = (chunk: Buffer): void => {
      chunks.push(chunk)
      if (chunk.at(-1) === 0x0a) resolve(Buffer.concat(chunks).toString())
    }
    const onEnd = (): void => reject(new Error('Python has ended'))
    const timer = setTimeout(() => reject(new Error('Python takes too long')), limitMs)
    stdout?.on('data', onData).once('end', onEnd)
    stdin?.on('error', onEnd).write(`${question}\n`)
    return promise.finally(() => {
      clearTimeout(timer)
      stdout?.off('data', onData).off('end', onEnd)
      stdin?.off('error', onEnd)
    })
  }

  stop(): void {
    this.#child?.stdin?.on('error', () => {})
    this.#child?.kill('SIGKILL')
    this.#child = null
  }
}
