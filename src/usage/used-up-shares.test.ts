import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createMovableClock } from '../clock.ts'
import type { ShareName } from '../shares/shares.ts'
import { createUsedUpShares } from './used-up-shares.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs

function start(mostOfAll?: number) {
  const clock = createMovableClock(Date.UTC(2026, 10, 15, 9, 30))
  const usedUp = createUsedUpShares(clock, mostOfAll)
  const use = (accountId: string | null, share: ShareName) =>
    usedUp.observe({ event: 'share_used_up', share, accountId })
  const timesOf = (accountId: string) => usedUp.of(accountId).map(({ share, times }) => [share, times])
  return { clock, usedUp, use, timesOf }
}

test('of each account it is known what was used up, how often, and when last; the latest first', () => {
  const { clock, usedUp, use } = start()
  for (let n = 0; n < 3; n++) use('acme', 'queries_waiting')
  clock.advanceMs(5 * minuteMs)
  use('acme', 'sessions')
  use('other', 'sheets')
  clock.advanceMs(minuteMs)
  assert.deepEqual(usedUp.of('acme'), [
    { share: 'sessions', times: 1, agoMs: minuteMs },
    { share: 'queries_waiting', times: 3, agoMs: 6 * minuteMs },
  ])
  assert.deepEqual(usedUp.of('nobody'), [])
  assert.equal(usedUp.seenForMs(), 6 * minuteMs)
})

test('it is counted for a day, and looking changes nothing', () => {
  const { clock, usedUp, use, timesOf } = start()
  const used: number[] = []
  for (let hour = 0; hour < 60; hour++) {
    const times = (hour * 7) % 4
    for (let n = 0; n < times; n++) use('acme', 'snapshot_percent')
    used.push(times)
    const inDay = used.slice(-24).reduce((sum, each) => sum + each)
    const expected = inDay === 0 ? [] : [['snapshot_percent', inDay]]
    for (let look = 0; look < 2; look++) assert.deepEqual(timesOf('acme'), expected, `hour ${hour}`)
    clock.advanceMs(hourMs)
  }
  assert.equal(usedUp.seenForMs(), 24 * hourMs)
  clock.advanceMs(100 * hourMs)
  assert.deepEqual(timesOf('acme'), [])
  use('acme', 'snapshot_percent')
  assert.deepEqual(timesOf('acme'), [['snapshot_percent', 1]])
})

test('what is nobody’s, or only waits, takes nobody’s place', () => {
  const { use, timesOf, usedUp } = start(1)
  use('acme', 'sheets')
  use(null, 'connections')
  usedUp.observe({ event: 'turn_waited', share: 'editing_at_once', waitedMs: 5 })
  use('acme', 'editing_at_once')
  assert.deepEqual(timesOf('acme'), [['sheets', 1]])
})

test('however many accounts there are, no more is kept than may be; the longest ago goes', () => {
  const { clock, use, timesOf } = start(100)
  use('first', 'sheets')
  use('second', 'sheets')
  clock.advanceMs(minuteMs)
  use('first', 'sheets')
  for (let n = 0; n < 99; n++) use(`account ${n}`, 'sheets')
  assert.deepEqual(timesOf('second'), [])
  assert.deepEqual(timesOf('first'), [['sheets', 2]])
  use('one more', 'sheets')
  assert.deepEqual(timesOf('first'), [])
})
