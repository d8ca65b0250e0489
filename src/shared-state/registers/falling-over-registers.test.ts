import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { createMemoryRegisters } from '../../../test/cluster/memory-registers.ts'
import { createMovableClock } from '../../clock.ts'
import { createFallingOverRegisters } from './falling-over-registers.ts'

test('whoever cannot reach the first place says so, and the others go along; they come back together', async () => {
  const clock = createMovableClock(0)
  const first = createMemoryRegisters(clock)
  const second = createMemoryRegisters(clock)
  const isAwayFor = [false, false]
  const instances = isAwayFor.map((_, at) =>
    createFallingOverRegisters({
      first,
      second,
      fallOver: { isOver: () => isAwayFor[at] === true, askFirst: (work) => work(), close() {} },
      clock,
    }),
  )
  const placesAsked = async () => {
    const asked = []
    for (const instance of instances) {
      const before = first.asked
      await instance.readRegister('a')
      await turn()
      asked.push(first.asked > before ? 'first' : 'second')
    }
    return asked
  }
  const pass = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += 100) {
      clock.advanceMs(100)
      await placesAsked()
    }
  }
  await pass(1_000)
  assert.deepEqual(await placesAsked(), ['first', 'first'])
  isAwayFor[0] = true
  await pass(600)
  assert.deepEqual(await placesAsked(), ['second', 'second'])
  await pass(10_000)
  assert.deepEqual(await placesAsked(), ['second', 'second'])
  isAwayFor[0] = false
  assert.deepEqual(await placesAsked(), ['second', 'second'], 'not one before the other')
  await pass(3_000)
  assert.deepEqual(await placesAsked(), ['first', 'first'])
})

test('while the second place is away the first one serves all the same', async () => {
  const clock = createMovableClock(0)
  const first = createMemoryRegisters(clock)
  const away = async () => {
    throw new Error('away')
  }
  const registers = createFallingOverRegisters({
    first,
    second: { readRegister: away, swapRegister: away },
    fallOver: { isOver: () => false, askFirst: (work) => work(), close() {} },
    clock,
  })
  await registers.swapRegister('a', null, { version: '1', text: 'one' }, 1_000)
  await turn()
  assert.equal((await registers.readRegister('a')).text, 'one')
})
