import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { holdsOfFive } from '../../../test/measured-twice.ts'
import { isOpenForWriting } from './open-for-writing.ts'

const skip = process.platform !== 'linux'

test('of many files that are asked for at once, those that another program writes are told', {
  skip,
}, async (t) => {
  const { isOpen, files } = await someFiles(t)
  const found = await Promise.all(files.map(isOpen))
  assert.deepEqual(
    found,
    files.map((_file, nth) => nth === 3),
  )
  assert.deepEqual([await isOpen(files[3] ?? ''), await isOpen(files[4] ?? '')], [true, false])
})

test('many looks at once take no more than a few', { skip }, async (t) => {
  const { isOpen, files } = await someFiles(t)
  const ofOne = async () => processorMsOf(() => isOpen(files[0] ?? ''))
  await ofOne()
  await holdsOfFive(
    async () => {
      let oneMs = 0
      for (let n = 0; n < 5; n++) oneMs += (await ofOne()) / 5
      return { oneMs, allMs: await processorMsOf(() => Promise.all(files.map(isOpen))) }
    },
    ({ oneMs, allMs }) =>
      allMs < 8 * oneMs ? null : `${files.length} took ${allMs} ms, and one ${oneMs} ms`,
  )
})

/** The fourth is open in a program that has a thousand others open as well. */
async function someFiles(t: { after(work: () => Promise<void>): void }) {
  const folder = await mkdtemp(join(tmpdir(), 'rowport-open-'))
  const files = Array.from({ length: 40 }, (_, nth) => join(folder, `${nth}.csv`))
  for (const file of files) await writeFile(file, 'a\n1\n')
  const script =
    `const { openSync } = require('node:fs'); openSync(process.argv[1], 'r+'); ` +
    `for (let n = 0; n < 1000; n++) openSync('/dev/null'); console.log('open'); setInterval(() => {}, 1000)`
  const writer = spawn(process.execPath, ['-e', script, files[3] ?? ''], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.after(async () => {
    writer.kill('SIGKILL')
    await once(writer, 'close')
    await rm(folder, { recursive: true })
  })
  await once(writer.stdout, 'data')
  return { files, isOpen: async (file: string) => isOpenForWriting(file, await stat(file, { bigint: true })) }
}

async function processorMsOf(work: () => Promise<unknown>): Promise<number> {
  const before = process.threadCpuUsage()
  await work()
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1_000
}
