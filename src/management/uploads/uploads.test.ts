import assert from 'node:assert/strict'
import fsPromises, {
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  truncate,
  utimes,
  writeFile,
} from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { TooManyAtOnce } from '../../errors.ts'
import type { Observation } from '../../reporting/observe.ts'
import { defaultShares } from '../../shares/shares.ts'
import { ProviderFailure } from '../../sheets/provider-failure.ts'
import type { Decoding } from '../../sheets/reading/decoding.ts'
import { Problem } from '../problem.ts'
import type { UploadedFile } from './upload-inspection.ts'
import { createUploadRoom } from './upload-room.ts'
import { createUploads } from './uploads.ts'

const mebibyte = 1024 * 1024
const noDecoding: Decoding = {
  decode: () => assert.fail('A CSV file has no tabs to decode'),
  inTurn: () => assert.fail('Nothing else is done at the threads'),
  close: async () => {},
}

async function startUploads(
  t: TestContext,
  heldBytes = 0,
  {
    decoding = noDecoding,
    shares = {},
  }: { decoding?: Decoding; shares?: Partial<typeof defaultShares> } = {},
) {
  const folder = await mkdtemp(join(tmpdir(), 'rowport-uploads-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const seen: Observation[] = []
  const observe = (observation: Observation) => void seen.push(observation)
  const uploads = createUploads({
    folder,
    room: createUploadRoom(folder, { ...defaultShares, ...shares }, observe),
    decoding,
    store: {
      sheetsOf: async () => [],
      sheetsOfSource: async () => [],
      relocateSheets: async () => 'relocated',
      countWrite: async () => {},
    },
    connecting: {
      preview: async () => ({
        columns: ['a'],
        columnIndexes: [0],
        columnTypes: ['string'],
        firstRowsJson: [],
        rowCount: 0,
      }),
    },
    observe,
  })
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
    const drafts = async () => (await readdir(own)).filter((one) => one.includes('.part')).length
    const before = await drafts()
    const body = new PassThrough()
    body.write(first)
    const saved = save(name, body)
    while ((await drafts()) === before) await sleep(2)
    return { body, saved }
  }
  return { uploads, own, save, begin, seen }
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
  assert.match(problems[0]?.message ?? '', /limited to 500 MB of files/)
  const files = await uploads.list('acc')
  assert.equal(
    files.reduce((sum, { bytes }) => sum + bytes, 0),
    496 * mebibyte,
  )
  assert.equal((await readdir(own)).length, 2)
  kept(await save('d.csv', chunks(4)))
  assert.match(refused(await save('e.csv', text('a'))).message, /limited to 500 MB of files/)
})

