import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createMovableClock } from '../../clock.ts'
import { ProviderFailure } from '../../sheets/provider-failure.ts'
import { createBreaker } from './breaker.ts'

function start() {
  const clock = createMovableClock(0)
  const rests: string[] = []
  const onRest = (credentialId: string) => rests.push(credentialId)
  return { clock, rests, breaker: createBreaker({ name: 'Acme', clock, onRest, random: () => 1 }) }
}

test('five failures in a row open it for this owner, and nobody else', () => {
  const { breaker, rests } = start()
  for (let at = 0; at < 5; at++) breaker.enter('mine').recordOutcome('failed')
  assert.throws(
    () => breaker.enter('mine'),
    (error) =>
      error instanceof ProviderFailure &&
      error.facts.isPassing === true &&
      error.facts.retryAfterSeconds === 1,
  )
  breaker.enter('yours').recordOutcome('well')
  assert.deepEqual(rests, ['mine'])
})

test('a spreadsheet that is gone is an answer: it never opens', () => {
  const { breaker } = start()
  for (let round = 0; round < 10; round++) {
    for (let at = 0; at < 4; at++) breaker.enter('mine').recordOutcome('failed')
    breaker.enter('mine').recordOutcome('well')
  }
  breaker.enter('mine').recordOutcome('well')
})

test('after a rest one caller tries; the others hear at once what became of it', () => {
  const { breaker, clock } = start()
  for (let at = 0; at < 5; at++) breaker.enter('mine').recordOutcome('failed')
  clock.advanceMs(1_000)
  const trial = breaker.enter('mine')
  assert.throws(() => breaker.enter('mine'), ProviderFailure)
  trial.recordOutcome('failed')
  clock.advanceMs(1_999)
  assert.throws(() => breaker.enter('mine'), ProviderFailure, 'longer the second time')
  clock.advanceMs(1)
  breaker.enter('mine').recordOutcome('well')
  breaker.enter('mine').recordOutcome('well')
})

test('a trial that did not come to asking leaves the next one to try', () => {
  const { breaker, clock } = start()
  for (let at = 0; at < 5; at++) breaker.enter('mine').recordOutcome('failed')
  clock.advanceMs(1_000)
  breaker.enter('mine').recordOutcome('untold')
  breaker.enter('mine').recordOutcome('well')
})

test('however long it was away, the provider is asked again within five seconds', () => {
  const { breaker, clock } = start()
  for (let at = 0; at < 5; at++) breaker.enter('mine').recordOutcome('failed')
  for (let minute = 0; minute < 20; minute++) {
    clock.advanceMs(5_000)
    breaker.enter('mine').recordOutcome('failed')
  }
})

test('those who were under way when it opened do not keep it open', () => {
  const { breaker, clock } = start()
  const late = Array.from({ length: 20 }, () => breaker.enter('mine'))
  for (const pass of late) pass.recordOutcome('failed')
  clock.advanceMs(1_000)
  breaker.enter('mine').recordOutcome('well')
})
