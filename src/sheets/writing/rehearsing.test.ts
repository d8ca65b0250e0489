import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as takeTurn } from 'node:timers/promises'
import { createMovableClock } from '../../clock.ts'
import { createTurnstile } from '../../shares/turnstile.ts'
import type { JudgedTab } from './looks/judged-tab.ts'
import { QueuedWrite } from './queued-write.ts'
import { rehearse } from './rehearsing.ts'
import type { Judged, SendingParts } from './sending.ts'

test('answers to dry runs are made few at a time, until a response is made of them', async () => {
  const rehearsing = createTurnstile({
    ...{ share: 'editing_waiting', places: 2, placesOfAccount: 1, waitingOfAccount: 100 },
    ...{ clock: createMovableClock(0), observe: () => {} },
  })
  const made: string[] = []
  const parts = {
    ...{ rehearsing, record: {}, toDiscard: [] },
    provider: { prepare: async () => ({ expected: [] }) },
    async inTurns(steps: Generator<void, unknown>) {
      for (;;) {
        const step = steps.next()
        if (step.done) return step.value
      }
    },
  } as unknown as SendingParts
  const base = { columns: [], rows: null } as unknown as JudgedTab
  const tellings = ['a', 'a', 'b', 'c'].map((accountId, at) => {
    const { promise: whenTold, resolve } = Promise.withResolvers<void>()
    const order = {
      ...{ sheet: { id: 's', writeSeq: 0 }, accountId, claim: null, bytes: 1, isDryRun: true, whenTold },
      wish: { kind: 'add', rows: [] } as const,
      async stillAdmitted() {
        made.push(`${accountId} ${at}`)
        return null
      },
    }
    const answered = { kind: 'added', rowNumbers: [], rowsJson: [] } as const
    const plan = {
      changes: [],
      *answer() {
        yield
        return answered
      },
    } as unknown as Judged['plan']
    const done = rehearse({ waiting: new QueuedWrite(order), plan }, base, parts)
    return { resolve, done }
  })
  await settled()
  assert.deepEqual(made, ['a 0', 'b 2'])
  tellings[2]?.resolve()
  await settled()
  assert.deepEqual(made, ['a 0', 'b 2', 'c 3'])
  for (const { resolve } of tellings) resolve()
  const outcomes = await Promise.all(tellings.map(({ done }) => done))
  assert.deepEqual(made.toSorted(), ['a 0', 'a 1', 'b 2', 'c 3'])
  assert.ok(outcomes.every(({ kind }) => kind === 'applied'))
})

async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await takeTurn()
}
