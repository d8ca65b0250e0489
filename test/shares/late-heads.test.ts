import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { type TestContext, test } from 'node:test'
import { startRowport } from '../harness.ts'
import { holdsOfTwo } from '../measured-twice.ts'
import { startTurnWatch } from '../turn-watch.ts'

const addresses = 12
const connections = 2_400
/** Node tells of all that are late by then in one go. */
const limits = { headersMs: 3_000, checkEveryMs: 1_000 }
/** With what the clients take, which are in the same process; all in one go were 200 to 370. */
const mostTurnMs = 100

test('thousands of heads that never end are refused in short turns, each with 408', async (t) => {
  const figures = await holdsOfTwo(
    () => refuseAll(t),
    ({ longest }) => ((longest[0] ?? 0) <= mostTurnMs ? null : `turns of ${longest.join(', ')} ms`),
  )
  t.diagnostic(`turns of ${figures.longest.join(', ')} ms while ${connections} were refused`)
})

async function refuseAll(t: TestContext): Promise<{ longest: number[] }> {
  const rowport = await startRowport(t, { isTimePassing: true, timeLimits: limits })
  const told: string[] = []
  const ends = Array.from({ length: connections }, (_, n) => {
    const localAddress = `127.0.7.${1 + (n % addresses)}`
    const socket = connect({ host: '127.0.0.1', port: rowport.port, localAddress })
    socket.once('connect', () => socket.write('GET / HTTP/1.1\r\nHost: x\r\n'))
    socket.once('data', (bytes) => told.push(bytes.toString('latin1', 9, 12)))
    socket.on('error', () => {})
    return new Promise<void>((resolve) => socket.once('close', () => resolve()))
  })
  // What it takes to open them is not what is measured.
  await new Promise((resolve) => setTimeout(resolve, limits.headersMs / 2))
  const watch = startTurnWatch()
  await Promise.all(ends)
  const longest = watch.stop()
  assert.deepEqual([told.length, new Set(told)], [connections, new Set(['408'])])
  return { longest }
}
