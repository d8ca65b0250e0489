import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createMovableClock } from '../../../clock.ts'
import type { TabPlace } from '../../../sheets/provider.ts'
import type { Timers } from '../../../timers.ts'
import type { TabView } from '../read/tab-view.ts'
import { createRowLooks, trustLookMs } from './row-looks.ts'

const ranges = [{ from: 1, to: 1 }]

test('a look is found for as long as it is trusted, and let go of after that, though no other comes', async () => {
  const { looks, waiting, pass } = start()
  const seen = viewOfOneRow()
  const former = new WeakRef(seen.view)
  const version = looks.keep(placeOf('one'), { view: seen.take(), ranges, seenAtMs: 0 })
  pass(trustLookMs)
  assert.equal(looks.find(placeOf('one'), version, ranges)?.rowCount, 1)
  pass(trustLookMs)
  assert.equal(looks.find(placeOf('one'), version, ranges), null)
  await new Promise(setImmediate)
  collectAll()
  assert.equal(former.deref(), undefined)
  assert.equal(waiting.length, 0, 'nothing waits when nothing is kept')
})

test('what was kept since stays', () => {
  const { looks, pass } = start()
  looks.keep(placeOf('one'), { view: viewOfOneRow().take(), ranges, seenAtMs: 0 })
  pass(trustLookMs)
  const version = looks.keep(placeOf('two'), { view: viewOfOneRow().take(), ranges, seenAtMs: trustLookMs })
  pass(trustLookMs)
  assert.equal(looks.find(placeOf('two'), version, ranges)?.rowCount, 1)
})

function start() {
  const clock = createMovableClock(0)
  const waiting: { atMs: number; work: () => void }[] = []
  const timers: Timers = {
    after(delayMs, work) {
      waiting.push({ atMs: clock.elapsedMs() + delayMs, work })
      return () => {}
    },
  }
  return {
    looks: createRowLooks(clock, timers),
    waiting,
    pass(byMs: number) {
      clock.advanceMs(byMs)
      for (const { work } of waiting.splice(0)) work()
    },
  }
}

/** Held by nobody else once it is taken. */
function viewOfOneRow() {
  let view: TabView | null = { title: 't', rowCount: 1, columnCount: 1, frozenRowCount: 0, row: () => [] }
  return {
    get view() {
      assert.ok(view)
      return view
    },
    take() {
      const taken = this.view
      view = null
      return taken
    },
  }
}

function placeOf(location: string): TabPlace {
  return { location, credentialId: 'credential' } as TabPlace
}

function collectAll(): void {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  collect()
}
