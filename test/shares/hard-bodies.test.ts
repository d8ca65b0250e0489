import assert from 'node:assert/strict'
import { request } from 'node:http'
import { type TestContext, test } from 'node:test'
import { bearer, type Rowport, startRowport } from '../harness.ts'
import { startTurnWatch } from '../turn-watch.ts'

/** They take 2 to 8; the rest is for garbage, and for code that was not compiled yet. */
const mostTurnMs = 14
/** Beside the one call that parses a row, which is a turn of 8 to 17 ms by itself where two megabytes are escapes. */
const besideParsingMs = 6
const bytes = 2_090_000
const urlencoded = 'application/x-www-form-urlencoded'
const digits = `"${'111111111111111a'.repeat(3_000)}"`

const cases: Record<string, { body: string; contentType?: string; status: number; details?: RegExp }> = {
  'spaces before a row': { body: `${' '.repeat(bytes)}{"a":1}`, status: 201 },
  'spaces in a row': { body: `{${' '.repeat(bytes)}"a":1}`, status: 201 },
  'a number of two million digits': {
    ...{ body: `{"a":${'9'.repeat(bytes)}}`, status: 400, details: /1,000 characters/ },
  },
  'escaped quotes': { body: `{"a":"${'\\"'.repeat(bytes / 2)}"}`, status: 400, details: /50000 characters/ },
  'texts with many digits': {
    body: `{${Array.from({ length: 40 }, (_, at) => `"${at}":${digits}`).join()}}`,
    ...{ status: 400, details: /Unknown field/ },
  },
  'numbers with many digits': {
    body: `{${Array.from({ length: 2_000 }, (_, at) => `"${at}":1.${'0'.repeat(990)}`).join()}}`,
    ...{ status: 400, details: /Unknown field/ },
  },
  'a form of pluses': {
    ...{ body: `a=${'+'.repeat(bytes)}`, contentType: urlencoded, status: 400, details: /50000 characters/ },
  },
  'a form of letters': {
    ...{ body: `a=${'x'.repeat(bytes)}`, contentType: urlencoded, status: 400, details: /50000 characters/ },
  },
  'a form with a long name': {
    ...{ body: `${'+'.repeat(bytes)}=1`, contentType: urlencoded, status: 400, details: /name of a field/ },
  },
  'a form of line ends': {
    body: `--b\r\nContent-Disposition: form-data; name="a"\r\n\r\n${'\r\n'.repeat(bytes / 2)}\r\n--b--\r\n`,
    ...{ contentType: 'multipart/form-data; boundary=b', status: 400, details: /50000 characters/ },
  },
}

test('two megabytes of next to nothing are judged in short turns', async (t) => {
  const rowport = await startRowport(t, { isTimePassing: true })
  const key = bearer(await rowport.createKey())
  const { formB } = await rowport.connectFile('s', 's.csv', 'a\n1\n')
  for (const [name, { body, contentType = 'application/json', status, details }] of Object.entries(cases)) {
    const headers = { ...key, 'Content-Type': contentType }
    const mostMs =
      name === 'escaped quotes' ? Math.max(mostTurnMs, parsingMs(body) + besideParsingMs) : mostTurnMs
    const judge = async () => {
      const told = await send(rowport, `${formB}?dry_run=true`, headers, body)
      assert.equal(told.status, status, told.text.slice(0, 300))
      if (details) assert.match(told.text, details)
    }
    await inShortTurns(t, name, judge, mostMs)
  }
})

test('so are messages of agents', async (t) => {
  const rowport = await startRowport(t, { isTimePassing: true })
  const headers = {
    ...bearer(await rowport.createKey()),
    'Content-Type': 'application/json',
    Accept: 'application/json, text/event-stream',
  }
  await rowport.connectFile('s', 's.csv', 'a\n1\n')
  const call = (name: string, id = '"1"') =>
    `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":${name},"arguments":{}}}`
  const messages: Record<string, [body: string, status: number]> = {
    spaces: [`${' '.repeat(bytes)}${call('"list_sheets"')}`, 200],
    'escaped quotes': [call(`"${'\\"'.repeat(bytes / 2 - 100)}"`), 400],
    'a long id': [call('"list_sheets"', `"${'1'.repeat(bytes)}"`), 400],
  }
  // The SDK is loaded with the first message.
  assert.equal((await send(rowport, '/mcp', headers, call('"list_sheets"'))).status, 200)
  for (const [name, [body, status]] of Object.entries(messages))
    await inShortTurns(t, name, async () => {
      const told = await send(rowport, '/mcp', headers, body)
      assert.equal(told.status, status, told.text.slice(0, 300))
    })
})

async function inShortTurns(
  t: TestContext,
  name: string,
  work: () => Promise<void>,
  mostMs = mostTurnMs,
): Promise<void> {
  const longest: number[] = []
  for (let round = 0; round < 4; round++) {
    const watch = startTurnWatch()
    await work().finally(() => longest.push(watch.stop()[0] ?? 0))
  }
  t.diagnostic(`${name}: turns of ${longest.join(' ')} ms, at most ${mostMs.toFixed(0)}`)
  assert.ok(Math.min(...longest) <= mostMs, `${name}: turns of ${longest.join(' ')} ms`)
}

/** What this machine takes at this moment to parse it in one go. */
function parsingMs(json: string): number {
  const tookMs = Array.from({ length: 4 }, () => {
    const began = performance.now()
    JSON.parse(json)
    return performance.now() - began
  })
  return Math.max(...tookMs)
}

function send(
  { url }: Rowport,
  path: string,
  headers: Record<string, string>,
  body: string,
): Promise<{ status: number; text: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; text: string }>()
  const asked = request(`${url}${path}`, { method: 'POST', headers }, async (answer) => {
    let text = ''
    for await (const piece of answer) text += piece
    resolve({ status: answer.statusCode ?? 0, text })
  })
  asked.on('error', reject).end(Buffer.from(body))
  return promise
}
