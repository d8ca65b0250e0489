import { setTimeout as sleep } from 'node:timers/promises'
import { type GoogleProcess, startGoogleProcess } from '../test/google/google-process.ts'
import { createPlainClient } from '../test/writing/plain-client.ts'
import { atLeast, atMost } from './floored.ts'
import { type FigureRow, type Measured, withEnds } from './row.ts'
import { startRowportOnGoogle } from './rowport-on-google.ts'

const writers = 200
const seconds = Number(process.env.GOOGLE_WRITES_SECONDS ?? 20)
const latencyMs = { write: 400, read: 300 }
const floors = { rowsPerWrite: 50, ratio: 50 }
const highestP99Ms = 3_000

/** Many writers at once, Google as slow and as stingy as it is: how many rows a write carries, and how long they wait. */
export const googleWrites: FigureRow = {
  kind: 'figure',
  name: 'additions to Google: 200 writers, 400 ms a write, 60 writes a minute',
  measure: () => withEnds(measureIn),
}

async function measureIn(after: (end: () => Promise<void>) => void): Promise<Measured> {
  const google = await startGoogleProcess({ after }, { latencyMs, quotas: true })
  const reference = await loadReference(google)
  const { url, apiKey, spreadsheetId } = await startRowportOnGoogle(google, after, {
    values: [['id', 'name', 'price']],
  })
  const before = await callsOf(google)
  const { rows, p50Ms, p99Ms, failed } = await loadRowport(`${url}/api/sheets/acme/s`, apiKey)
  const calls = (await callsOf(google)).slice(before.length)
  const writes = calls.filter(({ kind }) => kind === 'write').length
  const reads = calls.filter(({ kind }) => kind === 'read').length
  const refusals = calls.filter(({ status }) => status === 429).length
  const there = (await google.cells(spreadsheetId)).length - 1
  const rowsPerWrite = rows / writes
  const ratio = rows / reference
  const said =
    `${rows} rows acknowledged in ${seconds} s (${there} there, ${failed} requests failed), ${writes} provider writes, ${reads} reads\n` +
    `  rows a write  ${rowsPerWrite.toFixed(1)}\n` +
    `  waiting       p50 ${p50Ms.toFixed(0)} ms, p99 ${p99Ms.toFixed(0)} ms\n` +
    `  ratio         ${ratio.toFixed(0)} to one call a row, ${reference} rows in the same time\n` +
    `  refused       ${refusals} calls by Google's ration`
  return {
    said,
    floored: [
      atLeast('rows a write', rowsPerWrite, floors.rowsPerWrite),
      atLeast('times one call a row', ratio, floors.ratio),
      atMost('p99', p99Ms, highestP99Ms, 'ms'),
      atMost("calls refused by Google's ration", refusals, 0),
      atMost('acknowledged rows that are not there', Math.max(0, rows - there), 0),
    ],
  }
}

async function callsOf(google: GoogleProcess): Promise<{ kind: string; status: number }[]> {
  return (await google.control<{ calls: { kind: string; status: number }[] }>('GET', 'calls')).calls
}

/** As many writers, each row a call of its own, waiting as Google asks where the ration is used up. */
async function loadReference(google: GoogleProcess): Promise<number> {
  const user = 'grace@example.com'
  const { spreadsheetId } = await google.newSpreadsheet(user, [['id']])
  const { access_token } = await google.control('POST', 'tokens', { user })
  const endMs = performance.now() + seconds * 1_000
  let rows = 0
  const write = async () => {
    let backoffMs = 1_000
    while (performance.now() < endMs) {
      const answer = await fetch(
        `${google.url}/v4/spreadsheets/${spreadsheetId}/values/Items!A1:append?valueInputOption=RAW&insertDataOption=INSERT_ROWS`,
        {
          method: 'POST',
          headers: { Authorization: `Bearer ${access_token}` },
          body: JSON.stringify({ values: [['row']] }),
        },
      )
      await answer.arrayBuffer()
      if (answer.ok && performance.now() < endMs) rows++
      if (answer.ok) continue
      await sleep(Math.min(backoffMs, Math.max(0, endMs - performance.now())))
      backoffMs = Math.min(32_000, backoffMs * 2)
    }
  }
  await Promise.all(Array.from({ length: writers }, write))
  return rows
}

async function loadRowport(url: string, apiKey: string) {
  const endMs = performance.now() + seconds * 1_000
  const waitedMs: number[] = []
  let failed = 0
  const write = async (writer: number) => {
    const client = createPlainClient(apiKey)
    for (let n = 0; performance.now() < endMs; n++) {
      const begunMs = performance.now()
      const row = JSON.stringify({ id: `${writer}-${n}`, name: 'Desk lamp', price: 59.9 })
      const { status } = await client.send(url, 'POST', row, null)
      if (status !== 201) failed++
      else if (performance.now() < endMs) waitedMs.push(performance.now() - begunMs)
    }
    client.close()
  }
  await Promise.all(Array.from({ length: writers }, (_, at) => write(at)))
  waitedMs.sort((one, other) => one - other)
  const at = (share: number) => waitedMs[Math.floor(waitedMs.length * share)] ?? Number.NaN
  return { rows: waitedMs.length, failed, p50Ms: at(0.5), p99Ms: at(0.99) }
}
