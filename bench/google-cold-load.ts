import { type GoogleProcess, startGoogleProcess } from '../test/google/google-process.ts'
import { processorMs } from './process-figures.ts'
import { ask } from './processes.ts'
import { productTable } from './product-table.ts'
import { type FigureRow, Missed, median, withEnds } from './row.ts'
import { startRowportOnGoogle } from './rowport-on-google.ts'

const rounds = 5
const rowCount = 100_000
const mostRatio = 2

/** The first read of a large sheet, beside what anyone must do who wants its rows: fetch the values and parse them. */
export const googleColdLoad: FigureRow = {
  kind: 'figure',
  name: `cold load of 100,000 × 10 from Google: at most ${mostRatio} × fetch + JSON.parse`,
  async measure() {
    const plain = await coldLoad(productTable(rowCount))
    // Whoever only fetches and parses gets numbers for them, and does not know which numbers those are.
    const withDates = await coldLoad(productTable(rowCount).map(withTrueDate))
    const figures = `${inWords(plain)}   (at most ${mostRatio})\n  with dates   ${inWords(withDates)}   (at most ${mostRatio})`
    if (Math.max(plain.ratio, withDates.ratio) > mostRatio) throw new Missed(figures)
    return figures
  },
}

interface ColdLoad {
  ratio: number
  ratios: number[]
  ours: Timed
  plain: Timed
}

interface Timed {
  ms: number
  /** Processor time until the answer, of all threads. */
  cpuMs: number
}

function inWords({ ratio, ratios, ours, plain }: ColdLoad): string {
  return (
    `ratio ${ratio.toFixed(2)} of fetch + JSON.parse (each round ${ratios.map((each) => each.toFixed(2)).join(' ')}), ` +
    `${ours.ms.toFixed(0)} ms against ${plain.ms.toFixed(0)} ms, ` +
    `processor ${ours.cpuMs.toFixed(0)} ms against ${plain.cpuMs.toFixed(0)} ms (${(ours.cpuMs / plain.cpuMs).toFixed(2)})`
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
    const cpuOfServer = () => processorMs(rowport.pid)
    const cpuHere = () => process.cpuUsage().user / 1_000 + process.cpuUsage().system / 1_000
    const ours: Timed[] = []
    const others: Timed[] = []
    for (const slug of slugs.slice(1)) {
      // Indexes and the log are made of the rows after they are shown: neither the next load nor its neighbour is to pay for that.
      await untilIdle(rowport.pid)
      others.push(await timed(plain, cpuHere))
      ours.push(await timed(() => load(slug), cpuOfServer))
    }
    const ratios = ours.map(({ ms }, at) => ms / (others[at]?.ms ?? Number.NaN))
    const middle = (of: readonly Timed[]) => ({
      ms: median(of.map(({ ms }) => ms)),
      cpuMs: median(of.map(({ cpuMs }) => cpuMs)),
    })
    return { ratio: median(ratios), ratios, ours: middle(ours), plain: middle(others) }
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

async function timed(work: () => Promise<void>, cpuMs: () => number): Promise<Timed> {
  const [begunMs, cpuBefore] = [performance.now(), cpuMs()]
  await work()
  return { ms: performance.now() - begunMs, cpuMs: cpuMs() - cpuBefore }
}

const idleForMs = 300
const idleWithinMs = 30_000
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
