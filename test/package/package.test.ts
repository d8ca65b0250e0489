import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, test } from 'node:test'
import { promisify } from 'node:util'
import { holdsOfTwo } from '../measured-twice.ts'
import { mainThreadOf } from '../process/main-thread.ts'
import { freshPlace, type Place, projectFolder } from '../process/running.ts'
import { startPostgres } from '../servers/postgres.ts'
import { startRedis } from '../servers/redis.ts'

const run = promisify(execFile)
const folder = await mkdtemp(join(tmpdir(), 'rowport-package-'))
after(() => rm(folder, { recursive: true, force: true }))
const { installed, packedBytes } = await packAndInstall()

test('the package is small, needs no other, and runs nothing when it is installed', async () => {
  assert.ok(packedBytes < 3_000_000, `${packedBytes} bytes packed`)
  const modules = (await readdir(join(folder, 'empty/node_modules'))).filter((name) => !name.startsWith('.'))
  assert.deepEqual(modules, ['rowport'])
  const manifest = JSON.parse(await readFile(join(folder, 'empty/node_modules/rowport/package.json'), 'utf8'))
  for (const name of ['scripts', 'dependencies', 'optionalDependencies']) assert.ok(!(name in manifest), name)
  assert.equal(manifest.engines.node, '>=24.15')
})

test('from an empty folder: rows, a write, dashboard, docs and commands', async (t) => {
  const place = await freshPlace(t, installed)
  const server = await place.start()
  t.diagnostic(`packed ${(packedBytes / 1_000_000).toFixed(2)} MB`)
  const key = /sk_live_\w+/.exec(server.screen)?.[0] ?? ''
  const sheet = `${server.url}/api/sheets/demo/products`
  const headers = { Authorization: `Bearer ${key}` }
  assert.equal((await rowsAt(sheet, headers)).length, 4)
  const added = await fetch(sheet, { method: 'POST', headers, body: '{"name":"Floor lamp","price":89}' })
  assert.equal(added.status, 201)
  assert.match(await readFile(join(place.dataFolder, 'sheets/products.csv'), 'utf8'), /^Floor lamp,,89,,$/m)

  const home = await (await fetch(server.url)).text()
  const script = /src="([^"]+\.js)"/.exec(home)?.[1] ?? ''
  const scriptAnswer = await fetch(new URL(script, `${server.url}/`))
  assert.equal(scriptAnswer.status, 200)
  assert.match(scriptAnswer.headers.get('content-type') ?? '', /javascript/)
  assert.equal((await fetch(`${server.url}/docs/api.md`)).status, 200)

  const keys = await place.rowport(['key', 'list', 'demo', '--json'])
  assert.equal(JSON.parse(keys.stdout).length, 1, keys.stderr)
  const version = JSON.parse(await readFile(join(projectFolder, 'package.json'), 'utf8')).version
  assert.match(server.screen, new RegExp(`Rowport ${version.replaceAll('.', '\\.')} is running`))
})

test('one file, one command: how long until its rows are there', async (t) => {
  const place = await freshPlace(t, installed)
  await writeFile(join(place.folder, 'prices.csv'), 'sku,price\nA1,5\n')
  const begunMs = performance.now()
  const server = await place.start({ words: ['serve', 'prices.csv'] })
  const key = /sk_live_\w+/.exec(server.screen)?.[0] ?? ''
  const rows = await rowsAt(`${server.url}/api/sheets/local/prices`, { Authorization: `Bearer ${key}` })
  t.diagnostic(`first rows ${(performance.now() - begunMs).toFixed(0)} ms after the command`)
  assert.deepEqual(rows, [{ sku: 'A1', price: 5 }])
})

