import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { bearer, startRowport } from '../harness.ts'
import { startTurnWatch } from '../turn-watch.ts'

/** Half of it is for garbage: a test's heap is larger than that of `npm start`, and collected in longer pieces. */
const mostTurnMs = { changed: 33, noise: 40, onlyTold: 25 }
const rows = 10_000
const wideColumns = 20

test('ten thousand wide rows are changed and told in short turns', (t) =>
  changeAll(t, '', mostTurnMs.changed))
test('so are rows of noise, whose changes are twenty megabytes of the log', (t) =>
  changeAll(t, '', mostTurnMs.noise, () => randomBytes(720).toString('hex')))
test('so are those that are only to be told', (t) => changeAll(t, '&dry_run=true', mostTurnMs.onlyTold))

async function changeAll(
  t: TestContext,
  more: string,
  mostMs: number,
  makeNoise?: () => string,
): Promise<void> {
  const columns = makeNoise ? 1 : wideColumns
  const rowport = await startRowport(t, { isTimePassing: true })
  const key = bearer(await rowport.createKey())
  const names = Array.from({ length: columns }, (_, nth) => `c${nth}`).join()
  const values = Array.from({ length: columns }, (_, nth) => `some longer value ${nth}`).join()
  const lines = Array.from({ length: rows }, (_, nth) => `${nth},${values},${makeNoise?.() ?? ''}\n`)
  const csv = `id,${names},noise\n${lines.join('')}`
  const { formB } = await rowport.connectFile('large', 'large.csv', csv)
  const change = async (word: string) => {
    const answer = await fetch(`${rowport.url}${formB}?id[gte]=0&max_rows=${rows}${more}`, {
      method: 'PATCH',
      headers: { ...key, 'Content-Type': 'application/json' },
      body: JSON.stringify({ c0: word }),
    })
    const bytes = Buffer.from(await answer.arrayBuffer())
    assert.equal(answer.status, 200, bytes.toString('utf8', 0, 500))
    assert.equal(answer.headers.get('content-length'), String(bytes.byteLength))
    return bytes
  }
  const told = JSON.parse((await change('first')).toString())
  assert.equal(told.data.length, rows)
  assert.deepEqual([told.data[7]._row, told.data[7].c0, told.meta.rows[7]], [9, 'first', 9])
  const turns: number[][] = []
  for (let round = 0; round < 5; round++) {
    const watch = startTurnWatch()
    await change(`word ${round}`)
    turns.push(watch.stop())
  }
  for (const some of turns) t.diagnostic(`longest turns ${some.join(' ')} ms`)
  const best = Math.min(...turns.map(([longest = 0]) => longest))
  assert.ok(best <= mostMs, `turns of ${best} ms and more`)
}
