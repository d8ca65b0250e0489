import { startBare, startRowport } from './processes.ts'
import type { LoadRow } from './row.ts'

/**
 * A list of 20 KB read from memory, through the whole pipeline: key hashed and looked up in SQLite for every request.
 */
export const cachedList: LoadRow = {
  kind: 'load',
  name: 'cached 20 KB list',
  reference: 'bare node:http, same bytes',
  floor: 0.6,
  async start() {
    const rowport = await startRowport(twentyKilobytes())
    const headers = { Authorization: `Bearer ${rowport.apiKey}` }
    const url = rowport.url + rowport.sheetPath
    const answer = await fetch(url, { headers })
    if (answer.status !== 200) throw new Error(`Rowport answered ${answer.status}`)
    const bare = await startBare(answer)
    return {
      subject: { url, headers, pid: rowport.pid },
      reference: { url: bare.url + rowport.sheetPath, headers, pid: bare.pid },
      async stop() {
        await bare.stop()
        await rowport.stop()
      },
    }
  },
}

function twentyKilobytes(): string {
  const rows = Array.from(
    { length: 140 },
    (_, n) =>
      `Product number ${n},Category ${n % 7},${((n * 37) % 1_000) / 4},${n % 3 ? 'TRUE' : 'FALSE'},"Some words, ${n}"`,
  )
  return `name,category,price,in_stock,a note about the product\n${rows.join('\n')}\n`
}
