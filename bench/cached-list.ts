import { hundredThousandRows, twentyKilobytes } from './list-files.ts'
import { ask, type RawAnswer, startBare, startRowport } from './processes.ts'
import type { LoadRow } from './row.ts'

/** Lists read from memory, through the whole pipeline: key hashed and looked up in SQLite for every request. */
export const cachedLists: readonly LoadRow[] = [
  cached('cached 20 KB list', 0.75, twentyKilobytes),
  cached('cached 20 KB list, zstd', 0, twentyKilobytes, { headers: { 'Accept-Encoding': 'zstd' } }),
  cached('cached 20 KB list, not modified', 0.72, twentyKilobytes, { isConditional: true }),
  cached('cached 20 MB list, whole', 0.5, hundredThousandRows, { connections: 4 }),
]

function cached(
  name: string,
  floor: number,
  csv: () => string,
  wish: { headers?: Record<string, string>; connections?: number; isConditional?: boolean } = {},
): LoadRow {
  const { connections = 64, isConditional = false } = wish
  return {
    kind: 'load',
    name,
    reference: 'bare node:http, same bytes',
    floor,
    async start() {
      const rowport = await startRowport(csv())
      const url = rowport.url + rowport.sheetPath
      const headers: Record<string, string> = { Authorization: `Bearer ${rowport.apiKey}`, ...wish.headers }
      const first = await ask(url, headers)
      if (first.status !== 200) throw new Error(`Rowport answered ${first.status}`)
      if (isConditional) headers['If-None-Match'] = etagIn(first)
      const bare = await startBare(await ask(url, headers))
      return {
        subject: { url, headers, connections, pid: rowport.pid },
        reference: { url: bare.url + rowport.sheetPath, headers, connections, pid: bare.pid },
        async stop() {
          await bare.stop()
          await rowport.stop()
        },
      }
    },
  }
}

function etagIn({ headers }: RawAnswer): string {
  return headers[headers.findIndex((text) => text.toLowerCase() === 'etag') + 1] ?? ''
}
