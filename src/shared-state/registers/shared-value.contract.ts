import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { SharedValue, ValueForm } from './shared-value.ts'

/** A value for tests: names, in the order in which they were written. */
export type Names = string[]

export const namesForm: ValueForm<Names> = {
  version: 1,
  empty: () => [],
  encode: (names) => JSON.stringify(names),
  decode: (text) => JSON.parse(text) as Names,
  isIdle: (names) => names.length === 0,
}

/** The value of that name as several instances have it; of one process alone, the same one each time. */
export type StartValues = (t: TestContext, names: readonly string[]) => Promise<SharedValue<Names>[]>

/** What a shared value must do, wherever it is kept. */
export function sharedValueContract(kind: string, start: StartValues, skip: string | false): void {
  const of = (title: string, check: (t: TestContext) => Promise<void>) =>
    test(`${kind}: ${title}`, { skip }, check)

  of('each change stands on the one before, however many instances change it at once', async (t) => {
    const values = await start(t, ['a', 'a', 'a'])
    const changes = Array.from({ length: 30 }, async (_, n) => {
      const value = values[n % values.length]
      return value?.change((names) => names.push(String(n)))
    })
    const lengths = await Promise.all(changes)
    assert.deepEqual(
      lengths.map(Number).sort((one, other) => one - other),
      Array.from({ length: 30 }, (_, n) => n + 1),
    )
    const [one] = values
    await longerThanBelieved()
    await one?.change(() => null)
    assert.equal(new Set(one?.known().value).size, 30)
  })

  of('who leaves it alone has seen the newest, and nothing is written', async (t) => {
    const [one, two] = await start(t, ['a', 'a'])
    assert.ok(one && two)
    await one.change((names) => names.push('first'))
    await two.change(() => null)
    await one.change((names) => names.push('second'))
    await longerThanBelieved()
    let seen: Names = []
    const answer = await two.change((names) => {
      seen = [...names]
      return null
    })
    assert.equal(answer, null)
    assert.deepEqual(seen, ['first', 'second'])
    assert.deepEqual(two.known().value, ['first', 'second'])
  })

  of('its time is the same for all, and goes on', async (t) => {
    const [one, two] = await start(t, ['a', 'a'])
    assert.ok(one && two)
    const timeOf = async (value: SharedValue<Names>) => Number(await value.change((_, nowMs) => nowMs))
    const times = [await timeOf(one), await timeOf(two), await timeOf(one), await timeOf(two)]
    for (const [at, timeMs] of times.slice(1).entries()) {
      const beforeMs = times[at] ?? 0
      assert.ok(timeMs > beforeMs - 20 && timeMs < beforeMs + 2_000, `${times}`)
    }
    assert.ok(Math.abs(one.known().nowMs - two.known().nowMs) < 100)
  })

  of('names do not know each other', async (t) => {
    const [one, other] = await start(t, ['a', 'b'])
    assert.ok(one && other)
    await one.change((names) => names.push('first'))
    await other.change(() => null)
    assert.deepEqual(other.known().value, [])
  })
}

/** "Nothing to do" may be said of what was seen a moment ago. */
function longerThanBelieved(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 30))
}
