import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readdirSync, readFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { bearer, type Rowport, startRowport } from '../harness.ts'
import { findProgram } from '../servers/find-program.ts'
import { times } from '../soak.ts'
import type { ForeignJob, Saved } from './foreign-writer.ts'

/*
 * Other programs write the file in place, and take their time over it. A write in the middle of that must neither make
 * the half the truth nor be lost, and no reader may take the half for the whole.
 */

const rowsOfJob = 2_000
const isSoak = times(0, 1) === 1

interface Way {
  title: string
  /** When the write is asked for. */
  askAfterMs: number
  start(path: string): ChildProcess
  /** What the file holds before. */
  formerRows?: number
  mayReplaceIt?: boolean
}

const exporting = (
  overMs: number,
  more: Partial<ForeignJob & { kind: 'export' }> = {},
  formerRows = 2_000,
): Way => ({
  title: `an export over ${overMs} ms${more.isReopened ? ', opened anew for each chunk' : ''}, onto ${formerRows} rows`,
  askAfterMs: overMs / 2,
  formerRows,
  start: (path) =>
    foreign(path, { kind: 'export', rows: rowsOfJob, overMs, chunks: 20, isReopened: false, ...more }),
})

const shell = (title: string, line: string, askAfterMs: number, mayReplaceIt = false): Way => ({
  title,
  mayReplaceIt,
  askAfterMs,
  start: (path) => spawn('bash', ['-c', line, 'bash', path], { stdio: ['ignore', 'pipe', 'inherit'] }),
})

const seed = `seq 0 ${rowsOfJob - 1} | sed 's/.*/job-&,x/'`
const bashLoop = shell(
  'a loop of bash',
  `{ echo begun >&2; echo id,note; for c in $(seq 0 19); do sleep 0.05; seq $((c*100)) $((c*100+99)) | sed 's/.*/job-&,x/'; done; } 2>&1 > "$1"`,
  500,
)
const appendingLoop = shell(
  'a loop of bash that appends line by line',
  `echo id,note > "$1"; echo begun; for i in $(seq 0 ${rowsOfJob - 1}); do echo "job-$i,x" >> "$1"; done`,
  20,
)
const copying = shell(
  'cp',
  `{ echo id,note; ${seed}; } > "$1.source"; echo begun; cp "$1.source" "$1"`,
  5,
  true,
)
const rsync = shell(
  'rsync --inplace',
  `{ echo id,note; ${seed}; } > "$1.source"; echo begun; rsync --inplace --whole-file --bwlimit=20 "$1.source" "$1"`,
  300,
  true,
)

const ways: Way[] = isSoak
  ? [
      ...[2_000, 500, 200, 100, 50].flatMap((overMs) => [
        exporting(overMs),
        exporting(overMs, {}, 0),
        exporting(overMs, { isReopened: true }),
        exporting(overMs, { isReopened: true }, 0),
      ]),
      exporting(5_000),
      exporting(5_000, { chunks: 3 }),
      exporting(6_000, { chunks: 6, isReopened: true }),
      exporting(8_000, { chunks: 2 }),
      bashLoop,
      appendingLoop,
      copying,
      rsync,
    ]
  : [
      exporting(500),
      exporting(2_000, { chunks: 3 }),
      exporting(200, { isReopened: true }, 0),
      bashLoop,
      copying,
    ]

