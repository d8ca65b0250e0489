import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { signedIn } from '../connect/visitor.ts'
import { type Rowport, startRowport } from '../harness.ts'
import { holdsOfTwo } from '../measured-twice.ts'
import { startTurnWatch } from '../turn-watch.ts'

const mostTurnMs = 20

test('reports over hundreds of thousands of figures, eight at a time, keep nobody waiting', async (t) => {
  const rowport = await startRowport(t, { isTimePassing: true })
  const owner = await signedIn(rowport, 'acme')
  const { requests, days } = await fillWithFigures(rowport)
  const wishes = [
    '/usage?days=30',
    '/usage?days=400',
    '/usage?days=30&key=key_7',
    '/usage?days=400&key=key_8',
    '/sheets',
    '/keys',
    '/usage?days=60',
    '/usage?days=30',
  ]
  interface View {
    days: { success: number; rateLimited: number }[]
    byKey: unknown[]
  }
  // What is loaded for the first answer is none of the turns in question.
  const { json } = await owner.call<View>('GET', '/usage?days=400')
  assert.equal(
    json.days.reduce((sum, { success, rateLimited }) => sum + success + rateLimited, 0),
    requests,
  )
  assert.deepEqual([json.days.filter(({ success }) => success > 0).length, json.byKey.length], [days, 50])
  await holdsOfTwo(
    async () => {
      const begunMs = performance.now()
      const watch = startTurnWatch()
      const answers = await Promise.all(wishes.map((path) => owner.call('GET', path)))
      assert.ok(answers.every(({ status }) => status === 200))
      return { turns: watch.stop(), tookMs: Math.round(performance.now() - begunMs) }
    },
    ({ turns, tookMs }) => {
      t.diagnostic(`${wishes.length} reports at once took ${tookMs} ms; longest turns ${turns.join(' ')} ms`)
      return (turns[0] ?? 0) <= mostTurnMs ? null : `a turn of ${turns[0]} ms`
    },
  )
})

test('figures that are too old go in short turns', async (t) => {
  await holdsOfTwo(
    () => turnsOfForgetting(t),
    // Garbage is collected in one of them; the one behind it is work alone.
    ([longest = 0, next = 0]) =>
      next <= mostTurnMs && longest <= 2 * mostTurnMs ? null : `turns of ${longest} and ${next} ms`,
  )
})

async function turnsOfForgetting(t: TestContext): Promise<number[]> {
  const rowport = await startRowport(t, { isTimePassing: true })
  const owner = await signedIn(rowport, 'acme')
  await fillWithFigures(rowport)
  await owner.call('GET', '/usage?days=1')
  rowport.clock.advanceMs(410 * 24 * 60 * 60_000)
  const again = await signedIn(rowport, 'acme')
  const watch = startTurnWatch()
  const { status } = await again.call('GET', '/usage?days=1')
  const turns = watch.stop()
  assert.equal(status, 200)
  t.diagnostic(`longest turns ${turns.join(' ')} ms`)
  const database = new DatabaseSync(join(rowport.folder, 'rowport.db'))
  for (const table of ['usage_day', 'latency_day']) {
    assert.equal(database.prepare(`select count(*) as rows from ${table}`).get()?.rows, 0, table)
  }
  database.close()
  return turns
}

/** As a flood leaves them, over a hundred sheets and fifty keys on thirty days. */
async function fillWithFigures({ folder, workshop, clock }: Rowport) {
  const account = await workshop.store.findAccount('acme')
  const today = new Date(clock.nowMs()).toISOString().slice(0, 10)
  const database = new DatabaseSync(join(folder, 'rowport.db'))
  const numbers = (upTo: number) =>
    `with recursive n(i) as (select 0 union all select i + 1 from n where i < ${upTo - 1})`
  const [rows, latencies] = [260_000, 500_000]
  const day = (perDay: number) => `date('${today}', '-' || (i / ${perDay}) || ' days')`
  database.exec(`begin immediate;
    ${numbers(rows)} insert into usage_day select '${account?.id}', ${day(8_700)}, 'sh_' || (i / 100 % 100), 'key_' || (i / 2 % 50),
      case i % 2 when 0 then 'success' else 'rate_limited' end, case i % 2 when 0 then 'hit' else '' end, 5 from n;
    ${numbers(latencies)} insert into latency_day select '${account?.id}', ${day(16_700)}, 'sh_' || (i / 200 % 100), 'key_' || (i / 4 % 50),
      i % 4, 5 from n;
    commit`)
  database.close()
  return { requests: rows * 5, days: Math.ceil(rows / 8_700) }
}
