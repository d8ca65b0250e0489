import assert from 'node:assert/strict'
import { copyFile, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { startLocalGoogle } from '../emulator/harness.ts'
import { freePort } from '../servers/free-port.ts'
import { freshPlace, type Launched, type Place, projectFolder } from './running.ts'

const workbook = join(projectFolder, 'src/providers/file/xlsx/fixtures/openpyxl.xlsx')

test('a folder of files: each is a sheet, what the screen says to paste works, and nothing is left but the files', async (t) => {
  const place = await freshPlace(t)
  const folder = join(place.folder, 'my data')
  await mkdir(folder)
  await copyFile(workbook, join(folder, 'Stock 2026.xlsx'))
  await writeFile(join(folder, 'prices.csv'), "it's,price\nA1,5\n")
  await writeFile(join(folder, 'damaged.xlsx'), 'no workbook')
  await writeFile(join(folder, '~$Stock 2026.xlsx'), 'a lock')
  await writeFile(join(folder, 'notes.txt'), 'no rows')
  const before = await temporaries()

  const server = serveIn(place, ['./my data'])
  const screen = await screenOf(server)
  assert.match(screen, /serves 2 sheets/)
  assert.match(
    screen,
    /\/api\/sheets\/local\/stock-2026\n +\.\/my data\/Stock 2026\.xlsx: 3 rows, 12 columns/,
  )
  assert.match(screen, /\/api\/sheets\/local\/prices\n +\.\/my data\/prices\.csv: 1 row, 2 columns/)
  assert.match(screen, /Left out +\.\/my data\/damaged\.xlsx: the file is not an Excel workbook/)
  assert.equal((await temporaries()).length, before.length + 1)
  for (const line of screen.match(/^ +curl .*$/gm) ?? []) {
    const { stdout } = await place.bash(`${line.trim()} -s -w '\\n%{http_code}'`)
    assert.match(stdout, /\n20[01]$/, line)
  }
  const link = /(http:\S+sign-in-link\S+)/.exec(screen)?.[1] ?? ''
  assert.ok((await fetch(link)).ok)
  const key = /sk_live_\w+/.exec(screen)?.[0] ?? ''
  const prices = `${new URL(link).origin}/api/sheets/local/prices`
  const headers = { Authorization: `Bearer ${key}` }
  const added = await fetch(prices, { method: 'POST', headers, body: `[{"it's":"B2","price":7}]` })
  assert.equal(added.status, 201, await added.text())

  server.child.kill('SIGTERM')
  assert.equal((await server.ended).code, 0)
  assert.equal(await readFile(join(folder, 'prices.csv'), 'utf8'), "it's,price\nA1,5\nB2,7\n")
  assert.deepEqual(await temporaries(), before)
  assert.deepEqual((await readdir(folder)).length, 5)
})

test('with --data the key and the addresses stay, and a file that is new comes in addition', async (t) => {
  const place = await freshPlace(t)
  await writeFile(join(place.folder, 'a.csv'), 'x\n1\n')
  await mkdir(join(place.folder, 'other'))
  await writeFile(join(place.folder, 'other/a.csv'), 'x\n2\n')
  const first = serveIn(place, ['a.csv', '--data', 'kept'])
  const key = /sk_live_\w+/.exec(await screenOf(first))?.[0] ?? ''
  first.child.kill('SIGTERM')
  await first.ended

  const second = serveIn(place, ['other/a.csv', 'a.csv', '--data', 'kept'])
  const screen = await screenOf(second)
  assert.doesNotMatch(screen, /sk_live_/)
  assert.match(screen, /key create local/)
  const origin = /(http:\/\/localhost:\d+)\/docs/.exec(screen)?.[1]
  for (const [slug, x] of [
    ['a', 1],
    ['a-2', 2],
  ] as const) {
    const answer = await fetch(`${origin}/api/sheets/local/${slug}`, {
      headers: { Authorization: `Bearer ${key}` },
    })
    assert.deepEqual(await answer.json(), [{ x }])
  }
})

test('what cannot be served is said in a sentence', async (t) => {
  const place = await freshPlace(t)
  await writeFile(join(place.folder, 'notes.md'), '')
  await writeFile(join(place.folder, 'bad.xlsx'), 'no')
  await mkdir(join(place.folder, 'empty'))
  for (const [words, said] of [
    [['gone.csv'], /there is no file or folder "gone\.csv"/],
    [['notes.md'], /"notes\.md" is neither a CSV file nor a workbook/],
    [['empty'], /the folder "empty" has no CSV file and no workbook/],
    [['bad.xlsx'], /bad\.xlsx: the file is not an Excel workbook/],
    [['--port', 'x'], /^ {2}--port: must be a whole number/m],
    [['--date', 'x'], /There is no option --date here\.\n\nUsage:\n {2}rowport serve/],
  ] as const) {
    const { code, stderr } = await serveIn(place, words).ended
    assert.equal(code, 1)
    assert.match(stderr, said)
  }
})

test('a spreadsheet at Google is served by its link and the key of a service account, or by an API key', async (t) => {
  const google = await startLocalGoogle(t)
  const place = await freshPlace(t)
  const key = await google.control<{ client_email: string }>('POST', 'service-accounts', {})
  await writeFile(join(place.folder, 'key.json'), JSON.stringify(key))
  const { spreadsheetId } = await google.control('POST', 'spreadsheets', {
    title: 'Lamp shop',
    owner: 'ada@example.com',
    tabs: [{ title: 'Items', values: [['name'], ['Desk lamp']] }],
  })
  const link = `https://docs.google.com/spreadsheets/d/${spreadsheetId}/edit#gid=0`
  const words = ['serve', link, '--service-account', join(place.folder, 'key.json')]
  const env = { ROWPORT_DATA: '', GOOGLE_ENDPOINT: google.url }
  const bare = await place.launch({ words: ['serve', link], env }).ended
  assert.equal(bare.code, 1)
  assert.match(bare.stderr, /say what opens it: add "--service-account <key\.json>", or "--google-api-key/)
  const noKey = await place.launch({ words: ['serve', link, '--google-api-key', 'x'], env }).ended
  assert.match(noKey.stderr, /^ {2}--google-api-key: must be a key such as AIza/m)
  const early = await place.launch({ words, env }).ended
  assert.equal(early.code, 1)
  assert.match(early.stderr, /not shared with the service account.*Share it with rowport-robot@/s)

  await google.control('POST', 'share', { spreadsheetId, with: key.client_email })
  const byKey = ['serve', link, '--google-api-key', 'AIza-any-key-of-a-project']
  await google.control('POST', 'share', { spreadsheetId, with: 'anyone', role: 'reader' })
  for (const way of [words, byKey]) {
    const server = place.launch({ words: way, env })
    const screen = await screenOf(server)
    assert.match(screen, /\/api\/sheets\/local\/lamp-shop\n +Lamp shop · Items: 1 row, 1 column/)
    const [line = ''] = screen.match(/^ +curl .*$/gm) ?? []
    const { stdout } = await place.bash(`${line.trim()} -s`)
    assert.equal(stdout, '[{"name":"Desk lamp"}]')
    server.child.kill('SIGTERM')
    assert.equal((await server.ended).code, 0)
  }
})

function serveIn(place: Place, words: readonly string[]): Launched {
  // Without the folder that other tests give: where it is not named, it is temporary.
  return place.launch({ words: ['serve', ...words], env: { ROWPORT_DATA: '' } })
}

async function screenOf(server: Launched): Promise<string> {
  await server.says('stdout', 'Ctrl+C')
  return server.stdout()
}

async function temporaries(): Promise<string[]> {
  return (await readdir(tmpdir())).filter((name) => /^rowport-\w{6}$/.test(name)).sort()
}

test('a port can be named, and a folder whose account was deleted says so', async (t) => {
  const place = await freshPlace(t)
  await writeFile(join(place.folder, 'prices.csv'), 'sku,price\nA1,5\n')
  const port = await freePort()
  const words = ['serve', 'prices.csv', '--data', 'kept', '--port', String(port)]
  const server = await place.start({ words })
  assert.equal(server.port, port)
  const kept = { env: { ROWPORT_DATA: join(place.folder, 'kept') } }
  const deleted = await place.rowport(['account', 'delete', 'local', '--confirm', 'local'], kept)
  assert.equal(deleted.code, 0, deleted.stderr)
  server.child.kill('SIGTERM')
  await server.ended
  const again = await place.launch({ words }).ended
  assert.equal(again.code, 1)
  assert.match(
    again.stderr,
    /the account "local" of this data folder was deleted.*another folder with --data/,
  )
  const wrong = await place.launch({ words: ['serve', '--port', 'http'] }).ended
  assert.match(wrong.stderr, / --port: must be/)
})
