import assert from 'node:assert/strict'
import { test } from 'node:test'
import { StoreUnwritable } from '../../errors.ts'
import type { Lease } from '../../store/leases/leases.ts'
import type { Timers } from '../../timers.ts'
import { createLaneLease } from './lane-lease.ts'
import { Closing, createPersistence } from './persistence.ts'

test('a lane is given back after its share of batches, and asked for again', async () => {
  const { lease, leases } = setUp()
  await lease.acquireLease()
  for (let batch = 0; batch < 3; batch++) await lease.pass()
  assert.deepEqual(leases.ended, [])
  await lease.pass()
  assert.equal(leases.ended.length, 1)
  assert.equal(lease.current, null)
  await lease.acquireLease()
  assert.equal(leases.taken, 2)
})

test('while another instance has it, it is asked for again and again', async () => {
  const { lease, leases, passMs } = setUp()
  leases.isFree = false
  let isOurs = false
  const taking = lease.acquireLease().then(() => {
    isOurs = true
  })
  await passMs(500)
  assert.equal(isOurs, false)
  assert.ok(leases.asked > 10)
  leases.isFree = true
  await passMs(30)
  await taking
  assert.ok(lease.current)
})

test('it is renewed while it is held, and known to be lost when it was not', async () => {
  const { lease, leases, passMs } = setUp()
  await lease.acquireLease()
  await passMs(3_500)
  assert.equal(leases.renewed, 3)
  leases.isLost = true
  await passMs(1_000)
  assert.equal(lease.current, null)
  await passMs(5_000)
  assert.equal(leases.renewed, 4, 'nobody renews what is not theirs')
})

test('a store that is away loses no lease: nobody else can take it either', async () => {
  const { lease, leases, passMs } = setUp()
  await lease.acquireLease()
  leases.isAway = true
  await passMs(3_000)
  assert.ok(lease.current)
  leases.isAway = false
  await passMs(1_500)
  assert.ok(lease.current)
  await lease.end()
  assert.equal(leases.ended.length, 1)
})

test('whoever waits for it hears that the server closes', async () => {
  const { lease, leases, persistence, passMs } = setUp()
  leases.isFree = false
  const taking = lease.acquireLease()
  await passMs(100)
  persistence.close()
  await assert.rejects(taking, Closing)
})

test('a store that takes no writes is told at once, not waited for', async () => {
  const { lease, leases } = setUp()
  leases.isFull = true
  await assert.rejects(lease.acquireLease(), StoreUnwritable)
  leases.isFull = false
  await lease.acquireLease()
  assert.ok(lease.current)
  await lease.end()
})

function setUp() {
  const timers = createMovableTimers()
  const persistence = createPersistence(timers)
  const leases = {
    isFree: true,
    isLost: false,
    isAway: false,
    isFull: false,
    asked: 0,
    taken: 0,
    renewed: 0,
    ended: [] as Lease[],
    async takeLease(name: string): Promise<Lease | null> {
      leases.asked++
      if (leases.isFull) throw new Error('SQLite refused')
      return leases.isFree ? { name, fencingToken: ++leases.taken } : null
    },
    async renewLease(): Promise<boolean> {
      leases.renewed++
      if (leases.isAway) throw new Error('away')
      return !leases.isLost
    },
    async endLease(lease: Lease): Promise<void> {
      leases.ended.push(lease)
    },
    async ping() {
      if (leases.isFull) throw new StoreUnwritable('the disk is full')
    },
  }
  const lease = createLaneLease('file:/stock.csv', { store: leases, persistence, timers })
  return { lease, leases, persistence, passMs: timers.passMs }
}

function createMovableTimers(): Timers & { passMs(ms: number): Promise<void> } {
  let nowMs = 0
  let waiting: { atMs: number; work: () => void }[] = []
  return {
    after(delayMs, work) {
      const entry = { atMs: nowMs + delayMs, work }
      waiting.push(entry)
      return () => {
        waiting = waiting.filter((other) => other !== entry)
      }
    },
    async passMs(ms) {
      const untilMs = nowMs + ms
      for (;;) {
        await new Promise((resolve) => setImmediate(resolve))
        const next = waiting.toSorted((one, other) => one.atMs - other.atMs)[0]
        if (!next || next.atMs > untilMs) break
        nowMs = next.atMs
        waiting = waiting.filter((other) => other !== next)
        next.work()
      }
      nowMs = untilMs
    },
  }
}
