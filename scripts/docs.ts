// npm run docs: writes the parts of docs/ that are made from tables of the source. Tests hold the files equal to them.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { withErrorTable } from './docs/error-table.ts'

const errorsPage = join(import.meta.dirname, '..', 'docs', 'errors.md')
writeFileSync(errorsPage, withErrorTable(readFileSync(errorsPage, 'utf8')))
