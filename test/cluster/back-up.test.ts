import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { cp, mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { freshPlace, type Place, type RunningServer } from '../process/running.ts'
import { findProgram } from '../servers/find-program.ts'
import { findPostgres, startPostgres } from '../servers/postgres.ts'

/** The commands of docs/operating.md, on a server that runs meanwhile. */

const run = promisify(execFile)
const secret = 'the secret of the back-up'

test('PostgreSQL: what pg_dump took while the server ran can be restored and served', {
  skip: findPostgres() ? false : 'PostgreSQL is not on this machine',
}, async (t) => {
  const postgres = await startPostgres({ fsync: false })
  t.after(() => postgres.stop())
  const programs = dirname(findPostgres() ?? '')
  const place = await freshPlace(t)
  const env = { DATABASE_URL: postgres.url, ROWPORT_SECRET: secret, ROWPORT_UNREADY_SECONDS: '0' }
  const server = await place.start({ env })
  const { path, headers } = await fill(place, env, server)
  const rows = await (await fetch(server.url + path, { headers })).json()

  const dump = join(place.folder, 'rowport.dump')
  await run(join(programs, 'pg_dump'), ['--format=custom', `--file=${dump}`, postgres.url])
  await fetch(server.url + path, { method: 'POST', headers, body: '{"name":"after the back-up"}' })
  server.child.kill('SIGTERM')
  await server.ended

  const restored = Object.assign(new URL(postgres.url), { pathname: 'restored' }).href
  await run(join(programs, 'psql'), [postgres.url, '--command=create database restored'])
  await run(join(programs, 'pg_restore'), [`--dbname=${restored}`, '--exit-on-error', dump])
  const again = await place.start({ env: { ...env, DATABASE_URL: restored } })
  const answer = await fetch(again.url + path, { headers })
  assert.equal(answer.status, 200, 'the key is there again')
  assert.deepEqual(((await answer.json()) as unknown[]).slice(0, 1), (rows as unknown[]).slice(0, 1))
})

test('SQLite: what .backup took while the server ran can be served from another folder', {
  skip: findProgram(['sqlite3']) ? false : 'sqlite3 is not on this machine',
}, async (t) => {
  const place = await freshPlace(t)
  const server = await place.start()
  const { path, headers } = await fill(place, {}, server)
  const copy = join(place.folder, 'copy')
  await mkdir(copy)
  await run('sqlite3', [join(place.dataFolder, 'rowport.db'), `.backup '${join(copy, 'rowport.db')}'`])
  await cp(join(place.dataFolder, 'secret'), join(copy, 'secret'))
  server.child.kill('SIGKILL')
  await server.ended
  const again = await place.start({ env: { ROWPORT_DATA: copy } })
  assert.equal((await fetch(again.url + path, { headers })).status, 200)
})

async function fill(place: Place, env: Record<string, string>, server: RunningServer) {
  const file = join(place.folder, 'stock.csv')
  await writeFile(file, 'name\nfirst\n')
  const rowport = async (...words: string[]) => {
    const { code, stdout, stderr } = await place.rowportHere([...words, '--json'], { env })
    assert.equal(code, 0, stderr)
    return JSON.parse(stdout) as Record<string, string>
  }
  await rowport('account', 'create', 'acme', '--plan', 'pro')
  await rowport('sheet', 'connect', 'acme/stock', '--file', file)
  const { key } = await rowport('key', 'create', 'acme', '--name', 'k', '--scope', 'read-write')
  const headers = { Authorization: `Bearer ${key}` }
  const path = '/api/sheets/acme/stock'
  assert.equal((await fetch(server.url + path, { headers })).status, 200)
  return { path, headers }
}
