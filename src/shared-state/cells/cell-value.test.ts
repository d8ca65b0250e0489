import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createMemoryCells, type MemoryCells } from '../../../test/cluster/memory-cells.ts'
import { createVirtualTime } from '../../../test/google/virtual-time.ts'
import { createCellValue, lookEveryMs, settledWithinMs } from './cell-value.ts'
import type { SharedCells } from './shared-cells.ts'
import { type Names, namesForm } from './shared-value.contract.ts'
import type { SharedValue, ValueForm } from './shared-value.ts'

/** Names, each with when it was written. */
type Log = { name: string; atMs: number }[]

const logForm: ValueForm<Log> = {
  version: 1,
  empty: () => [],
  encode: (log) => JSON.stringify(log),
  decode: (text) => JSON.parse(text) as Log,
  isIdle: (log) => log.length === 0,
  merge(into, known, shiftMs) {
    const missing = known.filter(({ name }) => !into.some((entry) => entry.name === name))
    into.push(...missing.map(({ name, atMs }) => ({ name, atMs: atMs + shiftMs })))
  },
}

test('a change costs one question when nobody came between, and two when somebody did', async (t) => {
  const { cells, instances } = setUp(t, 2)
  const [one, two] = instances
  assert.ok(one && two)
  await write(one, 'first')
  cells.asked = 0
  for (const name of ['a', 'b', 'c']) await write(one, name)
  assert.equal(cells.asked, 3)
  await write(two, 'd')
  cells.asked = 0
  await write(one, 'e')
  assert.equal(cells.asked, 2)
})

for (const [how, lose] of [
  ['is lost', (cells: MemoryCells) => cells.loseAll()],
  ['is set back to a former day', (cells: MemoryCells) => cells.setBack()],
] as const) {
  test(`what ${how} is brought back by all who know of it, though none of them changes anything`, async (t) => {
    const { cells, instances, time } = setUp(t, 3)
    const [one, two, three] = instances
    assert.ok(one && two && three)
    await write(one, 'first')
    cells.copy()
    await write(two, 'second')
    await write(three, 'third')
    await write(one, 'fourth')
    lose(cells)
    await time.pass(settledWithinMs)
    const newcomer = createCellValue({ name: 'a', form: namesForm, cells, clock: time.clock })
    await newcomer.change(() => null)
    assert.deepEqual(newcomer.known().value.toSorted(), ['first', 'fourth', 'second', 'third'])
    cells.asked = 0
    await time.pass(10 * lookEveryMs)
    assert.equal(cells.asked, 30, 'then all is quiet again: each looks now and then, and writes nothing')
    newcomer.close()
  })
}

test('what moves to a place with another clock keeps its age', async (t) => {
  const time = createVirtualTime()
  const places = [createMemoryCells(time.clock), createMemoryCells(time.clock, -5_000_000)]
  let at = 0
  const cells: SharedCells = {
    look: async (name) => (places[at] as MemoryCells).look(name),
    swap: async (...given) => (places[at] as MemoryCells).swap(...given),
  }
  const value = createCellValue({
    name: 'a',
    form: logForm,
    cells,
    clock: time.clock,
    after: time.timers.after,
  })
  t.after(() => value.close())
  await value.change((log, atMs) => log.push({ name: 'first', atMs }))
  await time.pass(7_000)
  at = 1
  await time.pass(lookEveryMs)
  const { value: log, nowMs } = value.known()
  const ageMs = nowMs - (log[0]?.atMs ?? 0)
  assert.ok(Math.abs(ageMs - 7_000 - lookEveryMs) < 5, `${ageMs} ms old`)
  assert.ok(nowMs < time.clock.nowMs() - 4_000_000, 'by the other clock')
})

test('one that nobody needs any more is not looked after', async (t) => {
  const { cells, instances, time } = setUp(t, 1)
  const [one] = instances
  assert.ok(one)
  await write(one, 'first')
  await one.change((names) => names.splice(0))
  cells.asked = 0
  await time.pass(60_000)
  assert.equal(cells.asked, 0)
})

test('a change that could not be written is told, and the next one can be', async (t) => {
  const { cells, instances } = setUp(t, 1)
  const [one] = instances
  assert.ok(one)
  const { swap } = cells
  cells.swap = async () => {
    throw new Error('away')
  }
  await assert.rejects(write(one, 'lost'), /away/)
  cells.swap = swap
  await write(one, 'kept')
  assert.deepEqual(one.known().value, ['kept'])
})

