import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  chmod,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { writeXlsx } from 'hucre/xlsx'
import { providerContract } from '../../sheets/provider.contract.ts'
import { ProviderFailure } from '../../sheets/provider-failure.ts'
import { createDecoding } from '../../sheets/reading/decoding.ts'
import type { Cell } from '../../sheets/rows/grid.ts'
import { appendCsvRows } from './csv/csv.fixture.ts'
import { createEditing } from './editing.ts'
import { locateFile } from './file-location.ts'
import { createFileProvider } from './file-provider.ts'

type Rows = readonly (readonly Cell[])[]

const accountId = 'acc_files'

for (const { kind, fileName, encode, write } of [
  { kind: 'CSV file', fileName: 'sheet.csv', encode: csvBytes, write: true },
  { kind: 'XLSX file', fileName: 'sheet.xlsx', encode: xlsxBytes, write: true },
]) {
  providerContract(
    kind,
    async (t, rows) => {
      const path = join(await ownFolder(t), fileName)
      await writeLongAgo(path, await encode(rows))
      return {
        provider: createFileProvider({ observe: () => {} }),
        place: { accountId, location: locateFile(path, null).location, credentialId: null },
        editOutside: async (edited) => writeFile(path, await encode(edited)),
        remove: () => rm(path),
      }
    },
    { write },
  )
}

test('a file that has not changed is not read again', async (t) => {
  const path = join(await ownFolder(t), 'a.csv')
  await writeFile(path, 'a\n1\n')
  const provider = createFileProvider({ observe: () => {} })
  const { location } = locateFile(path, null)
  const first = await provider.fetch(
    { accountId, location, credentialId: null },
    { values: 'typed', knownVersion: null },
  )
  assert.ok(first !== 'unchanged')
  let second = await provider.fetch(
    { accountId, location, credentialId: null },
    { values: 'typed', knownVersion: first.version },
  )
  // Within the file system's tick a change could hide, so a version that was taken of a file this young says more than
  // one that was taken later: then it is read once again.
  if (second !== 'unchanged') {
    assert.deepEqual(second.bytes, first.bytes)
    second = await provider.fetch(
      { accountId, location, credentialId: null },
      { values: 'typed', knownVersion: second.version },
    )
  }
  assert.equal(second, 'unchanged')
})

