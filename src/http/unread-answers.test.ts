import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import type { ServerResponse } from 'node:http'
import { test } from 'node:test'
import { processorMs } from '../../test/processor-time.ts'
import type { Observation } from '../reporting/observe.ts'
import { visitorsOf } from '../shares/taker.ts'
import { createUnreadAnswers } from './unread-answers.ts'

const mebibyte = 1024 * 1024

test('what the slow readers of one account hold in memory has an end: the oldest are cut', () => {
  const { begin, seen } = start(10)
  const lists = Array.from({ length: 5 }, () => new Uint8Array(4 * mebibyte))
  const [first, second, third] = lists.map((list) => begin('greedy', list))
  const others = lists.map((list) => begin('other', list))
  assert.deepEqual(
    [first, second, third].map((response) => response?.destroyed),
    [true, true, false],
  )
  assert.equal(seen.length, 2 * 2)
  assert.equal(others.filter(({ destroyed }) => destroyed).length, 2, 'each account has its own share')
})

test('any number of readers of one list are one list, and who has read is forgotten', () => {
  const { begin } = start(10)
  const list = new Uint8Array(8 * mebibyte)
  const readers = Array.from({ length: 50 }, () => begin('acme', list))
  const next = begin('acme', new Uint8Array(8 * mebibyte))
  assert.ok(readers.every(({ destroyed }) => !destroyed))
  for (const reader of readers) reader.emit('close')
  const last = begin('acme', new Uint8Array(8 * mebibyte))
  assert.deepEqual([next.destroyed, last.destroyed], [false, false])
})

test('one list that is larger than the share is sent all the same', () => {
  const { begin } = start(1)
  const list = new Uint8Array(8 * mebibyte)
  assert.equal(begin('acme', list).destroyed, false)
  const small = begin('acme', new Uint8Array(1_000))
  assert.equal(small.destroyed, false)
  const twin = begin('acme', list)
  assert.deepEqual([small.destroyed, twin.destroyed], [false, false])
})

test('all accounts together have an end too: whoever holds most loses the oldest, and nobody the newest', () => {
  const { begin, seen } = start(10, 20)
  const list = () => new Uint8Array(4 * mebibyte)
  const greedy = [begin('greedy', list()), begin('greedy', list()), begin('greedy', list())]
  const small = begin('small', list())
  const other = [begin('other', list()), begin('other', list())]
  assert.deepEqual(
    [...greedy, small, ...other].map(({ destroyed }) => destroyed),
    [true, false, false, false, false, false],
  )
  assert.deepEqual(seen, [{ event: 'share_used_up', share: 'unread_total_percent', accountId: 'greedy' }])
  const large = begin('large', new Uint8Array(30 * mebibyte))
  assert.equal(large.destroyed, false, 'what begins is sent')
  large.emit('close')
  assert.equal(begin('small', list()).destroyed, false)
})

test('slow visitors lose theirs before anybody else of their account, and cost nobody else of it an answer', () => {
  const { begin } = start(10)
  const list = () => new Uint8Array(4 * mebibyte)
  const visitors = visitorsOf('acme')
  const own = [begin('acme', list()), begin('acme', list())]
  const slow = Array.from({ length: 5 }, () => begin(visitors, list()))
  assert.ok(own.every(({ destroyed }) => !destroyed))
  assert.deepEqual(
    slow.map(({ destroyed }) => destroyed),
    [true, true, true, true, false],
  )
  own.push(begin('acme', list()))
  assert.deepEqual([own[0]?.destroyed, slow[4]?.destroyed], [false, true])
  begin('acme', list())
  assert.equal(own[0]?.destroyed, true, 'of its own making')
})

test('where all together hold too much, a visitor’s answer gives way to those of its account, also as it begins', () => {
  const { begin } = start(100, 10)
  const own = begin('acme', new Uint8Array(8 * mebibyte))
  const visitor = begin(visitorsOf('acme'), new Uint8Array(4 * mebibyte))
  assert.deepEqual([own.destroyed, visitor.destroyed], [false, true])
})

test('where all together hold too much, a visitor’s answer costs nobody with a key theirs, of whatever account', () => {
  const { begin, seen } = start(100, 10)
  const list = (mebibytes: number) => new Uint8Array(mebibytes * mebibyte)
  const ofKeys = [begin('one', list(4)), begin('several', list(1)), begin('several', list(1))]
  const first = begin(visitorsOf('open'), list(3))
  const second = begin(visitorsOf('another'), list(3))
  assert.deepEqual([first.destroyed, second.destroyed], [true, false], 'another visitor’s goes')
  second.emit('close')
  ofKeys.push(begin('one', list(3)))
  const third = begin(visitorsOf('open'), list(3))
  assert.equal(third.destroyed, true, 'there is nothing else to cut')
  assert.ok(ofKeys.every(({ destroyed }) => !destroyed))
  assert.deepEqual(
    seen.map((observation) => 'accountId' in observation && observation.accountId),
    ['open', 'open'],
  )
})

test('a visitor’s answer that is alone is sent however long it is, and so is one of a list that others read', () => {
  const { begin } = start(100, 10)
  const alone = begin(visitorsOf('open'), new Uint8Array(30 * mebibyte))
  assert.equal(alone.destroyed, false)
  alone.emit('close')
  const list = new Uint8Array(30 * mebibyte)
  const readers = [begin('acme', list), begin(visitorsOf('acme'), list), begin('acme', list)]
  assert.ok(readers.every(({ destroyed }) => !destroyed))
})

test('another reader of a list in many pieces costs the same, however many read it already', async () => {
  const { begin } = start(10)
  const pieces = Array.from({ length: 1_000 }, () => new Uint8Array(64 * 1_024))
  const readers: FakeResponse[] = []
  const tookMs = await processorMs(() => {
    for (let n = 0; n < 500; n++) readers.push(begin('acme', pieces))
  })
  assert.ok(readers.every(({ destroyed }) => !destroyed))
  assert.ok(tookMs < 2_000, `${tookMs.toFixed(0)} ms for 500 readers`)
})

class FakeResponse extends EventEmitter {
  destroyed = false

  destroy(): this {
    this.destroyed = true
    this.emit('close')
    return this
  }
}

function start(maxMebibytes: number, maxTotalMebibytes = 1_000) {
  const seen: Observation[] = []
  const limits = { maxBytes: maxMebibytes * mebibyte, maxTotalBytes: maxTotalMebibytes * mebibyte }
  const unread = createUnreadAnswers(limits, (observation) => void seen.push(observation))
  return {
    seen,
    begin(accountId: string, list: Uint8Array | readonly Uint8Array[]): FakeResponse {
      const response = new FakeResponse()
      const holds = list instanceof Uint8Array ? [list] : list
      unread.begin(accountId, response as unknown as ServerResponse, holds)
      return response
    },
  }
}
