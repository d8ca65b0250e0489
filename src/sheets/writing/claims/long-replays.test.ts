import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { setImmediate as takeTurn } from 'node:timers/promises'
import { createMovableClock } from '../../../clock.ts'
import { createLoopTurns } from '../../../shares/loop-turns.ts'
import { createTurnstile } from '../../../shares/turnstile.ts'
import type { OperationRecord, OperationToClaim } from '../../../store/operations/operations.ts'
import { answerText } from '../journal-text.ts'
import { createClaimsTogether } from './claims-together.ts'
import { type ClaimParts, claimKey } from './idempotency.ts'

const clock = createMovableClock(0)
const few = { waitingOfAccount: 100, clock, observe: () => {} }
const rowsJson = Array.from({ length: 400 }, (_, nth) =>
  JSON.stringify({ nth, text: randomBytes(60).toString('base64') }),
)

/** Every key was used for an answer of so many rows. */
function open() {
  const read: string[] = []
  const claiming = createTurnstile({ share: 'editing_waiting', places: 6, placesOfAccount: 3, ...few })
  const text = textOf()
  const existing = ({ id: _, ...asked }: OperationToClaim): OperationRecord => ({
    ...{ ...asked, id: `op of ${asked.idempotencyKey}`, state: 'applied', fence: null, place: null },
    ...{ answer: text, ageMs: 1_000 },
  })
  const operationOf = (accountId: string): OperationToClaim => ({
    ...{ id: 'new', accountId, sheetId: 's', source: 'file:s', idempotencyKey: accountId, fingerprint: 'f' },
  })
  const parts: ClaimParts = {
    store: {
      claimOperation: async (asked) => ({ existing: existing(asked) }),
      claimFreeKeys: async () => new Set(),
      dropOperations: async () => {},
      async findKeyedOperation(accountId) {
        read.push(accountId)
        return existing(operationOf(accountId))
      },
      keptAnswers: async () => ({ bytes: 0, roomInMs: 0 }),
    },
    ...{ maxKeptBytes: 1e9, clock, observe: () => {}, isForVisitors: false },
    turns: createLoopTurns(clock),
    unpacking: createTurnstile({ share: 'journal_mb', places: 2, placesOfAccount: 1, ...few }),
    ...{ claiming, together: createClaimsTogether(claiming) },
  }
  const ask = async (accountId: string, telling: Promise<void>) => {
    const claim = await claimKey(parts, operationOf(accountId))
    assert.ok('replay' in claim)
    return claim.replay(async (answer) => {
      await telling
      return answer
    })
  }
  return { ask, read }
}

function textOf(): string {
  const steps = answerText({ kind: 'added', rowNumbers: rowsJson.map((_, at) => at + 2), rowsJson })
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
  }
}

test('long answers are read again from the store and told few at a time, one of an account', async () => {
  const { ask, read } = open()
  const ends = Array.from({ length: 4 }, () => Promise.withResolvers<void>())
  const asked = ['a', 'a', 'b', 'c'].map((accountId, at) =>
    ask(accountId, ends[at]?.promise ?? Promise.resolve()),
  )
  await settled()
  assert.deepEqual(read, ['a', 'b'], 'whoever waits holds nothing')
  ends[2]?.resolve()
  await asked[2]
  await settled()
  assert.deepEqual(read, ['a', 'b', 'c'])
  for (const end of ends) end.resolve()
  const [first] = await Promise.all(asked)
  assert.deepEqual(read.toSorted(), ['a', 'a', 'b', 'c'])
  assert.ok(first && 'rowsJson' in first)
  assert.deepEqual(first.rowsJson, rowsJson)
})

async function settled(): Promise<void> {
  for (let turn = 0; turn < 200; turn++) await takeTurn()
}
