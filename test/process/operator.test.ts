import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { freshPlace } from './running.ts'

// One server for all tests, each with an account of its own. The commands work on a store that this server, another
// process, has open; most run in the test's process, the last ones as the real thing.
const place = await freshPlace({ after })
const { url } = await place.start()
let accounts = 0

test('a key made by command opens the sheet in the next request; revoked, it is refused in the next', async () => {
  const { account, get, post } = await served()
  const made = await json<Key>(`key create ${account} --name laptop --scope read-write`)
  assert.match(made.key, /^sk_live_\w{32}$/)
  assert.equal(made.shown, `${made.key.slice(0, 12)}…${made.key.slice(-4)}`)
  assert.equal((await get(made.key)).status, 200)
  assert.equal((await post(made.key)).status, 201)

  const said = await typed(`key revoke ${made.id}`)
  assert.equal(said, `Revoked key "laptop" (${made.shown}). This can't be undone.\n`)
  await assertRefused(await get(made.key), 403, 'invalid_api_key')
})

test('regenerate: the old value is dead at once, the new one has the same rights', async () => {
  const { account, get, post } = await served()
  const old = await json<Key>(`key create ${account} --name laptop --mode test --sheet stock`)
  const fresh = await json<Key>(`key regenerate ${old.id}`)
  assert.notEqual(fresh.id, old.id)
  assert.deepEqual(
    [fresh.name, fresh.mode, fresh.scope, fresh.sheet_id],
    [old.name, old.mode, old.scope, old.sheet_id],
  )
  await assertRefused(await get(old.key), 403, 'invalid_api_key')
  assert.equal((await get(fresh.key)).status, 200)
  await assertRefused(await post(fresh.key), 403, 'insufficient_scope')

  const said = await typed(`key regenerate ${fresh.id}`)
  assert.match(
    said,
    /^The old key no longer works\. New key:\nKey "laptop" \(read\), id key_\w+\. Save it now\./,
  )
  const [last = ''] = /sk_test_\w+/.exec(said) ?? []
  assert.equal((await get(last)).status, 200)
  await assertRefused(await get(fresh.key), 403, 'invalid_api_key')
})

test('pause and resume hold for the next request', async () => {
  const { account, get, key } = await served()
  assert.equal(await typed(`sheet pause ${account}/stock`), `Paused ${account}/stock.\n`)
  await assertRefused(await get(key), 503, 'sheet_paused')
  const resumed = await json<{ paused: boolean }>(`sheet resume ${account}/stock`)
  assert.equal(resumed.paused, false)
  assert.equal((await get(key)).status, 200)
})

test('a plan without the write API refuses the next write, a better one lets the one after pass', async () => {
  const { account, post, key } = await served()
  assert.equal(await typed(`account plan ${account} free`), `${account} is now on the free plan.\n`)
  await assertRefused(await post(key), 403, 'write_api_not_enabled')
  await typed(`account plan ${account} pro`)
  assert.equal((await post(key)).status, 201)
})

test('a sheet that is connected while the server runs is served at once, in both forms', async () => {
  const { account } = await served()
  const file = join(place.folder, 'prices.csv')
  await writeFile(file, 'name,price\nOak table,420\n')
  const said = await typed(`sheet connect ${account}/prices --file ${file} --access public-read`)
  const [first, ...addresses] = said.trimEnd().split('\n')
  assert.equal(first, `Sheet ${account}/prices connected: 2 columns, 1 row.`)
  assert.equal(addresses.length, 2)
  for (const address of addresses) {
    const rows = await fetch(url + address.trim())
    assert.equal(rows.status, 200, address)
    assert.equal(rows.headers.get('x-total-count'), '1')
  }
})

test('the real command: JSON alone on stdout, and a failure is told on stderr with exit code 1', async () => {
  const { account } = await served()
  const [listed, failed] = await Promise.all([
    place.rowport(['sheet', 'list', account, '--json']),
    place.rowport(['sheet', 'list', 'nobody', '--json']),
  ])
  assert.equal(listed.code, 0)
  assert.equal(listed.stderr, '')
  const [sheet, ...others] = JSON.parse(listed.stdout) as { slug: string }[]
  assert.equal(sheet?.slug, 'stock')
  assert.deepEqual(others, [])
  assert.deepEqual(failed, { code: 1, stdout: '', stderr: 'rowport: there is no account "nobody"\n' })
})

test('rowport serve is the server', async (t) => {
  const own = await freshPlace(t)
  const server = await own.start({ words: ['serve'] })
  assert.equal((await fetch(`${server.url}/readyz`)).status, 200)
  server.child.kill('SIGTERM')
  assert.equal((await server.ended).code, 0)
})

interface Key {
  id: string
  key: string
  name: string
  mode: string
  scope: string
  sheet_id: string | null
  shown: string
}

/** An account with a sheet `stock` and a key for it. */
async function served() {
  const account = `acme-${++accounts}`
  const file = join(place.folder, `${account}.csv`)
  await writeFile(file, 'name,count\nOak table,4\n')
  await typed(`account create ${account} --plan pro`)
  await typed(`sheet connect ${account}/stock --file ${file}`)
  const { key } = await json<Key>(`key create ${account} --name first --scope read-write`)
  const address = `${url}/api/sheets/${account}/stock`
  return {
    account,
    key,
    get: (by: string) => fetch(address, { headers: { 'X-API-Key': by } }),
    post: (by: string) =>
      fetch(address, { method: 'POST', headers: { 'X-API-Key': by }, body: '{"name":"Shelf"}' }),
  }
}

async function assertRefused(answer: Response, status: number, code: string): Promise<void> {
  assert.equal(answer.status, status)
  assert.equal(((await answer.json()) as { code: string }).code, code)
}

async function json<T>(line: string): Promise<T> {
  return JSON.parse(await typed(`${line} --json`)) as T
}

async function typed(line: string): Promise<string> {
  const { code, stdout, stderr } = await place.rowportHere(line.split(' '))
  assert.deepEqual({ code, stderr }, { code: 0, stderr: '' })
  return stdout
}
