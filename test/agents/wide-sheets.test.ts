import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bearer, startRowport } from '../harness.ts'
import { startTurnWatch } from '../turn-watch.ts'

const mostTurnMs = 12
const columns = 2_000

test('a sheet of 2,000 columns is described to an agent in short turns', async (t) => {
  const rowport = await startRowport(t, { isTimePassing: true })
  const key = bearer(await rowport.createKey())
  const names = Array.from({ length: columns }, (_, at) => `${at} ${'n'.repeat(45)}`)
  const lines = Array.from({ length: 5 }, (_, row) => names.map((_, at) => `${row} ${at} ${'x'.repeat(80)}`))
  const { id } = await rowport.connectFile('wide', 'wide.csv', [names, ...lines].join('\n'))
  const describe = async () => {
    const call = { name: 'describe_sheet', arguments: { sheet: id } }
    const answer = await fetch(`${rowport.url}/mcp`, {
      method: 'POST',
      headers: {
        ...key,
        'Content-Type': 'application/json',
        Accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: call }),
    })
    assert.equal(answer.status, 200)
    return answer.text()
  }
  assert.match(await describe(), /2000 columns\. /)
  const turns: number[][] = []
  for (let round = 0; round < 3; round++) {
    const watch = startTurnWatch()
    await describe()
    turns.push(watch.stop())
  }
  for (const some of turns) t.diagnostic(`longest turns ${some.join(' ')} ms`)
  const best = Math.min(...turns.map(([longest = 0]) => longest))
  assert.ok(best <= mostTurnMs, `turns of ${best} ms and more`)
})
