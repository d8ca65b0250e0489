import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import { secretOf } from './kept-secret.ts'

test('a secret that was set is used, and nothing is kept', async (t) => {
  const dataFolder = await ownFolder(t)
  assert.equal(await secretOf({ secret: 'set by the operator', dataFolder }), 'set by the operator')
  assert.deepEqual(await readdir(dataFolder), [])
})

test('without one, 32 random bytes are made once and kept for the owner of the folder alone', async (t) => {
  const dataFolder = join(await ownFolder(t), 'not', 'made', 'yet')
  const made = await secretOf({ secret: null, dataFolder })
  assert.equal(Buffer.from(made, 'base64url').length, 32)
  assert.equal(await secretOf({ secret: null, dataFolder }), made)
  assert.deepEqual(await readdir(dataFolder), ['secret'], 'nothing else is left behind')
  const path = join(dataFolder, 'secret')
  assert.equal((await readFile(path, 'utf8')).trim(), made)
  assert.equal((await stat(path)).mode & 0o777, 0o600)
  const elsewhere = join(await ownFolder(t), 'elsewhere')
  assert.notEqual(await secretOf({ secret: null, dataFolder: elsewhere }), made)
})

test('a file that the operator wrote is taken as it is, but for the space around it', async (t) => {
  const dataFolder = await ownFolder(t)
  await writeFile(join(dataFolder, 'secret'), '  the secret of the operator\r\n')
  assert.equal(await secretOf({ secret: null, dataFolder }), 'the secret of the operator')
})

test('a damaged secret stops the start and is not replaced', async (t) => {
  const dataFolder = await ownFolder(t)
  const path = join(dataFolder, 'secret')
  for (const damaged of ['', '\n', 'short']) {
    await writeFile(path, damaged)
    await assert.rejects(secretOf({ secret: null, dataFolder }), /holds no secret/)
    assert.equal(await readFile(path, 'utf8'), damaged)
  }
})

test('a folder that cannot be used is an error of its own, not a secret that is lost at the end', async (t) => {
  const folder = await ownFolder(t)
  await writeFile(join(folder, 'file'), '')
  await assert.rejects(secretOf({ secret: null, dataFolder: join(folder, 'file') }), { code: 'ENOTDIR' })
})

test('any number that start at once in one process agree', async (t) => {
  for (let round = 0; round < 20; round++) {
    const dataFolder = join(await ownFolder(t), 'data')
    const secrets = await Promise.all(Array.from({ length: 8 }, () => secretOf({ secret: null, dataFolder })))
    assert.equal(new Set(secrets).size, 1)
    assert.deepEqual(await readdir(dataFolder), ['secret'])
  }
})

test('four processes that start at once on a new folder agree', async (t) => {
  const dataFolder = join(await ownFolder(t), 'data')
  const script = `
    const { secretOf } = await import(${JSON.stringify(import.meta.resolve('./kept-secret.ts'))})
    process.stdout.write(await secretOf({ secret: null, dataFolder: ${JSON.stringify(dataFolder)} }))`
  const runs = Array.from({ length: 4 }, () =>
    promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script]),
  )
  const secrets = new Set((await Promise.all(runs)).map(({ stdout }) => stdout))
  assert.equal(secrets.size, 1)
  assert.ok(secrets.has(await secretOf({ secret: null, dataFolder })))
})

async function ownFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'rowport-secret-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  return folder
}
