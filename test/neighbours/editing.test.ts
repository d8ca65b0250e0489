import assert from 'node:assert/strict'
import { test } from 'node:test'
import { holdsOfTwo } from '../measured-twice.ts'
import { patienceMs, times } from '../soak.ts'
import { figures, largeCsv, probe, quantile, startNeighbours } from './tenants.ts'

const megabytes = times(3, 50)
const files = 4
const writesOfFile = times(3, 8)
const mostMs = 1_000

test('an account that writes to many large files at once does not slow down the writes of others', {
  timeout: patienceMs,
}, async (t) => {
  const { attacker, victim } = await startNeighbours(t)
  const content = largeCsv(megabytes)
  const large = await Promise.all(
    Array.from({ length: files }, (_, at) => attacker.connect(`large-${at}`, content)),
  )
  const small = await victim.connect('small', 'a,b\n1,2\n')
  let written = 0
  const write = () => small.write(2, { a: ++written })
  // Threads are started when they are first needed, which is no part of this.
  await Promise.all([...large.map((sheet) => sheet.write(2, { 'column 0': 'first' })), write()])
  const idleUntilMs = performance.now() + 1_500
  const idleMs = await probe(() => performance.now() > idleUntilMs, 20, write)

  let rounds = 0
  const measure = async () => {
    const theirMs: number[] = []
    let isOver = false
    const begunMs = performance.now()
    const round = ++rounds
    // One after the other for each file: what comes together would be written together.
    const attack = Promise.all(
      large.map(async (sheet) => {
        for (let n = 1; n <= writesOfFile; n++) {
          const answer = await sheet.write(2, { 'column 0': `written ${round} ${n}` })
          // Whoever writes to four large files at once may have to wait for longer than a write may take.
          assert.ok(answer.status === 200 || answer.status === 503, answer.text)
          theirMs.push(answer.tookMs)
        }
      }),
    )
    const attacked = probe(() => isOver, 20, write)
    await attack
    isOver = true
    const attackedMs = await attacked
    const attackMs = performance.now() - begunMs
    const words =
      `${files * writesOfFile} writes to ${files} files of ${megabytes} MB in ${attackMs.toFixed(0)} ms, ${figures(theirMs)}; ` +
      `victim's write: ${figures(idleMs)} idle, ${figures(attackedMs)} attacked`
    process.stdout.write(`${words}\n`)
    return { theirMs, attackedMs, words }
  }
  await holdsOfTwo(measure, ({ theirMs, attackedMs, words }) => {
    // On a machine that is busy with others as well, everything takes its time; but never as long as waiting for a large file.
    const busyMs = quantile(theirMs, 0.5)
    if (quantile(attackedMs, 0.99) > Math.max(mostMs, busyMs / 2))
      return `the victim's writes waited: ${words}`
    if (quantile(attackedMs, 0.5) <= Math.max(mostMs / 5, busyMs / 5)) return null
    return `most of the victim's writes waited: ${words}`
  })
  const { text } = await small.read({ 'Cache-Control': 'no-cache' })
  assert.match(text, new RegExp(`"a":${written}\\b`), 'and were done')
})
