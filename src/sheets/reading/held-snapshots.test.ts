import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Observation } from '../../reporting/observe.ts'
import { buildSnapshot } from '../rows/build-snapshot.ts'
import { createHeldSnapshots, type HeldSnapshot } from './held-snapshots.ts'

const kilobyte = 1_024

test('what was longest unused goes first, with all that was made of it', () => {
  const { held, hold, names, told } = start(10 * kilobyte)
  const [one, two] = [hold('one', 1), hold('two', 2)]
  one.bodies.keep('zstd', [new Uint8Array(2 * kilobyte)])
  assert.deepEqual(told(), { sheets: 2, bytes: 8 * kilobyte, bodyBytes: 2 * kilobyte })
  one.lastUsedMs = 3
  hold('three', 4)
  assert.deepEqual(names(), ['one', 'three'])
  assert.equal(held.get('one')?.bodies.get('zstd')?.[0]?.byteLength, 2 * kilobyte)
  two.bodies.keep('zstd', [new Uint8Array(kilobyte)])
  assert.deepEqual(
    told(),
    { sheets: 2, bytes: 8 * kilobyte, bodyBytes: 2 * kilobyte },
    'what is gone costs nothing',
  )
})

test('a body that finds no room is not kept; others make room for it before', () => {
  const { hold, names, told } = start(10 * kilobyte)
  hold('one', 1)
  const two = hold('two', 2)
  two.bodies.keep('gzip', [new Uint8Array(5 * kilobyte)])
  assert.deepEqual(names(), ['two'], 'a sheet that is asked for is worth more than one that is not')
  two.bodies.keep('br', [new Uint8Array(5 * kilobyte)])
  assert.equal(two.bodies.get('br'), undefined)
  assert.deepEqual(told(), { sheets: 1, bytes: 4 * kilobyte, bodyBytes: 5 * kilobyte })
})

test('bodies pass on to a snapshot that shows the same, and are counted once', () => {
  const { held, hold, told } = start(100 * kilobyte)
  const one = hold('one', 1)
  one.bodies.keep('zstd', [new Uint8Array(kilobyte)])
  held.hold('one', { ...one, checkedAtMs: 5 })
  assert.deepEqual(told(), { sheets: 1, bytes: 4 * kilobyte, bodyBytes: kilobyte })
  held.hold('one', { ...one, bodies: held.newBodies() })
  assert.deepEqual(told(), { sheets: 1, bytes: 4 * kilobyte, bodyBytes: 0 })
})

test('of many bodies of one snapshot those in use stay', () => {
  const { hold, told } = start(1_000 * kilobyte)
  const { bodies } = hold('one', 1)
  bodies.keep('popular', [new Uint8Array(10)])
  for (let n = 0; n < 500; n++) {
    bodies.keep(`query ${n}`, [new Uint8Array(10)])
    assert.ok(bodies.get('popular'))
  }
  assert.equal(bodies.get('query 0'), undefined)
  assert.equal(told().bodyBytes, 1_000)
  assert.equal(bodies.bytes, 1_000)
})

test('the only snapshot stays, whatever its size', () => {
  const { hold, names } = start(10)
  hold('one', 1)
  assert.deepEqual(names(), ['one'])
  hold('two', 2)
  assert.deepEqual(names(), ['two'])
})

test('indexes count from when they are there, and drive out what was longest unused', () => {
  const { hold, held, names, told } = start(10 * kilobyte)
  const one = hold('one', 1, false)
  const two = hold('two', 2, false)
  assert.equal(told().bytes, 8 * kilobyte)
  const indexed = { ...buildSnapshot({ rows: [['a'], [1]] }), sizeInBytes: 6 * kilobyte }
  held.addIndexes('two', two, indexed)
  assert.deepEqual(told(), { sheets: 2, bytes: 10 * kilobyte, bodyBytes: 0 })
  held.addIndexes('one', one, indexed)
  assert.deepEqual(names(), ['one'])
  assert.deepEqual(told(), { sheets: 1, bytes: 6 * kilobyte, bodyBytes: 0 })
})

