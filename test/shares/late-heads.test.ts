import assert from 'node:assert/strict'
import { connect, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { setImmediate as takeTurn } from 'node:timers/promises'
import { startRowport } from '../harness.ts'
import { holdsOfTwo } from '../measured-twice.ts'
import { startTurnWatch } from '../turn-watch.ts'

const addresses = 12
const connections = { late: 2_400, left: 4_800 }
/** Node tells of all that are late by then in one go. */
const limits = { headersMs: 3_000, checkEveryMs: 1_000 }
/** With what the clients take, which are in the same process; all in one go were 200 to 370. */
const mostTurnMs = 100

test('thousands of heads that never end are refused in short turns, each with 408', async (t) => {
  const figures = await holdsOfTwo(
    () => refuseAll(t, 'late', '408'),
    ({ longest }) => ((longest[0] ?? 0) <= mostTurnMs ? null : `turns of ${longest.join(', ')} ms`),
  )
  t.diagnostic(`turns of ${figures.longest.join(', ')} ms while ${connections.late} were refused`)
})

test('thousands that send no more in the middle of a head, in one moment, are refused in short turns, each with 400', async (t) => {
  const figures = await holdsOfTwo(
    () => refuseAll(t, 'left', '400'),
    ({ longest }) => ((longest[0] ?? 0) <= mostTurnMs ? null : `turns of ${longest.join(', ')} ms`),
  )
  t.diagnostic(`turns of ${figures.longest.join(', ')} ms while ${connections.left} were refused`)
})

async function refuseAll(
  t: TestContext,
  how: keyof typeof connections,
  status: string,
): Promise<{ longest: number[] }> {
  const rowport = await startRowport(t, { isTimePassing: true, timeLimits: limits })
  const told: string[] = []
  const sockets: Socket[] = []
  const ends = Array.from({ length: connections[how] }, (_, n) => {
    const localAddress = `127.0.7.${1 + (n % addresses)}`
    const socket = connect({ host: '127.0.0.1', port: rowport.port, localAddress, allowHalfOpen: true })
    sockets.push(socket)
    socket.once('connect', () => socket.write('GET / HTTP/1.1\r\nHost: x\r\n'))
    socket.once('data', (bytes) => told.push(bytes.toString('latin1', 9, 12)))
    socket.once('end', () => socket.end())
    socket.on('error', () => {})
    return new Promise<void>((resolve) => socket.once('close', () => resolve()))
  })
  // What it takes to open them is not what is measured.
  await new Promise((resolve) => setTimeout(resolve, limits.headersMs / 2))
  if (how === 'left') {
    for (const socket of sockets) socket.end()
    // Nor what it takes here to end them.
    await takeTurn()
  }
  const watch = startTurnWatch()
  await Promise.all(ends)
  const longest = watch.stop()
  assert.deepEqual([told.length, new Set(told)], [connections[how], new Set([status])])
  return { longest }
}
