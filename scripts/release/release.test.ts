import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { sectionOf } from './changelog.ts'

test('a release gives the version to package, lock file, changelog and README, and tags them; what cannot be released is said', (t) => {
  const root = mkdtempSync(join(tmpdir(), 'rowport-release-'))
  t.after(() => rmSync(root, { recursive: true }))
  const write = (name: string, text: string) => writeFileSync(join(root, name), text)
  const read = (name: string) => readFileSync(join(root, name), 'utf8')
  const git = (...words: string[]) => execFileSync('git', words, { cwd: root, encoding: 'utf8' })
  const release = (...words: string[]) =>
    spawnSync(process.execPath, [join(import.meta.dirname, '../release.ts'), ...words], {
      encoding: 'utf8',
      env: { ...process.env, ROWPORT_RELEASE_ROOT: root },
    })
  write(
    'package.json',
    '{\n  "name": "rowport",\n  "version": "0.1.0",\n  "dependencies": { "a": "0.1.0" }\n}\n',
  )
  write(
    'package-lock.json',
    '{\n  "version": "0.1.0",\n  "packages": { "": { "version": "0.1.0" }, "node_modules/a": { "version": "0.1.0" } }\n}\n',
  )
  write('CHANGELOG.md', '# Changelog\n\n## Unreleased\n\n- One.\n\n## 0.1.0 (2026-01-01)\n\n- Zero.\n')
  write(
    'README.md',
    'Rowport 0.1.0 is running.\nnpx --package ./build/rowport-0.1.0.tgz rowport serve\nNode 24.15\n',
  )
  git('init', '--quiet', '--initial-branch', 'main')
  const remote = join(root, '.git/remote')
  git('init', '--quiet', '--bare', remote)
  git('remote', 'add', 'origin', remote)
  for (const [name, value] of [
    ['user.name', 'x'],
    ['user.email', 'x@example.com'],
  ] as const)
    git('config', name, value)
  git('add', '.')
  assert.match(release('0.2.0').stderr, /not committed/)
  git('commit', '--quiet', '--message', 'begin')

  assert.match(release('v2').stderr, /name the version/)
  const done = release('0.2.0')
  assert.equal(done.status, 0, done.stderr)
  assert.equal(JSON.parse(read('package.json')).version, '0.2.0')
  const { version, packages } = JSON.parse(read('package-lock.json'))
  assert.deepEqual(
    [version, packages[''].version, packages['node_modules/a'].version],
    ['0.2.0', '0.2.0', '0.1.0'],
  )
  assert.match(
    read('CHANGELOG.md'),
    /^# Changelog\n\n## Unreleased\n\n## 0\.2\.0 \(\d{4}-\d\d-\d\d\)\n\n- One\.\n\n## 0\.1\.0/,
  )
  assert.equal(sectionOf(read('CHANGELOG.md'), '0.2.0'), '- One.\n')
  assert.equal(
    read('README.md'),
    'Rowport 0.2.0 is running.\nnpx --package ./build/rowport-0.2.0.tgz rowport serve\nNode 24.15\n',
  )
  assert.equal(git('tag').trim(), 'v0.2.0')
  // What the last line says to do brings the tag along, by which the workflow begins.
  assert.match(done.stdout, /git push --follow-tags\n$/)
  git('push', '--quiet', '--follow-tags', '--set-upstream', 'origin', 'main')
  assert.match(git('ls-remote', '--tags', 'origin'), /refs\/tags\/v0\.2\.0\n/)
  assert.equal(git('status', '--porcelain'), '')
  assert.match(release('0.2.0').stderr, /there already/)
  assert.match(release('0.3.0').stderr, /nothing under/)
})
