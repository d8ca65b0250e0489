import { type GoogleProcess, startGoogleProcess } from '../test/google/google-process.ts'
import { atMost } from './floored.ts'
import { processorMs, waitedForProcessorMs } from './process-figures.ts'
import { ask } from './processes.ts'
import { productTable } from './product-table.ts'
import { type FigureRow, median, withEnds } from './row.ts'
import { startRowportOnGoogle } from './rowport-on-google.ts'

const rounds = 7
/** No further round is begun then: on a crowded machine each may take half a minute, for the threads that read make way for others. */
const roundsWithinMs = 90_000
const rowCount = 100_000
const mostRatio = 2

/** The first read of a large sheet, beside what anyone must do who wants its rows: fetch the values and parse them. */
export const googleColdLoad: FigureRow = {
  kind: 'figure',
  name: 'cold load of 100,000 × 10 from Google',
  async measure() {
    const plain = await coldLoad(productTable(rowCount))
    // Whoever only fetches and parses gets numbers for them, and does not know which numbers those are.
    const withDates = await coldLoad(productTable(rowCount).map(withTrueDate))
    const said = `${inWords(plain)}\n  with dates   ${inWords(withDates)}`
    return {
      said,
      floored: [
        atMost('times fetch + JSON.parse', plain.ratio, mostRatio),
        atMost('with dates, times fetch + JSON.parse', withDates.ratio, mostRatio),
      ],
    }
  },
}

interface ColdLoad {
  ratio: number
  ratios: number[]
  cpuRatio: number
  ours: Timed
  plain: Timed
}

interface Timed {
  ms: number
  /** Processor time until the answer, of all threads; the indexes, which nobody waits for, have begun by then. */
  cpuMs: number
  /** All threads together, on a machine that others use as well. */
  waitedMs: number
}

function inWords({ ratio, ratios, cpuRatio, ours, plain }: ColdLoad): string {
  const inMs = (of: 'ms' | 'cpuMs' | 'waitedMs') =>
    `${ours[of].toFixed(0)} ms against ${plain[of].toFixed(0)} ms`
  return (
    `ratio ${ratio.toFixed(2)} of fetch + JSON.parse (each round ${ratios.map((each) => each.toFixed(2)).join(' ')}), ${inMs('ms')}, ` +
    `processor ${inMs('cpuMs')} (${cpuRatio.toFixed(2)}), waited for one ${inMs('waitedMs')}`
  )
}

const created = 5

/** As a person types it, so that Google makes a date of it. */
function withTrueDate(row: readonly (string | number)[]): (string | number)[] {
  return row.with(created, String(row[created]).replace('T', ' '))
}

function coldLoad(values: (string | number)[][]): Promise<ColdLoad> {
  return withEnds(async (after) => {
    const google = await startGoogleProcess({ after })
    // A sheet is cold once; so there is one for each round, all on the same tab.
    const slugs = Array.from({ length: rounds + 1 }, (_, n) => `s${n}`)
    const rowport = await startRowportOnGoogle(google, after, { values, slugs, cores: 'all' })
    const headers = { Authorization: `Bearer ${rowport.apiKey}` }
    const load = async (slug: string) => {
      const { status, body } = await ask(`${rowport.url}/api/sheets/acme/${slug}?limit=1`, headers)
      if (status !== 200) throw new Error(`Rowport answered ${status}: ${body}`)
    }
    const plain = await plainReader(google, rowport.spreadsheetId)

    // The emulator keeps its answers, so it is only slow the first time.
    await plain()
    await load('s0')
    const pid = rowport.pid
    const ours: Timed[] = []
    const others: Timed[] = []
    const begunMs = performance.now()
    for (const [round, slug] of slugs.slice(1).entries()) {
      if (round > 0 && performance.now() - begunMs > roundsWithinMs) break
      // Indexes and the log are made of the rows after they are shown: neither the next load nor its neighbour is to pay for that.
      await untilIdle(pid)
      const isOursFirst = round % 2 === 1
      if (isOursFirst) ours.push(await timed(() => load(slug), pid))
      if (isOursFirst) await untilIdle(pid)
      others.push(await timed(plain, process.pid))
      if (!isOursFirst) ours.push(await timed(() => load(slug), pid))
    }
    const ratiosOf = (of: 'ms' | 'cpuMs') =>
      ours.map((each, at) => each[of] / (others[at]?.[of] ?? Number.NaN))
    const middle = (list: readonly Timed[]) => ({
      ms: median(list.map(({ ms }) => ms)),
      cpuMs: median(list.map(({ cpuMs }) => cpuMs)),
      waitedMs: median(list.map(({ waitedMs }) => waitedMs)),
    })
    const ratios = ratiosOf('ms')
    const cpuRatio = median(ratiosOf('cpuMs'))
    return { ratio: median(ratios), ratios, cpuRatio, ours: middle(ours), plain: middle(others) }
  })
}

async function plainReader(google: GoogleProcess, spreadsheetId: string): Promise<() => Promise<void>> {
  const { access_token } = await google.control('POST', 'tokens', { user: 'ada@example.com' })
  const url = `${google.url}/v4/spreadsheets/${spreadsheetId}/values:batchGetByDataFilter?prettyPrint=false`
  const wish = {
    dataFilters: [{ gridRange: { sheetId: 0 } }],
    majorDimension: 'ROWS',
    valueRenderOption: 'UNFORMATTED_VALUE',
    dateTimeRenderOption: 'SERIAL_NUMBER',
  }
  return async () => {
    const answer = await fetch(url, {
      method: 'POST',
      headers: { Authorization: `Bearer ${access_token}` },
      body: JSON.stringify(wish),
    })
    const { valueRanges } = JSON.parse(await answer.text())
    const { length } = valueRanges[0].valueRange.values
    if (length !== rowCount + 1) throw new Error(`Google sent ${length} rows`)
  }
}

async function timed(work: () => Promise<void>, pid: number): Promise<Timed> {
  const [cpuBefore, waitedBefore, begunMs] = [processorMs(pid), waitedForProcessorMs(pid), performance.now()]
  await work()
  const ms = performance.now() - begunMs
  return { ms, cpuMs: processorMs(pid) - cpuBefore, waitedMs: waitedForProcessorMs(pid) - waitedBefore }
}

const idleForMs = 300
const idleWithinMs = 5_000
/** What a server takes that has nothing to do. */
const idleCpuMs = 20

async function untilIdle(pid: number): Promise<void> {
  const begunMs = performance.now()
  while (performance.now() - begunMs < idleWithinMs) {
    const before = processorMs(pid)
    await new Promise((resolve) => setTimeout(resolve, idleForMs))
    if (processorMs(pid) - before <= idleCpuMs) return
  }
}