test('missing, locked, foreign and truncated files are provider failures that name no path', async (t) => {
  const folder = await ownFolder(t)
  const workbook = await xlsxBytes([['a'], [1]])
  await mkdir(join(folder, 'folder.csv'))
  await writeLongAgo(join(folder, 'picture.xlsx'), Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'))
  await writeLongAgo(join(folder, 'truncated.xlsx'), workbook.subarray(0, workbook.length / 2))
  await writeLongAgo(join(folder, 'empty.xlsx'), '')
  await writeLongAgo(join(folder, 'cyrillic.csv'), Buffer.from('e8ecff0ac0ededE00a', 'hex'))
  await writeLongAgo(join(folder, 'quote.csv'), 'a,b\n1,"open\n')
  await writeLongAgo(join(folder, 'notes.docx'), workbook)
  await writeLongAgo(join(folder, 'plain.bin'), 'a,b\n')
  execFileSync('mkfifo', [join(folder, 'pipe.csv')])
  await symlink('/nowhere/at/all', join(folder, 'dangling.csv'))
  const provider = createFileProvider({ observe: () => {} })
  const decoding = createDecoding({ observe: () => {} })
  t.after(() => decoding.close())
  const cases: [file: string, says: RegExp][] = [
    ['missing.csv', /the file is missing/],
    ['dangling.csv', /replaced by a link/],
    ['folder.csv', /folder, not a file/],
    ['pipe.csv', /not a file/],
    ['picture.xlsx', /Excel|workbook/],
    ['truncated.xlsx', /truncated|incomplete|cut|damaged/],
    ['empty.xlsx', /empty|workbook/],
    ['cyrillic.csv', /UTF-8/],
    ['quote.csv', /quot/i],
    ['notes.docx', /neither a CSV file nor a workbook/],
    ['plain.bin', /neither a CSV file nor a workbook/],
  ]
  for (const [file, says] of cases) {
    const location = JSON.stringify({ path: join(folder, file) })
    const reading = (async () => {
      const fetched = await provider.fetch(
        { accountId, location, credentialId: null },
        { values: 'typed', knownVersion: null },
      )
      assert.ok(fetched !== 'unchanged')
      return decoding.decode(accountId, async () => fetched)
    })()
    await assert.rejects(reading, (error: unknown) => {
      assert.ok(error instanceof ProviderFailure, `${file}: ${error}`)
      assert.match(error.message, says, file)
      assert.ok(!error.message.includes(folder), file)
      return true
    })
  }
})

test('a file that may not be opened is a provider failure', async (t) => {
  const folder = await ownFolder(t)
  const path = join(folder, 'locked.csv')
  await writeLongAgo(path, 'a\n1\n')
  await chmod(path, 0o000)
  const provider = createFileProvider({ observe: () => {} })
  const { location } = locateFile(path, null)
  const nobody = 65_534
  const isRoot = process.geteuid?.() === 0
  await chmod(folder, 0o755)
  if (isRoot) process.seteuid?.(nobody)
  try {
    await assert.rejects(
      provider.fetch({ accountId, location, credentialId: null }, { values: 'typed', knownVersion: null }),
      { name: 'ProviderFailure', message: /not allowed/ },
    )
  } finally {
    if (isRoot) process.seteuid?.(0)
  }
})

test('a write replaces the file whole, keeps its mode, follows a link and leaves nothing behind', async (t) => {
  const folder = await ownFolder(t)
  const path = join(folder, 'real.csv')
  await writeLongAgo(path, 'a\n1\n')
  await chmod(path, 0o640)
  await symlink(path, join(folder, 'link.csv'))
  const provider = createFileProvider({ observe: () => {} })
  const { location, source } = locateFile(join(folder, 'link.csv'), null)
  assert.equal(source, locateFile(path, null).source, 'two names of one file are one source')
  const fetched = await provider.fetch(
    { accountId, location, credentialId: null },
    { values: 'typed', knownVersion: null },
  )
  assert.ok(fetched !== 'unchanged')
  const place = { accountId, location, credentialId: null }
  const prepared = await provider.prepare(place, [{ kind: 'add', rows: [['x']] }], fetched.version)
  assert.ok(prepared !== 'conflict' && 'commit' in prepared)
  assert.equal((await prepared.commit()).outcome, 'applied')
  await prepared.discard()
  assert.equal(await readFile(path, 'utf8'), 'a\n1\nx\n')
  assert.equal((await stat(path)).mode & 0o777, 0o640)
  assert.deepEqual((await readdir(folder)).sort(), ['link.csv', 'real.csv'])
})

test('rows are added to a file that we wrote without decoding it, and never to one that somebody touched since', async (t) => {
  const folder = await ownFolder(t)
  const path = join(folder, 'list.csv')
  await writeLongAgo(path, 'name,price\nTea,1\n')
  const { inTurn } = createEditing({ observe: () => {} })
  let edits = 0
  const provider = createFileProvider({
    observe: () => {},
    editing: {
      inTurn(...asked) {
        edits++
        return inTurn(...asked)
      },
    },
  })
  const place = { accountId, location: JSON.stringify({ path }), credentialId: null }
  const add = async (name: string, version: string) => {
    const prepared = await provider.prepare(place, [{ kind: 'add', rows: [[name, 2]] }], version)
    assert.ok(prepared !== 'conflict' && 'commit' in prepared)
    return prepared
  }
  assert.equal(await provider.knownHeader?.(place), null)
  const fetched = await provider.fetch(place, { values: 'typed', knownVersion: null })
  assert.ok(fetched !== 'unchanged')
  await (await add('Salt', fetched.version)).commit()
  assert.equal(edits, 1)

  const known = await provider.knownHeader?.(place)
  assert.deepEqual(known?.header, ['name', 'price'])
  const second = await add('Oil, "fine"', known?.version ?? '')
  assert.deepEqual(second.expected, [{ kind: 'add', rowNumbers: [4], rows: [['Oil, "fine"', 2]] }])
  assert.equal((await second.commit()).outcome, 'applied')
  assert.equal(edits, 1, 'nothing was decoded for it')
  assert.equal(await readFile(path, 'utf8'), 'name,price\nTea,1\nSalt,2\n"Oil, ""fine""",2\n')

  const before = await provider.knownHeader?.(place)
  const third = await add('Rice', before?.version ?? '')
  await writeFile(path, 'name,price\nTea,9\nSalt,2\n"Oil, ""fine""",2\n')
  assert.equal((await third.commit()).outcome, 'conflict')
  await third.discard()
  assert.equal(await provider.knownHeader?.(place), null)
  assert.equal(
    await provider.prepare(place, [{ kind: 'add', rows: [['Rice', 2]] }], before?.version ?? ''),
    'conflict',
  )
  assert.deepEqual(await readdir(folder), ['list.csv'])
})

test('of a workbook that we wrote row 1 is known without reading it, until somebody else writes it', async (t) => {
  const path = join(await ownFolder(t), 'list.xlsx')
  await writeLongAgo(
    path,
    await xlsxBytes([
      ['name', 'price'],
      ['Tea', 1],
    ]),
  )
  const provider = createFileProvider({ observe: () => {} })
  const place = { accountId, location: JSON.stringify({ path }), credentialId: null }
  const fetched = await provider.fetch(place, { values: 'typed', knownVersion: null })
  assert.ok(fetched !== 'unchanged')
  let { version } = fetched
  for (const rowNumber of [3, 4]) {
    const prepared = await provider.prepare(place, [{ kind: 'add', rows: [['Salt', 2]] }], version)
    assert.ok(prepared !== 'conflict' && 'commit' in prepared)
    assert.deepEqual(prepared.expected, [{ kind: 'add', rowNumbers: [rowNumber], rows: [['Salt', 2]] }])
    assert.equal((await prepared.commit()).outcome, 'applied')
    const known = await provider.knownHeader?.(place)
    assert.deepEqual(known?.header, ['name', 'price'])
    version = known?.version ?? ''
  }
  await writeFile(path, await readFile(path))
  assert.equal(await provider.knownHeader?.(place), null)
})

test('a tab of a workbook by its name', async (t) => {
  const path = join(await ownFolder(t), 'tabs.xlsx')
  const sheets = ['first', 'second'].map((name) => ({ name, rows: [['tab'], [name]] }))
  await writeLongAgo(path, await writeXlsx({ sheets }))
  const decoding = createDecoding({ observe: () => {} })
  t.after(() => decoding.close())
  for (const [tab, expected] of [
    [null, 'first'],
    ['second', 'second'],
  ] as const) {
    const fetched = await createFileProvider({ observe: () => {} }).fetch(
      { accountId, location: locateFile(path, tab).location, credentialId: null },
      { values: 'typed', knownVersion: null },
    )
    assert.ok(fetched !== 'unchanged')
    const { snapshot } = await decoding.decode(accountId, async () => fetched)
    assert.equal(Buffer.from(snapshot.listJson).toString(), `[{"tab":"${expected}"}]`)
  }
})

async function ownFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'rowport-file-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  return folder
}

/** What was written just now may still be being written, and is waited for. */
async function writeLongAgo(path: string, content: string | Uint8Array): Promise<void> {
  await writeFile(path, content)
  const anHourAgo = new Date(Date.now() - 60 * 60 * 1_000)
  await utimes(path, anHourAgo, anHourAgo)
}

async function csvBytes(rows: Rows): Promise<Uint8Array> {
  return appendCsvRows(new Uint8Array(), rows)
}

async function xlsxBytes(rows: Rows): Promise<Uint8Array> {
  return writeXlsx({ sheets: [{ name: 'Sheet1', rows: rows.map((row) => [...row]) }] })
}
