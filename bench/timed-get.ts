import { Agent, get } from 'node:http'
import { hundredThousandRows } from './list-files.ts'
import { startRowport } from './processes.ts'

/** The same of what lies below the address of a sheet of 100,000 × 10. */
export async function timedGets(
  after: (end: () => Promise<void>) => void,
): Promise<(below: string) => Promise<number>> {
  const rowport = await startRowport(hundredThousandRows())
  after(rowport.stop)
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  after(async () => agent.destroy())
  const headers = { Authorization: `Bearer ${rowport.apiKey}` }
  return (below) => timedGet(`${rowport.url}${rowport.sheetPath}${below}`, headers, agent)
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