test('what came to its end during an upload counts against it', async (t) => {
  const { save, begin } = await startUploads(t, 498 * mebibyte)
  const slow = await begin('slow.csv', Buffer.alloc(10))
  kept(await save('quick.csv', chunks(1)))
  slow.body.end(Buffer.alloc(mebibyte))
  assert.match(refused(await slow.saved).message, /limited to 500 MB of files/)
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

test('files count by the blocks that they take, and by their number, also when they come and go at the same time', async (t) => {
  const shares = { upload_files: 20, upload_mb: 1 }
  const { uploads, own, save, seen } = await startUploads(t, 0, { shares })
  const big = await save('big.csv', Readable.from([Buffer.alloc(mebibyte - 10 * 4096 + 1)]))
  assert.equal(kept(big), 'big.csv')
  assert.deepEqual(await uploads.held('acc'), { files: 1, bytes: mebibyte - 9 * 4096 })
  const rounds = []
  for (let round = 0; round < 5; round++) {
    const saved = await Promise.all([1, 2, 3, 4].map((n) => save(`${round}-${n}.csv`, text('a'))))
    rounds.push(saved.filter((one) => !(one instanceof Problem)).length)
  }
  assert.deepEqual(rounds, [4, 4, 1, 0, 0], 'nine blocks are left, whatever a byte is')
  assert.match(refused(await save('x.csv', text('a'))).message, /limited to 1 MB of files.*Delete one first/)
  const [removed, again] = await Promise.all([uploads.remove('acc', '0-1.csv'), save('y.csv', text('a'))])
  assert.equal(removed, null)
  if (again instanceof Problem) kept(await save('y.csv', text('a')))
  assert.deepEqual(await uploads.held('acc'), { files: 10, bytes: mebibyte })
  const shorter = await uploads.replace('acc', 'big.csv', 'b.csv', text('a'))
  assert.equal(kept(shorter), 'big.csv')
  for (let n = 0; n < 10; n++) kept(await save(`more-${n}.csv`, text('a')))
  assert.match(refused(await save('z.csv', text('a'))).message, /up to 20 files.*Delete one first/)
  assert.equal((await readdir(own)).length, 20)
  const told = seen.flatMap((one) => (one.event === 'share_used_up' ? one.share : []))
  assert.deepEqual([...new Set(told)].sort(), ['upload_files', 'upload_mb'])
})

test('replacements that come together never leave more than the share', async (t) => {
  const { uploads, save } = await startUploads(t, 0, { shares: { upload_mb: 1 } })
  const bytes = (length: number) => Readable.from([Buffer.alloc(length)])
  kept(await save('a.csv', bytes(mebibyte / 2)))
  kept(await save('b.csv', bytes(mebibyte / 4)))
  const replaced = await Promise.all(
    [0.1, 0.7, 0.6, 0.75].map((share) => uploads.replace('acc', 'a.csv', 'x.csv', bytes(share * mebibyte))),
  )
  assert.ok(replaced.some((one) => !(one instanceof Problem)))
  const { files, bytes: held } = await uploads.held('acc')
  assert.equal(files, 2)
  assert.ok(held <= mebibyte, `${held}`)
})

test('a workbook that cannot be looked into for the moment is kept, when it comes and when it is listed', async (t) => {
  let failure: Error | null = null
  let looks = 0
  const decoding: Decoding = {
    async decode() {
      looks++
      if (failure) throw failure
      const listJson = Buffer.from('[{"tab":"Prices"}]')
      return { snapshot: { listJson } } as never
    },
    inTurn: () => assert.fail('Nothing else is done at the threads'),
    close: async () => {},
  }
  const { uploads, own, save } = await startUploads(t, 0, { decoding })
  const failures = [
    new ProviderFailure('the spreadsheet is too large or too complex to read', { cause: new Error('lost') }),
    new TooManyAtOnce(3),
  ]
  for (const [at, one] of failures.entries()) {
    failure = one
    assert.equal(kept(await save(`book-${at}.xlsx`, text('PK'))), `book-${at}.xlsx`)
  }
  const listed = await uploads.list('acc')
  assert.deepEqual(
    listed.map(({ tabs, problem }) => [tabs, problem !== null]),
    [
      [null, true],
      [null, true],
    ],
  )
  assert.equal((await readdir(own)).length, 2, 'none of it is deleted')
  failure = null
  looks = 0
  for (let n = 0; n < 3; n++) {
    const files = await uploads.list('acc')
    assert.deepEqual(
      files.map(({ tabs }) => tabs),
      [['Prices'], ['Prices']],
    )
  }
  assert.equal(looks, 2, 'each file is opened once')
})

test('what a killed server left of an upload is cleared away, what still comes is not', async (t) => {
  const { uploads, own, begin } = await startUploads(t)
  const running = await begin('new.csv')
  await writeFile(join(own, '.abcdefghijkl.part.csv'), 'half')
  await utimes(join(own, '.abcdefghijkl.part.csv'), new Date(0), new Date(0))
  await uploads.held('acc')
  const drafts = (await readdir(own)).filter((one) => one.includes('.part'))
  assert.equal(drafts.length, 1)
  running.body.end()
  kept(await running.saved)
})
