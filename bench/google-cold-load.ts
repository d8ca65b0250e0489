import { type GoogleProcess, startGoogleProcess } from '../test/google/google-process.ts'
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
  oursMs: number
  plainMs: number
}

function inWords({ ratio, ratios, oursMs, plainMs }: ColdLoad): string {
  return (
    `ratio ${ratio.toFixed(2)} of fetch + JSON.parse (each round ${ratios.map((each) => each.toFixed(2)).join(' ')}), ` +
    `${oursMs.toFixed(0)} ms against ${plainMs.toFixed(0)} ms`
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
    const oursMs: number[] = []
    const plainMs: number[] = []
    for (const slug of slugs.slice(1)) {
      plainMs.push(await timed(plain))
      oursMs.push(await timed(() => load(slug)))
    }
    const ratios = oursMs.map((ms, at) => ms / (plainMs[at] ?? Number.NaN))
    return { ratio: median(ratios), ratios, oursMs: median(oursMs), plainMs: median(plainMs) }
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

async function timed(work: () => Promise<void>): Promise<number> {
  const begunMs = performance.now()
  await work()
  return performance.now() - begunMs
}