test('what became of a copy whose place another has taken changes nothing', () => {
  const { hold, held, names, told } = start(10 * kilobyte)
  const former = hold('one', 1, false)
  const present = hold('one', 2)
  held.addIndexes('one', former, { ...buildSnapshot({ rows: [['a'], [1]] }), sizeInBytes: 9 * kilobyte })
  held.drop('one', former)
  assert.deepEqual(told(), { sheets: 1, bytes: 4 * kilobyte, bodyBytes: 0 })
  held.drop('one', present)
  assert.deepEqual(names(), [])
  assert.deepEqual(told(), { sheets: 0, bytes: 0, bodyBytes: 0 })
})

test('who holds more than a share loses first, and one within its share keeps what it has', () => {
  const { holdFor, names, usedUp } = start(40 * kilobyte, 10 * kilobyte)
  holdFor('victim', 'v one', 1)
  holdFor('victim', 'v two', 2)
  for (let n = 1; n <= 30; n++) {
    holdFor('greedy', `g ${n}`, 10 + n)
    assert.ok(names().includes('v one') && names().includes('v two'), names().join())
    assert.ok(names().includes(`g ${n}`))
  }
  assert.equal(names().length, 10, 'what nobody else needs is used')
  assert.deepEqual(usedUp(), Array(22).fill('greedy'))
  for (const [n, small] of ['a', 'b', 'c', 'd'].entries()) holdFor(small, `${small} one`, 100 + n)
  assert.deepEqual(names(), [
    'v one',
    'v two',
    'g 27',
    'g 28',
    'g 29',
    'g 30',
    'a one',
    'b one',
    'c one',
    'd one',
  ])
})

test('where nobody holds more than a share, what was longest unused goes, whoever has it', () => {
  const { holdFor, names, usedUp } = start(16 * kilobyte, 10 * kilobyte)
  for (const [n, account] of ['a', 'b', 'c', 'd', 'e', 'f'].entries()) holdFor(account, `${account} one`, n)
  assert.deepEqual(names(), ['c one', 'd one', 'e one', 'f one'])
  assert.deepEqual(usedUp(), [])
})

test('one that alone is larger than a share is not kept where others would have to go for it', () => {
  const { holdFor, names, told, usedUp } = start(40 * kilobyte, 10 * kilobyte)
  const large = holdFor('large', 'large', 1, 20 * kilobyte)
  assert.deepEqual(names(), ['large'], 'there is room')
  for (let n = 0; n < 8; n++) holdFor(`small ${n % 4}`, `small ${n}`, 10 + n)
  assert.equal(names().length, 8)
  assert.ok(!names().includes('large'))
  holdFor('large', 'large', 20, 20 * kilobyte)
  assert.equal(names().length, 8)
  assert.ok(!names().includes('large'))
  assert.deepEqual(usedUp(), ['large', 'large'])
  large.bodies.keep('zstd', [new Uint8Array(kilobyte)])
  assert.deepEqual(told(), { sheets: 8, bytes: 32 * kilobyte, bodyBytes: 0 })
})

test('bodies count for the account: with them it is above its share, and loses them and no other does', () => {
  const { holdFor, names, told } = start(40 * kilobyte, 10 * kilobyte)
  for (let n = 0; n < 7; n++) holdFor(`small ${n % 4}`, `small ${n}`, n)
  const { bodies } = holdFor('greedy', 'greedy', 10)
  bodies.keep('gzip', [new Uint8Array(7 * kilobyte)])
  assert.equal(names().length, 8)
  bodies.keep('br', [new Uint8Array(7 * kilobyte)])
  assert.equal(bodies.get('br'), undefined)
  assert.deepEqual(told(), { sheets: 8, bytes: 32 * kilobyte, bodyBytes: 7 * kilobyte })
  holdFor('small 3', 'small 7', 11)
  assert.equal(names().length, 8)
  assert.ok(!names().includes('greedy'))
})

