import { constants } from 'node:fs'
import { copyFile, mkdtemp, open, rename, rm, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { freePort } from '../test/servers/free-port.ts'
import { additions } from './additions.ts'
import { processorMs } from './process-figures.ts'
import { endProcess, startProcess, startRowport } from './processes.ts'
import { median, withEnds } from './row.ts'
import { appendAndSync, tenThousandRows } from './writing-files.ts'

/*
 * node bench/file-additions-floor.ts [rounds]: the least that acknowledged additions to a CSV file can cost that is replaced as a whole,
 * beside the reference of `npm run bench` (append and fsync in a loop) and beside Rowport, in one run and with the same clients. The
 * least is a bare `node:http` server with nothing of an API: it knows no keys, limits, columns or log, looks at nothing before
 * it writes, and does what our promises take for each batch:
 *   copy and append, fsync of file and folder, commit of the journal, rename, fsync of the folder, commit that it is done, answers
 */
const rounds = Number(process.argv[2] ?? 3)
const warmUpSeconds = 2
const sliceSeconds = 3

const port = Number(process.env.LEAST_PORT ?? 0)
if (port > 0) serveLeast(port, process.env.LEAST_FOLDER ?? '')
else await measure()

interface Waiting {
  line: string
  response: ServerResponse
}

function serveLeast(port: number, folder: string): void {
  const path = join(folder, 'list.csv')
  const journal = new DatabaseSync(join(folder, 'journal.db'))
  journal.exec('pragma journal_mode = wal; pragma synchronous = full')
  journal.exec('create table operation (id integer primary key, fence text, rows text, is_done integer)')
  const begin = journal.prepare('insert into operation (fence, rows, is_done) values (?, ?, 0)')
  const finish = journal.prepare('update operation set is_done = 1 where id = ?')
  let waiting: Waiting[] = []
  let isWriting = false
  const server = createServer(async (request, response) => {
    if (request.method !== 'POST') return void response.end()
    const { name, price } = JSON.parse(await bodyOf(request))
    waiting.push({ line: `${name},${price},\n`, response })
    if (!isWriting) void writeOn()
  })
  server.listen(port, '127.0.0.1')

  async function writeOn(): Promise<void> {
    isWriting = true
    for (let nth = 0; waiting.length > 0; nth++) {
      // As many turns as Rowport's lane waits for others.
      for (let turns = 0; turns < 4; turns++) await new Promise((resolve) => setImmediate(resolve))
      const batch = waiting
      waiting = []
      const text = batch.map(({ line }) => line).join('')
      const temporary = `${path}.${nth % 2}.tmp`
      await copyFile(path, temporary, constants.COPYFILE_EXCL)
      {
        await using file = await open(temporary, 'a')
        await file.appendFile(text)
        await Promise.all([file.sync(), syncFolder(path)])
      }
      const { lastInsertRowid } = begin.run(temporary, text)
      await rename(temporary, path)
      await syncFolder(path)
      finish.run(lastInsertRowid)
      for (const { line, response } of batch)
        response.writeHead(201, { 'Content-Type': 'application/json' }).end(JSON.stringify({ data: line }))
    }
    isWriting = false
  }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of request) text += chunk
  return text
}

async function syncFolder(path: string): Promise<void> {
  await using folder = await open(dirname(path), 'r')
  await folder.sync()
}

async function measure(): Promise<void> {
  await withEnds(async (after) => {
    const folder = await mkdtemp(join(tmpdir(), 'rowport-bench-least-'))
    after(() => rm(folder, { recursive: true }))
    await writeFile(join(folder, 'list.csv'), tenThousandRows())
    const leastPort = await freePort()
    const leastUrl = `http://127.0.0.1:${leastPort}/`
    const env = { ...process.env, LEAST_PORT: String(leastPort), LEAST_FOLDER: folder }
    const least = await startProcess(['bench/file-additions-floor.ts'], env, leastUrl)
    after(() => endProcess(least))
    const rowport = await startRowport(tenThousandRows())
    after(() => rowport.stop())
    const ways = [
      { name: 'the least', url: leastUrl, pid: least.pid ?? 0 },
      { name: 'Rowport', url: rowport.url + rowport.sheetPath, pid: rowport.pid },
    ].map((way) => ({ ...way, perSecond: [] as number[], cpuMs: [] as number[], ratios: [] as number[] }))
    const plain: number[] = []
    for (const { url } of ways) await additions(url, rowport.apiKey, warmUpSeconds)
    for (let round = 0; round < rounds; round++) {
      const reference = await appendAndSync(join(folder, `plain-${round}.csv`), sliceSeconds * 1_000)
      plain.push(reference)
      for (const { url, pid, perSecond, cpuMs, ratios } of ways) {
        const before = processorMs(pid)
        const slice = await additions(url, rowport.apiKey, sliceSeconds)
        cpuMs.push((processorMs(pid) - before) / slice.rows)
        perSecond.push(slice.perSecond)
        ratios.push(slice.perSecond / reference)
      }
    }
    process.stdout.write(`append and fsync in a loop  ${median(plain).toFixed(0)} a second\n`)
    for (const { name, perSecond, cpuMs, ratios } of ways) {
      const each = ratios.map((ratio) => ratio.toFixed(2)).join(' ')
      process.stdout.write(
        `${name.padEnd(26)}  ${median(ratios).toFixed(2)} (${each}), ${median(perSecond).toFixed(0)} rows a second, ` +
          `processor ${median(cpuMs).toFixed(2)} ms a row\n`,
      )
    }
  })
}
