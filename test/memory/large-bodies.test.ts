import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startWired } from '../spec/raw-client.ts'

test('a hundred bodies of 2 MiB at once are all answered, in bounded memory', async (t) => {
  const wired = await startWired(t)
  const body = `{"nobody":"${'x'.repeat(49_000)}",${' '.repeat(2 * 1024 * 1024 - 49_030)}"price":1}`
  const warmUp = await wired.post(wired.sheet.formA, body)
  assert.equal(warmUp.status, 400)
  await warmUp.body?.cancel()
  const beforeBytes = process.memoryUsage().rss
  let peakBytes = beforeBytes
  const watch = setInterval(() => {
    peakBytes = Math.max(peakBytes, process.memoryUsage().rss)
  }, 5)
  const answers = await Promise.all(Array.from({ length: 100 }, () => wired.post(wired.sheet.formA, body)))
  clearInterval(watch)
  const statuses = new Set(answers.map(({ status }) => status))
  assert.ok(statuses.has(400))
  // What would wait for the sheet beyond 64 MiB is told to come again.
  statuses.delete(503)
  assert.deepEqual([...statuses], [400])
  await Promise.all(answers.map((answer) => answer.body?.cancel()))
  const grownMegabytes = Math.round((peakBytes - beforeBytes) / 1e6)
  t.diagnostic(`100 × 2 MiB: at most ${grownMegabytes} MB more memory, client included`)
  // 200 MiB of bodies, the client's copies of them, and what one of them costs to parse.
  assert.ok(grownMegabytes < 700, `${grownMegabytes} MB`)
  await wired.assertUnharmed()
})
