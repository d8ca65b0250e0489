import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { defaultShares } from '../../src/shares/shares.ts'
import { bearer, startRowport } from '../harness.ts'

/*
 * Who closes its half of the connection may still read, and cannot be told by it from a client that left, as `fetch`
 * does when it is aborted. `queries_at_once` and `queries_waiting` of ROWPORT_SHARES are 1 and 2 here.
 */

test('who searches again as people type is not refused for the searches that it has left', async (t) => {
  const { ask, search } = await start(t)
  const left = Array.from({ length: 3 }, (_, n) => ask(n))
  await Promise.all(left.map(({ sent }) => sent))
  const wanted = await Promise.all([search(10), search(11)])
  assert.deepEqual(
    wanted.map(({ status }) => status),
    [200, 200],
  )
  const statuses = (await Promise.all(left.map(({ answer }) => answer))).map((answer) => answer.slice(9, 12))
  assert.deepEqual(statuses.sort(), ['200', '429', '429'], 'who still reads is told')
})

test('who sends no more and reads has its answer, where nobody else wants the place', async (t) => {
  const { ask } = await start(t)
  const asked = Array.from({ length: 3 }, (_, n) => ask(n))
  for (const { answer } of asked) assert.match(await answer, /^HTTP\/1.1 200 /)
})

async function start(t: TestContext) {
  const rowport = await startRowport(t, {
    isTimePassing: true,
    settings: { shares: { ...defaultShares, queries_at_once: 1, queries_waiting: 2 } },
  })
  const lines = Array.from({ length: 100_000 }, (_, n) => `${n},n${(n * 7_919) % 100_003},ab cd ${n}`)
  const { formA } = await rowport.connectFile('big', 'big.csv', `id,name,note\n${lines.join('\n')}\n`)
  const headers = bearer(await rowport.createKey())
  const dear = (n: number) => `${formA}?q=${n}&sort=note,-name&limit=1`
  assert.equal((await rowport.get(`${formA}?id=1&limit=1`, headers)).status, 200)
  return {
    search: (n: number) => rowport.get(dear(n), headers),
    /** Closes its half right after the request. */
    ask(n: number) {
      const socket = connect(Number(new URL(rowport.url).port), '127.0.0.1')
      const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
      const { promise: sent, resolve } = Promise.withResolvers<void>()
      socket.end(`GET ${dear(n)} HTTP/1.1\r\nHost: x\r\n${head.join('')}\r\n`, () => resolve())
      return { sent, answer: text(socket) }
    },
  }
}
