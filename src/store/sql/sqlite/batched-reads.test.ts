import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { createBatchedReads } from './batched-reads.ts'

function start(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'rowport-store-'))
  const path = join(folder, 'store.db')
  const writer = new DatabaseSync(path)
  writer.exec('pragma journal_mode = wal; create table note (name text primary key, text text)')
  const other = new DatabaseSync(path)
  const reader = new DatabaseSync(path, { readOnly: true })
  t.after(() => {
    for (const connection of [writer, other, reader]) connection.close()
    rmSync(folder, { recursive: true })
  })
  const read = createBatchedReads(reader)('select text from note where name = ?', (row) => row?.[0] ?? null)
  return { writer, other, read: (name: string) => read([name]) }
}

test('what is committed by any connection is read by whoever asks afterwards, alone or together', async (t) => {
  const { writer, other, read } = start(t)
  for (const [n, connection] of [writer, other, writer, writer, other].entries()) {
    connection.exec(`insert or replace into note values ('a', 'text ${n}')`)
    assert.equal(await read('a'), `text ${n}`, 'alone')
    connection.exec(`insert or replace into note values ('a', 'again ${n}')`)
    assert.deepEqual(await Promise.all(['a', 'b', 'a'].map(read)), [`again ${n}`, null, `again ${n}`])
  }
  other.exec(`delete from note`)
  assert.equal(await read('a'), null)
})

test('of a transaction that is open nothing is read, and all of it once it is over', async (t) => {
  const { writer, read } = start(t)
  writer.exec(`insert into note values ('a', 'before')`)
  assert.equal(await read('a'), 'before')
  writer.exec(`begin immediate; update note set text = 'after'`)
  assert.deepEqual(await Promise.all(['a', 'a'].map(read)), ['before', 'before'])
  writer.exec('commit')
  assert.deepEqual(await Promise.all(['a', 'a'].map(read)), ['after', 'after'])
})

test('between the question and its answer a change still counts: it was asked for in this turn', async (t) => {
  const { writer, other, read } = start(t)
  writer.exec(`insert into note values ('a', 'one')`)
  assert.equal(await read('a'), 'one')
  const asked = read('a')
  other.exec(`update note set text = 'two'`)
  assert.equal(await asked, 'two')
})

test('any number of names is looked up, however many were before', async (t) => {
  const { writer, read } = start(t)
  writer.exec(`insert into note values ('name 7', 'seven')`)
  const found = await Promise.all(Array.from({ length: 3_000 }, (_, n) => read(`name ${n % 1_500}`)))
  assert.deepEqual(
    [...found.entries()].filter(([, text]) => text).map(([n]) => n),
    [7, 1_507],
  )
})
