// npm run release -- 1.2.3: gives what is unreleased that version, in package.json, lock file, changelog and README, commits and tags it.
// Pushing the tag is left to a person: the workflow `release.yml` makes package and image of it, and publishes them.
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { withVersion } from './release/changelog.ts'

const root = process.env.ROWPORT_RELEASE_ROOT ?? join(import.meta.dirname, '..')
const [version = ''] = process.argv.slice(2)
const problem = release(version)
if (problem !== null) {
  process.stderr.write(`rowport: ${problem}\n`)
  process.exitCode = 1
}

function release(wanted: string): string | null {
  if (!/^\d+\.\d+\.\d+$/.test(wanted)) return 'name the version: npm run release -- 1.2.3'
  if (git('status', '--porcelain') !== '') return 'there are changes that are not committed'
  if (git('tag', '--list', `v${wanted}`) !== '') return `v${wanted} is there already`
  const changelog = readFileSync(join(root, 'CHANGELOG.md'), 'utf8')
  const day = new Date().toISOString().slice(0, 10)
  const released = withVersion(changelog, wanted, day)
  if (released === null) return 'the changelog has nothing under "## Unreleased"'
  writeFileSync(join(root, 'CHANGELOG.md'), released)
  const readme = readFileSync(join(root, 'README.md'), 'utf8')
  writeFileSync(
    join(root, 'README.md'),
    readme.replaceAll(/\b([Rr]owport[ -])\d+\.\d+\.\d+\b/g, (_, name: string) => name + wanted),
  )
  for (const name of ['package.json', 'package-lock.json']) {
    const text = readFileSync(join(root, name), 'utf8')
    const { version: former } = JSON.parse(text)
    // In the lock file it stands twice: for the file, and for the package that it is about.
    const times = name === 'package.json' ? 1 : 2
    let replaced = text
    for (let n = 0; n < times; n++)
      replaced = replaced.replace(`"version": "${former}"`, `"version": "${wanted}"`)
    writeFileSync(join(root, name), replaced)
  }
  git('commit', '--all', '--quiet', '--message', `Release ${wanted}`)
  git('tag', '--annotate', `v${wanted}`, '--message', `Rowport ${wanted}`)
  process.stdout.write(`Committed and tagged v${wanted}. To publish it: git push --follow-tags\n`)
  return null
}

function git(...words: string[]): string {
  return execFileSync('git', words, { cwd: root, encoding: 'utf8' })
}
