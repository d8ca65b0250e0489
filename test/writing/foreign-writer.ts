// A program that is not ours and writes a CSV file in place, as its own process:
// `node foreign-writer.ts <path> <JSON of ForeignJob>`.
import {
  appendFileSync,
  closeSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readFileSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

export type ForeignJob =
  /** Truncates the file and writes rows for so long, through one descriptor or opening it for each chunk. */
  | { kind: 'export'; rows: number; overMs: number; chunks: number; isReopened: boolean }
  /** Again and again adds a row of its own and saves all in place, in two halves. */
  | { kind: 'editor'; saves: number; everyMs: number; betweenHalvesMs: number }
  /** Holds one descriptor and writes over the first letters of each row in turn, as many as there were. */
  | { kind: 'overwrite'; rows: number; everyMs: number; rowBytes: number }
  /** Holds one descriptor and appends a row each time. */
  | { kind: 'log'; everyMs: number; rows: number }

/** What the editor says of each save: its row, and whether the file was still the one that it had opened. */
export interface Saved {
  id: string
  isInPlace: boolean
}

const [path = '', job = '{}'] = process.argv.slice(2)
if (process.argv[1] === import.meta.filename) await run(JSON.parse(job) as ForeignJob)

async function run(job: ForeignJob): Promise<void> {
  if (job.kind === 'export') await exportRows(job)
  else if (job.kind === 'overwrite') await overwriteRows(job)
  else if (job.kind === 'editor') await editAgainAndAgain(job)
  else await appendToLog(job)
}

async function overwriteRows({ rows, everyMs, rowBytes }: ForeignJob & { kind: 'overwrite' }): Promise<void> {
  const descriptor = openSync(path, 'r+')
  process.stdout.write('begun\n')
  for (let row = 0; row < rows; row++) {
    await sleep(everyMs)
    writeSync(descriptor, 'new', 'id,note\n'.length + row * rowBytes)
  }
  closeSync(descriptor)
}

async function exportRows({
  rows,
  overMs,
  chunks,
  isReopened,
}: ForeignJob & { kind: 'export' }): Promise<void> {
  const descriptor = isReopened ? null : openSync(path, 'w')
  if (isReopened) writeFileSync(path, '')
  const write = (text: string) => {
    if (descriptor === null) appendFileSync(path, text)
    else writeSync(descriptor, text)
  }
  process.stdout.write('begun\n')
  write('id,note\n')
  for (let chunk = 0; chunk < chunks; chunk++) {
    await sleep(overMs / chunks)
    const [first, end] = [chunk, chunk + 1].map((at) => Math.floor((at * rows) / chunks)) as [number, number]
    const lines = Array.from({ length: end - first }, (_, at) => `job-${first + at},x\n`).join('')
    // A program's buffer ends where it ends, in the middle of a row.
    const cut = chunk < chunks - 1 ? Math.floor(lines.length / 2) + 3 : lines.length
    write(lines.slice(0, cut))
    await sleep(1)
    write(lines.slice(cut))
  }
  if (descriptor !== null) closeSync(descriptor)
}

async function editAgainAndAgain(job: ForeignJob & { kind: 'editor' }): Promise<void> {
  for (let n = 0; n < job.saves; n++) {
    await sleep(job.everyMs)
    const id = `theirs-${n}`
    const descriptor = openSync(path, 'r+')
    // One descriptor for both: whoever replaces the file after this is not overwritten with an old copy.
    const text = `${readFileSync(descriptor, 'utf8')}${id},x\n`
    ftruncateSync(descriptor, 0)
    const half = Math.floor(text.length / 2)
    writeSync(descriptor, text.slice(0, half), 0)
    await sleep(job.betweenHalvesMs)
    writeSync(descriptor, text.slice(half), Buffer.byteLength(text.slice(0, half)))
    const isInPlace = fstatSync(descriptor).ino === statSync(path).ino
    closeSync(descriptor)
    const saved: Saved = { id, isInPlace }
    process.stdout.write(`${JSON.stringify(saved)}\n`)
  }
}

async function appendToLog({ everyMs, rows }: ForeignJob & { kind: 'log' }): Promise<void> {
  const descriptor = openSync(path, 'a')
  process.stdout.write('begun\n')
  for (let n = 0; n < rows; n++) {
    writeSync(descriptor, `log-${n},x\n`)
    await sleep(everyMs)
  }
  closeSync(descriptor)
}
