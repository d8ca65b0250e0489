import { createHash } from 'node:crypto'
import { isMainThread, parentPort, Worker } from 'node:worker_threads'
import { compareReads } from '../src/providers/google/read/dates/compare-reads.ts'
import { listGoogleValues } from '../src/providers/google/read/list-values.ts'
import { collectGarbage } from '../src/sheets/reading/collect-garbage.ts'
import { type GoogleProcess, startGoogleProcess } from '../test/google/google-process.ts'
import { processorMs } from './process-figures.ts'
import { ask } from './processes.ts'
import { productTable } from './product-table.ts'
import { median, withEnds } from './row.ts'
import { startRowportOnGoogle } from './rowport-on-google.ts'

/*
 * node bench/cold-load-floor.ts [rounds]: the least that a first read of 100,000 × 10 with a column of dates can cost, step by step,
 * beside the reference of `npm run bench` (fetch + JSON.parse) and beside Rowport, in one run. Each step is a bare pipeline without
 * anything of a server; what it has more than the one before is what that part costs at least:
 *   thread       the same bytes are parsed and written as the list that is served, in a thread, and come back without a copy
 *   two reads    and the columns with numbers once more as texts, which alone tells dates from numbers
 *   from bytes   the same result by the functions that Rowport uses in place of JSON.parse, with the hashes that name it
 */
const rounds = Number(process.argv[2] ?? 7)
const rowCount = 100_000
const created = 5
/** Those of the product table that have numbers, dates among them. */
const numberColumns = [
  { startColumnIndex: 3, endColumnIndex: 6 },
  { startColumnIndex: 9, endColumnIndex: 10 },
]

interface Asked {
  how: 'parsed' | 'from bytes'
  serial: ArrayBuffer
  texts: ArrayBuffer | null
}

interface Answered {
  list: ArrayBuffer
  rowStarts: ArrayBuffer
}

if (isMainThread) await measure()
else parentPort?.on('message', (asked: Asked) => answer(asked))

function answer({ how, serial, texts }: Asked): void {
  const { list, rowStarts } = how === 'parsed' ? listByParsing(serial, texts) : listFromBytes(serial, texts)
  parentPort?.postMessage({ list, rowStarts } satisfies Answered, [list, rowStarts])
}

function listByParsing(serial: ArrayBuffer, texts: ArrayBuffer | null): Answered {
  const [{ valueRange }] = JSON.parse(Buffer.from(serial).toString()).valueRanges
  const [names, ...rows]: [string[], ...unknown[][]] = valueRange.values
  if (texts) {
    const [{ valueRange: shown }] = JSON.parse(Buffer.from(texts).toString()).valueRanges
    // Not worded as Rowport words it: what is measured is that every date is looked at.
    for (const [at, row] of rows.entries()) row[created] = shown.values[at + 1][created - 3]
  }
  const rowStarts = new Uint32Array(rows.length + 1)
  const written = rows.map((row) =>
    JSON.stringify(Object.fromEntries(names.map((name, at) => [name, row[at]]))),
  )
  let start = 1
  for (const [at, text] of written.entries()) {
    rowStarts[at] = start
    start += text.length + 1
  }
  const list = new Uint8Array(new TextEncoder().encode(`[${written.join()}]`))
  return { list: list.buffer, rowStarts: rowStarts.buffer }
}

function listFromBytes(serial: ArrayBuffer, texts: ArrayBuffer | null): Answered {
  for (const body of [serial, texts]) if (body) createHash('sha256').update(new Uint8Array(body)).digest()
  const dates = texts ? compareReads(new Uint8Array(serial), new Uint8Array(texts)).dates : new Uint32Array()
  const listed = listGoogleValues(new Uint8Array(serial), { values: 'typed', dates }, null)
  if (!listed) throw new Error('Not written as Google writes')
  createHash('sha256').update(listed.listJson).digest()
  return { list: listed.listJson.buffer, rowStarts: listed.rowStarts.buffer }
}

