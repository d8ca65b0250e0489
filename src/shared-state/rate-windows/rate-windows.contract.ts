import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { RateWindows } from './rate-windows.ts'

/** Windows of the test's own, and a way to let their time pass. */
export interface RateWindowsUnderTest {
  windows: RateWindows
  nowMs(): Promise<number>
  passMs(ms: number): Promise<void>
}

const windowMs = 60_000
/** A clock that cannot be stopped goes on between two looks at it. */
const slackMs = 2_000

/** What rate windows must do, wherever they are kept. */
export function rateWindowsContract(
  kind: string,
  start: (t: TestContext) => Promise<RateWindowsUnderTest>,
  skip: string | false,
): void {
  const of = (title: string, check: (t: TestContext) => Promise<void>) =>
    test(`${kind}: ${title}`, { skip }, check)

  of('exactly the limit is admitted in a window, however many ask at once', async (t) => {
    const { windows } = await start(t)
    for (const limit of [1, 10, 600]) {
      const asked = Array.from({ length: limit * 4 }, () =>
        windows.takeFromWindow(`limit ${limit}`, limit, windowMs),
      )
      const answers = await Promise.all(asked)
      assert.equal(answers.filter(({ isAdmitted }) => isAdmitted).length, limit)
    }
  })

  of(
    'of all who ask at once, for many names and under several limits, each is told of its own window',
    async (t) => {
      const { windows } = await start(t)
      const names = Array.from({ length: 150 }, (_, at) => `name ${at}`)
      const ofOne = async (name: string, limit: number, times: number) => {
        const asked = Array.from({ length: times }, () => windows.takeFromWindow(name, limit, windowMs))
        return (await Promise.all(asked)).map(({ isAdmitted, remaining }) =>
          isAdmitted ? remaining : 'full',
        )
      }
      const [narrow = [], wide = [], ...others] = await Promise.all([
        ofOne('two limits', 3, 4),
        ofOne('two limits', 5, 4),
        ...names.map((name) => ofOne(name, 2, 3)),
      ])
      const passed = (told: readonly (number | string)[]) => told.filter((each) => each !== 'full').length
      assert.ok(passed(narrow) <= 3)
      assert.equal(passed(narrow) + passed(wide), 5 - Number(passed(wide) === 4 && passed(narrow) === 0))
      assert.deepEqual(
        others.map((told) => told.toSorted()),
        names.map(() => [0, 1, 'full']),
      )
    },
  )

  of('what is left counts down to 0, and the end stays the same for all', async (t) => {
    const { windows, nowMs, passMs } = await start(t)
    const begunMs = await nowMs()
    const first = await windows.takeFromWindow('a', 3, windowMs)
    assert.equal(first.isAdmitted, true)
    await passMs(1_000)
    const others = [
      await windows.takeFromWindow('a', 3, windowMs),
      await windows.takeFromWindow('a', 3, windowMs),
    ]
    const refused = await windows.takeFromWindow('a', 3, windowMs)
    assert.deepEqual(
      [first, ...others, refused].map(({ remaining }) => remaining),
      [2, 1, 0, 0],
    )
    assert.equal(refused.isAdmitted, false)
    assertAbout(first.resetAtMs, begunMs + windowMs)
    assert.equal(new Set([...others, refused].map(({ resetAtMs }) => resetAtMs)).size, 1)
    assertAbout(refused.resetAtMs - refused.nowMs, windowMs - 1_000)
  })

  of('a window opens with its first request and ends on time; waiting until then always helps', async (t) => {
    const { windows, passMs } = await start(t)
    await passMs(12_345)
    const { resetAtMs, nowMs } = await windows.takeFromWindow('a', 1, windowMs)
    assertAbout(resetAtMs, nowMs + windowMs)
    await passMs(windowMs - slackMs)
    const refused = await windows.takeFromWindow('a', 1, windowMs)
    assert.equal(refused.isAdmitted, false)
    await passMs(refused.resetAtMs - refused.nowMs)
    assert.equal((await windows.takeFromWindow('a', 1, windowMs)).isAdmitted, true)
  })

  of('a look counts nothing and opens nothing', async (t) => {
    const { windows, passMs } = await start(t)
    const { resetAtMs, nowMs, ...before } = await windows.readWindow('a', 2, windowMs)
    assert.deepEqual(before, { isAdmitted: true, remaining: 2 })
    assert.equal(resetAtMs, nowMs + windowMs)
    await passMs(5_000)
    const taken = await windows.takeFromWindow('a', 2, windowMs)
    assertAbout(taken.resetAtMs, taken.nowMs + windowMs)
    assert.equal((await windows.readWindow('a', 2, windowMs)).remaining, 1)
    assert.equal((await windows.readWindow('a', 2, windowMs)).remaining, 1)
    assert.equal((await windows.readWindow('a', 1, windowMs)).isAdmitted, false)
  })

  of('names do not know each other, and a limit that was lowered holds at once', async (t) => {
    const { windows } = await start(t)
    for (let n = 0; n < 5; n++) await windows.takeFromWindow('a', 10, windowMs)
    assert.equal((await windows.takeFromWindow('b', 1, windowMs)).isAdmitted, true)
    const { isAdmitted, remaining } = await windows.takeFromWindow('a', 3, windowMs)
    assert.deepEqual({ isAdmitted, remaining }, { isAdmitted: false, remaining: 0 })
    assert.equal(
      (await windows.takeFromWindow('a', 10, windowMs)).remaining,
      4,
      'what was refused is not counted',
    )
  })
}

function assertAbout(actualMs: number, expectedMs: number): void {
  assert.ok(Math.abs(actualMs - expectedMs) < slackMs, `${actualMs} is not about ${expectedMs}`)
}
