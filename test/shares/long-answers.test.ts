import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { createTransport } from '../../src/providers/remote/transport.ts'
import { buildSnapshot } from '../../src/sheets/rows/build-snapshot.ts'
import { fromBytes, type SharedRead, toBytes } from '../../src/sheets/rows/snapshot-bytes.ts'
import { copyInTurns } from '../../src/sheets/threads/copied-bytes.ts'
import { holdsOfTwo } from '../measured-twice.ts'
import { startTurnWatch } from '../turn-watch.ts'

const answerBytes = 60 * 1024 * 1024
/** It was 70 to put together, and 12 to read. */
const mostTurnMs = 20

// What a spreadsheet holds is its owner's choice, and it is put together while everybody else is answered.
test('an answer of 60 MB is put together in short turns', async (t) => {
  const serving = new Worker(
    `const { createServer } = require('node:http'), { parentPort } = require('node:worker_threads')
     const body = Buffer.alloc(${answerBytes}, 'x')
     const server = createServer((_request, response) => response.end(body))
     server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port))`,
    { eval: true },
  )
  const [port] = (await once(serving, 'message')) as [number]
  const transport = createTransport({ silenceMs: 10_000, maxBodyBytes: answerBytes })
  t.after(async () => {
    transport.close()
    await serving.terminate()
  })
  const get = () =>
    transport.exchange({
      ...{ method: 'GET', url: `http://127.0.0.1:${port}/`, headers: {} },
      signal: AbortSignal.timeout(20_000),
    })
  await get()
  await holdsOfTwo(
    async () => {
      const watch = startTurnWatch()
      const { body } = await get()
      const longestMs = watch.stop()
      t.diagnostic(`turns of ${longestMs.slice(0, 5).join(', ')} ms`)
      assert.equal(body.byteLength, answerBytes)
      assert.ok(body.every((byte, at) => at % 9_973 !== 0 || byte === 0x78))
      return longestMs
    },
    (longestMs) => ((longestMs[0] ?? 0) <= mostTurnMs ? null : `turns of ${longestMs.join(', ')} ms`),
  )
})

test('a snapshot of 60 MB goes to other instances in short turns', async (t) => {
  const { snapshot, ...small } = indexedRead()
  const listJson = new Uint8Array(answerBytes).fill(0x78)
  const sent = { ...small, snapshot: { ...snapshot, listJson, sizeInBytes: answerBytes } }
  for (const isWarm of [false, true]) {
    const watch = startTurnWatch()
    const bytes = await toBytes(sent)
    assert.ok(bytes)
    const got = await fromBytes(bytes)
    const longestMs = watch.stop()
    assert.equal(got.snapshot.listJson.byteLength, answerBytes)
    if (!isWarm) continue
    t.diagnostic(`turns of ${longestMs.slice(0, 5).join(', ')} ms`)
    assert.ok((longestMs[0] ?? 0) <= mostTurnMs, `turns of ${longestMs.join(', ')} ms`)
  }
})

function indexedRead(): SharedRead {
  const snapshot = buildSnapshot({ rows: [['a'], [1]] })
  return { snapshot, version: '1', asOfMs: 0, location: '', credentialId: null }
}

test('the rows of a view are copied for the thread that makes it in short turns', async (t) => {
  const list = new Uint8Array(answerBytes).fill(0x78)
  const watch = startTurnWatch()
  const copy = await copyInTurns(list, () => new Promise(setImmediate))
  const longestMs = watch.stop()
  t.diagnostic(`turns of ${longestMs.slice(0, 5).join(', ')} ms`)
  assert.ok(Buffer.from(list.buffer).equals(copy))
  assert.ok((longestMs[0] ?? 0) <= mostTurnMs, `turns of ${longestMs.join(', ')} ms`)
})