test('every line of the screen that begins a command can be pasted, the types too', async (t) => {
  const place = await freshPlace(t, installed)
  await writeFile(join(place.folder, 'prices.csv'), 'sku,price\nA1,5\n')
  const { screen } = await place.start({ words: ['serve', 'prices.csv'] })
  const [rows = '', dryRun = '', description = ''] = screen.match(/^ +curl .*$/gm) ?? []
  const types = /^ +(npx rowport types .*)$/m.exec(screen)?.[1] ?? ''
  const inEmptyFolder = (line: string) =>
    run('bash', ['-c', line.trim()], { cwd: join(folder, 'empty') }).then(({ stdout }) => stdout)
  assert.equal(await inEmptyFolder(`${rows} -s`), '[{"sku":"A1","price":5}]')
  assert.equal(JSON.parse(await inEmptyFolder(`${dryRun} -s`)).dry_run, true)
  assert.equal(JSON.parse(await inEmptyFolder(`${description} -s`)).openapi, '3.1.0')
  const made = await inEmptyFolder(types)
  assert.match(made, /^ {2}Row: \{\n {4}sku: string\n {4}price: number\n {2}\}$/m)
  await writeFile(join(folder, 'empty/prices.ts'), made)
  await inEmptyFolder(`${types} --check prices.ts`)
  await writeFile(join(place.folder, 'prices.csv'), 'sku,cost\nA1,5\n')
  await inEmptyFolder(`${rows} -s -H 'Cache-Control: no-cache'`)
  await assert.rejects(inEmptyFolder(`${types} --check prices.ts`), /price/)
})

test('its threads read and change workbooks, and read OpenDocument', async (t) => {
  const place = await freshPlace(t, installed)
  const server = await place.start()
  const key = /sk_live_\w+/.exec(server.screen)?.[0] ?? ''
  const headers = { Authorization: `Bearer ${key}` }
  const fixtures = join(projectFolder, 'src/providers/file')
  for (const [slug, fixture, status] of [
    ['book', 'xlsx/fixtures/openpyxl.xlsx', 201],
    ['open', await someOds(fixtures), 403],
  ] as const) {
    const path = join(place.folder, `${slug}.${fixture.split('.').at(-1)}`)
    await copyFile(join(fixtures, fixture), path)
    const connected = await place.rowport(['sheet', 'connect', `demo/${slug}`, '--file', path])
    assert.equal(connected.code, 0, connected.stderr)
    const rows = await rowsAt(`${server.url}/api/sheets/demo/${slug}?values=formatted`, headers)
    assert.ok(rows.length > 0, slug)
    const { _row, ...cells } = rows[0] ?? {}
    const added = await fetch(`${server.url}/api/sheets/demo/${slug}`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ [Object.keys(cells)[0] ?? '']: 'new' }),
    })
    assert.equal(added.status, status, await added.text())
  }
})

test('PostgreSQL and Redis are in it', async (t) => {
  const [postgres, redis] = await Promise.all([startPostgres({ fsync: false }), startRedis()])
  t.after(() => Promise.all([postgres.stop(), redis.stop()]))
  const place = await freshPlace(t, installed)
  const env = { DATABASE_URL: postgres.url, REDIS_URL: redis.url, ROWPORT_SECRET: 'a'.repeat(64) }
  const server = await place.start({ env })
  const ready = await fetch(`${server.url}/readyz`)
  assert.equal(ready.status, 200, await ready.text())
  const made = await place.rowport(['account', 'create', 'acme', '--json'], { env })
  assert.equal(made.code, 0, made.stderr)
})

test('an older Node gets one clear sentence', async (t) => {
  const place = await freshPlace(t, installed)
  const asOlder = join(place.folder, 'older.cjs')
  await writeFile(asOlder, `Object.defineProperty(process.versions, 'node', { value: '22.19.0' })`)
  const { code, stderr } = await place.rowport(['serve'], { env: { NODE_OPTIONS: `--require ${asOlder}` } })
  assert.equal(code, 1)
  assert.equal(
    stderr,
    'Rowport needs Node.js 24.15 or newer, and this is 22.19.0. Get one from https://nodejs.org/en/download\n',
  )
})

test('so does one that is really older, where the machine has it', async (t) => {
  const older = (process.env.PATH ?? '').split(delimiter).map((path) => join(path, 'node'))
  for (const node of older) {
    const version = await run(node, ['--version']).then(
      ({ stdout }) => stdout.trim(),
      () => '',
    )
    if (!/^v(?:1\d|20|22)\./.test(version)) continue
    const refused = await run(node, [installed, 'serve']).catch((error: unknown) => error)
    const { code, stdout, stderr } = refused as { code: number; stdout: string; stderr: string }
    assert.deepEqual([code, stdout], [1, ''])
    assert.match(stderr, /^Rowport needs Node\.js 24\.15 or newer, and this is [\d.]+\. Get one from \S+\n$/)
    return t.diagnostic(version)
  }
  t.skip('no older Node is installed')
})

