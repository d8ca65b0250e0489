import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bodyFor, keptFile } from '../../src/dashboard/kept-file.ts'

const mostMb = 500

test('what many ask for at once after a start is compressed within a bound of memory', async () => {
  const page = (n: number) =>
    keptFile(
      'text/html',
      Buffer.from(Array.from({ length: 2_000 }, (_, line) => `page ${n}, line ${line}`).join('\n')),
    )
  const before = process.memoryUsage.rss()
  let most = before
  const look = setInterval(() => {
    most = Math.max(most, process.memoryUsage.rss())
  }, 1)
  const files = Array.from({ length: 30 }, (_, n) => page(n))
  for (const coding of ['zstd', 'br', 'gzip']) {
    const made = await Promise.all(
      files.map((file) => bodyFor({ headers: { 'accept-encoding': coding } } as never, file)),
    )
    assert.ok(made.every((each) => each.coding === coding && each.body.length < 20_000))
  }
  clearInterval(look)
  const grownMb = (most - before) / 2 ** 20
  process.stdout.write(`30 pages in three codings at once: ${grownMb.toFixed(0)} MB\n`)
  assert.ok(grownMb < mostMb, `${grownMb.toFixed(0)} MB`)
})
