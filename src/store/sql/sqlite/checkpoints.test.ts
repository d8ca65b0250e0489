import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { systemClock } from '../../../clock.ts'
import {
  type CopyingThread,
  createCheckpoints,
  createCopyingThread,
  mostIdleLogBytes,
} from './checkpoints.ts'
import { openSqlite } from './sqlite-database.ts'

const megabyte = 1024 * 1024
const limits = { copiedFromPages: 10, finishedFromPages: 40, mostPages: 120 }

function start(t: TestContext, threadOf: (path: string) => CopyingThread = createCopyingThread) {
  const folder = mkdtempSync(join(tmpdir(), 'rowport-store-'))
  const path = join(folder, 'store.db')
  const writer = new DatabaseSync(path)
  writer.exec('pragma journal_mode = wal; pragma wal_autocheckpoint = 0; pragma synchronous = full')
  writer.exec('create table note (text text)')
  const inserted = writer.prepare('insert into note values (?)')
  let last: Promise<unknown> = Promise.resolve()
  const alone = <T>(work: () => Promise<T>): Promise<T> => {
    const done = last.then(work)
    last = done.catch(() => {})
    return done
  }
  const checkpoints = createCheckpoints({ writer, alone, thread: threadOf(path), limits })
  t.after(async () => {
    await checkpoints.close()
    if (writer.isOpen) writer.close()
    rmSync(folder, { recursive: true })
  })
  const write = (pages = 1) =>
    alone(async () => {
      for (let n = 0; n < pages; n++) inserted.run('x'.repeat(4_000))
      checkpoints.look()
      // What comes from other threads is heard between two writes, as in a server.
      await new Promise(setImmediate)
    })
  const measured = writer.prepare('pragma wal_checkpoint(noop)')
  const pages = () => {
    const { log, checkpointed } = measured.get() ?? {}
    return { log: Number(log), waiting: Number(log) - Number(checkpointed) }
  }
  return { path, writer, checkpoints, write, pages, alone }
}

test('what was committed is copied by a thread, however long others go on writing, and the log begins anew', async (t) => {
  const { write, pages, checkpoints } = start(t)
  let longest = 0
  let [before, timesBegun] = [0, 0]
  for (let n = 0; n < 1_500; n++) {
    await write()
    const { log } = pages()
    longest = Math.max(longest, log)
    if (log < before) timesBegun++
    before = log
  }
  t.diagnostic(`${longest} pages at most, begun anew ${timesBegun} times`)
  assert.ok(timesBegun > 2, `begun anew ${timesBegun} times`)
  assert.ok(longest < limits.mostPages + 20, `${longest} pages`)
  await checkpoints.close()
})

test('nobody writes on before a thread that is slow has copied', async (t) => {
  let copied = 0
  const { write, pages } = start(t, (path) => {
    const thread = createCopyingThread(path)
    return {
      ...thread,
      async copy() {
        await sleep(200)
        copied++
        return thread.copy()
      },
    }
  })
  for (let n = 0; n < 400; n++) {
    await write()
    // Whoever waits to write when it is too long comes before those who wait.
    assert.ok(pages().log < limits.mostPages + 20, `${pages().log} pages`)
  }
  assert.ok(copied > 1)
})

test('where the thread does not work, pages are copied here', async (t) => {
  const { write, pages } = start(t, () => ({
    copy: () => Promise.reject(new Error('No thread')),
    close: async () => {},
  }))
  for (let n = 0; n < 300; n++) {
    await write()
    assert.ok(pages().log < limits.mostPages, `${pages().log} pages`)
  }
})

test('a thread that ends in the middle is followed by another', async (t) => {
  const { Worker } = await import('node:worker_threads')
  let started = 0
  const { write, pages, checkpoints } = start(t, (path) =>
    createCopyingThread(path, () => {
      started++
      const source = `require('node:worker_threads').parentPort.once('message', () => process.exit(3))`
      return new Worker(source, { eval: true })
    }),
  )
  for (let n = 0; n < 60; n++) await write()
  for (let n = 0; n < 100 && started < 2; n++) {
    await sleep(20)
    await write()
  }
  assert.ok(started >= 2)
  await checkpoints.close()
  assert.ok(pages().waiting < pages().log || pages().log < limits.mostPages)
})

test('while somebody reads the log grows, and when they are done it begins anew', async (t) => {
  const { path, write, pages } = start(t)
  const reading = new DatabaseSync(path, { readOnly: true })
  await write()
  reading.exec('begin')
  reading.prepare('select count(*) from note').get()
  for (let n = 0; n < 200; n++) await write()
  assert.ok(pages().log > 200, 'nothing that they may still read is written over')
  reading.exec('commit')
  reading.close()
  for (let n = 0; n < 400 && pages().log > 100; n++) {
    await write()
    await sleep(2)
  }
  assert.ok(pages().log <= 100, `${pages().log} pages`)
})

test('of a store the log is a few megabytes long whatever is written, and gone after its end', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'rowport-store-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'store.db')
  const database = openSqlite(path, systemClock)
  const logBytes = () => statSync(`${path}-wal`).size
  await sql`create table note (text text)`.execute(database.kysely)
  const write = (text: string) => sql`insert into note values (${text})`.execute(database.kysely)
  let most = 0
  for (let n = 0; n < 150; n++) {
    await write('x'.repeat(megabyte / 2))
    most = Math.max(most, logBytes())
  }
  t.diagnostic(`${(most / megabyte).toFixed(1)} MB at most`)
  assert.ok(most < 72 * megabyte, `${most} bytes`)
  await write('x'.repeat(40 * megabyte))
  for (let n = 0; n < 400 && logBytes() > mostIdleLogBytes; n++) {
    await write('x')
    await sleep(10)
  }
  assert.ok(logBytes() <= mostIdleLogBytes, 'what was long once is given back')
  await database.close()
  assert.throws(logBytes)
  const reopened = new DatabaseSync(path)
  assert.equal(reopened.prepare('pragma integrity_check').get()?.integrity_check, 'ok')
  reopened.close()
})
