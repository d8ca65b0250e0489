import { mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { writeXlsx } from 'hucre/xlsx'
import { type AddedRows, additions } from './additions.ts'
import { atLeast } from './floored.ts'
import { processorMs } from './process-figures.ts'
import { type ListContent, startRowport } from './processes.ts'
import { type FigureRow, median } from './row.ts'

const rows = 10_000
const rounds = 3
/** A workbook's first batch takes longer than two seconds. */
const warmUpSeconds = 6
const sliceSeconds = 3

const floor = 0.35

/**
 * Rows added to a file of 10,000 through the API, each acknowledged when it is on disk, beside the least that could be
 * called durable: one line appended and synced after the other, without journal, versions or an API.
 */
export const fileAdditions: FigureRow = {
  kind: 'figure',
  name: 'additions to a CSV file of 10,000 rows, 50 clients',
  async measure() {
    const { ratio, said } = await additionsBesideAppending(tenThousandRows())
    return { said, floored: [atLeast('of append and fsync', ratio, floor)] }
  },
}

/** The same for a workbook, whose parts are packed: there is no appending to it. */
export const workbookAdditions: FigureRow = {
  kind: 'figure',
  name: 'additions to an XLSX file of 10,000 rows, 50 clients',
  async measure() {
    const { said } = await additionsBesideAppending(await tenThousandRowsAsWorkbook())
    return { said, floored: [] }
  },
}

async function additionsBesideAppending(content: ListContent): Promise<{ ratio: number; said: string }> {
  const rowport = await startRowport(content)
  const folder = await mkdtemp(join(tmpdir(), 'rowport-bench-append-'))
  try {
    const url = rowport.url + rowport.sheetPath
    await additions(url, rowport.apiKey, warmUpSeconds)
    const ours: AddedRows[] = []
    const plain: number[] = []
    const cpuMs: number[] = []
    for (let round = 0; round < rounds; round++) {
      const before = processorMs(rowport.pid)
      const slice = await additions(url, rowport.apiKey, sliceSeconds)
      cpuMs.push((processorMs(rowport.pid) - before) / slice.rows)
      ours.push(slice)
      plain.push(await appendAndSync(join(folder, `plain-${round}.csv`), sliceSeconds * 1_000))
    }
    const ratios = ours.map(({ perSecond }, round) => perSecond / (plain[round] ?? Number.NaN))
    const ratio = median(ratios)
    const middleOf = (figure: 'p50Ms' | 'p99Ms') => median(ours.map((slice) => slice[figure])).toFixed(0)
    const perSecond = median(ours.map((slice) => slice.perSecond))
    const said =
      `${perSecond.toFixed(0)} rows a second (p50 ${middleOf('p50Ms')} ms, p99 ${middleOf('p99Ms')} ms), ` +
      `${ratio.toFixed(2)} of append and fsync in a loop (${median(plain).toFixed(0)})\n` +
      `  each round   ${ratios.map((each) => each.toFixed(2)).join(' ')}\n` +
      `  processor    ${median(cpuMs).toFixed(2)} ms a row`
    return { ratio, said }
  } finally {
    await rowport.stop()
    await rm(folder, { recursive: true })
  }
}

export async function appendAndSync(path: string, forMs: number): Promise<number> {
  await using file = await open(path, 'a')
  await file.appendFile(tenThousandRows())
  const begunMs = performance.now()
  let count = 0
  for (; performance.now() - begunMs < forMs; count++) {
    await file.appendFile(`client,${count},\n`)
    await file.sync()
  }
  return count / ((performance.now() - begunMs) / 1_000)
}

function tenThousandRowsAsWorkbook(): Promise<Uint8Array> {
  const cells = Array.from({ length: rows }, (_, n) => [`Product number ${n}`, n % 1_000, `Some words, ${n}`])
  return writeXlsx({ sheets: [{ name: 'Products', rows: [['name', 'price', 'note'], ...cells] }] })
}

export function tenThousandRows(): string {
  const lines = Array.from({ length: rows }, (_, n) => `Product number ${n},${n % 1_000},"Some words, ${n}"`)
  return `name,price,note\n${lines.join('\n')}\n`
}
