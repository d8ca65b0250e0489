import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rename, rm, symlink, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { locateFile } from '../../../src/providers/file/file-location.ts'
import { bearer, done, type Rowport, startRowport } from '../../harness.ts'

const theSecret = 'what only the server may read'

test('a file that is replaced by a link later on is not read through it, and its owner is told', async (t) => {
  const { rowport, folder, read, key } = await startBeside(t)
  await writeFile(join(rowport.folder, 'secret'), theSecret)
  const path = join(folder, 'shared.csv')
  await writeLongAgo(path, 'a,b\n1,2\n')
  const sheet = await connect(rowport, 'shared', path)
  assert.deepEqual(JSON.parse(await read(sheet)), [{ a: 1, b: 2 }])

  for (const target of [join(rowport.folder, 'secret'), '/etc/hostname', join(folder, 'nowhere.csv')]) {
    await rm(path)
    await symlink(target, path)
    const answers = [await read(sheet), await read(`${sheet}/schema`), await add(rowport, sheet, key)]
    for (const text of answers) {
      assert.match(text, /replaced by a link/, target)
      assert.ok(!text.includes(theSecret), text)
    }
  }

  await rm(path)
  await writeLongAgo(join(folder, 'next.csv'), 'a,b\n3,4\n')
  await rename(join(folder, 'next.csv'), path)
  // What failed is not asked for again at once.
  rowport.clock.advanceMs(5_000)
  assert.deepEqual(JSON.parse(await read(sheet)), [{ a: 3, b: 4 }], 'saved by renaming, as editors do it')
})

test('a folder may be put elsewhere and linked, but not to what the server keeps for itself', async (t) => {
  const { rowport, folder, read, key } = await startBeside(t)
  const own = join(rowport.folder, 'files', 'acc_other')
  await mkdir(own, { recursive: true })
  await writeLongAgo(join(own, 'list.csv'), `name\n${theSecret}\n`)
  await mkdir(join(folder, 'tables'))
  const path = join(folder, 'tables', 'list.csv')
  await writeLongAgo(path, 'name\nTea\n')
  const sheet = await connect(rowport, 'list', path)
  assert.deepEqual(JSON.parse(await read(sheet)), [{ name: 'Tea' }])

  await rename(join(folder, 'tables'), join(folder, 'moved'))
  await symlink(join(folder, 'moved'), join(folder, 'tables'))
  assert.deepEqual(JSON.parse(await read(sheet)), [{ name: 'Tea' }])
  assert.match(await add(rowport, sheet, key), /"name":"New"/)

  await rm(join(folder, 'tables'))
  await symlink(own, join(folder, 'tables'))
  for (const text of [await read(sheet), await add(rowport, sheet, key)]) {
    assert.match(text, /Rowport's own data/)
    assert.ok(!text.includes(theSecret), text)
  }
})

test('a data folder that is moved to another disk, with a link in its place, keeps its files', async (t) => {
  const outside = await mkdtemp(join(tmpdir(), 'rowport-links-'))
  t.after(() => rm(outside, { recursive: true, force: true }))
  const rowport = await startRowport(t, { settings: { dataFolder: join(outside, 'data') } })
  const key = bearer(await rowport.createKey())
  const path = join(outside, 'data', 'files', 'list.csv')
  await mkdir(join(outside, 'data', 'files'), { recursive: true })
  await writeLongAgo(path, 'name\nTea\n')
  const sheet = await connect(rowport, 'list', path)
  await rename(join(outside, 'data'), join(outside, 'disk'))
  await symlink(join(outside, 'disk'), join(outside, 'data'))
  const answer = await rowport.get(sheet, { ...key, 'Cache-Control': 'no-cache' })
  assert.deepEqual(await answer.json(), [{ name: 'Tea' }])
})

interface Beside {
  rowport: Rowport
  /** Where others than the server may write. */
  folder: string
  key: Record<string, string>
  /** What is answered when the file is looked at again. */
  read(path: string): Promise<string>
}

async function startBeside(t: TestContext): Promise<Beside> {
  const folder = await mkdtemp(join(tmpdir(), 'rowport-links-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const rowport = await startRowport(t)
  const key = bearer(await rowport.createKey())
  const read = async (path: string) =>
    (await rowport.get(path, { ...key, 'Cache-Control': 'no-cache' })).text()
  return { rowport, folder, key, read }
}

async function connect(rowport: Rowport, slug: string, path: string): Promise<string> {
  const asked = { accountSlug: 'acme', sheetSlug: slug, access: 'private', provider: 'file' } as const
  done(await rowport.workshop.sheets.connect({ ...asked, credentialId: null, ...locateFile(path, null) }))
  return `/api/sheets/acme/${slug}`
}

async function add(rowport: Rowport, path: string, headers: Record<string, string>): Promise<string> {
  const body = JSON.stringify({ name: 'New' })
  return (await fetch(rowport.url + path, { method: 'POST', headers, body })).text()
}

async function writeLongAgo(path: string, content: string): Promise<void> {
  await writeFile(path, content)
  const anHourAgo = new Date(Date.now() - 60 * 60 * 1_000)
  await utimes(path, anHourAgo, anHourAgo)
}