async function measure(): Promise<void> {
  await withEnds(async (after) => {
    const google = await startGoogleProcess({ after })
    const slugs = Array.from({ length: rounds + 1 }, (_, n) => `s${n}`)
    const rowport = await startRowportOnGoogle(google, after, {
      values: tableWithDates(),
      slugs,
      cores: 'all',
    })
    const read = await reader(google, rowport.spreadsheetId)
    const thread = new Worker(new URL(import.meta.url))
    after(async () => void (await thread.terminate()))
    const inThread = async (how: Asked['how'], isTwice: boolean) => {
      const [serial, texts] = await Promise.all([read('serial'), isTwice ? read('texts') : null])
      const { promise, resolve, reject } = Promise.withResolvers<Answered>()
      thread.once('message', resolve).once('error', reject)
      thread.postMessage({ how, serial, texts } satisfies Asked, texts ? [serial, texts] : [serial])
      const { list, rowStarts } = await promise
      thread.off('error', reject)
      const [start = 0, next = 0] = new Uint32Array(rowStarts)
      JSON.parse(Buffer.from(list, start, next - start - 1).toString())
    }
    const headers = { Authorization: `Bearer ${rowport.apiKey}` }
    let loads = 0
    const ways: Record<string, { pid: number; work(): Promise<unknown> }> = {
      'fetch + JSON.parse': {
        pid: process.pid,
        work: async () => JSON.parse(Buffer.from(await read('serial')).toString()),
      },
      'thread, parsed': { pid: process.pid, work: () => inThread('parsed', false) },
      'thread, parsed, two reads': { pid: process.pid, work: () => inThread('parsed', true) },
      'thread, from bytes, two reads': { pid: process.pid, work: () => inThread('from bytes', true) },
      Rowport: {
        pid: rowport.pid,
        async work() {
          const { status, body } = await ask(`${rowport.url}/api/sheets/acme/s${loads++}?limit=1`, headers)
          if (status !== 200) throw new Error(`Rowport answered ${status}: ${body}`)
        },
      },
    }
    const measured = Object.entries(ways).map(([name, way]) => ({
      name,
      ...way,
      ms: [] as number[],
      cpuMs: [] as number[],
    }))
    for (let round = 0; round <= rounds; round++) {
      for (const { pid, work, ms, cpuMs } of measured) {
        // What one way has dropped is not to be collected in the time of the next.
        collectGarbage()
        await untilIdle(process.pid)
        await untilIdle(pid)
        const [cpuBefore, begunMs] = [processorMs(pid), performance.now()]
        await work()
        // The first round compiles, and has the local Google make its answers.
        if (round === 0) continue
        ms.push(performance.now() - begunMs)
        cpuMs.push(processorMs(pid) - cpuBefore)
      }
    }
    const [reference] = measured
    const ratio = (of: 'ms' | 'cpuMs', figures: number[]) =>
      median(figures.map((figure, at) => figure / (reference?.[of][at] ?? Number.NaN))).toFixed(2)
    for (const { name, ms, cpuMs } of measured) {
      const each = ms.map((figure) => figure.toFixed(0)).join(' ')
      process.stdout.write(
        `${name.padEnd(30)} ${ratio('ms', ms)} × (median ${median(ms).toFixed(0)} ms: ${each}), ` +
          `processor ${ratio('cpuMs', cpuMs)} × (${median(cpuMs).toFixed(0)} ms)\n`,
      )
    }
  })
}

/** As people type them. Not kept: what this process holds, it would mark with every collection, and its pipelines would pay for that. */
function tableWithDates(): (string | number)[][] {
  return productTable(rowCount).map((row) => row.with(created, String(row[created]).replace('T', ' ')))
}

async function reader(
  google: GoogleProcess,
  spreadsheetId: string,
): Promise<(what: 'serial' | 'texts') => Promise<ArrayBuffer>> {
  const { access_token } = await google.control('POST', 'tokens', { user: 'ada@example.com' })
  const url = `${google.url}/v4/spreadsheets/${spreadsheetId}/values:batchGetByDataFilter?prettyPrint=false`
  return async (what) => {
    const ranges = what === 'serial' ? [{}] : numberColumns
    const answer = await fetch(url, {
      method: 'POST',
      headers: { Authorization: `Bearer ${access_token}` },
      body: JSON.stringify({
        dataFilters: ranges.map((range) => ({ gridRange: { sheetId: 0, ...range } })),
        majorDimension: 'ROWS',
        valueRenderOption: 'UNFORMATTED_VALUE',
        dateTimeRenderOption: what === 'serial' ? 'SERIAL_NUMBER' : 'FORMATTED_STRING',
      }),
    })
    return answer.arrayBuffer()
  }
}

async function untilIdle(pid: number): Promise<void> {
  const begunMs = performance.now()
  while (performance.now() - begunMs < 5_000) {
    const before = processorMs(pid)
    await new Promise((resolve) => setTimeout(resolve, 300))
    if (processorMs(pid) - before <= 20) return
  }
}
