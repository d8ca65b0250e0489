import assert from 'node:assert/strict'
import { test } from 'node:test'
import { endPlace, type RationBook, rationOf, takePlace } from './ration-book.ts'
import { rationBookForm } from './ration-book-form.ts'

const { empty, encode, decode } = rationBookForm
const owner = 'owner'
const nowMs = 1_000_000
const heldMs = 60_000

test('the book travels whole', () => {
  const book = bookWith({ running: ['a', 'c'], ended: ['b'] })
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
