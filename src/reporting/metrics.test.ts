import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createMetrics } from './metrics.ts'

const refused = {
  event: 'request_unreadable',
  code: 'too_many_at_once',
  reason: 'pipelined',
} as const
const countIn = (text: string) =>
  Number(/^rowport_unreadable_requests_total\{code="too_many_at_once"\} (\d+)$/m.exec(text)?.[1] ?? 0)

test('however often metrics are asked for, they are made a few times a second, and never older than the question', async () => {
  const metrics = createMetrics()
  const begunMs = performance.now()
  const made = new Set<Buffer>()
  for (let n = 1; n <= 5; n++) {
    metrics.observe(refused)
    const texts = await Promise.all(Array.from({ length: 200 }, () => metrics.expose()))
    for (const text of texts) made.add(text)
    assert.equal(countIn(String(texts[0])), n)
  }
  assert.equal(made.size, 5, 'who asks meanwhile shares the next')
  assert.ok(performance.now() - begunMs >= 4 * 100, 'and that is not made at once')
})
