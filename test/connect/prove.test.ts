import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { cli } from '../../src/cli.ts'
import type { MovableClock } from '../../src/clock.ts'
import { commands } from '../../src/commands/all-commands.ts'
import { Problem } from '../../src/management/problem.ts'
import type { ProvenAssumption, SwitchedOff } from '../../src/sheets/proof.ts'
import { startLocalGoogle } from '../emulator/harness.ts'
import { plenty } from '../google/writing-ground.ts'
import { bearer, done, startRowport } from '../harness.ts'
import { connectOwner, googleAt, googleClient } from '../writing/google-ground.ts'
import { signedIn } from './visitor.ts'

interface Spoiling {
  /** The body of a batch on its way to Google. */
  ask?(text: string): string
  answer?(text: string, path: string): string
  withoutDate?: boolean
  /** After a refused batch: what is done all the same. */
  afterRefusal?(text: string): string
  /** A batch that was given up is done more than three minutes later. */
  isLate?: true
}

/** What breaks each assumption, as a Google would that does not keep it. */
const broken: Record<string, Spoiling> = {
  marker_once: {
    ask: (text) => text.replace(/"metadataId":\d+/g, () => `"metadataId":${Math.ceil(Math.random() * 1e9)}`),
  },
  batch_whole: {
    afterRefusal: (text) => {
      const { requests } = JSON.parse(text) as { requests: object[] }
      return JSON.stringify({ requests: requests.filter((one) => !('createDeveloperMetadata' in one)) })
    },
  },
  added_at_the_end: {
    ask: (text) =>
      text.replace(
        /"appendCells":\{"sheetId":(\d+)/g,
        '"updateCells":{"start":{"sheetId":$1,"rowIndex":2,"columnIndex":0}',
      ),
  },
  as_written: { ask: (text) => text.replace('"stringValue":"=', '"formulaValue":"=') },
  blank_rows_kept: {
    answer: (text, path) => (path.includes('/values/') ? text.replaceAll('[],', '') : text),
  },
  refusals_told: {
    answer: (text) =>
      text.replace(/"message":"[^"]*No grid[^"]*"|"message": "[^"]*grid[^"]*"/g, '"message": "Bad Request"'),
  },
  date_told: { withoutDate: true },
  late_batches: { isLate: true },
}

/** What a client meets of it: the status of a list, of an addition and of a change. */
const consequences: Record<string, [list: number, add: number, change: number]> = {
  marker_once: [200, 502, 502],
  batch_whole: [200, 502, 502],
  added_at_the_end: [200, 502, 200],
  as_written: [200, 502, 502],
  blank_rows_kept: [502, 502, 502],
  refusals_told: [200, 201, 200],
  date_told: [200, 201, 200],
  late_batches: [200, 502, 502],
}

interface Report {
  proven: boolean
  assumptions: ProvenAssumption[]
  switched_off: SwitchedOff[]
}

test('the emulator keeps everything that our promises take for granted, and nothing is left behind', async (t) => {
  const { prove, rowportCommand, ask, dump, spreadsheetId } = await start(t)
  const { code, report } = await prove()
  assert.deepEqual(
    report.assumptions.map(({ id, holds, saw }) => [id, holds === true || saw]),
    Object.keys(broken).map((id) => [id, true]),
  )
  assert.deepEqual([code, report.proven, report.switched_off], [0, true, []])
  for (const { assumes, because, otherwise, saw } of report.assumptions)
    assert.ok(assumes && because && otherwise && saw)
  assert.doesNotMatch(await dump(), /Rowport proof|proof\./)
  assert.deepEqual(await ask(), [200, 201, 200])
  assert.match(
    (await rowportCommand('doctor')).said,
    /It kept what our promises rest on when that was last tried/,
  )
  const shown = await rowportCommand('google', 'prove', 'acme', '--spreadsheet', spreadsheetId)
  assert.equal(shown.code, 0)
  assert.equal(shown.said.match(/^yes /gm)?.length, Object.keys(broken).length)
  t.diagnostic(`\n${shown.said}`)
})

for (const [id, spoiling] of Object.entries(broken)) {
  test(`where ${id} does not hold, what rests on it is switched off for all, in words, until a proof finds that it holds`, async (t) => {
    const ground = await start(t)
    const { prove, rowportCommand, ask, askOther, owner, dump } = ground
    ground.spoilBy(spoiling)
    const { code, report } = await (id === 'date_told' ? ground.proveAnew() : prove())
    const found = report.assumptions.find((one) => one.id === id)
    assert.equal(found?.holds, false, JSON.stringify(report))
    assert.deepEqual([code, report.proven], [1, false])
    assert.doesNotMatch(await dump(), /Rowport proof/)

    ground.spoilBy({})
    const expected = consequences[id]
    assert.deepEqual(await ask(), expected)
    assert.deepEqual(await askOther(), expected, 'at another instance')
    const doctor = await rowportCommand('doctor')
    const told = async () => JSON.stringify((await owner.call('GET', '/session')).json)
    if (found.switchesOff === null) {
      assert.equal(doctor.code, 0, doctor.said)
      assert.doesNotMatch(await told(), /switched off/)
    } else {
      assert.equal(doctor.code, 1)
      assert.ok(doctor.said.replaceAll(/\s+/g, ' ').includes(found.assumes), doctor.said)
      assert.ok((await told()).includes(found.assumes))
    }

    assert.equal((await prove()).code, 0)
    assert.deepEqual(await ask(), [200, 201, 200])
    assert.deepEqual(await askOther(), [200, 201, 200])
    assert.doesNotMatch(await told(), /switched off/)
    assert.equal((await rowportCommand('doctor')).code, 0)
  })
}

test('a client is told what is switched off, why, and what brings it back; a person who types the command, too', async (t) => {
  const { rowportCommand, spoilBy, url, key, spreadsheetId } = await start(t)
  spoilBy(broken.marker_once ?? {})
  const { code, said } = await rowportCommand('google', 'prove', 'acme', '--spreadsheet', spreadsheetId)
  assert.equal(code, 1)
  assert.match(said, /^NO {5}A second marker of the same id is refused .* the second one was taken$/m)
  assert.match(
    said,
    /A write whose response was lost could be done twice\.\n {2}So writes are switched off\./,
  )
  const refused = await fetch(url, { method: 'POST', headers: bearer(key), body: '{"name":"x"}' })
  assert.deepEqual(await refused.json(), {
    error: 'Failed to write to sheet: writing to Google is switched off on this server',
    code: 'google_api_error',
    details:
      'It was tried on 2026-11-15, and this does not hold there: “A second marker of the same id is refused” ' +
      '(seen: the second one was taken). A write whose response was lost could be done twice. ' +
      'The person who runs this server can try it again with “rowport google prove”; when it holds, this is switched on again.',
  })
})

test('what could not be tried leaves what was found before as it is', async (t) => {
  const { prove, spoilBy, ask } = await start(t)
  spoilBy(broken.marker_once ?? {})
  await prove()
  // Nothing of the batches that bring a marker arrives.
  spoilBy({ ask: (text) => (text.includes('createDeveloperMetadata') ? '{' : text) })
  const { report } = await prove()
  assert.notEqual(report.assumptions.find(({ id }) => id === 'marker_once')?.holds, false)
  spoilBy({})
  assert.deepEqual(await ask(), [200, 502, 502])
})

test('with GOOGLE_WRITES=off writes to Google are refused in words, and rows are read as ever', async (t) => {
  const { ask, url, key } = await start(t, true)
  assert.deepEqual(await ask(), [200, 502, 502])
  const refused = await fetch(url, { method: 'POST', headers: bearer(key), body: '{"name":"x"}' })
  assert.match(await refused.text(), /switched off on this server.*GOOGLE_WRITES=off/)
})

async function start(t: TestContext, areWritesOff = false) {
  const google = await startLocalGoogle(t)
  const proxy = { spoiling: {} as Spoiling, clock: null as MovableClock | null }
  const endpoint = await startProxy(t, google.url, proxy)
  const settings = {
    baseUrl: 'http://127.0.0.1:0',
    google: { ...googleAt(endpoint), areWritesOff, rations: plenty },
  }
  const rowport = await startRowport(t, { settings, isTimePassing: true })
  const other = await startRowport(t, { settings, beside: rowport })
  proxy.clock = rowport.clock
  const { spreadsheetId } = await google.control<{ spreadsheetId: string }>('POST', 'spreadsheets', {
    title: 'Mine',
    owner: 'ada@example.com',
    tabs: [{ title: 'Items', values: [['name'], ['Lamp']] }],
  })
  const { store, sealing, accounts, sheets } = rowport.workshop
  const account = done(await accounts.find('acme'))
  const { refresh_token } = await google.tokens('ada@example.com')
  await connectOwner(store, sealing, account.id, refresh_token)
  const connection = rowport.workshop.connections.find('google')
  const located = connection && done(await connection.spreadsheets.locate(account.id, spreadsheetId, null))
  assert.ok(located)
  const { source, place } = located
  const sheet = { accountSlug: 'acme', sheetSlug: 's', access: 'private', provider: 'google' } as const
  done(await sheets.connect({ ...sheet, source, ...place }))
  const key = await rowport.createKey()
  const path = '/api/sheets/acme/s'

  /** As an operator types it, beside the servers. */
  async function rowportCommand(...words: string[]) {
    const said: string[] = []
    const stdout = { write: (text: string) => said.push(text) }
    const stderr = { write() {} }
    const env = {
      ROWPORT_DATA: rowport.folder,
      ROWPORT_SECRET: 'the secret of the tests',
      BASE_URL: 'http://localhost:8787',
      GOOGLE_CLIENT_ID: googleClient.clientId,
      GOOGLE_CLIENT_SECRET: googleClient.clientSecret,
      GOOGLE_ENDPOINT: endpoint,
      GOOGLE_SCOPE: googleClient.scope,
    }
    const code = await cli(words, { env, stdout, stderr, clock: rowport.clock })
    return { code, said: said.join('') }
  }

  async function askAt(root: string) {
    // Neither rows that were read before nor a ration that was spent before is in the way.
    rowport.clock.advanceMs(61_000)
    // A connection that is kept would have idled for that minute, and may be closed in the moment in which it is used again.
    const headers = { ...bearer(key), 'Cache-Control': 'no-cache', Connection: 'close' }
    const list = await fetch(root + path, { headers })
    const added = await fetch(root + path, { method: 'POST', headers, body: '{"name":"Rug"}' })
    const changed = await fetch(`${root}${path}/2`, { method: 'PATCH', headers, body: '{"name":"Bed"}' })
    return [list.status, added.status, changed.status]
  }

  return {
    spreadsheetId,
    key,
    url: rowport.url + path,
    owner: await signedIn(rowport),
    rowportCommand,
    /** In a process that was told no time before. */
    async proveAnew() {
      const { code, said } = await rowportCommand(
        'google',
        'prove',
        'acme',
        '--spreadsheet',
        spreadsheetId,
        '--json',
      )
      return { code, report: JSON.parse(said) as Report }
    },
    /** The same command, on the server's own workshop: it need not wait for rations. */
    async prove() {
      const spreadsheet = `https://docs.google.com/spreadsheets/d/${spreadsheetId}/edit`
      const command = commands.find(({ words }) => words.join(' ') === 'google prove')
      assert.ok(command && 'run' in command)
      const outcome = await command.run(rowport.workshop, ['acme'], { spreadsheet })
      assert.ok(!(outcome instanceof Problem))
      return { code: outcome.hasFailed ? 1 : 0, report: outcome.json as Report }
    },
    ask: () => askAt(rowport.url),
    askOther: () => askAt(other.url),
    spoilBy(spoiling: Spoiling) {
      proxy.spoiling = spoiling
    },
    dump: async () => JSON.stringify(await google.control('GET', `spreadsheets/${spreadsheetId}`)),
  }
}

/** Stands between, and spoils what passes. */
async function startProxy(
  t: TestContext,
  google: string,
  proxy: { spoiling: Spoiling; clock: MovableClock | null },
): Promise<string> {
  const late: { batch: () => Promise<unknown>; looks: number }[] = []
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = []
    for await (const piece of request) pieces.push(piece as Buffer)
    const text = Buffer.concat(pieces).toString()
    const path = request.url ?? ''
    const isBatch = path.includes(':batchUpdate')
    const send = (body: string) =>
      fetch(`${google}${path}`, {
        method: request.method ?? 'GET',
        headers: {
          Authorization: request.headers.authorization ?? '',
          'Content-Type': request.headers['content-type'] ?? 'application/json',
        },
        ...(request.method === 'GET' ? {} : { body }),
      })
    const { spoiling } = proxy
    if (isBatch && spoiling.isLate && text.includes('given up')) {
      late.push({ batch: () => send(text), looks: 0 })
      return
    }
    // Between the first look and the second lie more than three minutes; the third one shows it.
    const held = path.includes('/values/') ? late.splice(0) : []
    if (held[0]?.looks === 0) proxy.clock?.advanceMs(185_000)
    for (const one of held) {
      if (one.looks++ > 1) await one.batch()
      else late.push(one)
    }
    const answer = await send(isBatch && spoiling.ask ? spoiling.ask(text) : text)
    if (isBatch && answer.status === 400 && spoiling.afterRefusal) await send(spoiling.afterRefusal(text))
    const body = await answer.text()
    response.sendDate = false
    response.writeHead(answer.status, {
      'Content-Type': answer.headers.get('content-type') ?? '',
      ...(spoiling.withoutDate ? {} : { Date: answer.headers.get('date') ?? '' }),
    })
    response.end(spoiling.answer?.(body, path) ?? body)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
