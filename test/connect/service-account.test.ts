import assert from 'node:assert/strict'
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import type { ConnectionView, SpreadsheetChoice, TabsView } from '../../src/dashboard/contract.ts'
import { bearer, done } from '../harness.ts'
import { freshPlace } from '../process/running.ts'
import { signedIn } from './visitor.ts'
import { ada, items, startTogether } from './with-google.ts'

const robot = 'rowport-robot@emulated-project.iam.gserviceaccount.com'

/** A server whose operator has registered no app at Google. */
async function startWithoutApp(t: Parameters<typeof startTogether>[0]) {
  const together = await startTogether(t, { isRegistered: false })
  const keyFile = async () => JSON.stringify(await together.google.control('POST', 'service-accounts', {}))
  return { ...together, keyFile }
}

test('an owner adds the key of a service account, shares a spreadsheet with it, and reads and writes its rows', async (t) => {
  const { rowport, google, createSpreadsheet, keyFile } = await startWithoutApp(t)
  const owner = await signedIn(rowport)
  const server = await owner.call<{ sources: unknown[] }>('GET', '/server')
  assert.match(JSON.stringify(server.json.sources), /"ways":\["key"\]/)
  const added = await owner.call('POST', '/google/key', { key: await keyFile() })
  assert.deepEqual([added.status, added.json], [200, { email: robot }])
  const view = await owner.call<ConnectionView>('GET', '/google')
  assert.equal(view.json.connection?.shareWith, robot)

  const spreadsheetId = await createSpreadsheet('Prices')
  const tabs = () => owner.call<TabsView>('GET', `/google/spreadsheets/${spreadsheetId}/tabs`)
  const before = await tabs()
  assert.equal(before.status, 502)
  assert.match(before.text, /not shared with the service account.*Share it with rowport-robot@/i)
  const listed = async () =>
    (await owner.call<SpreadsheetChoice[]>('GET', '/google/spreadsheets?search=')).json.map(
      ({ title }) => title,
    )
  assert.deepEqual(await listed(), [])

  await google.control('POST', 'share', { spreadsheetId, with: robot })
  assert.deepEqual(await listed(), ['Prices'])
  assert.equal((await tabs()).json.title, 'Prices')
  const source = { provider: 'google', spreadsheetId, tabId: 0 }
  assert.equal((await owner.call('POST', '/preview', source)).status, 200)
  const connected = await owner.call('POST', '/sheets', { slug: 'prices', access: 'private', source })
  assert.equal(connected.status, 201, connected.text)

  const key = await rowport.createKey()
  const rows = await rowport.get('/api/sheets/acme/prices', bearer(key))
  assert.deepEqual(await rows.json(), [
    { name: 'Oak table', price: 420, 'in stock': true },
    { name: 'Desk lamp', price: 59.9, 'in stock': false },
  ])
  const written = await fetch(`${rowport.workshop.baseUrl}/api/sheets/acme/prices`, {
    method: 'POST',
    headers: bearer(key),
    body: JSON.stringify({ name: 'Rug' }),
  })
  assert.equal(written.status, 201, await written.text())
})

test('where only the Sheets API is switched on there is no list, and a link does', async (t) => {
  const { rowport, google, createSpreadsheet, keyFile } = await startWithoutApp(t)
  const owner = await signedIn(rowport)
  await owner.call('POST', '/google/key', { key: await keyFile() })
  await google.control('POST', 'settings', { disabledServices: ['drive'] })
  const list = await owner.call('GET', '/google/spreadsheets?search=')
  assert.deepEqual([list.status, list.json], [200, []])
  const spreadsheetId = await createSpreadsheet('Prices')
  await google.control('POST', 'share', { spreadsheetId, with: robot })
  const link = encodeURIComponent(`https://docs.google.com/spreadsheets/d/${spreadsheetId}/edit`)
  assert.equal((await owner.call('GET', `/google/spreadsheets/${link}/tabs`)).status, 200)
  await google.control('POST', 'settings', { disabledServices: ['sheets'] })
  const off = await owner.call('GET', `/google/spreadsheets/${link}/tabs`)
  assert.match(off.text, /Enable the Google Sheets API in the project of the service account/)
})