test('a change that was kept though its answer was lost does not count twice when it is repeated', async (t) => {
  const { cells, instances, time } = setUp(t, 2)
  const [one, two] = instances
  assert.ok(one && two)
  await write(one, 'first')
  loseNextAnswer(cells)
  await assert.rejects(write(one, 'second'), /lost/)
  await write(one, 'second')
  assert.deepEqual(one.known().value, ['first', 'second'])

  loseNextAnswer(cells)
  await assert.rejects(write(one, 'third'), /lost/)
  await time.pass(2 * lookEveryMs)
  await write(one, 'third')
  await write(two, 'fourth')
  assert.deepEqual(two.known().value, ['first', 'second', 'third', 'fourth'])
})

test('a change that arrives twice, because it was sent again on its way, counts once', async (t) => {
  const { cells, instances } = setUp(t, 1)
  const [one] = instances
  assert.ok(one)
  await write(one, 'first')
  const { swap } = cells
  cells.swap = async (...given) => {
    cells.swap = swap
    await swap(...given)
    return swap(...given)
  }
  await write(one, 'second')
  assert.deepEqual(one.known().value, ['first', 'second'])
})

for (const [whose, versionOf] of [
  ['of the same line', (version: string) => `${version.split(' ')[0]} 99 other`],
  ['of another line', () => 'other 1 other'],
] as const) {
  test(`text ${whose} that cannot be read counts as lost: it is replaced by what the instances know`, async (t) => {
    const { cells, instances, time } = setUp(t, 2)
    const [one, two] = instances
    assert.ok(one && two)
    await write(one, 'first')
    await write(two, 'second')
    const { version } = await cells.look(cellName)
    await cells.swap(cellName, version, { version: versionOf(String(version)), text: '<no JSON>' }, 60_000)
    await time.pass(settledWithinMs)
    const { text } = await cells.look(cellName)
    assert.deepEqual(JSON.parse(text).toSorted(), ['first', 'second'], 'though nobody changes anything')
    await write(one, 'third')
    await write(two, 'fourth')
    assert.deepEqual(two.known().value.toSorted(), ['first', 'fourth', 'second', 'third'])
  })
}

test('who meets text that cannot be read at first begins anew', async (t) => {
  const { cells, instances } = setUp(t, 1)
  const [one] = instances
  assert.ok(one)
  await cells.swap(cellName, null, { version: 'other 1 other', text: '<no JSON>' }, 60_000)
  await write(one, 'first')
  assert.deepEqual(one.known().value, ['first'])
  assert.equal((await cells.look(cellName)).text, '["first"]')
})

test('instances of another form have a value of their own, and neither reads what the other wrote', async (t) => {
  const { cells, instances, time } = setUp(t, 1)
  const [old] = instances
  assert.ok(old)
  const form = { ...namesForm, version: 2, decode: (text: string) => JSON.parse(text.slice(2)) as Names }
  const encode = (names: Names) => `2 ${JSON.stringify(names)}`
  const upgraded = createCellValue({ name: 'a', form: { ...form, encode }, cells, clock: time.clock })
  t.after(() => upgraded.close())
  await write(old, 'old')
  await write(upgraded, 'new')
  await time.pass(settledWithinMs)
  await write(old, 'older')
  await write(upgraded, 'newer')
  assert.deepEqual(old.known().value, ['old', 'older'])
  assert.deepEqual(upgraded.known().value, ['new', 'newer'])
})

test('those who come at once do not all come back at once', async () => {
  const time = createVirtualTime()
  const cells = createMemoryCells(time.clock)
  const { swap } = cells
  // Somebody is always quicker.
  cells.swap = async (name, knownVersion, next, keepMs) => {
    const { version } = await cells.look(name)
    await swap(name, version, { version: `line ${++others} other`, text: '["x"]' }, keepMs)
    return swap(name, knownVersion, next, keepMs)
  }
  let others = 0
  const pauses: number[] = []
  const value = createCellValue({
    name: 'a',
    form: namesForm,
    cells,
    clock: time.clock,
    random: () => 0.5,
    after(delayMs, work) {
      pauses.push(delayMs)
      queueMicrotask(work)
      return () => {}
    },
  })
  await assert.rejects(write(value, 'never'), /faster/)
  value.close()
  assert.deepEqual(pauses.slice(0, 3), [2, 2.5, 3])
})

/** As `setUp` names it, with the version of its form. */
const cellName = 'a v1'

function loseNextAnswer(cells: MemoryCells): void {
  const { swap } = cells
  cells.swap = async (...given) => {
    cells.swap = swap
    await swap(...given)
    throw new Error('lost')
  }
}

function setUp(t: TestContext, count: number) {
  const time = createVirtualTime()
  const cells = createMemoryCells(time.clock)
  const instances = Array.from({ length: count }, () =>
    createCellValue({ name: 'a', form: namesForm, cells, clock: time.clock, after: time.timers.after }),
  )
  t.after(() => {
    for (const instance of instances) instance.close()
  })
  return { time, cells, instances }
}

async function write(value: SharedValue<Names>, name: string): Promise<void> {
  await value.change((names) => names.push(name))
}
