import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { bearer, startRowport } from '../harness.ts'
import { startTurnWatch } from '../turn-watch.ts'

/** Much of the first is for garbage, as with every write of so many rows. */
const mostTurnMs = { first: 28, again: 14 }
const rows = 8_000

test('a long answer is kept for an idempotency key, and given again, in short turns', async (t) => {
  const rowport = await startRowport(t, { isTimePassing: true })
  const key = bearer(await rowport.createKey())
  const cells = Array.from({ length: 20 }, (_, nth) => `some longer value of a cell, and a number ${nth}`)
  const header = ['id', ...cells.map((_, nth) => `c${nth}`)].join()
  const lines = Array.from({ length: rows }, (_, nth) => `${nth},${cells.join()}\n`)
  const { formB } = await rowport.connectFile('large', 'large.csv', `${header}\n${lines.join('')}`)
  const change = async (idempotencyKey: string) => {
    const watch = startTurnWatch()
    const answer = await fetch(`${rowport.url}${formB}?id[gte]=0&max_rows=${rows}`, {
      method: 'PATCH',
      headers: { ...key, 'Content-Type': 'application/json', 'Idempotency-Key': idempotencyKey },
      body: JSON.stringify({ c0: idempotencyKey }),
    })
    const bytes = Buffer.from(await answer.arrayBuffer())
    assert.equal(answer.status, 200, bytes.toString('utf8', 0, 500))
    return { bytes, turns: watch.stop(), isReplayed: answer.headers.has('idempotent-replayed') }
  }
  const longest: { first: number[]; again: number[] } = { first: [], again: [] }
  // Garbage and neighbours of the machine make some rounds longer; what this is about made each four times as long.
  const isMet = () =>
    Math.min(...longest.first) <= mostTurnMs.first && Math.min(...longest.again) <= mostTurnMs.again
  for (const round of ['one', 'two', 'three', 'four', 'five', 'six']) {
    if (isMet()) break
    const first = await change(round)
    const again = await change(round)
    assert.deepEqual([first.isReplayed, again.isReplayed], [false, true])
    assert.ok(first.bytes.equals(again.bytes), 'the first answer again')
    longest.first.push(first.turns[0] ?? 0)
    longest.again.push(again.turns[0] ?? 0)
    t.diagnostic(`longest turns ${first.turns.join(' ')} ms, again ${again.turns.join(' ')} ms`)
  }
  const best = Math.min(...longest.first)
  assert.ok(best <= mostTurnMs.first, `turns of ${best} ms and more`)
  const bestAgain = Math.min(...longest.again)
  assert.ok(bestAgain <= mostTurnMs.again, `turns of ${bestAgain} ms and more when it is given again`)
})

test('an answer that is too long to be kept is refused before anything is written', async (t) => {
  const rowport = await startRowport(t, { isTimePassing: true })
  const key = bearer(await rowport.createKey())
  const noise = Array.from({ length: 200 }, () => `${randomBytes(30_000).toString('base64')}\n`)
  const { formA } = await rowport.connectFile('noise', 'noise.csv', `text\n${noise.join('')}`)
  const remove = (more: Record<string, string>) =>
    fetch(`${rowport.url}${formA}?all=true&max_rows=1000`, { method: 'DELETE', headers: { ...key, ...more } })
  for (let times = 0; times < 2; times++) {
    const refused = await remove({ 'Idempotency-Key': 'all' })
    assert.equal(refused.status, 413)
    const { code, details } = (await refused.json()) as { code: string; details: string }
    assert.equal(code, 'payload_too_large')
    assert.match(details, /Idempotency-Key: it may have 4 MiB, compressed\. Nothing was written\./)
    assert.equal(refused.headers.has('idempotent-replayed'), false, 'its key is free')
  }
  const left = await rowport.get(`${formA}?limit=1`, { ...key, 'Cache-Control': 'no-cache' })
  assert.equal(left.headers.get('x-total-count'), '200')
  assert.equal((await remove({})).status, 200)
})
