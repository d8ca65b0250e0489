import assert from 'node:assert/strict'
import { type SpawnSyncReturns, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'

test('says nothing and calls nobody when everything is installed', (t) => {
  const project = makeProject(t)
  project.installByHand()
  const { status, stdout, stderr } = project.setUp()
  assert.deepEqual({ status, stdout, stderr }, { status: 0, stdout: '', stderr: '' })
  assert.deepEqual(project.npmCalls(), [])
})

test('installs when nothing is there, says so on stderr only, and is silent from then on', (t) => {
  const project = makeProject(t)
  const first = project.setUp()
  assert.equal(first.status, 0)
  assert.equal(first.stdout, '')
  assert.match(first.stderr, /installing 1 packages \(nothing is installed yet\).*installed in \d+ s\n$/s)
  assert.equal(project.npmCalls().length, 1)
  assert.match(project.npmCalls()[0] ?? '', /^ci .*--include=dev/)

  assert.equal(project.setUp().stderr, '')
  assert.equal(project.npmCalls().length, 1)
})

test('installs when the lock file asks for another version', (t) => {
  const project = makeProject(t)
  project.installByHand()
  project.writeLock('2.0.0')
  assert.match(project.setUp().stderr, /sample is 1\.0\.0, package-lock\.json says 2\.0\.0/)
  assert.equal(project.npmCalls().length, 1)
})

test('installs when an install was cut short or a package has been deleted', (t) => {
  const project = makeProject(t)
  project.installByHand()
  rmSync(join(project.root, 'node_modules/.package-lock.json'))
  assert.match(project.setUp().stderr, /did not finish/)
  rmSync(join(project.root, 'node_modules/sample'), { recursive: true })
  assert.match(project.setUp().stderr, /sample has been removed/)
  assert.equal(project.npmCalls().length, 2)
})

test('packages for other platforms are not missed', (t) => {
  const project = makeProject(t)
  project.writeLock('1.0.0', {
    'node_modules/other': { version: '1.0.0', optional: true, os: ['no-such-system'] },
    'node_modules/not-here': { version: '1.0.0', optional: true, os: [`!${process.platform}`] },
    'node_modules/other-cpu': { version: '1.0.0', optional: true, cpu: 'no-such-cpu' },
  })
  project.installByHand()
  assert.equal(project.setUp().stderr, '')
  assert.deepEqual(project.npmCalls(), [])
})

test('a package that npm leaves out is not asked for again at every start', (t) => {
  const project = makeProject(t)
  project.writeLock('1.0.0', { 'node_modules/left-out': { version: '1.0.0', optional: true } })
  assert.equal(project.setUp().status, 0)
  assert.equal(project.setUp().stderr, '')
  assert.equal(project.npmCalls().length, 1)
})

test('the program starts without development packages, the tests do not', (t) => {
  const project = makeProject(t)
  project.writeLock('1.0.0', { 'node_modules/linter': { version: '1.0.0', dev: true } })
  project.installByHand()
  assert.equal(project.setUp({ npm_lifecycle_event: 'start' }).stderr, '')
  assert.deepEqual(project.npmCalls(), [])
  assert.match(project.setUp({ npm_lifecycle_event: 'test' }).stderr, /linter 1\.0\.0 is missing/)

  rmSync(join(project.root, 'node_modules'), { recursive: true })
  assert.match(project.setUp({ npm_lifecycle_event: 'start' }).stderr, /nothing is installed yet/)
  assert.match(project.setUp({ npm_lifecycle_event: 'test' }).stderr, /linter 1\.0\.0 is missing/)
})

test("shows npm's own error and fails with its code", (t) => {
  const project = makeProject(t)
  const { status, stdout, stderr } = project.setUp({ FAKE_NPM: 'fails' })
  assert.equal(status, 7)
  assert.equal(stdout, '')
  assert.match(stderr, /npm error code ENOTFOUND.*npm ci ended with code 7/s)
  assert.equal(existsSync(join(project.root, '.set-up.lock')), false)
})

test('says so when there is no npm', (t) => {
  const project = makeProject(t)
  const { status, stderr } = project.setUp({ PATH: '/no-such-folder' })
  assert.equal(status, 127)
  assert.match(stderr, /npm is not on the PATH/)
})

test('two at once install once', async (t) => {
  const project = makeProject(t)
  const both = [1, 2].map(() =>
    spawn(process.execPath, [project.script], { env: project.env({ FAKE_NPM: 'slow' }) }),
  )
  const codes = await Promise.all(both.map(async (child) => (await once(child, 'exit'))[0]))
  assert.deepEqual(codes, [0, 0])
  assert.equal(project.npmCalls().length, 1)
})

test('a lock left by a process that is gone is taken over', (t) => {
  const project = makeProject(t)
  const gone = spawnSync(process.execPath, ['--version']).pid
  writeFileSync(join(project.root, '.set-up.lock'), JSON.stringify({ host: hostname(), pids: [gone] }))
  assert.equal(project.setUp().status, 0)
  assert.equal(project.npmCalls().length, 1)
  assert.equal(existsSync(join(project.root, '.set-up.lock')), false)
})

test('interrupted, it ends npm, frees the lock, and installs at the next start', async (t) => {
  const project = makeProject(t)
  const child = spawn(process.execPath, [project.script], { env: project.env({ FAKE_NPM: 'slow' }) })
  while (project.npmCalls().length === 0) await new Promise((resolve) => setTimeout(resolve, 10))
  child.kill('SIGTERM')
  assert.deepEqual(await once(child, 'exit'), [143, null])
  assert.equal(existsSync(join(project.root, '.set-up.lock')), false)
  assert.equal(project.setUp().status, 0)
  assert.equal(project.npmCalls().length, 2)
})

test('an old Node is refused with what to do, unless the pinned one is there', (t) => {
  const project = makeProject(t)
  project.installByHand()
  project.requireNode('>=99.1')
  const refused = project.setUp()
  assert.equal(refused.status, 1)
  assert.match(
    refused.stderr,
    /Node\.js 99\.1 or newer is needed.*does not run on .*Install a newer Node\.js/s,
  )

  project.pinNode('#!/bin/sh\necho v99.2.0\n')
  assert.equal(project.setUp().status, 0)
})

test('an old Node whose pinned successor npm could not get is told that, and the next start tries again', (t) => {
  const project = makeProject(t)
  project.writeLock('1.0.0', { 'node_modules/node-here': { version: '99.2.0', optional: true } })
  project.requireNode('>=99.1')
  assert.match(project.setUp().stderr, /could not be installed \(node-here 99\.2\.0 is missing\)/)
  assert.equal(project.setUp().status, 1)
  assert.equal(project.npmCalls().length, 2)
})

test("a pinned Node that cannot run here makes way for the machine's own", (t) => {
  const project = makeProject(t)
  project.installByHand()
  project.pinNode('#!/no-such-loader\n')
  const { status, stderr } = project.setUp()
  assert.deepEqual({ status, stderr }, { status: 0, stderr: '' })
  assert.equal(existsSync(join(project.root, 'node_modules/.bin/node')), false)
})

test('the dashboard is built when it is not there, and again when its sources or packages have changed', (t) => {
  const project = makeProject(t)
  project.installByHand()
  project.addWeb()
  const first = project.setUp({ npm_lifecycle_event: 'start' })
  assert.deepEqual([first.status, first.stdout], [0, ''])
  assert.match(first.stderr, /building the dashboard \(for the first time\)/)
  assert.equal(project.builds(), 1)
  assert.equal(project.setUp({ npm_lifecycle_event: 'start' }).stderr, '', 'there is nothing to do')
  for (const script of ['test', 'test:all', 'soak', 'check']) {
    rmSync(join(project.root, 'web/dist'), { recursive: true })
    assert.match(project.setUp({ npm_lifecycle_event: script }).stderr, /for the first time/, script)
  }
  for (const change of [
    () => project.write('web/src/main.tsx', 'edited'),
    () => project.write('web/src/pages/new-page.tsx', ''),
    () => rmSync(join(project.root, 'web/src/pages/new-page.tsx')),
    () => project.write('package-lock.json', `${readFileSync(join(project.root, 'package-lock.json'))} `),
  ]) {
    change()
    assert.match(project.setUp({ npm_lifecycle_event: 'dev' }).stderr, /its sources have changed/)
  }
  assert.equal(project.builds(), 9)
  rmSync(join(project.root, 'web/dist/.sources'))
  assert.match(project.setUp({ npm_lifecycle_event: 'start' }).stderr, /its sources may have changed/)
  assert.equal(existsSync(join(project.root, '.set-up.lock')), false)
})

test('the dashboard is built again when a table has changed that it has in common with the server', (t) => {
  const project = makeProject(t)
  project.installByHand()
  project.addWeb()
  project.write('web/src/pages/a-page.tsx', "import { table } from '../../../src/rows/table.ts'\n")
  project.write('src/rows/table.ts', 'export const table = 1\n')
  project.setUp({ npm_lifecycle_event: 'start' })
  project.write('src/rows/other.ts', '')
  assert.equal(project.setUp({ npm_lifecycle_event: 'start' }).stderr, '')
  project.write('src/rows/table.ts', 'export const table = 2\n')
  assert.match(project.setUp({ npm_lifecycle_event: 'start' }).stderr, /its sources have changed/)
})

test('commands that show no dashboard do not build it, and an image without the builder starts all the same', (t) => {
  const project = makeProject(t)
  project.installByHand()
  project.addWeb()
  assert.equal(project.setUp({ npm_lifecycle_event: 'rowport' }).stderr, '')
  assert.equal(project.builds(), 0)
  rmSync(join(project.root, 'node_modules/vite'), { recursive: true })
  const { status, stderr } = project.setUp({ npm_lifecycle_event: 'start' })
  assert.equal(status, 0)
  assert.match(stderr, /the dashboard is not built.*the API works without it/)
})

test('a build that fails says so, leaves no stamp, and is tried again at the next start', (t) => {
  const project = makeProject(t)
  project.installByHand()
  project.addWeb()
  const failed = project.setUp({ npm_lifecycle_event: 'start', FAKE_VITE: 'fails' })
  assert.equal(failed.status, 1)
  assert.match(failed.stderr, /no such import.*the dashboard could not be built \(vite ended with 3\)/s)
  assert.equal(existsSync(join(project.root, '.set-up.lock')), false)
  assert.equal(project.setUp({ npm_lifecycle_event: 'start' }).status, 0)
  assert.equal(project.builds(), 1)
})

test('two at once build once', async (t) => {
  const project = makeProject(t)
  project.installByHand()
  project.addWeb()
  const both = [1, 2].map(() =>
    spawn(process.execPath, [project.script], {
      env: project.env({ npm_lifecycle_event: 'start', FAKE_VITE: 'slow' }),
    }),
  )
  const codes = await Promise.all(both.map(async (child) => (await once(child, 'exit'))[0]))
  assert.deepEqual(codes, [0, 0])
  assert.equal(project.builds(), 1)
})

// Stands for Vite: notes the call, and makes what a build makes.
const fakeVite = `
const { appendFileSync, mkdirSync, writeFileSync } = require('node:fs')
if (process.env.FAKE_VITE === 'fails') {
  console.error('no such import')
  process.exit(3)
}
setTimeout(() => {
  mkdirSync('web/dist', { recursive: true })
  writeFileSync('web/dist/index.html', '')
  appendFileSync('builds', process.argv.slice(2).join(' ') + '\\n')
}, process.env.FAKE_VITE === 'slow' ? 400 : 0)
`

// Stands for `npm ci`: notes the call and installs one package as npm would record it.
const fakeNpm = `#!/bin/sh
echo "$@" >> npm-calls
case "$FAKE_NPM" in
  fails) echo 'npm error code ENOTFOUND' >&2; exit 7 ;;
  slow) sleep 0.4 ;;
esac
rm -rf node_modules
mkdir -p node_modules/sample
version=$(sed -n 's/.*"sample":"\\([^"]*\\)".*/\\1/p' package-lock.json)
echo "{\\"packages\\":{\\"node_modules/sample\\":{\\"version\\":\\"$version\\"}}}" > node_modules/.package-lock.json
`

function makeProject(t: TestContext) {
  const root = mkdtempSync(join(tmpdir(), 'rowport-set-up-'))
  t.after(() => rmSync(root, { recursive: true, force: true }))
  const path = (...names: string[]) => join(root, ...names)
  cpSync(join(import.meta.dirname, 'set-up.mjs'), path('scripts/set-up.mjs'))
  cpSync(join(import.meta.dirname, 'set-up'), path('scripts/set-up'), { recursive: true })
  mkdirSync(path('bin'))
  writeFileSync(path('bin/npm'), fakeNpm, { mode: 0o755 })

  const project = {
    root,
    script: path('scripts/set-up.mjs'),
    writeLock(version: string, more: Record<string, object> = {}) {
      const packages = {
        '': { dependencies: { sample: version } },
        'node_modules/sample': { version },
        ...more,
      }
      writeFileSync(path('package-lock.json'), JSON.stringify({ packages }))
    },
    requireNode(range: string) {
      writeFileSync(path('package.json'), JSON.stringify({ engines: { node: range } }))
    },
    installByHand() {
      spawnSync(path('bin/npm'), ['install'], { cwd: root })
      rmSync(path('npm-calls'))
    },
    write(file: string, text: string) {
      mkdirSync(dirname(path(file)), { recursive: true })
      writeFileSync(path(file), text)
    },
    addWeb() {
      project.write('web/vite.config.ts', '')
      project.write('web/src/main.tsx', '')
      project.write('node_modules/vite/bin/vite.js', fakeVite)
    },
    builds(): number {
      return existsSync(path('builds'))
        ? (readFileSync(path('builds'), 'utf8').match(/^build /gm)?.length ?? 0)
        : 0
    },
    pinNode(script: string) {
      mkdirSync(path('node_modules/.bin'))
      writeFileSync(path('node_modules/.bin/node'), script, { mode: 0o755 })
    },
    env(more: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
      return { PATH: `${path('bin')}:/usr/bin:/bin`, ...more }
    },
    setUp(more: NodeJS.ProcessEnv = {}): SpawnSyncReturns<string> {
      return spawnSync(process.execPath, [project.script], { encoding: 'utf8', env: project.env(more) })
    },
    npmCalls(): string[] {
      if (!existsSync(path('npm-calls'))) return []
      return readFileSync(path('npm-calls'), 'utf8').split('\n').filter(Boolean)
    },
  }
  project.writeLock('1.0.0')
  project.requireNode('>=18.0')
  return project
}
