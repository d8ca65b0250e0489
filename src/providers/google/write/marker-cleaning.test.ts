import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createMovableClock } from '../../../clock.ts'
import { createGoogleTime } from '../client/google-time.ts'
import { journalTagOf, newMarker, readFoundMarker } from './marker.ts'
import { createMarkerCleaning } from './marker-cleaning.ts'

const sheet = 'a spreadsheet'
const minuteMs = 60_000
const dayMs = 24 * 60 * minuteMs
const [ours, theirs] = [journalTagOf('ours'), journalTagOf('theirs')]

test('its own are counted by how long it has known them, whatever the wall clock does', () => {
  const { cleaning, clock } = start()
  cleaning.noteNew(sheet, newMarker(ours, null))
  for (const stepMs of [dayMs, -2 * dayMs, 60 * minuteMs]) {
    clock.stepMs(stepMs)
    assert.deepEqual(cleaning.due(sheet), [])
  }
  clock.advanceMs(9.9 * minuteMs)
  assert.equal(cleaning.due(sheet).length, 0)
  clock.advanceMs(0.2 * minuteMs)
  assert.equal(cleaning.due(sheet).length, 1)
})

for (const [whose, tag, isVoid, minutes] of [
  ['our servers', ours, false, 12],
  ['our servers, of a batch that was not done', ours, true, 12],
  ['others, of a batch that was not done', theirs, true, 12],
  ['others, who may still ask for it', theirs, false, 25 * 60],
] as const) {
  test(`those of ${whose} go by Google's clock, however short a process lives and whatever its own clock says`, () => {
    const made = newMarker(tag, googleStartMs)
    for (const wallMs of [-2 * dayMs, 0, 2 * dayMs]) {
      const found = { id: made.id, metadataValue: made.text + (isVoid ? '!' : '') }
      // A process that has just started.
      const young = start(wallMs, googleStartMs + (minutes - 1) * minuteMs)
      young.find(found)
      assert.deepEqual(young.cleaning.due(sheet), [], `${wallMs}`)
      const old = start(wallMs, googleStartMs + (minutes + 2) * minuteMs)
      old.find(found)
      assert.deepEqual(old.cleaning.due(sheet), [made.id], `${wallMs}`)
    }
  })
}

test('where the text does not tell the time, or Google has not told it, they are kept from when they were found', () => {
  for (const [text, googleMs] of [
    [newMarker(ours, null).text, googleStartMs],
    [newMarker(ours, 1).text, null],
    ['zzzzzz-0123456789', googleStartMs],
  ] as const) {
    const { cleaning, clock, find } = start(0, googleMs)
    find({ id: 7, metadataValue: text })
    clock.advanceMs(11 * minuteMs)
    find({ id: 7, metadataValue: text })
    assert.deepEqual(cleaning.due(sheet), [])
    clock.advanceMs(2 * minuteMs)
    assert.deepEqual(cleaning.due(sheet), [7])
  }
})

test("before Google's room for metadata is used up, those of others are kept no longer than ours", () => {
  const { cleaning, find } = start(0, googleStartMs + 15 * minuteMs)
  const texts = Array.from({ length: 701 }, () => newMarker(theirs, googleStartMs).text)
  find(...texts.map((metadataValue, at) => ({ id: at + 1, metadataValue })))
  assert.equal(cleaning.due(sheet).length, 100, 'a hundred with each batch')
})

test('what is not of our making is left alone', () => {
  for (const metadataValue of ['theirs', '', `${newMarker(ours, 1).text}?`]) {
    assert.equal(readFoundMarker({ metadataId: 1, metadataKey: 'rowport', metadataValue }), null)
  }
  const { text } = newMarker(ours, 1)
  assert.equal(readFoundMarker({ metadataId: 1, metadataKey: 'other', metadataValue: text }), null)
})

test('others are looked for every five minutes, and again at once where that failed', () => {
  const { cleaning, clock } = start()
  assert.deepEqual([cleaning.mustSearch(sheet), cleaning.mustSearch(sheet)], [true, false])
  cleaning.searchAgain(sheet)
  assert.deepEqual([cleaning.mustSearch(sheet), cleaning.mustSearch(sheet)], [true, false])
  clock.advanceMs(5 * minuteMs)
  assert.equal(cleaning.mustSearch(sheet), true)
})

const googleStartMs = Date.UTC(2026, 10, 15)

/** A process with a wall clock of its own, which has heard Google's time in one answer, or has not. */
function start(wallAheadMs = 0, googleMs: number | null = googleStartMs) {
  const elapsed = createMovableClock(0)
  let aheadMs = wallAheadMs
  const clock = {
    nowMs: () => googleStartMs + elapsed.nowMs() + aheadMs,
    elapsedMs: elapsed.elapsedMs,
    advanceMs: elapsed.advanceMs,
    stepMs(byMs: number) {
      aheadMs += byMs
    },
  }
  const time = createGoogleTime(clock)
  if (googleMs !== null) time.hear(new Date(googleMs).toUTCString(), clock.elapsedMs())
  const cleaning = createMarkerCleaning({ clock, time, journalTag: ours })
  return {
    cleaning,
    clock,
    find(...all: { id: number; metadataValue: string }[]) {
      const found = all.flatMap(
        ({ id, metadataValue }) =>
          readFoundMarker({ metadataId: id, metadataKey: 'rowport', metadataValue }) ?? [],
      )
      cleaning.noteFound(sheet, found)
    },
  }
}
