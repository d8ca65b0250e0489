// npm run corpus -- <folder>: reads and edits every spreadsheet below a folder with Rowport's own modules, holds the cells against
// what lies beside them (CONTRIBUTING.md) and against Python and openpyxl where they are installed, and prints a table. Fails where
// something crashed or was damaged. The files are not changed.
import { existsSync } from 'node:fs'
import { runCorpus } from './corpus.ts'
import { findingsTable } from './findings.ts'
import { findPython } from './references.ts'

const [folder] = process.argv.slice(2)
if (folder === undefined || !existsSync(folder)) {
  process.stderr.write('Name a folder with spreadsheets: npm run corpus -- <folder>\n')
  process.exitCode = 2
} else {
  let done = 0
  const python = await findPython()
  const findings = await runCorpus(folder, python, () => {
    if (++done % 100 === 0) process.stderr.write(`${done} files\n`)
  })
  python?.close()
  process.stdout.write(`${findingsTable(findings)}\n`)
  if (findings.crashes.length > 0 || findings.damaged.length > 0) process.exitCode = 1
}
