import { mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { writeXlsx } from 'hucre/xlsx'
import { createPlainClient } from '../test/writing/plain-client.ts'
import { processorMs } from './process-figures.ts'
import { type ListContent, startRowport } from './processes.ts'
import { type FigureRow, Missed, median } from './row.ts'

const clients = 50
const rows = 10_000
const rounds = 3
const warmUpMs = 1_500
const sliceMs = 3_000

const floor = 0.35

/**
 * Rows added to a file of 10,000 through the API, each acknowledged when it is on disk, beside the least that could be
 * called durable: one line appended and synced after the other, without journal, versions or an API.
 */
export const fileAdditions: FigureRow = {
  kind: 'figure',
  name: `additions to a CSV file of 10,000 rows, 50 clients, at least ${floor} of append and fsync`,
  async measure() {
    const { ratio, figures } = await additionsBesideAppending(tenThousandRows())
    if (ratio < floor) throw new Missed(figures)
    return figures
  },
}

/** The same for a workbook, whose parts are packed: there is no appending to it. */
export const workbookAdditions: FigureRow = {
  kind: 'figure',
  name: 'additions to an XLSX file of 10,000 rows, 50 clients',
  async measure() {
    const { figures } = await additionsBesideAppending(await tenThousandRowsAsWorkbook())
    return figures
  },
}

async function additionsBesideAppending(content: ListContent): Promise<{ ratio: number; figures: string }> {
  const rowport = await startRowport(content)
  const folder = await mkdtemp(join(tmpdir(), 'rowport-bench-append-'))
  try {
    const url = rowport.url + rowport.sheetPath
    await additions(url, rowport.apiKey, warmUpMs)
    const ours: Slice[] = []
    const plain: number[] = []
    const cpuMs: number[] = []
    for (let round = 0; round < rounds; round++) {
      const before = processorMs(rowport.pid)
      const slice = await additions(url, rowport.apiKey, sliceMs)
      cpuMs.push((processorMs(rowport.pid) - before) / slice.latenciesMs.length)
      ours.push(slice)
      plain.push(await appendAndSync(join(folder, `plain-${round}.csv`), sliceMs))
    }
    const ratios = ours.map(({ perSecond }, round) => perSecond / (plain[round] ?? Number.NaN))
    const ratio = median(ratios)
    const latencies = ours.flatMap((slice) => slice.latenciesMs).sort((one, other) => one - other)
    const at = (share: number) => (latencies[Math.floor(latencies.length * share)] ?? 0).toFixed(0)
    const perSecond = median(ours.map((slice) => slice.perSecond))
    const figures =
      `${perSecond.toFixed(0)} rows a second (p50 ${at(0.5)} ms, p99 ${at(0.99)} ms), ` +
      `${ratio.toFixed(2)} of append and fsync in a loop (${median(plain).toFixed(0)})\n` +
      `  each round   ${ratios.map((each) => each.toFixed(2)).join(' ')}\n` +
      `  processor    ${median(cpuMs).toFixed(2)} ms a row`
    return { ratio, figures }
  } finally {
    await rowport.stop()
    await rm(folder, { recursive: true })
  }
}

interface Slice {
  perSecond: number
  latenciesMs: number[]
}

export async function additions(url: string, apiKey: string, forMs: number): Promise<Slice> {
  const begunMs = performance.now()
  const latenciesMs: number[] = []
  await Promise.all(
    Array.from({ length: clients }, async (_, client) => {
      const { send, close } = createPlainClient(apiKey)
      for (let n = 0; performance.now() - begunMs < forMs; n++) {
        const askedMs = performance.now()
        const body = JSON.stringify({ name: `client ${client}`, price: n })
        const { status, body: answer } = await send(url, 'POST', body, null)
        if (status !== 201) throw new Error(`${status} ${answer}`)
        latenciesMs.push(performance.now() - askedMs)
      }
      close()
    }),
  )
  return { perSecond: latenciesMs.length / ((performance.now() - begunMs) / 1_000), latenciesMs }
}

async function appendAndSync(path: string, forMs: number): Promise<number> {
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
