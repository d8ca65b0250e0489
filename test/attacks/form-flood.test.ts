import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { Agent, request } from 'node:http'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { holdsOfTwo } from '../measured-twice.ts'
import { patienceMs, times } from '../soak.ts'
import { startNeighbourhood } from './neighbourhood.ts'
import { inWords, probeVictim } from './victim-probe.ts'

const submissions = 10_000
const addresses = 50
/** As every form has them. */
const perMinute = 10
const perHour = 500
const calmMs = 2_000
/** In `npm run test:all` the machine has other things to do, so that only the gross is held there; `npm run soak -- attacks` holds the figure. */
const mostOwnersP99Ms = times(3_000, 50)

test(`a flood of ${submissions} submissions from ${addresses} addresses adds what the limits allow, loses nothing of it and refuses no owner`, {
  timeout: patienceMs,
}, async (t) => {
  const street = await startNeighbourhood(t, 'embedded')
  let forms = 0
  const measure = async () => {
    const slug = `guests-${++forms}`
    const { file } = await street.connectFile('victim', slug, 'name,message\nFirst,x\n')
    const words = ['form', 'create', `victim/${slug}`, '--fields', 'name,message:long', '--json']
    const { id } = JSON.parse(await street.operate(words)) as { id: string }
    const idle = await probeVictim(street)
    await sleep(calmMs)
    const calm = await idle.stop()
    const begunMs = performance.now()
    const workedMs = processorMsOf(street.server.child.pid)
    const probe = await probeVictim(street)
    const answers = await flood(street.server.port, `/f/${id}`)
    const figures = await probe.stop()
    const minutes = Math.floor((performance.now() - begunMs) / 60_000) + 2
    const rows = (await readFile(file, 'utf8')).trimEnd().split('\n').slice(2)
    const accepted = answers.flatMap(({ status, name }) => (status === 200 ? [name] : []))
    const counts = Map.groupBy(answers, ({ status }) => status)
    const told = [...counts].map(([status, some]) => `${some.length} × ${status}`).join(', ')
    const seconds = ((performance.now() - begunMs) / 1_000).toFixed(1)
    process.stdout.write(
      `${submissions} submissions from ${addresses} addresses in ${seconds} s: ${told}; ` +
        `${rows.length} rows added of at most ${perHour}; the server worked ${processorMsOf(street.server.child.pid) - workedMs} ms\n` +
        `  the owner before:    ${inWords(calm)}\n  the owner meanwhile: ${inWords(figures)}\n`,
    )
    assert.deepEqual(
      rows.map((row) => row.split(',')[0]).toSorted(),
      accepted.toSorted(),
      'what was accepted is there, once, and nothing else is',
    )
    assert.ok(rows.length <= Math.min(perHour, addresses * perMinute * minutes), `${rows.length} rows`)
    assert.ok(rows.length > 0 && (counts.get(429)?.length ?? 0) > submissions / 2)
    assert.ok([...counts.keys()].every((status) => status === 200 || status === 429))
    assert.deepEqual(figures.failures, {})
    return figures
  }
  await holdsOfTwo(measure, ({ cachedP99Ms }) =>
    cachedP99Ms <= mostOwnersP99Ms ? null : `the owner's reads took ${cachedP99Ms.toFixed(1)} ms at p99`,
  )
})

/** On all threads, in the user's and the system's time; a tick is a hundredth of a second wherever Linux runs. */
function processorMsOf(pid = 0): number {
  const [, , , , , , , , , , , , , user = 0, system = 0] = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .split(' ')
    .map(Number)
  return (user + system) * 10
}

/** Each address on connections of its own, all of them at once. */
async function flood(port: number, path: string): Promise<{ status: number; name: string }[]> {
  const all = await Promise.all(
    Array.from({ length: addresses }, async (_, at) => {
      const agent = new Agent({ keepAlive: true, localAddress: `127.0.1.${at + 1}`, maxSockets: 1 })
      const answers: { status: number; name: string }[] = []
      for (let n = 0; n < submissions / addresses; n++) {
        const name = `visitor ${at} entry ${n}`
        answers.push({ name, status: await submit(agent, port, path, name) })
      }
      agent.destroy()
      return answers
    }),
  )
  return all.flat()
}

function submit(agent: Agent, port: number, path: string, name: string): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>()
  const headers = { 'Content-Type': 'application/x-www-form-urlencoded' }
  const sent = request({ host: '127.0.0.1', port, path, method: 'POST', headers, agent }, (answer) => {
    answer.resume()
    answer.once('end', () => resolve(answer.statusCode ?? 0))
    answer.once('error', () => resolve(0))
  })
  sent.once('error', () => resolve(0))
  sent.end(String(new URLSearchParams({ name, message: 'Buy now' })))
  return promise
}
