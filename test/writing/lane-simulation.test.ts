import assert from 'node:assert/strict'
import { test } from 'node:test'
import { times } from '../soak.ts'
import { maxAnswerMs, type Played, play } from './simulation/schedule.ts'

const histories = times(300, 5_000)

test('hundreds of histories with lost, late and refused writes: none is lost, none is doubled, order is kept', async () => {
  const sum = { writes: 0, done: 0, unknown: 0, refused: 0, failed: 0, batches: 0 }
  for (let seed = 1; seed <= histories; seed++) {
    const played = await play(seed, { clients: 4, writesEach: 2, crashes: 0, instances: 1 + (seed % 2) })
    check(played, `seed ${seed}`)
    assert.equal(played.undiscarded, 0, `seed ${seed}: something prepared was never cleared away`)
    add(sum, played)
  }
  process.stdout.write(`${histories} histories without a crash: ${JSON.stringify(sum)}\n`)
  assert.ok(sum.done > histories && sum.unknown > 0 && sum.refused > 0 && sum.failed > 0)
  assert.ok(sum.batches < sum.done, 'writes that wait together go together')
})

test('the same with servers that are killed again and again', async () => {
  const sum = { writes: 0, done: 0, unknown: 0, refused: 0, failed: 0, batches: 0 }
  let crashes = 0
  for (let seed = 1; seed <= histories; seed++) {
    const played = await play(1_000_000 + seed, {
      clients: 4,
      writesEach: 2,
      crashes: 3,
      instances: 1 + (seed % 2),
    })
    check(played, `seed ${1_000_000 + seed}`)
    crashes += played.crashes
    add(sum, played)
  }
  process.stdout.write(`${histories} histories with ${crashes} crashes: ${JSON.stringify(sum)}\n`)
})

/** Acknowledged: there once. Refused or failed: not there. Unknown: at most once. */
function check({ told, effects, log, leftOpen, wrongRows }: Played, of: string): void {
  assert.equal(leftOpen, 0, `${of}: the journal has something open`)
  assert.equal(wrongRows, 0, `${of}: another row was changed`)
  const perToken = Map.groupBy(told, ({ token }) => token)
  for (const [token, all] of perToken) {
    const times = effects.get(token) ?? 0
    const done = all.filter(({ end }) => end === 'done').length
    const unknown = all.filter(({ end }) => end === 'unknown').length
    assert.ok(times >= done, `${of}: ${token} was acknowledged ${done} times and is there ${times} times`)
    assert.ok(times <= done + unknown, `${of}: ${token} is there ${times} times, ${JSON.stringify(all)}`)
  }
  for (const { end, kind, answer, token, tookMs } of told) {
    assert.ok(tookMs <= maxAnswerMs, `${of}: ${token} waited ${tookMs} ms`)
    if (end !== 'done' || kind !== 'add' || answer?.kind !== 'added') continue
    const made = log.find(({ change }) => change.kind === 'add' && change.rows[0]?.[0] === token)
    assert.equal(made?.result.kind, 'add')
    assert.deepEqual(
      answer.rowNumbers,
      made?.result.kind === 'add' && made.result.rowNumbers,
      `${of}: ${token}`,
    )
  }
  const appliedAt = new Map(
    log.flatMap(({ change }, at) =>
      change.kind === 'add' ? [[String(change.rows[0]?.[0]), at] as const] : [],
    ),
  )
  const added = told.filter(
    ({ end, kind, acceptedAs }) => end === 'done' && kind === 'add' && acceptedAs >= 0,
  )
  for (const byOne of Map.groupBy(added, ({ acceptedBy }) => acceptedBy).values()) {
    const inOrder = byOne
      .toSorted((one, other) => one.acceptedAs - other.acceptedAs)
      .map(({ token }) => appliedAt.get(token) ?? -1)
    assert.deepEqual(
      inOrder,
      inOrder.toSorted((one, other) => one - other),
      `${of}: not in the order in which they were accepted`,
    )
  }
}

function add(sum: Record<string, number>, { told, log }: Played): void {
  sum.writes = (sum.writes ?? 0) + told.length
  for (const { end } of told) sum[end] = (sum[end] ?? 0) + 1
  sum.batches = (sum.batches ?? 0) + new Set(log.map(({ fence }) => fence)).size
}
