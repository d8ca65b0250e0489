import { execFile } from 'node:child_process'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { compare } from '../src/changes/compare/compare-job.ts'
import { decodeCsv } from '../src/providers/file/csv/csv.ts'
import { buildSnapshot } from '../src/sheets/rows/build-snapshot.ts'
import type { Snapshot } from '../src/sheets/rows/snapshot.ts'
import { additions } from './additions.ts'
import { atLeast, atMost } from './floored.ts'
import { hundredThousandRows } from './list-files.ts'
import { listAddress, type RunningRowport, startRowport } from './processes.ts'
import { type FigureRow, median, withEnds } from './row.ts'
import { tenThousandRows } from './writing-files.ts'

const rounds = 5
const sliceSeconds = 2
const leastOfUnlogged = 0.8
const changedRows = 100

export const loggedAdditions: FigureRow = {
  kind: 'figure',
  name: 'change log: additions to a CSV file of 10,000 rows, 50 clients',
  measure: () =>
    withEnds(async (after) => {
      const logged = await startRowport(tenThousandRows())
      after(logged.stop)
      const unlogged = await startRowport(tenThousandRows())
      after(unlogged.stop)
      await turnLogOff(unlogged)
      const rate = async ({ url, sheetPath, apiKey }: RunningRowport, forSeconds: number) =>
        (await additions(url + sheetPath, apiKey, forSeconds)).perSecond
      for (const server of [logged, unlogged]) await rate(server, 1)
      const rates: { logged: number; unlogged: number }[] = []
      for (let round = 0; round < rounds; round++) {
        rates.push({ logged: await rate(logged, sliceSeconds), unlogged: await rate(unlogged, sliceSeconds) })
      }
      const ratio = median(rates.map((both) => both.logged / both.unlogged))
      const said =
        `${ratio.toFixed(2)} of those without a log\n` +
        `  each round    ${rates.map((both) => `${both.logged.toFixed(0)}/${both.unlogged.toFixed(0)}`).join(' ')} rows a second`
      return { said, floored: [atLeast('of those without a log', ratio, leastOfUnlogged)] }
    }),
}

async function turnLogOff({ filePath }: RunningRowport): Promise<void> {
  const env = { ...process.env, ROWPORT_DATA: dirname(filePath), ROWPORT_LOG_LEVEL: 'warn' }
  const { accountSlug, sheetSlug } = listAddress
  await promisify(execFile)(
    process.execPath,
    ['src/cli.ts', 'sheet', 'set', `${accountSlug}/${sheetSlug}`, '--history-days', '0'],
    { env },
  )
}

/** Both on one thread: what a look costs that finds changes, beside what it costs anyway. */
export const comparedRows: FigureRow = {
  kind: 'figure',
  name: `change log: comparing 100,000 × 10 with ${changedRows} changed rows`,
  async measure() {
    const csv = hundredThousandRows()
    const [before, after] = [csv, withChangedRows(csv)].map((text) => Buffer.from(text))
    if (!before || !after) throw new Error('There is nothing to compare')
    const known = buildSnapshot(decodeCsv(before))
    const ratios: number[] = []
    const timesMs: { parsingMs: number; comparingMs: number }[] = []
    for (let round = 0; round < rounds; round++) {
      const begunMs = performance.now()
      const next = buildSnapshot(decodeCsv(after))
      const parsingMs = performance.now() - begunMs
      const { chunks } = compareOf(known, next)
      const comparingMs = performance.now() - begunMs - parsingMs
      const found = chunks.reduce((sum, { count }) => sum + count, 0)
      if (found !== changedRows) throw new Error(`${found} changes were found`)
      timesMs.push({ parsingMs, comparingMs })
      ratios.push(comparingMs / parsingMs)
    }
    const ratio = median(ratios)
    const said =
      `${ratio.toFixed(2)} of parsing\n` +
      `  each round    ${timesMs.map((both) => `${both.comparingMs.toFixed(0)}/${both.parsingMs.toFixed(0)}`).join(' ')} ms`
    return { said, floored: [atMost('times parsing them', ratio, 1)] }
  },
}

function compareOf(known: Snapshot, next: Snapshot) {
  const since: Uint8Array<ArrayBuffer>[] = []
  const how = { keyColumn: null, unplaced: null, mustReset: false, wantsState: false }
  return compare({ known, since, next, ...how })
}

function withChangedRows(csv: string): string {
  const lines = csv.split('\n')
  const step = Math.floor((lines.length - 2) / changedRows)
  for (let n = 0; n < changedRows; n++) {
    const at = 1 + n * step
    lines[at] = `${lines[at]?.replace(/Category \d/, 'Category changed')}`
  }
  return lines.join('\n')
}