test('it starts with less work than a clone that was compiled before, and holds less', async (t) => {
  const measured = async (place: Place) => {
    const server = await place.start()
    const pid = server.child.pid ?? 0
    const status = await readFile(`/proc/${pid}/status`, 'utf8')
    return {
      cpuMs: mainThreadOf(server).usedMs,
      residentMb: Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024,
    }
  }
  if (process.platform !== 'linux') return t.skip('the figures are Linux’s')
  await measured(await freshPlace(t))
  const inWords = ({ clone, packed }: Record<'clone' | 'packed', Awaited<ReturnType<typeof measured>>>) =>
    `to its screen: clone ${clone.cpuMs.toFixed(0)} ms of processor time and ${clone.residentMb.toFixed(0)} MB, package ${packed.cpuMs.toFixed(0)} ms and ${packed.residentMb.toFixed(0)} MB`
  const figures = await holdsOfTwo(
    async () => ({
      clone: await measured(await freshPlace(t)),
      packed: await measured(await freshPlace(t, installed)),
    }),
    ({ clone, packed }) =>
      packed.cpuMs < clone.cpuMs * 0.8 && packed.residentMb < clone.residentMb * 0.85
        ? null
        : inWords({ clone, packed }),
  )
  t.diagnostic(inWords(figures))
})

test('it starts with less than five times the work of an empty server, once it was compiled', async (t) => {
  if (process.platform !== 'linux') return t.skip('the figures are Linux’s')
  // Nothing that was set for other tests: as a newcomer has it, with a folder that is gone at the end.
  const env = { NODE_COMPILE_CACHE: '', ROWPORT_DATA: '' }
  const usedMs = async () => {
    const place = await freshPlace(t, installed)
    await writeFile(join(place.folder, 'prices.csv'), 'sku,price\nA1,5\n')
    const server = await place.start({ words: ['serve', 'prices.csv'], env })
    const { usedMs: ms } = mainThreadOf(server)
    server.child.kill('SIGTERM')
    await server.ended
    return ms
  }
  const firstMs = await usedMs()
  assert.ok((await readdir(join(installed, '../../.compiled'))).length > 0, 'what was compiled is kept')
  const figures = await holdsOfTwo(
    async () => ({
      laterMs: Math.min(await usedMs(), await usedMs(), await usedMs()),
      emptyMs: Math.min(await workOfEmptyServer(), await workOfEmptyServer(), await workOfEmptyServer()),
    }),
    ({ laterMs, emptyMs }) =>
      laterMs < 5 * emptyMs ? null : `${laterMs.toFixed(0)} ms beside ${emptyMs.toFixed(0)} ms`,
  )
  const { laterMs, emptyMs } = figures
  t.diagnostic(
    `to its screen: ${firstMs.toFixed(0)} ms of processor time at the first start, ${laterMs.toFixed(0)} ms later, an empty server ${emptyMs.toFixed(0)} ms`,
  )
})

test('a start puts no number into words, which loads tables of all languages', async (t) => {
  const place = await freshPlace(t, installed)
  await writeFile(join(place.folder, 'prices.csv'), 'sku,price\nA1,5\n')
  const refusing = join(place.folder, 'refusing.cjs')
  const refuse = "() => { throw new Error('a number was put into words') }"
  await writeFile(refusing, `Number.prototype.toLocaleString = ${refuse}\n`)
  const server = await place.start({
    words: ['serve', 'prices.csv'],
    env: { NODE_OPTIONS: `--require=${refusing}`, ROWPORT_DATA: '' },
  })
  assert.match(server.screen, /prices/)
})

