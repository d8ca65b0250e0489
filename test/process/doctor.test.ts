import assert from 'node:assert/strict'
import { chmod, mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { startLocalGoogle } from '../emulator/harness.ts'
import { findPostgres, startPostgres } from '../servers/postgres.ts'
import { findRedis, startRedis } from '../servers/redis.ts'
import { startSmtpPeer } from '../servers/smtp-peer.ts'
import { freshPlace, type Place } from './running.ts'

const skipServers = findPostgres() && findRedis() ? false : 'PostgreSQL or Redis is not on this machine'
const secret = 'a secret of the doctor'

test('doctor, before the first start: nothing is wrong, and nothing is made', async (t) => {
  const place = await freshPlace(t)
  assert.deepEqual((await doctor(place)).problems, [])
  assert.deepEqual(await readdir(place.folder), [])
  await mkdir(place.dataFolder)
  const { code, says } = await doctor(place)
  assert.equal(code, 0)
  assert.match(says.Store ?? '', /none in the data folder yet.*Is ROWPORT_DATA set as for the server/)
  assert.deepEqual(await readdir(place.dataFolder), [])
})

test('doctor, beside a running server: one line for each thing, and the server goes on', async (t) => {
  const place = await freshPlace(t)
  const server = await place.start()
  const before = storeContent(place)
  const { code, stdout, stderr } = await place.rowportHere(['doctor'])
  assert.deepEqual([code, stderr], [0, ''])
  const lines = stdout.split('\n')
  for (const check of ['Settings', 'Data folder', 'Store', 'Secret', 'Google', 'Mail', 'Files']) {
    assert.equal(lines.filter((line) => line.startsWith(`  ok       ${check}  `)).length, 1, stdout)
  }
  assert.match(stdout, /\nNothing is wrong\.\n$/)
  assert.ok(Math.max(...lines.map(({ length }) => length)) <= 120, stdout)
  assert.match(stdout, /1 of 1 connected files can be read and replaced/)
  assert.deepEqual(storeContent(place), before)
  assert.equal((await fetch(`${server.url}/readyz`)).status, 200)
})

test('doctor asks Google for the time where a spreadsheet is connected there: a wrong clock makes keys useless', async (t) => {
  const google = await startLocalGoogle(t)
  const place = await freshPlace(t)
  const key = await google.control<{ client_email: string }>('POST', 'service-accounts', {})
  await writeFile(join(place.folder, 'key.json'), JSON.stringify(key))
  const tabs = [{ title: 'Items', values: [['name'], ['Desk lamp']] }]
  const { spreadsheetId } = await google.control('POST', 'spreadsheets', {
    ...{ title: 'Shop', owner: 'ada@example.com', tabs },
  })
  await google.control('POST', 'share', { spreadsheetId, with: key.client_email })
  const env = { GOOGLE_ENDPOINT: google.url }
  assert.equal((await doctor(place, env)).says.Clock, undefined, 'nothing is connected')
  const link = `https://docs.google.com/spreadsheets/d/${spreadsheetId}/edit`
  const words = ['serve', link, '--service-account', join(place.folder, 'key.json')]
  await place.start({ words, env })
  const well = await doctor(place, env)
  assert.deepEqual(well.problems, [])
  assert.match(well.says.Clock ?? '', /^The clock of http:\S+ is \d+ s (?:behind|ahead of) this machine's\.$/)

  google.clock.advanceMs(5 * 60_000)
  assert.match((await doctor(place, env)).problems.join(), /^Clock: .* (?:2\d\d|300) s ahead of this machine/)
  const gone = await doctor(place, { GOOGLE_ENDPOINT: 'http://127.0.0.1:1' })
  assert.match(gone.problems.join(), /^Google: http:\/\/127\.0\.0\.1:1 cannot be reached from here/)
})

test('doctor: what is wrong, what to do, and exit code 1', async (t) => {
  const place = await freshPlace(t)
  const { dataFolder } = place
  const sheet = join(place.folder, 'stock.csv')
  await writeFile(sheet, 'name\nfirst\n')
  await place.rowportHere(['account', 'create', 'acme'])
  await place.rowportHere(['sheet', 'connect', 'acme/stock', '--file', sheet])
  assert.deepEqual((await doctor(place)).problems, [])

  const found = async (says: RegExp, env: Record<string, string> = {}) => {
    const { code, problems } = await doctor(place, env)
    assert.equal(code, 1)
    assert.equal(problems.length, 1, JSON.stringify(problems))
    assert.match(problems[0] ?? '', says)
  }
  await found(/^Settings: PORT: must be a whole number/, { PORT: 'x' })
  const google = { GOOGLE_CLIENT_ID: 'x.apps.googleusercontent.com', GOOGLE_CLIENT_SECRET: 'x' }
  await found(/^Google: .*https URLs only/, { ...google, BASE_URL: 'http://sheets.example.com' })
  await found(/^Google: GOOGLE_CLIENT_ID does not look like one/, { ...google, GOOGLE_CLIENT_ID: 'x' })
  await found(/^Redis: Redis at 127\.0\.0\.1:1 cannot be used: .*ECONNREFUSED/, {
    REDIS_URL: 'redis://127.0.0.1:1',
  })
  await found(/^Store: PostgreSQL at 127\.0\.0\.1:1\/x cannot be used/, {
    DATABASE_URL: 'postgres://user:password@127.0.0.1:1/x',
    ROWPORT_SECRET: secret,
  })

  const mail = { MAIL_FROM: 'rowport@example.com', SMTP_URL: 'smtp://127.0.0.1:1' }
  await found(/^Mail: No mail can be sent by 127\.0\.0\.1:1: .*ECONNREFUSED/, mail)
  const peer = await startSmtpPeer(t)
  await found(/^Mail: Links in mails begin with http:\/\/localhost/, { ...mail, SMTP_URL: peer.url })
  const all = { ...mail, SMTP_URL: peer.url, BASE_URL: 'https://sheets.example.com' }
  assert.deepEqual((await doctor(place, all)).problems, [])
  assert.deepEqual(peer.mails, [])

  await rm(sheet)
  await found(/^Files: acme\/stock \(.*stock\.csv\): the file is missing/)
  await writeFile(sheet, 'name\n')

  await chmod(join(dataFolder, 'secret'), 0o644)
  await found(/^Secret: .* can be read by other users/)
  await chmod(join(dataFolder, 'secret'), 0o600)
  await writeFile(join(dataFolder, 'secret'), 'short')
  await found(/^Secret: .* holds no secret/)
  await rm(join(dataFolder, 'secret'))

  const store = new DatabaseSync(join(dataFolder, 'rowport.db'))
  store.exec(`insert into migration values (9999, 'of the future', 0)`)
  await found(/^Store: SQLite was brought up to date by a newer Rowport/)
  store.exec('delete from migration where number = 9999')
  store.exec('begin immediate')
  await found(/^Store: .* another process keeps it locked/)
  store.exec('rollback')
  store.close()
  assert.equal((await doctor(place)).code, 0)

  for (const name of await readdir(dataFolder)) await rm(join(dataFolder, name))
  await writeFile(
    join(dataFolder, 'rowport.db'),
    'not a database at all, but long enough to be looked at'.repeat(9),
    { mode: 0o600 },
  )
  await found(/^Store: .* rowport\.db is not a database/)
  await rm(dataFolder, { recursive: true })
  await writeFile(dataFolder, '')
  const { problems } = await doctor(place)
  assert.match(problems[0] ?? '', /^Data folder: .* is not a folder/)
})

test('doctor with PostgreSQL and Redis: reachable, and how far their clocks are apart', {
  skip: skipServers,
}, async (t) => {
  const place = await freshPlace(t)
  const [postgres, redis] = await Promise.all([startPostgres({ fsync: false }), startRedis()])
  t.after(async () => {
    await Promise.all([postgres.stop(), redis.stop()])
  })
  const env = { DATABASE_URL: postgres.url, REDIS_URL: redis.url, ROWPORT_SECRET: secret }
  assert.match((await doctor(place, env)).says.Store ?? '', /PostgreSQL is empty/)
  assert.equal((await place.rowportHere(['account', 'create', 'acme'], { env })).code, 0)
  const { code, problems, clocks, says } = await doctor(place, env)
  assert.deepEqual([code, problems], [0, []])
  assert.match(says.Store ?? '', /PostgreSQL can be read and written to/)
  assert.equal(clocks.length, 2)
  for (const clock of clocks)
    assert.match(clock, /^The clock of (PostgreSQL|Redis) is \d\.\d s (ahead of|behind) this/)
  assert.deepEqual(await readdir(place.folder), [])
})

test('doctor takes --json and nothing else', async (t) => {
  const place = await freshPlace(t)
  const wrong = await place.rowportHere(['doctor', 'please'])
  assert.equal(wrong.code, 1)
  assert.match(wrong.stderr, /Unexpected argument "please"[\s\S]*Usage:\n {2}rowport doctor\n/)
  assert.match((await place.rowportHere(['doctor', '--help'])).stdout, /rowport doctor/)
})

interface Told {
  ok: boolean
  checks: { check: string; status: string; says: string; advice: string | null }[]
}

async function doctor(place: Place, env: Record<string, string> = {}) {
  const { code, stdout, stderr } = await place.rowportHere(['doctor', '--json'], { env })
  assert.equal(stderr, '')
  const { ok, checks } = JSON.parse(stdout) as Told
  assert.equal(ok, code === 0)
  const problems = checks.filter(({ status }) => status === 'problem')
  assert.ok(problems.every(({ advice }) => (advice ?? '').length > 10))
  return {
    code,
    problems: problems.map(({ check, says }) => `${check}: ${says}`),
    says: Object.fromEntries(checks.map(({ check, says }) => [check, says])) as Record<string, string>,
    clocks: checks.filter(({ check }) => check === 'Clock').map(({ says }) => says),
  }
}

/** All rows that were not written by the server's own sign of life. */
function storeContent({ dataFolder }: Place): unknown {
  const store = new DatabaseSync(join(dataFolder, 'rowport.db'))
  const tables = store
    .prepare(`select name from sqlite_schema where type = 'table' and name <> 'lease'`)
    .all()
  const rows = tables.map(({ name }) => [name, store.prepare(`select * from "${name}"`).all()])
  store.close()
  return rows
}