describe('a file that another program is writing', { concurrency: !isSoak }, () => {
  for (const way of ways) {
    test(`a write in the middle of ${way.title}`, async (t) => {
      if (way === rsync && !findProgram(['rsync'])) return t.skip('rsync is not on this machine')
      const { rowport, sheet, ask, post } = await start(t, way.formerRows ?? rowsOfJob)
      const reads = readOn(rowport, ask, sheet.formA, way.formerRows ?? rowsOfJob)
      const job = way.start(sheet.path)
      const ended = once(job, 'exit')
      assert.ok(job.stdout)
      await once(job.stdout, 'data')
      await sleep(way.askAfterMs)
      const begunMs = performance.now()
      const answer = await post('mine')
      const tookMs = performance.now() - begunMs
      const [code] = await ended
      assert.equal(code, 0)
      await sleep(300)
      const seen = await reads.stop()

      const ids = idsIn(sheet.path)
      const left = ids.filter((id) => id.startsWith('job-')).length
      const mine = ids.filter((id) => id === 'mine').length
      process.stdout.write(
        `${way.title}: ${answer.status} after ${tookMs.toFixed(0)} ms, ${left} of ${rowsOfJob} rows of the job, ` +
          `mine ${mine} ×; reads ${JSON.stringify(seen)}\n`,
      )
      assert.equal(left, rowsOfJob, 'every row of the job')
      // A program that had not begun to write by then may well replace it all.
      if (!way.mayReplaceIt)
        assert.equal(mine, answer.status === 201 ? 1 : 0, `${answer.status} ${answer.text}`)
      assert.deepEqual([seen.half, seen.withoutHeaders], [0, 0], 'no reader saw a half')
      assert.ok(seen.whole > 0)
      assert.equal(rowport.seen.filter(({ event }) => event === 'malfunction').length, 0)
    })
  }

  test('clients write while an editor saves in place, in two halves', async (t) => {
    const saves = times(2, 24)
    const { rowport, sheet, post } = await start(t, 50)
    const editor = foreign(sheet.path, { kind: 'editor', saves, everyMs: 2_500, betweenHalvesMs: 120 })
    const said: string[] = []
    editor.stdout?.setEncoding('utf8').on('data', (text: string) => void said.push(text))
    let isOver = false
    const acknowledged: string[] = []
    const refused: string[] = []
    const clients = [0, 1].map(async (client) => {
      for (let n = 0; !isOver; n++) {
        const id = `ours-${client}-${n}`
        const { status } = await post(id)
        if (status === 201) acknowledged.push(id)
        else refused.push(id)
      }
    })
    await once(editor, 'close')
    isOver = true
    await Promise.all(clients)

    const saved = said
      .join('')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Saved)
    const ids = new Set(idsIn(sheet.path))
    const former = Array.from({ length: 50 }, (_, at) => `old-${at}`)
    const lost = {
      acknowledged: acknowledged.filter((id) => !ids.has(id)).length,
      former: former.filter((id) => !ids.has(id)).length,
      ofTheEditor: saved.filter(({ id, isInPlace }) => isInPlace && !ids.has(id)).length,
    }
    process.stdout.write(
      `${acknowledged.length} acknowledged, ${refused.length} refused, ${saved.length} saves in place ` +
        `(${saved.filter(({ isInPlace }) => !isInPlace).length} too late): lost ${JSON.stringify(lost)}\n`,
    )
    assert.equal(saved.length, saves)
    assert.deepEqual(lost, { acknowledged: 0, former: 0, ofTheEditor: 0 })
    assert.deepEqual(
      refused.filter((id) => ids.has(id)),
      [],
    )
    assert.ok(acknowledged.length > 0)
    assert.equal(rowport.seen.filter(({ event }) => event === 'malfunction').length, 0)
  })

  test('what another program saves into a file that was replaced meanwhile is put beside it, and reported', async (t) => {
    const { rowport, sheet, post } = await start(t, 2)
    const descriptor = openSync(sheet.path, 'r+')
    assert.equal((await post('mine')).status, 201)
    writeSync(descriptor, 'id,note\ntheirs,x\n', 0)
    closeSync(descriptor)
    const deadlineMs = performance.now() + 30_000
    const told = () => rowport.seen.filter(({ event }) => event === 'file_saved_too_late')
    while (told().length === 0 && performance.now() < deadlineMs) await sleep(50)
    const [copy = ''] = readdirSync(rowport.folder).filter((name) => name.includes('saved-too-late'))
    assert.match(copy, /^s\.saved-too-late-[0-9a-f]{8}\.csv$/)
    assert.match(readFileSync(join(rowport.folder, copy), 'utf8'), /^id,note\ntheirs,x\n/)
    assert.deepEqual(told(), [{ event: 'file_saved_too_late', copy: copy.slice('s.'.length) }])
    assert.ok(idsIn(sheet.path).includes('mine'))
  })

  test('a file that is written over in place, without being emptied, is never shown as a mixture', async (t) => {
    const pieces = 10
    // Its end stays as it was, which is not to be taken for a file that grows.
    const { rowport, sheet, ask } = await start(t, 10 * pieces)
    const seen = { old: 0, new: 0, mixed: 0, refused: 0 }
    const progress = { isOver: false }
    const readers = [{}, { 'Cache-Control': 'no-cache' }].map(async (headers) => {
      while (!progress.isOver) {
        rowport.clock.advanceMs(11_000)
        const { status, text } = await ask(sheet.formA, { headers })
        const ids = status === 200 ? (JSON.parse(text) as { id: string }[]).map(({ id }) => id) : []
        const news = ids.filter((id) => id.startsWith('new')).length
        if (status !== 200) seen.refused++
        else if (news === 0) seen.old++
        else if (news === pieces) seen.new++
        else seen.mixed++
        await sleep(10)
      }
    })
    // Longer than readers wait, with pauses that are shorter than the one after which it is taken for finished.
    const job = foreign(sheet.path, {
      kind: 'overwrite',
      rows: pieces,
      everyMs: 500,
      rowBytes: 'old-0,x\n'.length,
    })
    const [code] = await once(job, 'exit')
    assert.equal(code, 0)
    await sleep(500)
    progress.isOver = true
    await Promise.all(readers)
    process.stdout.write(`written over in place: ${JSON.stringify(seen)}\n`)
    assert.equal(seen.mixed, 0)
    assert.ok(seen.old > 0 && seen.new > 0)
  })

  if (isSoak)
    test('a file that a program never stops writing to can be read, and a write is refused in words', async (t) => {
      const { sheet, ask, post } = await start(t, 2)
      const log = foreign(sheet.path, { kind: 'log', everyMs: 50, rows: 1_000 })
      t.after(() => log.kill())
      assert.ok(log.stdout)
      await once(log.stdout, 'data')
      const [answer, read] = await Promise.all([
        post('mine'),
        ask(sheet.formA, { headers: { 'Cache-Control': 'no-cache' } }),
      ])
      assert.equal(read.status, 200)
      assert.match(read.text, /log-0/)
      assert.equal(answer.status, 502)
      assert.match(answer.text, /another program is writing the file right now/)
      assert.match(answer.text, /Nothing was changed/)
      assert.ok(!idsIn(sheet.path).includes('mine'))
    })
})

