import type { ToCompare } from './handed-rows.ts'
import { stateOfRows } from './state-text.ts'
import type { RowsOfSnapshot } from './tab-rows.ts'

/** Compares a long list with its own state, in a process of its own, and prints how long it is and what that took. */
const rowCount = 150_000
const words = 'a text that every row repeats, '.repeat(12)

const columns = ['id', 'text'].map((key, index) => ({ key, index }))
const listJson = new Uint8Array(rowCount * 432)
const rowStarts = new Uint32Array(rowCount + 1)
const rowNumbers = new Uint32Array(rowCount)
let used = 1
for (let n = 0; n < rowCount; n++) {
  rowStarts[n] = used
  rowNumbers[n] = n + 2
  used += Buffer.from(listJson.buffer).write(
    `{"id":${n},"text":"${words}${(n * 7_919) % 99_991}"},`,
    used,
    'latin1',
  )
}
rowStarts[rowCount] = used
const rows: RowsOfSnapshot = { columns, listJson: listJson.subarray(0, used), rowStarts, rowNumbers }
const known = await stateOfRows(rows, false)
const input: ToCompare = {
  ...{ known, since: [], next: rows, keyColumn: null, unplaced: null },
  ...{ mustReset: false, wantsState: false },
}
const { compare } = await import('./compare-job.ts')
const before = process.memoryUsage.rss()
const { chunks } = compare(input)
const mostKb = process.resourceUsage().maxRSS
process.stdout.write(
  JSON.stringify({ listBytes: used, chunks: chunks.length, tookBytes: mostKb * 1024 - before }),
)
