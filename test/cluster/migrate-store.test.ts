import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { openWorkshop } from '../../src/assemble/open-workshop.ts'
import { systemClock } from '../../src/clock.ts'
import { parseConfig } from '../../src/config.ts'
import { done } from '../harness.ts'
import { freshPlace } from '../process/running.ts'
import { findPostgres, startPostgres } from '../servers/postgres.ts'
import { connectOwner } from '../writing/google-ground.ts'

const skip = findPostgres() ? false : 'PostgreSQL is not on this machine'
const secret = 'the secret that both stores share'

test('a data folder moves to PostgreSQL whole: the same keys open the same sheets there', {
  skip,
}, async (t) => {
  const postgres = await startPostgres({ fsync: false })
  t.after(() => postgres.stop())
  const place = await freshPlace(t)
  const env = { ROWPORT_SECRET: secret }
  const first = await place.start({ env })
  const [, apiKey = ''] = /API key\s+(\S+)/.exec(first.screen) ?? []
  const headers = { Authorization: `Bearer ${apiKey}` }
  const write = { method: 'POST', headers: { ...headers, 'Idempotency-Key': 'k' }, body: '{"name":"Lamp"}' }
  const sheetPath = /(\/api\/sheets\/\S+)/.exec(first.screen)?.[1] ?? ''
  const written = await fetch(first.url + sheetPath, write)
  assert.equal(written.status, 201, await written.text())
  const rows = await (await fetch(first.url + sheetPath, { headers })).json()

  const isInUse = await place.rowportHere(['migrate-store', '--to', postgres.url])
  assert.deepEqual(isInUse, {
    code: 1,
    stdout: '',
    stderr: 'rowport: A server is running on this store; stop it first.\n',
  })
  first.child.kill('SIGTERM')
  await first.ended
  await fillFurther(place.dataFolder)

  const moved = await place.rowportHere(['migrate-store', '--to', postgres.url, '--json'])
  assert.equal(moved.code, 0, moved.stderr)
  const { tables } = JSON.parse(moved.stdout) as { tables: Record<string, number> }
  assert.equal(tables.account, 502)
  assert.equal(tables.credential, 1)
  assert.equal(tables.operation, 1)
  assert.ok(Number(tables.api_key) >= 1)

  const again = await place.rowportHere(['migrate-store', '--to', postgres.url])
  assert.match(
    again.stderr,
    /^rowport: The PostgreSQL database is not empty \(account\); name an empty one\.\n$/,
  )

  const second = await place.start({
    env: { ...env, DATABASE_URL: postgres.url, ROWPORT_UNREADY_SECONDS: '0' },
  })
  assert.deepEqual(await (await fetch(second.url + sheetPath, { headers })).json(), rows)
  const replayed = await fetch(second.url + sheetPath, write)
  assert.equal(replayed.headers.get('idempotent-replayed'), 'true', 'answers are kept over the move')
})

test('what arrives changed is noticed, and then nothing is kept', { skip }, async (t) => {
  const postgres = await startPostgres({ fsync: false })
  t.after(() => postgres.stop())
  const place = await freshPlace(t)
  await place.rowportHere(['account', 'create', 'acme'])
  // So that the tables are there to put a trap into.
  const target = parseConfig({ DATABASE_URL: postgres.url, ROWPORT_SECRET: secret }, false)
  assert.ok(!('problems' in target))
  await (await openWorkshop(target, systemClock, () => {})).close()
  const client = new pg.Client({ connectionString: postgres.url })
  await client.connect()
  await client.query(`
    create function spoil() returns trigger language plpgsql as $$
    begin new.plan := new.plan || ' '; return new; end $$;
    create trigger spoil before insert on account for each row execute function spoil()`)
  const spoilt = await place.rowportHere(['migrate-store', '--to', postgres.url])
  assert.deepEqual(spoilt, {
    code: 1,
    stdout: '',
    stderr: 'rowport: What arrived in account is not what was sent; nothing was kept.\n',
  })
  assert.deepEqual((await client.query('select * from account')).rows, [])
  await client.query('drop trigger spoil on account')
  await client.end()
  assert.equal((await place.rowportHere(['migrate-store', '--to', postgres.url])).code, 0)
})

test('a server that cannot be reached, or no address, is said in a sentence without the password', async (t) => {
  const place = await freshPlace(t)
  await place.rowportHere(['account', 'create', 'acme'])
  const away = await place.rowportHere(['migrate-store', '--to', 'postgres://me:hunter22@127.0.0.1:1/rows'])
  assert.equal(away.code, 1)
  assert.match(away.stderr, /^rowport: PostgreSQL at 127\.0\.0\.1:1\/rows cannot be used: .*ECONNREFUSED/m)
  assert.ok(!away.stderr.includes('hunter22'))
  const wrong = await place.rowportHere(['migrate-store', '--to', 'mysql://me:hunter22@host/rows'])
  assert.match(wrong.stderr, /must be a URL such as postgres:/)
  assert.ok(!wrong.stderr.includes('hunter22'))
  assert.match((await place.rowportHere(['migrate-store'])).stderr, /--to is missing/)
})

/** More than goes at once, with all kinds of characters, and a credential. */
async function fillFurther(dataFolder: string): Promise<void> {
  const config = parseConfig({ ROWPORT_DATA: dataFolder, ROWPORT_SECRET: secret }, false)
  assert.ok(!('problems' in config))
  const workshop = await openWorkshop(config, systemClock, () => {})
  for (let n = 0; n < 501; n++) {
    const account = done(await workshop.accounts.create(`account-${n}`, 'pro'))
    if (n === 0) await connectOwner(workshop.store, workshop.sealing, account.id, 'a refresh token')
    if (n > 0) continue
    const wish = { accountSlug: 'account-0', sheetSlug: null, mode: 'live', scope: 'read' } as const
    for (const name of ["it's", 'Grüße, 世界 🌍', 'a \\n "c"'])
      done(await workshop.keys.create({ ...wish, name }))
  }
  await workshop.close()
}
