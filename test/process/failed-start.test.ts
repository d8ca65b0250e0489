import assert from 'node:assert/strict'
import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { type Finished, freshPlace } from './running.ts'

test('every wrong setting is listed at once, and no value of one is repeated', async (t) => {
  const place = await freshPlace(t)
  const password = 'hunter2hunter2'
  const failed = await place.launch({
    env: {
      PORT: 'eighty',
      BASE_URL: 'sheets.example.com',
      ROWPORT_LOG_LEVEL: 'loud',
      ROWPORT_DATE: '/srv/rowport',
      DATABASE_URL: `mysql://rowport:${password}@db.example.com/rowport`,
    },
  }).ended
  assertFailed(failed)
  assert.deepEqual(failed.stderr.trimEnd().split('\n'), [
    'Rowport cannot start with these settings:',
    '  PORT: must be a whole number from 0 to 65535',
    '  BASE_URL: must be a URL such as https://sheets.example.com',
    '  ROWPORT_LOG_LEVEL: must be one of debug, info, warn, error, silent',
    '  DATABASE_URL: must be a URL such as postgres://user:password@host/database',
    '  ROWPORT_SECRET: is needed with DATABASE_URL, the same on every instance',
    '  ROWPORT_DATE: there is no such setting; those that begin so are ROWPORT_DATA, ROWPORT_LOG_LEVEL, ROWPORT_SNAPSHOT_MB, ROWPORT_PLANS, ROWPORT_SHARES, ROWPORT_TRUSTED_PROXIES, ROWPORT_REFUSALS_PER_MINUTE, ROWPORT_UNREADY_SECONDS, ROWPORT_SECRET, ROWPORT_FORMER_SECRETS, ROWPORT_NEXT_SECRET, ROWPORT_WEBHOOK_ALLOW, ROWPORT_SIGN_UP, ROWPORT_SIGN_UP_PLAN, ROWPORT_DEFAULT_PLAN',
  ])
  assert.ok(!failed.stderr.includes(password))
})

test('a data folder that is none, or that must not be written to, is said in plain words', async (t) => {
  const place = await freshPlace(t)
  const file = join(place.folder, 'file')
  await writeFile(file, 'not a folder')
  const foreign = join(place.folder, 'foreign')
  await mkdir(foreign)
  await writeFile(join(foreign, 'rowport.db'), 'This is no database. '.repeat(100))

  const isFile = /^Rowport could not start: the data folder \S+\/file cannot be used: it is not a folder\n$/
  const notOurs = /could not start: the data in \S+\/foreign cannot be used: rowport\.db is not a database\n$/
  const notAllowed = /could not start: the data folder \S+ cannot be used: writing there is not allowed\n$/
  const cases: [string, RegExp][] = [
    [file, isFile],
    [foreign, notOurs],
    [await unwritable(place.folder), notAllowed],
  ]
  await Promise.all(
    cases.map(async ([ROWPORT_DATA, said]) => {
      const failed = await place.launch({ env: { ROWPORT_DATA } }).ended
      assertFailed(failed)
      assert.match(failed.stderr, said)
    }),
  )

  const command = await place.rowport(['sheet', 'list', 'demo'], { env: { ROWPORT_DATA: file } })
  assertFailed(command)
  assert.match(command.stderr, /^rowport: the data folder \S+\/file cannot be used: it is not a folder\n$/)
})

test('a HOST that is not of this machine is named', async (t) => {
  const place = await freshPlace(t)
  // RFC 6761 and RFC 5737: neither exists anywhere.
  const hosts = ['rowport.invalid', '203.0.113.1']
  await Promise.all(
    hosts.map(async (HOST) => {
      const failed = await place.launch({ env: { HOST, ROWPORT_LOG_LEVEL: 'warn' } }).ended
      assertFailed(failed)
      const said = `Rowport could not start: HOST "${HOST}" is not an address of this machine\n`
      assert.equal(failed.stderr, said)
    }),
  )
})

test('a store of a newer Rowport is left alone', async (t) => {
  const place = await freshPlace(t)
  await place.rowportHere(['account', 'create', 'acme'])
  const database = new DatabaseSync(join(place.dataFolder, 'rowport.db'))
  database.exec("insert into migration (number, name, applied_at_ms) values (9999, 'from-the-future', 0)")
  database.close()
  const failed = await place.rowportHere(['account', 'create', 'beta'])
  assertFailed(failed)
  assert.match(failed.stderr, /^rowport: The store was made by a newer Rowport/)
})

function assertFailed({ code, stdout, stderr }: Finished): void {
  assert.equal(code, 1, stderr)
  assert.equal(stdout, '')
  assert.doesNotMatch(stderr, /^ +at |node:|file:\/\//m, 'no stack trace')
}

/** Root may write wherever the system lets anybody. */
async function unwritable(folder: string): Promise<string> {
  if (process.getuid?.() === 0 && process.platform === 'linux') return '/sys/rowport'
  const closed = join(folder, 'closed')
  await mkdir(closed)
  await chmod(closed, 0o500)
  return join(closed, 'data')
}
