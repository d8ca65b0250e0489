import assert from 'node:assert/strict'
import fsPromises, { mkdir, mkdtemp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Decoding } from '../sheets/decoding.ts'
import { Problem } from './problem.ts'
import { createUploads, type UploadedFile } from './uploads.ts'

const mebibyte = 1024 * 1024
const noDecoding: Decoding = {
  decode: () => assert.fail('A CSV file has no tabs to decode'),
  close: async () => {},
}

async function startUploads(t: TestContext, heldBytes = 0) {
  const folder = await mkdtemp(join(tmpdir(), 'rowport-uploads-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const uploads = createUploads(folder, noDecoding)
  const own = join(folder, 'acc')
  await mkdir(own)
  if (heldBytes > 0) {
    await writeFile(join(own, 'held.csv'), '')
    // A hole: it takes no place on the disk.
    await truncate(join(own, 'held.csv'), heldBytes)
  }
  const save = (name: string, bytes: Readable) => uploads.save('acc', name, bytes)
  /** An upload whose first bytes are on the disk, and whose end is the test's to send. */
  const begin = async (name: string, first: string | Buffer = 'a\n') => {
    const drafts = async () => (await readdir(own)).filter((one) => one.endsWith('.part')).length
    const before = await drafts()
    const body = new PassThrough()
    body.write(first)
    const saved = save(name, body)
    while ((await drafts()) === before) await sleep(2)
    return { body, saved }
  }
  return { uploads, own, save, begin }
}

const text = (words: string) => Readable.from([Buffer.from(words)])
const chunks = (count: number) => Readable.from(Array.from({ length: count }, () => Buffer.alloc(mebibyte)))

function kept(saved: UploadedFile | Problem): string {
  assert.ok(!(saved instanceof Problem), saved instanceof Problem ? saved.message : '')
  return saved.name
}

function refused(saved: UploadedFile | Problem): Problem {
  assert.ok(saved instanceof Problem, 'it was kept')
  return saved
}

test('a slow upload does not replace a file of the same name that came meanwhile', async (t) => {
  const { own, save, begin } = await startUploads(t)
  const slow = await begin('stock.csv')
  assert.equal(kept(await save('stock.csv', text('a\nquick\n'))), 'stock.csv')
  slow.body.end('slow\n')
  assert.equal(kept(await slow.saved), 'stock-2.csv')
  assert.equal(await readFile(join(own, 'stock.csv'), 'utf8'), 'a\nquick\n')
  assert.equal(await readFile(join(own, 'stock-2.csv'), 'utf8'), 'a\nslow\n')
  assert.deepEqual((await readdir(own)).sort(), ['stock-2.csv', 'stock.csv'], 'no draft is left')
})

test('uploads of one name that end together each get a name of their own', async (t) => {
  const { own, save } = await startUploads(t)
  const saved = await Promise.all(['1', '2', '3', '4'].map((n) => save('stock.csv', text(n))))
  assert.deepEqual(saved.map(kept).sort(), ['stock-2.csv', 'stock-3.csv', 'stock-4.csv', 'stock.csv'])
  const texts = await Promise.all(saved.map((one) => readFile(join(own, kept(one)), 'utf8')))
  assert.deepEqual(texts, ['1', '2', '3', '4'])
})

test('a disk without links keeps files just the same, and replaces none', async (t) => {
  const { own, save } = await startUploads(t)
  t.mock.method(fsPromises, 'link', async () => {
    throw Object.assign(new Error('operation not permitted'), { code: 'EPERM' })
  })
  syncBuiltinESMExports()
  t.after(() => {
    t.mock.restoreAll()
    syncBuiltinESMExports()
  })
  assert.equal(kept(await save('stock.csv', text('1'))), 'stock.csv')
  assert.equal(kept(await save('stock.csv', text('2'))), 'stock-2.csv')
  assert.equal(await readFile(join(own, 'stock.csv'), 'utf8'), '1')
  assert.equal(await readFile(join(own, 'stock-2.csv'), 'utf8'), '2')
})

test('an account’s files keep to their limit when they come at the same time', async (t) => {
  const { uploads, own, save } = await startUploads(t, 490 * mebibyte)
  const saved = await Promise.all(['a.csv', 'b.csv', 'c.csv'].map((name) => save(name, chunks(6))))
  const problems = saved.filter((one) => one instanceof Problem)
  assert.equal(problems.length, 2, 'there is room for one')
  assert.match(problems[0]?.message ?? '', /500 MB together/)
  const files = await uploads.list('acc')
  assert.equal(
    files.reduce((sum, { bytes }) => sum + bytes, 0),
    496 * mebibyte,
  )
  assert.equal((await readdir(own)).length, 2)
  kept(await save('d.csv', chunks(4)))
  assert.match(refused(await save('e.csv', text('a'))).message, /500 MB together/)
})

test('what came to its end during an upload counts against it', async (t) => {
  const { save, begin } = await startUploads(t, 498 * mebibyte)
  const slow = await begin('slow.csv', Buffer.alloc(10))
  kept(await save('quick.csv', chunks(1)))
  slow.body.end(Buffer.alloc(mebibyte))
  assert.match(refused(await slow.saved).message, /500 MB together/)
})

test('four uploads of an account run at a time; others wait for none of them', async (t) => {
  const { uploads, save, begin } = await startUploads(t)
  const running = []
  for (let n = 0; n < 4; n++) running.push(await begin(`${n}.csv`))
  const { message, facts } = refused(await save('fifth.csv', text('a')))
  assert.match(message, /4 uploads/)
  assert.equal(facts.kind, 'too_often')
  assert.ok(facts.retryAfterSeconds)
  kept(await uploads.save('other', 'x.csv', text('a')))
  running[0]?.body.destroy(new Error('gone away'))
  await assert.rejects(running[0]?.saved ?? Promise.resolve(), /gone away/)
  assert.equal(kept(await save('fifth.csv', text('a'))), 'fifth.csv')
  for (const { body, saved } of running.slice(1)) {
    body.end()
    kept(await saved)
  }
})

test('an upload whose account is deleted meanwhile is told so, and leaves nothing', async (t) => {
  const { uploads, own, begin } = await startUploads(t)
  const ending = await begin('ending.csv')
  const going = await begin('going.csv')
  await uploads.removeAll('acc')
  ending.body.end()
  going.body.write('1\n')
  for (const { saved } of [ending, going]) {
    const { message, facts } = refused(await saved)
    assert.equal(facts.kind, 'not_found')
    assert.match(message, /account/)
  }
  await assert.rejects(readdir(own), { code: 'ENOENT' })
})

test('a folder that somebody else removed is told in the same way', async (t) => {
  const { own, begin } = await startUploads(t)
  const { body, saved } = await begin('a.csv')
  await rm(own, { recursive: true })
  body.end()
  assert.equal(refused(await saved).facts.kind, 'not_found')
})