test('what is not a key, or not one that Google takes, is said in a sentence and not kept', async (t) => {
  const { rowport, google, keyFile } = await startWithoutApp(t)
  const owner = await signedIn(rowport)
  const good = JSON.parse(await keyFile()) as Record<string, string>
  const gone = JSON.stringify(good)
  await google.control('DELETE', `service-accounts/${encodeURIComponent(robot)}/keys`)
  for (const [key, words] of [
    ['nonsense', /not the key of a service account/],
    ['{"installed":{"client_id":"x"}}', /not the key of a service account/],
    [JSON.stringify({ type: 'authorized_user' }), /of another kind \(“authorized_user”\)/],
    [JSON.stringify({ ...good, private_key: 'no' }), /cannot be used/],
    [JSON.stringify({ ...good, private_key: keyWithLongPrimes() }), /cannot be used/],
    [JSON.stringify({ ...good, client_email: 'ada@example.com' }), /cannot be used/],
    [gone, /no longer knows this key/],
    // As good as any other, but not Google's.
    [JSON.stringify({ ...good, private_key: keyOfOddLength() }), /no longer knows this key/],
  ] as const) {
    const refused = await owner.call('POST', '/google/key', { key })
    assert.equal(refused.status, 502, refused.text)
    assert.match(refused.text, words)
    assert.doesNotMatch(refused.text, /PRIVATE KEY/)
  }
  assert.equal((await owner.call<ConnectionView>('GET', '/google')).json.connection, null)
})

test('the key is asked for where Google is, never where its file says', async (t) => {
  const { rowport, keyFile } = await startWithoutApp(t)
  const owner = await signedIn(rowport)
  const key = { ...JSON.parse(await keyFile()), token_uri: 'http://169.254.169.254/token' }
  assert.equal((await owner.call('POST', '/google/key', { key: JSON.stringify(key) })).status, 200)
})

test('a server whose clock is wrong by a day signs by Google’s', async (t) => {
  const { rowport, google, keyFile } = await startWithoutApp(t)
  const key = await keyFile()
  await google.control('POST', 'clock', { advanceMs: 86_400_000 })
  const owner = await signedIn(rowport)
  assert.equal((await owner.call('POST', '/google/key', { key })).status, 200)
})

test('a key that was deleted at Google ends the connection, a passing failure does not', async (t) => {
  const { rowport, google, createSpreadsheet, keyFile } = await startWithoutApp(t)
  const owner = await signedIn(rowport)
  await owner.call('POST', '/google/key', { key: await keyFile() })
  const spreadsheetId = await createSpreadsheet('Prices')
  await google.control('POST', 'share', { spreadsheetId, with: robot })
  const source = { provider: 'google', spreadsheetId, tabId: 0 }
  await owner.call('POST', '/sheets', { slug: 'prices', access: 'public-read', source })
  const read = async () =>
    (await rowport.get('/api/sheets/acme/prices', { 'Cache-Control': 'no-cache' })).status
  assert.equal(await read(), 200)

  await google.control('POST', `grants/${encodeURIComponent(robot)}/expire`)
  await google.control('POST', 'faults', { match: { service: 'oauth' }, kind: '503', times: 2 })
  assert.equal(await read(), 502)
  rowport.clock.advanceMs(3_000)
  assert.equal(await read(), 200)

  await google.control('DELETE', `service-accounts/${encodeURIComponent(robot)}/keys`)
  await google.control('POST', `grants/${encodeURIComponent(robot)}/expire`)
  assert.equal(await read(), 503)
  const view = await owner.call<ConnectionView>('GET', '/google')
  assert.equal(view.json.connection?.state, 'expired')
  assert.equal((await owner.call('POST', '/google/key', { key: await keyFile() })).status, 200)
  assert.equal(await read(), 200, 'with a new key all is as before')

  const over = await owner.call<{ isRevokedAtGoogle: boolean; endItThere: string }>(
    'POST',
    '/google/disconnect',
  )
  assert.equal(over.json.isRevokedAtGoogle, false)
  assert.match(over.json.endItThere, /^delete the key of rowport-robot@/)
  assert.equal(await read(), 503)
})