async function start(t: TestContext, formerRows: number) {
  const rowport = await startRowport(t)
  const former = Array.from({ length: formerRows }, (_, at) => `old-${at},x\n`).join('')
  const sheet = await rowport.connectFile('s', 's.csv', `id,note\n${former}`)
  const key = await rowport.createKey()
  const ask = async (path: string, init: RequestInit = {}) => {
    const answer = await fetch(rowport.url + path, { ...init, headers: { ...bearer(key), ...init.headers } })
    return { status: answer.status, text: await answer.text() }
  }
  const post = (id: string) => ask(sheet.formA, { method: 'POST', body: JSON.stringify({ id, note: 'x' }) })
  assert.equal((await ask(sheet.formA)).status, 200)
  // Whoever replaced a file just now has replaced it whole; this one shall have been there for longer.
  await sleep(1_050)
  return { rowport, sheet, ask, post }
}

/** Both kinds of readers, until told to stop; what each answer showed is one of these. */
function readOn(
  rowport: Rowport,
  ask: (path: string, init?: RequestInit) => Promise<{ status: number; text: string }>,
  path: string,
  formerRows: number,
) {
  const seen = { whole: 0, half: 0, withoutHeaders: 0, refused: 0 }
  let isOver = false
  const readers = [{}, { 'Cache-Control': 'no-cache' }].map(async (headers) => {
    while (!isOver) {
      // What was read is no longer fresh then.
      rowport.clock.advanceMs(11_000)
      const { status, text } = await ask(path, { headers })
      if (status === 400) seen.withoutHeaders++
      else if (status !== 200) seen.refused++
      else {
        const rows = (JSON.parse(text) as { id: string }[]).filter(({ id }) => id !== 'mine').length
        if (rows === formerRows || rows === rowsOfJob) seen.whole++
        else seen.half++
      }
      await sleep(10)
    }
  })
  return {
    async stop() {
      isOver = true
      await Promise.all(readers)
      return seen
    },
  }
}

function foreign(path: string, job: ForeignJob): ChildProcess {
  const script = join(import.meta.dirname, 'foreign-writer.ts')
  return spawn(process.execPath, [script, path, JSON.stringify(job)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
}

function idsIn(path: string): string[] {
  return readFileSync(path, 'utf8')
    .trimEnd()
    .split('\n')
    .slice(1)
    .map((line) => line.split(',')[0] ?? '')
}
