import assert from 'node:assert/strict'
import { test } from 'node:test'
import { times } from '../soak.ts'
import { maxAnswerMs, type Played, play } from '../writing/simulation/schedule.ts'

const histories = times(50, 5_000)

for (const crashes of [0, 3])
  test(`writes by what rows hold among others, with lost and late answers, ${crashes} kills and a person who sorts: none lost, none doubled, no other row`, async (t) => {
    const sum = new Map<string, number>()
    for (let n = 1; n <= histories; n++) {
      const seed = 7_000_000 + crashes * 1_000_000 + n
      const played = await play(seed, {
        clients: 5,
        writesEach: 3,
        crashes,
        instances: 1 + (n % 2),
        isByContent: true,
      })
      check(played, `seed ${seed}`)
      for (const { kind, end } of played.told) sum.set(`${kind} ${end}`, (sum.get(`${kind} ${end}`) ?? 0) + 1)
    }
    t.diagnostic(
      `${histories} histories: ${[...sum]
        .sort()
        .map(([name, count]) => `${name} ×${count}`)
        .join(', ')}`,
    )
    for (const kind of ['update', 'delete', 'upsert', 'update_many', 'delete_many'])
      assert.ok((sum.get(`${kind} done`) ?? 0) > histories / 20, `too few of ${kind} were done`)
  })

/** Acknowledged: there once. Refused or failed: not there. Unknown: at most once. */
function check({ told, effects, log, leftOpen, wrongRows }: Played, of: string): void {
  assert.equal(leftOpen, 0, `${of}: the journal has something open`)
  assert.equal(wrongRows, 0, `${of}: another row was changed`)
  for (const [token, all] of Map.groupBy(told, ({ token }) => token)) {
    if (token.startsWith('many ')) continue
    const there = effects.get(token) ?? 0
    const done = all.filter(({ end }) => end === 'done').length
    const unknown = all.filter(({ end }) => end === 'unknown').length
    // A deletion of many whose answer was lost may have been any of them.
    const lost = token.startsWith('delete ') ? lostDeletions(told) : 0
    assert.ok(there >= done, `${of}: ${token} was acknowledged ${done} times and is there ${there} times`)
    assert.ok(
      there <= done + Math.max(unknown, lost),
      `${of}: ${token} is there ${there} times, ${JSON.stringify(all)}`,
    )
  }
  for (const { token, end, answer, tookMs } of told) {
    assert.ok(tookMs <= maxAnswerMs, `${of}: ${token} waited ${tookMs} ms`)
    if (!token.startsWith('many ')) continue
    const value = `start>${token.slice('many '.length)}`
    const made = log.filter(({ change }) => change.kind === 'update' && change.cells[0]?.value === value)
    assert.ok(
      new Set(made.map(({ fence }) => fence)).size <= 1,
      `${of}: ${token} was done in parts, or twice`,
    )
    if (end === 'done' && answer?.kind === 'many_updated')
      assert.equal(made.length, answer.rowNumbers.length, of)
    if (end === 'refused' || end === 'failed') assert.equal(made.length, 0, `${of}: ${token}`)
  }
}

function lostDeletions(told: Played['told']): number {
  return told.filter(({ kind, end }) => kind.startsWith('delete') && end === 'unknown').length
}
