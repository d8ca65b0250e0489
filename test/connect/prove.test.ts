import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import type { ProvenAssumption } from '../../src/sheets/proof.ts'
import { startLocalGoogle } from '../emulator/harness.ts'
import { plenty } from '../google/writing-ground.ts'
import { bearer, done, startRowport } from '../harness.ts'
import { connectOwner, googleAt } from '../writing/google-ground.ts'

interface Spoiling {
  /** The body of a batch on its way to Google. */
  ask?(text: string): string
  answer?(text: string, path: string): string
  withoutDate?: boolean
  /** After a refused batch: what is done all the same. */
  afterRefusal?(text: string): string
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
}

test('the emulator keeps everything that our promises take for granted, and nothing is left behind', async (t) => {
  const { proven, dump } = await prove(t, {})
  assert.deepEqual(
    proven.map(({ id, holds, saw }) => [id, holds === null ? 'untried' : holds || saw]),
    [...Object.keys(broken).map((id) => [id, true]), ['late_batches', 'untried']],
  )
  for (const { assumes, because, otherwise, saw } of proven) {
    assert.ok(assumes && because && otherwise && saw)
  }
  assert.doesNotMatch(await dump(), /Rowport proof|proof\./)
})

for (const [id, spoiling] of Object.entries(broken)) {
  test(`where ${id} does not hold, it is found, and what follows is said`, async (t) => {
    const { proven, dump } = await prove(t, spoiling)
    const found = proven.find((one) => one.id === id)
    assert.equal(found?.holds, false, JSON.stringify(proven))
    assert.doesNotMatch(await dump(), /Rowport proof/)
  })
}

test('with GOOGLE_WRITES=off writes to Google are refused in words, and rows are read as ever', async (t) => {
  const { rowport, spreadsheetId } = await start(t, {}, true)
  const account = done(await rowport.workshop.accounts.find('acme'))
  const located = done(await connectionOf(rowport).spreadsheets.locate(account.id, spreadsheetId, null))
  const place = { provider: 'google', source: located.source, ...located.place }
  done(
    await rowport.workshop.sheets.connect({
      accountSlug: 'acme',
      sheetSlug: 's',
      access: 'private',
      ...place,
    }),
  )
  const key = await rowport.createKey()
  assert.equal((await rowport.get('/api/sheets/acme/s', bearer(key))).status, 200)
  const url = `${rowport.workshop.baseUrl}/api/sheets/acme/s`
  const refused = await fetch(url, { method: 'POST', headers: bearer(key), body: '{"name":"x"}' })
  assert.equal(refused.status, 502)
  assert.match(await refused.text(), /switched off on this server \(GOOGLE_WRITES=off\)/)
})

async function prove(t: TestContext, spoiling: Spoiling) {
  const { rowport, google, spreadsheetId } = await start(t, spoiling, false)
  const account = done(await rowport.workshop.accounts.find('acme'))
  const proven: ProvenAssumption[] = done(await connectionOf(rowport).prove(account.id, spreadsheetId))
  return {
    proven,
    dump: async () => JSON.stringify(await google.control('GET', `spreadsheets/${spreadsheetId}`)),
  }
}

async function start(t: TestContext, spoiling: Spoiling, areWritesOff: boolean) {
  const google = await startLocalGoogle(t)
  const endpoint = await startProxy(t, google.url, spoiling)
  const setting = { ...googleAt(endpoint), areWritesOff, rations: plenty }
  const rowport = await startRowport(t, {
    settings: {
      baseUrl: 'http://127.0.0.1:0',
      google: setting,
    },
  })
  const { spreadsheetId } = await google.control<{ spreadsheetId: string }>('POST', 'spreadsheets', {
    title: 'Mine',
    owner: 'ada@example.com',
    tabs: [{ title: 'Items', values: [['name'], ['Lamp']] }],
  })
  const { store, sealing } = rowport.workshop
  const account = done(await rowport.workshop.accounts.find('acme'))
  const { refresh_token } = await google.tokens('ada@example.com')
  await connectOwner(store, sealing, account.id, refresh_token)
  return { rowport, google, spreadsheetId }
}

function connectionOf({ workshop }: Pick<Awaited<ReturnType<typeof startRowport>>, 'workshop'>) {
  const connection = workshop.connections.find('google')
  assert.ok(connection)
  return connection
}

/** Stands between, and spoils what passes. */
async function startProxy(t: TestContext, google: string, spoiling: Spoiling): Promise<string> {
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