test('rows that are about to be read take room before they are there, and until they are held', () => {
  const { held, hold, names } = start(12 * kilobyte)
  for (let n = 0; n < 3; n++) hold(`s${n}`, n)
  const expected = held.expect('next', 'acc', 4 * kilobyte)
  assert.deepEqual(names(), ['s1', 's2'])
  hold('another', 5)
  assert.deepEqual(names(), ['s2', 'another'], 'there are two of them, and what is being read')
  expected.end()
  expected.end()
  hold('next', 6)
  assert.deepEqual(names(), ['s2', 'another', 'next'])
})

test('rows that an account with more than its share is about to read drive out nobody else', () => {
  const { held, holdFor, names } = start(40 * kilobyte, 10 * kilobyte)
  for (let n = 0; n < 7; n++) holdFor(`small ${n}`, `small ${n}`, n)
  holdFor('greedy', 'greedy', 10)
  const expected = held.expect('next', 'greedy', 100 * kilobyte)
  assert.equal(names().length, 7)
  assert.ok(!names().includes('greedy'))
  expected.end()
  holdFor('small 7', 'small 7', 11)
  assert.equal(names().length, 8)
})

test('what was dropped is given back when it is much, and rows that stay the same are not dropped', () => {
  const { held, hold, givenBack } = start(32 * kilobyte)
  const read = hold('s', 0)
  for (let n = 0; n < 20; n++) held.hold('s', { ...read, checkedAtMs: n })
  assert.equal(givenBack(), 0)
  hold('s', 1)
  assert.equal(givenBack(), 0, 'four kilobytes of thirty-two')
  hold('s', 2)
  assert.equal(givenBack(), 1)
  for (let n = 0; n < 12; n++) hold(`s${n}`, n)
  assert.equal(givenBack(), 3)
})

/** Without a share for accounts, one account has it all. */
function start(maxBytes: number, maxAccountBytes = maxBytes) {
  const seen: Observation[] = []
  const observe = (observation: Observation) => void seen.push(observation)
  let givenBack = 0
  const collectDropped = () => void givenBack++
  const held = createHeldSnapshots({ maxBytes, maxAccountBytes, observe, collectDropped })
  const all = new Set<string>()
  const holdFor = (
    accountId: string,
    name: string,
    lastUsedMs: number,
    sizeInBytes = 4 * kilobyte,
    isIndexed = true,
  ): HeldSnapshot => {
    const snapshot = { ...buildSnapshot({ rows: [['a'], [1]] }), sizeInBytes }
    const place = { accountId, location: '', credentialId: null }
    const read: HeldSnapshot = {
      snapshot,
      indexed: isIndexed ? snapshot : new Promise(() => {}),
      version: '',
      writeSeq: 0,
      checkedAtMs: 0,
      asOfMs: 0,
      lastUsedMs,
      refreshAtMs: null,
      origin: { provider: {} as never, providerName: 'file', place },
      isWithdrawn: false,
      bodies: held.newBodies(),
      logged: null,
      promised: null,
    }
    held.hold(name, read)
    all.add(name)
    return read
  }
  return {
    held,
    holdFor,
    /** One of four kilobytes. */
    hold(name: string, lastUsedMs: number, isIndexed = true): HeldSnapshot {
      return holdFor('acc', name, lastUsedMs, 4 * kilobyte, isIndexed)
    },
    givenBack: () => givenBack,
    usedUp: () =>
      seen.flatMap((one) =>
        one.event === 'share_used_up' && one.share === 'snapshot_percent' ? one.accountId : [],
      ),
    names: () => [...all].filter((name) => held.get(name)),
    told() {
      const last = seen.findLast((each) => each.event === 'snapshots_held')
      assert.ok(last)
      const { sheets, bytes, bodyBytes } = last
      return { sheets, bytes, bodyBytes }
    },
  }
}
