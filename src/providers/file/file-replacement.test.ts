import assert from 'node:assert/strict'
import { chmod, mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { Prepared } from '../../sheets/provider.ts'
import { ProviderFailure } from '../../sheets/provider-failure.ts'
import { asProviderFailure } from './file-failure.ts'
import { createFileProvider } from './file-provider.ts'
import { writeReplacement } from './file-replacement.ts'
import { isOfVersion, stampOf, stampThatSuffices, versionOf } from './file-version.ts'

const minuteMs = 60_000

test('what is prepared is on disk under its fence before it is sent; in its place, the fence is gone', async (t) => {
  const { folder, path, prepare } = await start(t)
  const prepared = await prepare('x')
  assert.deepEqual((await readdir(folder)).sort(), [prepared.fence, 'sheet.csv'].sort())
  assert.equal(await readFile(join(folder, prepared.fence), 'utf8'), 'a\n1\nx\n')
  assert.equal(await readFile(path, 'utf8'), 'a\n1\n')
  assert.equal((await prepared.commit()).outcome, 'applied')
  assert.deepEqual(await readdir(folder), ['sheet.csv'])
})

test('a conflict leaves the fence in place until it is discarded: a crash in between must be settled as void', async (t) => {
  const { folder, path, place, provider, prepare } = await start(t)
  const prepared = await prepare('x')
  await writeFile(path, 'a\n2\n')
  assert.deepEqual(await prepared.commit(), { outcome: 'conflict' })
  assert.ok((await readdir(folder)).includes(prepared.fence))
  assert.equal(await provider.settle(place, prepared.fence), 'void')
  assert.deepEqual(await readdir(folder), ['sheet.csv'])
})

test('a write that another instance has settled meanwhile is not done, and says so of itself and not of the file', async (t) => {
  const { path, place, provider, prepare } = await start(t)
  const prepared = await prepare('x')
  assert.equal(await provider.settle(place, prepared.fence), 'void')
  await assert.rejects(prepared.commit(), (error: unknown) => {
    assert.ok(error instanceof ProviderFailure)
    assert.match(error.message, /^another instance has taken over; nothing was written/)
    return true
  })
  assert.equal(await readFile(path, 'utf8'), 'a\n1\n')
})

test('an edit within the tick of the clock, of the same length, is noticed all the same', async (t) => {
  for (let n = 0; n < 50; n++) {
    const { path, prepare } = await start(t)
    const prepared = await prepare('x')
    // In place, at once: on many systems neither the size nor the times of the file tell.
    await writeFile(path, 'a\n7\n')
    assert.equal((await prepared.commit()).outcome, 'conflict')
    assert.equal(await readFile(path, 'utf8'), 'a\n7\n')
    await prepared.discard()
  }
})

test('an edit of a file that we have just put there, of the same length and at once, is told by its times alone', async (t) => {
  for (let n = 0; n < 50; n++) {
    const { path, place, provider, prepare } = await start(t)
    assert.equal((await (await prepare('x')).commit()).outcome, 'applied')
    const fetched = await provider.fetch(place, { values: 'typed', knownVersion: null })
    assert.ok(fetched !== 'unchanged' && stampThatSuffices(fetched.version) !== null)
    const prepared = await prepare('x')
    await writeFile(path, 'a\n7\nx\n')
    assert.equal((await prepared.commit()).outcome, 'conflict')
    assert.equal(await readFile(path, 'utf8'), 'a\n7\nx\n')
    await prepared.discard()
  }
})

test('the version of a file that changed just now knows its bytes, because its times may not tell', async () => {
  const [one, other] = [Buffer.from('a\n1\n'), Buffer.from('a\n7\n')]
  const young = await versionOf('stamp', one, false)
  assert.equal(stampThatSuffices(young), null)
  assert.equal(await isOfVersion(young, 'stamp', one), true)
  assert.equal(await isOfVersion(young, 'stamp', other), false)
  assert.equal(await isOfVersion(young, 'other', one), false)
  const settled = await versionOf('stamp', one, true)
  assert.equal(stampThatSuffices(settled), 'stamp')
  assert.equal(await isOfVersion(settled, 'stamp', one), true)
  assert.equal(await isOfVersion(settled, 'other', one), false)
})

test('a drive that is away settles nothing', async (t) => {
  const { folder, place, provider, prepare } = await start(t)
  const prepared = await prepare('x')
  await rm(folder, { recursive: true })
  await assert.rejects(provider.settle(place, prepared.fence), ProviderFailure)
})

test('a fence is a name and never leads elsewhere', async (t) => {
  const { folder, place, provider } = await start(t)
  await writeFile(join(folder, 'other'), '')
  await assert.rejects(provider.settle(place, `../${folder.split('/').at(-1)}/other`))
  assert.ok((await readdir(folder)).includes('other'))
})

test('what a process left that died before its journal knew of it is cleared away when it is old', async (t) => {
  const { folder, prepare } = await start(t)
  const names = ['.sheet.csv.00112233445566aa.tmp', '.sheet.csv.00112233445566bb.tmp']
  const foreign = ['.sheet.csv.notes.tmp', '.other.csv.00112233445566aa.tmp']
  for (const name of [...names, ...foreign]) await writeFile(join(folder, name), '')
  const longAgo = new Date(Date.now() - 11 * minuteMs)
  for (const name of [names[0] ?? '', ...foreign]) await utimes(join(folder, name), longAgo, longAgo)
  const prepared = await prepare('x')
  await prepared.discard()
  assert.deepEqual((await readdir(folder)).sort(), [names[1], ...foreign, 'sheet.csv'].sort())
})

test('a name as long as names can be', async (t) => {
  const { folder, prepare } = await start(t, `${'n'.repeat(251)}.csv`)
  const prepared = await prepare('x')
  assert.equal((await prepared.commit()).outcome, 'applied')
  assert.equal((await readdir(folder)).length, 1)
})

test('a file that is read-only is not replaced, although its folder would allow it', async (t) => {
  const { folder, path, prepare } = await start(t)
  await chmod(path, 0o444)
  await chmod(folder, 0o777)
  const isRoot = process.geteuid?.() === 0
  if (isRoot) process.seteuid?.(65_534)
  try {
    await assert.rejects(prepare('x'), { name: 'ProviderFailure', message: /not allowed to write/ })
  } finally {
    if (isRoot) process.seteuid?.(0)
  }
  assert.deepEqual(await readdir(folder), ['sheet.csv'])
})

test('rows behind those of a file keep its bytes and its mode, and are not written behind another file', async (t) => {
  const { folder, path } = await start(t)
  for (const mode of [0o640, 0o464, 0o666]) {
    await chmod(path, mode)
    const behind = stampOf(await stat(path, { bigint: true }))
    const made = await writeReplacement(path, { bytes: Buffer.from('2\n'), behind })
    assert.ok(made !== 'conflict')
    const copy = join(folder, made.fence)
    assert.equal(await readFile(copy, 'utf8'), 'a\n1\n2\n')
    assert.equal((await stat(copy)).mode & 0o777, mode)
    await rm(copy)
    await writeFile(path, 'a\n1\n')
    assert.equal(await writeReplacement(path, { bytes: Buffer.from('2\n'), behind }), 'conflict')
    assert.deepEqual(await readdir(folder), ['sheet.csv'])
  }
})

test('what the disk says is told in words, and never with a path', () => {
  for (const [code, words] of [
    ['ENOSPC', /disk is full/],
    ['EROFS', /disk is read-only/],
    ['EDQUOT', /quota/],
    ['EACCES', /not allowed to write/],
    ['EWHATEVER', /cannot be written/],
  ] as const) {
    const error = Object.assign(new Error(`${code}: open '/secret/path'`), { code, syscall: 'open' })
    const failure = asProviderFailure(error, 'write')
    assert.ok(failure instanceof ProviderFailure)
    assert.match(failure.message, words)
    assert.doesNotMatch(failure.message, /secret/)
  }
})

async function start(t: TestContext, name = 'sheet.csv') {
  const folder = await mkdtemp(join(tmpdir(), 'rowport-replacing-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const path = join(folder, name)
  await writeFile(path, 'a\n1\n')
  // What was written just now may still be being written, and is waited for.
  const anHourAgo = new Date(Date.now() - 60 * minuteMs)
  await utimes(path, anHourAgo, anHourAgo)
  const provider = createFileProvider({
    observe: () => {},
    editing: {
      // The threads have tests of their own.
      inTurn: (_accountId, _bytes, work) =>
        work(async (bytes) => ({ bytes: Buffer.concat([bytes, Buffer.from('x\n')]), results: [] })),
    },
  })
  const place = { accountId: 'acc_files', location: JSON.stringify({ path }), credentialId: null }
  return {
    folder,
    path,
    provider,
    place,
    async prepare(value: string): Promise<Prepared> {
      const fetched = await provider.fetch(place, { values: 'typed', knownVersion: null })
      assert.ok(fetched !== 'unchanged')
      const prepared = await provider.prepare(place, [{ kind: 'add', rows: [[value]] }], fetched.version)
      assert.ok(prepared !== 'conflict' && 'commit' in prepared)
      return prepared
    },
  }
}
