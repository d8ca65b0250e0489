import assert from 'node:assert/strict'
import { test } from 'node:test'
import { settledWithinMs } from '../../../shared-state/registers/register-value.ts'
import { endPlace, type RationBook, rationOf, takePlace } from './ration-book.ts'
import { rationBookForm } from './ration-book-form.ts'
import { runningMs } from './ration-window.ts'

const { empty, merge, encode, decode } = rationBookForm
const owner = 'owner'
const nowMs = 1_000_000
const heldMs = 60_000

test('the book travels whole', () => {
  const book = bookWith({ running: ['a'], ended: ['b'] })
  merge(book, bookWith({ running: ['c'] }), 0, nowMs)
  assert.deepEqual(decode(encode(book)), book)
})

test('a place that is taken or ended twice, because an answer was lost, is one place', () => {
  const book = bookWith({ running: ['a', 'a'] })
  assert.deepEqual(placesOf(book), { running: ['a'], ended: [] })
  endPlace(book, owner, 'a', { heldMs, nowMs })
  const once = encode(book)
  endPlace(book, owner, 'a', { heldMs, nowMs: nowMs + 1_000 })
  assert.deepEqual(placesOf(book), { running: [], ended: ['a'] })
  assert.equal(encode(book), once, 'and counts from its first end on')
  endPlace(book, owner, 'a', { heldMs: 0, nowMs })
  assert.deepEqual(placesOf(book), { running: [], ended: [] })
})

test('of two books that know the same place, one that knows its end is right', () => {
  for (const [into, known] of [
    [bookWith({ running: ['a'] }), bookWith({ ended: ['a'] })],
    [bookWith({ ended: ['a'] }), bookWith({ running: ['a'] })],
    [bookWith({ ended: ['a'] }), bookWith({ ended: ['a'] })],
  ] as const) {
    merge(into, known, 0, nowMs)
    assert.deepEqual(placesOf(into), { running: [], ended: ['a'] })
  }
  const into = bookWith({ running: ['a'] })
  merge(into, bookWith({ running: ['a', 'b'] }), 5_000, nowMs)
  assert.deepEqual(placesOf(into), { running: ['a', 'b'], ended: [] })
  assert.equal(rationOf(into, owner).running[1]?.freeAtMs, nowMs + runningMs + 5_000)
})

test('a book that was lost stays closed until all had time to bring what they know, whatever closed it before', () => {
  for (const [closedHereMs, closedThereMs] of [
    [0, 0],
    [400, 0],
    [0, 400],
    [400, 700],
  ] as const) {
    const [into, known] = [empty(), empty()]
    into.project.closedUntilMs = nowMs + closedHereMs
    known.project.closedUntilMs = nowMs + closedThereMs
    merge(into, known, 0, nowMs)
    assert.equal(into.project.closedUntilMs, nowMs + settledWithinMs)
  }
  const into = empty()
  const known = empty()
  known.project.closedUntilMs = nowMs + 30_000
  merge(into, known, 0, nowMs)
  assert.equal(into.project.closedUntilMs, nowMs + 30_000, 'what is closed for longer stays so')
})

test('those who bring theirs after the first do not close it anew; one that is lost again is closed again', () => {
  const into = empty()
  const known = bookWith({ ended: ['a'] })
  merge(into, known, 0, nowMs)
  for (const laterMs of [300, 600, 1_400]) merge(into, bookWith({ ended: ['b'] }), 0, nowMs + laterMs)
  assert.equal(into.project.closedUntilMs, nowMs + settledWithinMs)
  const second = empty()
  merge(second, into, 0, nowMs + 1_000)
  assert.equal(second.project.closedUntilMs, nowMs + 1_000 + settledWithinMs)
})

function bookWith({ running = [], ended = [] }: { running?: string[]; ended?: string[] }): RationBook {
  const book = empty()
  for (const id of running) takePlace(book, owner, id, nowMs)
  for (const id of ended) endPlace(book, owner, id, { heldMs, nowMs })
  return book
}

/** The same in the owner's ration and in the project's. */
function placesOf(book: RationBook): { running: string[]; ended: string[] } {
  const [own, all] = [rationOf(book, owner), book.project].map(({ running, ended }) => ({
    running: running.map(({ id }) => id),
    ended: ended.map(({ id }) => id),
  }))
  assert.ok(own)
  assert.deepEqual(all, own)
  return own
}
