import assert from 'node:assert/strict'
import fsPromises, { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { isOfVersion, versionOf } from './file-version.ts'
import { readFile } from './read-file.ts'

const mebibyte = 1024 * 1024

function bytesOf(length: number): Uint8Array {
  return Uint8Array.from({ length }, (_, at) => (at * 7 + (at >> 8)) % 256)
}

test('a large file is read in pieces, between which others have their turn at the disk', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'rowport-pieces-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const path = join(folder, 'large.csv')
  const content = bytesOf(3.5 * mebibyte)
  await writeFile(path, content)
  const pieces: number[] = []
  const { open } = fsPromises
  t.after(() => {
    fsPromises.open = open
    syncBuiltinESMExports()
  })
  fsPromises.open = async (...asked) => {
    const file = await open(...asked)
    const read = file.read.bind(file) as (...asked: unknown[]) => Promise<never>
    file.read = ((...how: unknown[]) => {
      pieces.push(Number(how[2]))
      return read(...how)
    }) as typeof file.read
    return file
  }
  syncBuiltinESMExports()
  const found = await readFile(path, null)
  assert.ok(found !== 'unchanged')
  assert.ok(Buffer.from(found.bytes).equals(content))
  assert.ok(pieces.length >= 4 && pieces.every((bytes) => bytes <= mebibyte), pieces.join())
})

test('the version of a file that was just written tells every byte apart, in whatever piece', async () => {
  for (const length of [0, 1, mebibyte - 1, mebibyte, 2.5 * mebibyte]) {
    const bytes = bytesOf(length)
    const version = await versionOf('stamp', bytes, false)
    assert.ok(await isOfVersion(version, 'stamp', Uint8Array.from(bytes)))
    assert.ok(!(await isOfVersion(version, 'stamp', Uint8Array.from([...bytes.subarray(0, 9), 1]))))
    for (const at of [0, Math.floor(length / 2), length - 1].filter((one) => one >= 0 && one < length)) {
      const other = Uint8Array.from(bytes)
      other[at] = (other[at] ?? 0) + 1
      assert.ok(!(await isOfVersion(version, 'stamp', other)), `${at} of ${length}`)
    }
  }
})
