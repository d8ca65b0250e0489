import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createMemoryRegisters, type MemoryRegisters } from '../../../test/cluster/memory-registers.ts'
import { createVirtualTime } from '../../../test/google/virtual-time.ts'
import { createRegisterValue, lookEveryMs, settledWithinMs } from './register-value.ts'
import type { SharedRegisters } from './shared-registers.ts'
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
  const { registers, instances } = setUp(t, 2)
  const [one, two] = instances
  assert.ok(one && two)
  await write(one, 'first')
  registers.asked = 0
  for (const name of ['a', 'b', 'c']) await write(one, name)
  assert.equal(registers.asked, 3)
  await write(two, 'd')
  registers.asked = 0
  await write(one, 'e')
  assert.equal(registers.asked, 2)
})

for (const [how, lose] of [
  ['is lost', (registers: MemoryRegisters) => registers.loseAll()],
  ['is set back to a former day', (registers: MemoryRegisters) => registers.setBack()],
] as const) {
  test(`what ${how} is brought back by all who know of it, though none of them changes anything`, async (t) => {
    const { registers, instances, time } = setUp(t, 3)
    const [one, two, three] = instances
    assert.ok(one && two && three)
    await write(one, 'first')
    registers.copy()
    await write(two, 'second')
    await write(three, 'third')
    await write(one, 'fourth')
    lose(registers)
    await time.pass(settledWithinMs)
    const newcomer = createRegisterValue({ name: 'a', form: namesForm, registers, clock: time.clock })
    await newcomer.change(() => null)
    assert.deepEqual(newcomer.known().value.toSorted(), ['first', 'fourth', 'second', 'third'])
    registers.asked = 0
    await time.pass(10 * lookEveryMs)
    assert.equal(registers.asked, 30, 'then all is quiet again: each looks now and then, and writes nothing')
    newcomer.close()
  })
}

test('what moves to a place with another clock keeps its age', async (t) => {
  const time = createVirtualTime()
  const places = [createMemoryRegisters(time.clock), createMemoryRegisters(time.clock, -5_000_000)]
  let at = 0
  const registers: SharedRegisters = {
    readRegister: async (name) => (places[at] as MemoryRegisters).readRegister(name),
    swapRegister: async (...given) => (places[at] as MemoryRegisters).swapRegister(...given),
  }
  const value = createRegisterValue({
    name: 'a',
    form: logForm,
    registers,
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
  const { registers, instances, time } = setUp(t, 1)
  const [one] = instances
  assert.ok(one)
  await write(one, 'first')
  await one.change((names) => names.splice(0))
  registers.asked = 0
  await time.pass(60_000)
  assert.equal(registers.asked, 0)
})

test('a change that could not be written is told, and the next one can be', async (t) => {
  const { registers, instances } = setUp(t, 1)
  const [one] = instances
  assert.ok(one)
  const { swapRegister } = registers
  registers.swapRegister = async () => {
    throw new Error('away')
  }
  await assert.rejects(write(one, 'lost'), /away/)
  registers.swapRegister = swapRegister
  await write(one, 'kept')
  assert.deepEqual(one.known().value, ['kept'])
})

test('a change that was kept though its answer was lost does not count twice when it is repeated', async (t) => {
  const { registers, instances, time } = setUp(t, 2)
  const [one, two] = instances
  assert.ok(one && two)
  await write(one, 'first')
  loseNextAnswer(registers)
  await assert.rejects(write(one, 'second'), /lost/)
  await write(one, 'second')
  assert.deepEqual(one.known().value, ['first', 'second'])

  loseNextAnswer(registers)
  await assert.rejects(write(one, 'third'), /lost/)
  await time.pass(2 * lookEveryMs)
  await write(one, 'third')
  await write(two, 'fourth')
  assert.deepEqual(two.known().value, ['first', 'second', 'third', 'fourth'])
})

test('a change that arrives twice, because it was sent again on its way, counts once', async (t) => {
  const { registers, instances } = setUp(t, 1)
  const [one] = instances
  assert.ok(one)
  await write(one, 'first')
  const { swapRegister } = registers
  registers.swapRegister = async (...given) => {
    registers.swapRegister = swapRegister
    await swapRegister(...given)
    return swapRegister(...given)
  }
  await write(one, 'second')
  assert.deepEqual(one.known().value, ['first', 'second'])
})

for (const [whose, versionOf] of [
  ['of the same line', (version: string) => `${version.split(' ')[0]} 99 other`],
  ['of another line', () => 'other 1 other'],
] as const) {
  test(`text ${whose} that cannot be read counts as lost: it is replaced by what the instances know`, async (t) => {
    const { registers, instances, time } = setUp(t, 2)
    const [one, two] = instances
    assert.ok(one && two)
    await write(one, 'first')
    await write(two, 'second')
    const { version } = await registers.readRegister(cellName)
    await registers.swapRegister(
      cellName,
      version,
      { version: versionOf(String(version)), text: '<no JSON>' },
      60_000,
    )
    await time.pass(settledWithinMs)
    const { text } = await registers.readRegister(cellName)
    assert.deepEqual(JSON.parse(text).toSorted(), ['first', 'second'], 'though nobody changes anything')
    await write(one, 'third')
    await write(two, 'fourth')
    assert.deepEqual(two.known().value.toSorted(), ['first', 'fourth', 'second', 'third'])
  })
}

test('who meets text that cannot be read at first begins anew', async (t) => {
  const { registers, instances } = setUp(t, 1)
  const [one] = instances
  assert.ok(one)
  await registers.swapRegister(cellName, null, { version: 'other 1 other', text: '<no JSON>' }, 60_000)
  await write(one, 'first')
  assert.deepEqual(one.known().value, ['first'])
  assert.equal((await registers.readRegister(cellName)).text, '["first"]')
})

test('instances of another form have a value of their own, and neither reads what the other wrote', async (t) => {
  const { registers, instances, time } = setUp(t, 1)
  const [old] = instances
  assert.ok(old)
  const form = { ...namesForm, version: 2, decode: (text: string) => JSON.parse(text.slice(2)) as Names }
  const encode = (names: Names) => `2 ${JSON.stringify(names)}`
  const upgraded = createRegisterValue({ name: 'a', form: { ...form, encode }, registers, clock: time.clock })
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
  const registers = createMemoryRegisters(time.clock)
  const { swapRegister } = registers
  // Somebody is always quicker.
  registers.swapRegister = async (name, knownVersion, next, keepMs) => {
    const { version } = await registers.readRegister(name)
    await swapRegister(name, version, { version: `line ${++others} other`, text: '["x"]' }, keepMs)
    return swapRegister(name, knownVersion, next, keepMs)
  }
  let others = 0
  const pauses: number[] = []
  const value = createRegisterValue({
    name: 'a',
    form: namesForm,
    registers,
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

function loseNextAnswer(registers: MemoryRegisters): void {
  const { swapRegister } = registers
  registers.swapRegister = async (...given) => {
    registers.swapRegister = swapRegister
    await swapRegister(...given)
    throw new Error('lost')
  }
}

function setUp(t: TestContext, count: number) {
  const time = createVirtualTime()
  const registers = createMemoryRegisters(time.clock)
  const instances = Array.from({ length: count }, () =>
    createRegisterValue({
      name: 'a',
      form: namesForm,
      registers,
      clock: time.clock,
      after: time.timers.after,
    }),
  )
  t.after(() => {
    for (const instance of instances) instance.close()
  })
  return { time, registers, instances }
}

async function write(value: SharedValue<Names>, name: string): Promise<void> {
  await value.change((names) => names.push(name))
}