test('a start loads neither the dashboard nor the commands, and nothing that takes two bytes to the letter', async () => {
  const server = join(installed, '../../dist/server')
  const loaded = new Set(['rowport.js'])
  for (const name of loaded) {
    const text = await readFile(join(server, name), 'utf8')
    for (const [, imported = ''] of text.matchAll(/(?:from|import)"\.\/([^"]+)"/g)) loaded.add(imported)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: ASCII is what is looked for.
    assert.doesNotMatch(text, /[^\x00-\x7f]/, name)
  }
  assert.ok(loaded.size > 10, 'it follows imports')
  const all = await readdir(server)
  for (const part of ['dashboard-assembly', 'all-commands', 'answer-message', 'smtp-transport']) {
    const file = all.find((name) => name.startsWith(part)) ?? ''
    assert.ok(file !== '' && !loaded.has(file), part)
  }
})

test('a new store is as all migrations make it', async (t) => {
  const stores = [await freshPlace(t, installed), await freshPlace(t)]
  const [packed, migrated] = await Promise.all(
    stores.map(async (place) => {
      await place.rowport(['account', 'create', 'acme'])
      using database = new DatabaseSync(join(place.dataFolder, 'rowport.db'), { readOnly: true })
      const parts = database
        .prepare('select type, name, tbl_name, sql from sqlite_schema order by name')
        .all()
      const steps = database.prepare('select number, name from migration order by number').all()
      return { parts, steps }
    }),
  )
  assert.ok((migrated?.steps.length ?? 0) > 20)
  assert.deepEqual(packed, migrated)
})

test('a server that is to last gives freed memory back; one that is only tried begins once', async (t) => {
  if (process.platform !== 'linux') return t.skip('it is for Linux')
  for (const [words, dataFolder, lasts] of [
    [['serve', '--port', '0'], 'data', true],
    [['serve', 'prices.csv', '--data=kept'], '', true],
    [['serve', 'prices.csv', '--port', '0'], '', false],
  ] as const) {
    const place = await freshPlace(t, installed)
    await writeFile(join(place.folder, 'prices.csv'), 'sku,price\nA1,5\n')
    const server = await place.start({ words, env: { ROWPORT_DATA: dataFolder } })
    const environment = await readFile(`/proc/${server.child.pid}/environ`, 'utf8')
    assert.equal(environment.includes('MALLOC_MMAP_THRESHOLD_=65536'), lasts, words.join(' '))
  }
})

test('a path is meant from the folder in which it is typed, also in the script of another package', async (t) => {
  const place = await freshPlace(t, installed)
  await writeFile(join(place.folder, 'prices.csv'), 'sku,price\nA1,5\n')
  const server = await place.start({ words: ['serve', 'prices.csv'], env: { INIT_CWD: tmpdir() } })
  assert.match(server.screen, /prices\.csv: 1 row, 2 columns/)
})

/** In milliseconds of processor time, until it listens, with those parts of Node that every start needs. */
async function workOfEmptyServer(): Promise<number> {
  const script = `
    new (require('node:sqlite').DatabaseSync)(':memory:').exec('create table a (b)')
    require('node:crypto').randomBytes(8)
    require('node:http').createServer().listen(0, () => {
      const { user, system } = process.cpuUsage()
      console.log((user + system) / 1000)
      process.exit()
    })`
  return Number((await run(process.execPath, ['--eval', script])).stdout)
}

/** As `npm run package` and then `npm install` in an empty folder, without asking any registry. */
async function packAndInstall(): Promise<{ installed: string; packedBytes: number }> {
  await run(process.execPath, [join(projectFolder, 'scripts/package.ts'), '--out', folder])
  const packed = (await readdir(folder)).find((name) => name.endsWith('.tgz')) ?? ''
  const empty = join(folder, 'empty')
  await mkdir(empty)
  await run('npm', ['install', '--offline', '--no-audit', '--no-fund', join(folder, packed)], { cwd: empty })
  const { size } = await stat(join(folder, packed))
  return { installed: join(empty, 'node_modules/rowport/bin/rowport.cjs'), packedBytes: size }
}

async function someOds(fixtures: string): Promise<string> {
  const found = (await readdir(fixtures, { recursive: true })).find((name) => name.endsWith('.ods'))
  assert.ok(found, 'a fixture')
  return found
}

async function rowsAt(url: string, headers: Record<string, string>): Promise<Record<string, unknown>[]> {
  return (await (await fetch(url, { headers })).json()) as Record<string, unknown>[]
}