test('each service account spends from a ration of its own project', async (t) => {
  const { rowport, google, createSpreadsheet } = await startWithoutApp(t)
  await google.control('POST', 'settings', { quotas: { perUser: 60, perProject: 30 } })
  const statuses: number[] = []
  for (const project of ['project-one', 'project-two']) {
    const account = done(await rowport.workshop.accounts.create(project, null))
    const key = JSON.stringify(await google.control('POST', 'service-accounts', { project }))
    const connection = rowport.workshop.connections.find('google')
    assert.ok(connection)
    done(await connection.addKey(account.id, key))
    const spreadsheetId = await createSpreadsheet(project)
    await google.control('POST', 'share', {
      spreadsheetId,
      with: `rowport-robot@${project}.iam.gserviceaccount.com`,
    })
    for (let at = 0; at < 25; at++) {
      const opened = await connection.spreadsheets.open(account.id, spreadsheetId)
      statuses.push('title' in opened ? 200 : 0)
    }
  }
  assert.deepEqual(new Set(statuses), new Set([200]))
  const { calls } = await google.control<{ calls: { status: number }[] }>('GET', 'calls')
  assert.equal(calls.filter(({ status }) => status === 429).length, 0)
})

test('the operator adds it by a command, and no path of the machine is told to the owner', async (t) => {
  const { google, createSpreadsheet } = await startWithoutApp(t)
  const place = await freshPlace(t)
  const env = { GOOGLE_ENDPOINT: google.url }
  const rowport = async (...words: string[]) => place.rowportHere([...words, '--json'], { env })
  await rowport('account', 'create', 'acme')
  const file = join(place.folder, 'key.json')
  await writeFile(file, JSON.stringify(await google.control('POST', 'service-accounts', {})))
  const added = await rowport('google', 'service-account', 'add', 'acme', file)
  assert.equal(added.code, 0, added.stderr)
  assert.equal(JSON.parse(added.stdout).share_with, robot)
  const missing = await rowport('google', 'service-account', 'add', 'acme', `${file}.gone`)
  assert.match(missing.stderr, /there is no file ".*key\.json\.gone" that can be read/)

  const spreadsheetId = await createSpreadsheet('Prices', {
    owner: ada,
    tabs: [{ title: 'Items', values: items }],
  })
  const refused = await rowport('sheet', 'connect', 'acme/prices', '--google', spreadsheetId)
  assert.match(refused.stderr, /not shared with the service account.*Share it with rowport-robot@/s)
  await google.control('POST', 'share', { spreadsheetId, with: robot, role: 'reader' })
  const connected = await rowport('sheet', 'connect', 'acme/prices', '--google', spreadsheetId)
  assert.equal(connected.code, 0, connected.stderr)
})

/** To sign with it takes a tenth of a second and more: its primes are as long as the modulus. */
function keyWithLongPrimes(): string {
  const algorithm = Buffer.from('300d06092a864886f70d0101010500', 'hex')
  const bytes = (count: number) => {
    const made = randomBytes(count).fill(0x7f, 0, 1)
    made[count - 1] = 0x7f
    return made
  }
  const zero = Buffer.from([0])
  const numbers = [
    zero,
    bytes(300),
    Buffer.from([1, 0, 1]),
    ...Array.from({ length: 5 }, () => bytes(300)),
    bytes(8),
  ]
  const inner = der(0x30, Buffer.concat(numbers.map((number) => der(2, number))))
  const whole = der(0x30, Buffer.concat([der(2, zero), algorithm, der(4, inner)]))
  return `-----BEGIN PRIVATE KEY-----\n${whole.toString('base64')}\n-----END PRIVATE KEY-----\n`
}

function keyOfOddLength(): string {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_047 })
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
}

function der(tag: number, value: Buffer): Buffer {
  const { length } = value
  const head = length < 0x80 ? [tag, length] : [tag, 0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from(head), value])
}
