import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { FleetingWindows, Opening, StandInWindows } from './fleeting-windows.ts'
import type { RateWindow, RateWindows } from './rate-windows.ts'

interface UnderTest<T> {
  windows: T
  passMs(ms: number): Promise<void>
}

const windowMs = 60_000
const limit = 3

/** What is special to windows that may be lost, wherever they are kept; the rest is in the contract of all rate windows. */
export function fleetingWindowsContract(
  kind: string,
  start: (t: TestContext) => Promise<UnderTest<FleetingWindows>>,
  skip: string | false,
): void {
  const of = (title: string, check: (underTest: UnderTest<FleetingWindows>) => Promise<void>) =>
    test(`${kind}: ${title}`, { skip }, async (t) => check(await start(t)))
  const taken = (windows: FleetingWindows, may: Opening['may'], underMs = 1) =>
    windows.takeFromWindow('a', limit, windowMs, { underMs, may })

  of('none is opened but as allowed; one that is open is counted in all the same', async ({ windows }) => {
    assert.deepEqual(await taken(windows, 'never'), { isOpen: false, countBefore: 0, endedAtMs: 0 })
    assert.equal(remainingOf(await taken(windows, 'alone')), 2)
    assert.equal(remainingOf(await taken(windows, 'never')), 1)
  })

  of('after another one a window opens only for who knows that one', async ({ windows, passMs }) => {
    await taken(windows, 'alone')
    await taken(windows, 'alone')
    await passMs(windowMs)
    const closed = await taken(windows, 'alone')
    assert.ok('isOpen' in closed)
    assert.equal(closed.countBefore, 2)
    const other = await taken(windows, { afterOneThatEndedAtMs: closed.endedAtMs - 1 })
    assert.ok('isOpen' in other)
    const opened = await taken(windows, { afterOneThatEndedAtMs: closed.endedAtMs })
    assert.equal(remainingOf(opened), 2)
    await passMs(2 * windowMs)
    assert.equal(remainingOf(await taken(windows, 'alone')), 2, 'a window later nobody asks for it any more')
  })

  of('one from before a loss is over, one from after it is left alone', async ({ windows }) => {
    await taken(windows, 'alone', 1)
    const closed = await taken(windows, 'alone', 2)
    assert.ok('isOpen' in closed)
    assert.equal(closed.countBefore, 1)
    assert.equal((await windows.readWindow('a', limit, windowMs, 2)).remaining, limit)
    const opened = await taken(windows, { afterOneThatEndedAtMs: closed.endedAtMs }, 2)
    assert.equal(remainingOf(opened), 2)
    const late = await taken(windows, { afterOneThatEndedAtMs: closed.endedAtMs }, 1)
    assert.ok('isOpen' in late)
    assert.equal(remainingOf(await taken(windows, 'never', 2)), 1)
  })
}

/** What is special to windows that stand in for others. */
export function standInWindowsContract(
  kind: string,
  start: (t: TestContext) => Promise<UnderTest<StandInWindows> & { nowMs(): Promise<number> }>,
  skip: string | false,
): void {
  test(`${kind}: they are taken from until a moment by their own clock, and from open ones after it`, {
    skip,
  }, async (t) => {
    const { windows, nowMs, passMs } = await start(t)
    const untilMs = (await nowMs()) + 10_000
    assert.equal(await windows.takeFromOpen('a', limit), null)
    assert.equal(await windows.countOfLast('a', windowMs), 0)
    for (let n = 0; n < 2; n++) await windows.takeFromWindow('a', limit, windowMs, untilMs)
    await passMs(10_000)
    // Where time cannot be moved its windows are, and what they are compared with.
    const laterMs = Math.min(untilMs, await nowMs())
    assert.equal(await windows.takeFromWindow('a', limit, windowMs, laterMs), null)
    assert.equal(await windows.takeFromWindow('b', limit, windowMs, laterMs), null)
    assert.equal((await windows.readWindow('b', limit, windowMs)).remaining, limit)
    assert.equal((await windows.takeFromOpen('a', limit))?.remaining, 0)
    assert.equal((await windows.takeFromOpen('a', limit))?.isAdmitted, false)
    assert.equal((await windows.takeFromOpen('a', limit))?.remaining, 0, 'what was refused is not counted')
    assert.equal(await windows.countOfLast('a', windowMs), 0, 'it is open')
    await passMs(windowMs - 10_000)
    assert.equal(await windows.takeFromOpen('a', limit), null)
    assert.equal(await windows.countOfLast('a', windowMs), limit)
    await passMs(windowMs)
    assert.equal(await windows.countOfLast('a', windowMs), 0)
  })
}

/** As all rate windows, for their contract: one opens after the other, and nothing is lost. */
export function asRateWindows(windows: FleetingWindows): RateWindows {
  return {
    async takeFromWindow(name, most, forMs) {
      let may: Opening['may'] = 'alone'
      for (;;) {
        const answer = await windows.takeFromWindow(name, most, forMs, { underMs: 1, may })
        if (!('isOpen' in answer)) return answer
        may = { afterOneThatEndedAtMs: answer.endedAtMs }
      }
    },
    readWindow: (name, most, forMs) => windows.readWindow(name, most, forMs, 1),
  }
}

function remainingOf(answer: Awaited<ReturnType<FleetingWindows['takeFromWindow']>>): number {
  assert.ok(!('isOpen' in answer), 'it is not open')
  return (answer satisfies RateWindow).remaining
}
