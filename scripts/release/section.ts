// node scripts/release/section.ts 1.2.3: the changelog's section of that version, for the release's page.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sectionOf } from './changelog.ts'

const [version = ''] = process.argv.slice(2)
const section = sectionOf(readFileSync(join(import.meta.dirname, '../../CHANGELOG.md'), 'utf8'), version)
if (section === null) {
  process.stderr.write(`CHANGELOG.md has no section "## ${version}".\n`)
  process.exitCode = 1
} else process.stdout.write(section)
