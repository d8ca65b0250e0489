import { Agent, get } from 'node:http'
import { hundredThousandRows } from './list-files.ts'
import { startRowport } from './processes.ts'

export interface LargeSheet {
  /** As `timedGet`, of what lies below the sheet's address. */
  timed(below: string): Promise<number>
  /** Of the server. */
  pid: number
}

/** A server with a sheet of 100,000 × 10. */
export async function startLargeSheet(after: (end: () => Promise<void>) => void): Promise<LargeSheet> {
  const rowport = await startRowport(hundredThousandRows())
  after(rowport.stop)
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  after(async () => agent.destroy())
  const headers = { Authorization: `Bearer ${rowport.apiKey}` }
  return {
    timed: (below) => timedGet(`${rowport.url}${rowport.sheetPath}${below}`, headers, agent),
    pid: rowport.pid,
  }
}

/** From request to the last byte of the answer, in milliseconds. */
export async function timedGet(url: string, headers: Record<string, string>, agent: Agent): Promise<number> {
  const begunMs = performance.now()
  const status = await new Promise<number | undefined>((resolve, reject) => {
    get(url, { headers, agent }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode))
    }).on('error', reject)
  })
  if (status !== 200) throw new Error(`Rowport answered ${status}`)
  return performance.now() - begunMs
}
