import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { freshPlace, type Place, projectFolder } from './running.ts'

test('a first start on an empty folder: what the screen says to paste works, and only the screen knows the key', async (t) => {
  if (!hasCurl(t)) return
  const place = await freshPlace(t)
  const server = await place.start()
  const { screen, port } = server

  assert.match(screen, new RegExp(`Dashboard +http://localhost:${port}/\n`))
  const sheetUrl = `http://localhost:${port}/api/sheets/demo/products`
  assert.match(screen, new RegExp(`Sample sheet +${sheetUrl}\n`))
  assert.match(screen, /shown once, so save it now/)
  const docsUrl = /Docs +(\S+)\n/.exec(screen)?.[1] ?? ''
  assert.equal((await fetch(docsUrl)).status, 200)
  const key = keysIn(screen)[0] ?? ''
  assert.match(key, /^sk_live_[0-9A-Za-z]{32}$/)
  const home = await fetch(`http://localhost:${port}/`)
  assert.equal(home.status, 200)
  assert.match(home.headers.get('content-type') ?? '', /^text\/html/)

  // curl prints no status by itself, and the lines must run as they are.
  await writeFile(join(place.folder, '.curlrc'), 'silent\nwrite-out = "\\n%{http_code}"\n')
  const lines = pasteable(screen, 'curl')
  assert.equal(lines.length, 2)
  const [readLine = '', addLine = ''] = lines

  const before = await curl(place, readLine)
  assert.equal(before.status, 200)
  assert.deepEqual(before.rows[0], {
    name: 'Oak table',
    category: 'Furniture',
    price: 420,
    in_stock: true,
    added: '2026-03-02',
  })

  const added = await curl(place, addLine)
  assert.equal(added.status, 201)
  assert.equal(added.body.rows_added, 1)

  const after = await curl(place, readLine)
  assert.equal(after.rows.length, before.rows.length + 1)
  assert.equal(after.rows.at(-1)?.name, 'Floor lamp')

  assert.deepEqual(
    await filesWith(place.dataFolder, key),
    [],
    'while the server runs, write-ahead log included',
  )
  server.child.kill('SIGTERM')
  const { code, stderr } = await server.ended
  assert.equal(code, 0)
  assert.deepEqual(await filesWith(place.dataFolder, key), [])
  assert.ok(!stderr.includes(key.slice('sk_live_'.length)), 'nor the log')
})

test('the README shows the screen as it is', async (t) => {
  const place = await freshPlace(t)
  const { screen, port } = await place.start()
  const shown = screen
    .replaceAll(String(port), '8787')
    .replaceAll(/sk_live_\w+/g, 'sk_live_…')
    .replaceAll(/token=\S+/g, 'token=…')
    .replaceAll(/\S+\/sheets\/products\.csv/g, './data/sheets/products.csv')
    .replace(/\n\n {2}Press Ctrl\+C to stop\.\n+$/, '\n')
  const readme = await readFile(join(projectFolder, 'README.md'), 'utf8')
  assert.ok(readme.includes(`\`\`\`${shown}\`\`\``), shown)
})

test('a second start keeps the data, shows no key, and its line for a new one works from another terminal', async (t) => {
  const place = await freshPlace(t)
  // A folder whose name a shell would take apart.
  const env = { ROWPORT_DATA: join(place.folder, "it's my data") }
  const first = await place.start({ env })
  first.child.kill('SIGTERM')
  await first.ended

  const second = await place.start({ env })
  assert.deepEqual(keysIn(second.screen), [])
  assert.match(second.screen, /Keys are shown only once/)
  assert.match(second.screen, /Sample sheet +http/)

  const [line = '', forLink = '', ...others] = pasteable(second.screen, 'ROWPORT_DATA=')
  assert.deepEqual(others, [])
  const link = await place.bash(forLink, { cwd: projectFolder })
  assert.match(link.stdout, /sign-in-link/)
  const made = await place.bash(line, { cwd: projectFolder })
  assert.equal(made.code, 0, made.stderr)
  const [newKey] = keysIn(made.stdout)
  const added = await fetch(`${second.url}/api/sheets/demo/products`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${newKey}` },
    body: '{"name":"Shelf"}',
  })
  assert.equal(added.status, 201)
})

test('the data lies next to where it was started unless told otherwise, and BASE_URL is what the screen shows', async (t) => {
  const place = await freshPlace(t)
  const env = { ROWPORT_DATA: '', BASE_URL: 'https://sheets.example.com/rowport/' }
  const { screen } = await place.start({ env })
  assert.ok((await readdir(place.dataFolder)).includes('rowport.db'))
  assert.match(screen, /a file: \.\/data\/sheets\/products\.csv\n/)
  assert.match(screen, /Dashboard +https:\/\/sheets\.example\.com\/rowport\/\n/)
  assert.match(screen, /curl .* https:\/\/sheets\.example\.com\/rowport\/api\/sheets\/demo\/products\n/)

  const again = await place.start({ env })
  assert.equal(pasteable(again.screen, 'npm run rowport -- key create demo').length, 1)
})

test('a first start that fails because the port is taken leaves the key to the next', async (t) => {
  const place = await freshPlace(t)
  const other = createServer().listen(0, '127.0.0.1')
  t.after(() => other.close())
  await once(other, 'listening')
  const { port } = other.address() as AddressInfo
  const failed = await place.launch({ env: { PORT: String(port) } }).ended
  assert.equal(failed.code, 1)
  assert.match(failed.stderr, new RegExp(`port ${port} is taken; choose another with --port <n> or PORT=`))
  const { screen } = await place.start()
  assert.equal(new Set(keysIn(screen)).size, 1)
})

test('accounts that somebody made before the first start are left alone: no sample, no key', async (t) => {
  const place = await freshPlace(t)
  const { code } = await place.rowportHere(['account', 'create', 'acme'])
  assert.equal(code, 0)
  const { screen } = await place.start()
  assert.deepEqual(keysIn(screen), [])
  assert.doesNotMatch(screen, /Sample/)
  assert.match(screen, /key create <account>/)
})

function keysIn(text: string): string[] {
  return text.match(/sk_(?:live|test)_\w+/g) ?? []
}

/** The indented commands on a screen, with the lines that a backslash joins. */
function pasteable(screen: string, beginning: string): string[] {
  const commands = screen.match(/^ {4}\S(?:.*\\\n)*.*$/gm) ?? []
  return commands.map((command) => command.trim()).filter((command) => command.startsWith(beginning))
}

async function curl(place: Place, line: string) {
  const { code, stdout, stderr } = await place.bash(line)
  assert.equal(code, 0, stderr)
  const at = stdout.lastIndexOf('\n')
  const body: unknown = JSON.parse(stdout.slice(0, at))
  return {
    status: Number(stdout.slice(at + 1)),
    rows: body as Record<string, unknown>[],
    body: body as { rows_added?: number },
  }
}

/** Which files hold the secret part of the key, in any of their bytes. */
async function filesWith(folder: string, key: string): Promise<string[]> {
  const secret = Buffer.from(key.slice('sk_live_'.length))
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  assert.ok(paths.some((path) => path.endsWith('rowport.db')))
  const found = await Promise.all(paths.map(async (path) => (await readFile(path)).includes(secret)))
  return paths.filter((_, at) => found[at])
}

function hasCurl(t: TestContext): boolean {
  if (spawnSync('curl', ['--version']).status === 0) return true
  t.skip('this machine has no curl')
  return false
}
