import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import type { ServerResponse } from 'node:http'
import { test } from 'node:test'
import { processorMs } from '../../test/processor-time.ts'
import type { Observation } from '../reporting/observe.ts'
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
