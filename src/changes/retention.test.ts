import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Observation } from '../reporting/observe.ts'
import { createRetention } from './retention.ts'

test('it is told whose oldest changes went before their time', async () => {
  const seen: Observation[] = []
  const rounds = [['greedy', 'too'], [], ['greedy']]
  const due: (() => void)[] = []
  const retention = createRetention({
    store: { forgetOldChanges: async () => ({ chunks: 3, accountsOverShare: rounds.shift() ?? [] }) },
    maxAccountBytes: 1_000,
    observe: (observation) => void seen.push(observation),
    timers: {
      after(_delayMs, work) {
        due.push(work)
        return () => {}
      },
    },
  })
  const usedUp = (accountId: string) => ({ event: 'share_used_up', share: 'history_mb', accountId })
  for (const accounts of [['greedy', 'too'], [], ['greedy']]) {
    due.shift()?.()
    await nextTurn()
    assert.deepEqual(seen.splice(0), accounts.map(usedUp))
  }
  retention.close()
})
