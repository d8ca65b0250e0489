import { writeList } from './row-json.ts'

/** Writes a long list in a process of its own, and prints how long it is and what that took. */
const columns = ['id', 'text'].map((key, index) => ({ key, index }))
const row = [1, 'a text that every row repeats, '.repeat(30)]
const rows = Array<typeof row>(200_000).fill(row)
// What the writer itself needs is there, and the runtime has grown for it.
writeList(columns, rows.slice(0, 20_000), 1e9)
const before = process.memoryUsage.rss()
const listBytes = writeList(columns, rows, 1e9)?.listJson.byteLength
const mostKb = process.resourceUsage().maxRSS
process.stdout.write(JSON.stringify({ listBytes, tookBytes: mostKb * 1024 - before }))
