import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createMemoryRegisters, type MemoryRegisters } from '../../../test/cluster/memory-registers.ts'
import { createVirtualTime } from '../../../test/google/virtual-time.ts'
import { createRegisterValue, refreshEveryMs } from './register-value.ts'
import { type Names, namesForm } from './shared-value.contract.ts'
import type { SharedValue } from './shared-value.ts'

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

test('an instance that changes nothing knows what the others did a moment ago', async (t) => {
  const { registers, instances, time } = setUp(t, 2)
  const [one, two] = instances
  assert.ok(one && two)
  await write(two, 'first')
  await write(one, 'second')
  await time.pass(refreshEveryMs)
  assert.deepEqual(two.known().value, ['first', 'second'])
  registers.asked = 0
  await time.pass(10 * refreshEveryMs)
  assert.equal(registers.asked, 20, 'each looks now and then, and writes nothing')
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

test('a change that was kept though its answer was lost is seen by whoever repeats it', async (t) => {
  const { registers, instances, time } = setUp(t, 2)
  const [one, two] = instances
  assert.ok(one && two)
  await write(one, 'first')
  loseNextAnswer(registers)
  await assert.rejects(writeOnce(one, 'second'), /lost/)
  await writeOnce(one, 'second')
  assert.deepEqual(one.known().value, ['first', 'second'])

  loseNextAnswer(registers)
  await assert.rejects(writeOnce(one, 'third'), /lost/)
  await time.pass(2 * refreshEveryMs)
  await writeOnce(one, 'third')
  await writeOnce(two, 'fourth')
  assert.deepEqual(two.known().value, ['first', 'second', 'third', 'fourth'])
})

test('text that cannot be read is replaced by the next change', async (t) => {
  const { registers, instances } = setUp(t, 1)
  const [one] = instances
  assert.ok(one)
  await write(one, 'first')
  const { version } = await registers.readRegister(registerName)
  await registers.swapRegister(registerName, version, { version: 'other', text: '<no JSON>' }, 60_000)
  await write(one, 'second')
  assert.deepEqual(one.known().value, ['second'])
  assert.equal((await registers.readRegister(registerName)).text, '["second"]')
})

test('who meets text that cannot be read at first begins anew', async (t) => {
  const { registers, instances } = setUp(t, 1)
  const [one] = instances
  assert.ok(one)
  await registers.swapRegister(registerName, null, { version: 'other', text: '<no JSON>' }, 60_000)
  await write(one, 'first')
  assert.deepEqual(one.known().value, ['first'])
  assert.equal((await registers.readRegister(registerName)).text, '["first"]')
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
  await time.pass(2 * refreshEveryMs)
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
    await swapRegister(name, version, { version: `other ${++others}`, text: '["x"]' }, keepMs)
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
const registerName = 'a v1'

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

async function writeOnce(value: SharedValue<Names>, name: string): Promise<void> {
  await value.change((names) => names.includes(name) || names.push(name))
}
