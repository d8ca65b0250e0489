import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Refusal } from '../../src/errors.ts'
import { createLoopTurns } from '../../src/shares/loop-turns.ts'
import { defaultShares } from '../../src/shares/shares.ts'
import type { Fetched, Prepared } from '../../src/sheets/provider.ts'
import { OutcomeUnknown, ProviderFailure } from '../../src/sheets/provider-failure.ts'
import type { Decoding } from '../../src/sheets/reading/decoding.ts'
import { createReading } from '../../src/sheets/reading/reading.ts'
import { buildSnapshot } from '../../src/sheets/rows/build-snapshot.ts'
import type { Cell } from '../../src/sheets/rows/grid.ts'
import { noLog } from '../../src/sheets/sheet-log.ts'
import { noTurn } from '../../src/sheets/threads/no-turn.ts'
import type { Wish } from '../../src/sheets/writing/order.ts'
import { createWriting, type Writing } from '../../src/sheets/writing/writing.ts'
import type { Store } from '../../src/store/store.ts'
import { createFaultyProvider, poison } from './simulation/faulty-provider.ts'
import { createMemoryJournal, type Trouble } from './simulation/memory-journal.ts'
import { liveOn, simulatedSheet as sheet } from './simulation/schedule.ts'
import { createVirtualTime } from './simulation/virtual-time.ts'

const maxKeptBytes = defaultShares.journal_mb * 1024 * 1024
/** While something is worked out: in these histories only calls take time. */
const noTimePasses = { elapsedMs: () => 0 }

/** What a commit does, one after the other; then all goes well. */
type Step = 'apply' | 'lose' | 'never' | 'conflict' | 'fail' | 'bug' | 'nonsense'

test('an answer that is lost is looked up: the client hears what was done, and the store first', async () => {
  const { write, rows, journal, until } = start({ steps: ['lose'] })
  const told = write(add('a'), 'key')
  const seqBefore = journal.writeSeq
  await until(told)
  assert.deepEqual(await told, {
    ...{
      kind: 'added',
      operationId: [...journal.operations.keys()][0],
      rowNumbers: [2],
      rowsJson: ['{"id":"a","value":null}'],
    },
  })
  assert.equal(journal.writeSeq, seqBefore + 1)
  assert.deepEqual(rows(), ['a'])
  assert.deepEqual(await write(add('a'), 'key', until), await told, 'and the same again for its key')
})

test('a bug that strikes after the write was sent does not make it undone', async () => {
  for (const step of ['bug', 'nonsense'] as const) {
    const { write, rows, until } = start({ steps: [step] })
    const told = await write(add('a'), null, until)
    assert.ok(!(told instanceof Refusal) && told.kind === 'added', step)
    assert.deepEqual([told.rowNumbers, rows()], [[2], ['a']])
  }
})

test('a failure that is known is told at once, and nothing was done', async () => {
  const { write, rows, journal, until } = start({ steps: ['fail'] })
  const told = assert.rejects(write(add('a'), 'key'), /it fails/)
  await until(told)
  await told
  assert.deepEqual([rows(), journal.operations.size], [[], 0])
})

test('a key is free again soon after the store took it and could not say so', async () => {
  const { write, rows, until, time, storeSilent } = start({})
  storeSilent(true)
  const lost = assert.rejects(write(add('a'), 'key'))
  await until(lost)
  await lost
  storeSilent(false)
  await until(time.delay(1_500))
  const told = await write(add('a'), 'key', until)
  assert.ok(!(told instanceof Refusal) && told.kind === 'added')
  assert.deepEqual(rows(), ['a'])
})

test('one that was lost on the way is sent once more', async () => {
  const { write, rows, until } = start({ steps: ['never', 'never'] })
  const told = write(add('a'), null)
  await until(told)
  assert.ok(!((await told) instanceof Refusal))
  assert.deepEqual(rows(), ['a'])
})

test('one bad order fails alone, and its neighbours get through with few calls', async () => {
  const { write, rows, provider, until } = start({})
  const all = Array.from({ length: 40 }, (_, n) => write(add(n === 17 ? poison : `${n}`), null))
  const ends = Promise.allSettled(all)
  await until(ends)
  for (const [n, end] of (await ends).entries()) {
    assert.equal(end.status, n === 17 ? 'rejected' : 'fulfilled', `order ${n}`)
    if (end.status === 'rejected') assert.match(String(end.reason), /It is poison/)
  }
  assert.deepEqual(
    rows(),
    all.map((_, n) => `${n}`).filter((n) => n !== '17'),
  )
  assert.ok(provider.prepared < 20, `${provider.prepared} attempts`)
})

test('whoever may not any more by the time of sending is left out, and the others go', async () => {
  const { write, rows, until } = start({})
  const revoked = new Refusal('invalid_api_key')
  const told = Promise.all([
    write(add('a'), null),
    write(add('b'), 'key', undefined, async () => revoked),
    write(add('c'), null),
  ])
  await until(told)
  assert.equal((await told)[1], revoked)
  assert.deepEqual(rows(), ['a', 'c'])
  const again = await write(add('b'), 'key', until)
  assert.ok(!(again instanceof Refusal), 'another key of the account may use it')
})

test('a sheet that changes each time we look is given up after five times, and the key is free', async () => {
  const { write, rows, journal, provider, until } = start({
    steps: Array.from({ length: 5 }, () => 'conflict'),
  })
  const told = write(add('a'), 'key')
  const end = assert.rejects(told, /keeps changing while we write/)
  await until(end)
  await end
  assert.deepEqual([rows(), journal.operations.size], [[], 0])
  await until(Promise.resolve())
  assert.equal(provider.discarded, provider.prepared)
})

test('a spreadsheet that is away: unknown for whoever was sent, nothing written for who waited, all known later', async () => {
  const { write, rows, journal, time, until, away } = start({ steps: ['lose'] })
  away(true)
  const sent = assert.rejects(write(add('a'), 'a'), (error: unknown) => {
    assert.ok(error instanceof OutcomeUnknown)
    assert.match(error.facts.details ?? '', /outcome at the spreadsheet is unknown/)
    return true
  })
  await time.run(() => time.nowMs() >= 2_000)
  const waited = write(add('b'), 'b')
  const ends = Promise.all([sent, waited])
  await until(ends)
  const [, second] = await ends
  assert.ok(second instanceof Refusal && second.code === 'service_unavailable')
  const meanwhile = await write(add('a'), 'a', until)
  assert.ok(meanwhile instanceof Refusal && meanwhile.code === 'idempotency_in_progress')
  away(false)
  await time.run(() => [...journal.operations.values()].every(({ state }) => state !== 'sending'))
  const told = await write(add('a'), 'a', until)
  assert.deepEqual(told, {
    ...{
      kind: 'added',
      operationId: [...journal.operations.keys()][0],
      rowNumbers: [2],
      rowsJson: ['{"id":"a","value":null}'],
    },
  })
  await write(add('b'), 'b', until)
  assert.deepEqual(rows(), ['a', 'b'])
})

for (const key of ['key', null])
  test(`whoever ran out of time while its write was made ready is told so, and it is not sent (${key})`, async () => {
    const { write, rows, time, until } = start({ prepareMs: [26_000] })
    const late = write(add('late'), key)
    await time.run(() => time.nowMs() >= 5_000)
    const inTime = write(add('in time'), null)
    const told = Promise.all([late, inTime])
    await until(told)
    const [first, second] = await told
    assert.ok(first instanceof Refusal && first.code === 'service_unavailable')
    assert.ok(!(second instanceof Refusal))
    await time.run(() => time.nowMs() > 120_000)
    assert.deepEqual(rows(), ['in time'])
    assert.ok(!((await write(add('late'), key, until)) instanceof Refusal), 'its key was free')
  })

test('a store that is away after the write: nobody is told before it knows, and nobody that nothing was done', async () => {
  const { write, rows, time, until, storeAway } = start({ onCommit: () => storeAway(true) })
  const told = assert.rejects(write(add('a'), 'a'), OutcomeUnknown)
  await until(told)
  await told
  storeAway(false)
  await time.run(() => time.nowMs() > 60_000)
  const again = await write(add('a'), 'a', until)
  assert.ok(!(again instanceof Refusal) && again.kind === 'added')
  assert.deepEqual(rows(), ['a'])
})

test('a server that closes while an outcome is open leaves it to the next one', async () => {
  const world = start({ steps: ['lose'] })
  const { write, rows, journal, time, until, away, provider } = world
  away(true)
  const told = assert.rejects(write(add('a'), 'a'), OutcomeUnknown)
  await time.run(() => time.nowMs() >= 3_000)
  const closed = world.close()
  await until(Promise.all([told, closed]))
  assert.deepEqual(
    [...journal.operations.values()].map(({ state }) => state),
    ['sending'],
  )
  assert.equal(provider.discarded, 0, 'what it is settled by is still there')
  away(false)
  world.restart()
  const again = await write(add('a'), 'a', until, undefined, 3)
  assert.ok(!(again instanceof Refusal) && again.kind === 'added', JSON.stringify(again))
  assert.deepEqual(rows(), ['a'])
})

function add(id: string): Wish {
  return { kind: 'add', rows: [[['id', id]]] }
}

interface Script {
  steps?: Step[]
  /** How long preparing takes, one after the other. */
  prepareMs?: number[]
  onCommit?: () => void
}

function start({ steps = [], prepareMs = [], onCommit }: Script) {
  const time = createVirtualTime(0)
  const none = { lost: 0, late: 0, never: 0, failing: 0, away: 0 }
  const faults = { ...none, isConditional: false, isExact: true, hasHeader: false }
  const provider = createFaultyProvider([['id', 'value']], time, () => 0.5, faults)
  let isAway = false
  let storeTrouble: ReturnType<Trouble> = 'none'
  const trouble = () => storeTrouble
  const journal = createMemoryJournal(sheet, time, trouble, () => false)
  const { prepare, settle } = provider
  provider.prepare = async (...asked) => {
    await time.delay(prepareMs.shift() ?? 0)
    const prepared = await prepare(...asked)
    return prepared === 'conflict' || !('commit' in prepared) ? prepared : scripted(prepared)
  }
  provider.settle = async (...asked) => {
    if (isAway) throw new ProviderFailure('it is away')
    return settle(...asked)
  }
  let lives = 0
  let writing = newWriting()

  return {
    time,
    provider,
    journal,
    rows: () => provider.sheet.rows.slice(1).map(([id]) => id as string),
    away(is: boolean) {
      isAway = is
    },
    storeAway(is: boolean) {
      storeTrouble = is ? 'before' : 'none'
    },
    /** It does what it is asked, and nobody hears of it. */
    storeSilent(is: boolean) {
      storeTrouble = is ? 'after' : 'none'
    },
    close: () => writing.close(),
    restart() {
      journal.endDead(instanceId())
      writing = newWriting()
    },
    /** Lets time pass until it is settled. */
    until,
    /** With a key, as the API does; `until` lets time pass meanwhile. */
    write(
      wish: Wish,
      key: string | null,
      untilDone?: typeof until,
      stillAdmitted: () => Promise<Refusal | null> = async () => null,
      tries = 1,
    ) {
      const told = request(wish, key, stillAdmitted, tries)
      return untilDone ? untilDone(told).then(() => told) : told
    },
  }

  async function request(
    wish: Wish,
    key: string | null,
    stillAdmitted: () => Promise<Refusal | null>,
    tries: number,
  ): ReturnType<Writing['write']> {
    let claim: string | null = null
    if (key !== null) {
      const asked = { accountId: 'acc_1', sheet, idempotencyKey: key, fingerprint: key }
      const claimed = await writing.claim(asked)
      if (claimed instanceof Refusal && claimed.code === 'idempotency_in_progress' && tries > 1) {
        await time.delay(1_000)
        return request(wish, key, stillAdmitted, tries - 1)
      }
      if (claimed instanceof Refusal) return claimed
      if ('replay' in claimed) return claimed.replay(async (answer) => answer)
      claim = claimed.claimed
    }
    return writing.write({ sheet, accountId: 'acc_1', wish, claim, bytes: 10, stillAdmitted })
  }

  async function until(work: Promise<unknown>): Promise<void> {
    const progress = { isOver: false }
    work
      .catch(() => {})
      .finally(() => {
        progress.isOver = true
      })
    await time.run(() => progress.isOver)
  }

  function scripted(prepared: Prepared): Prepared {
    return {
      ...prepared,
      async commit() {
        const step = steps.shift() ?? 'apply'
        if (step === 'conflict') return { outcome: 'conflict' }
        if (step === 'fail') throw new ProviderFailure('it fails')
        if (step === 'never') throw new OutcomeUnknown('no response')
        const committed = await prepared.commit()
        onCommit?.()
        if (step === 'lose') throw new OutcomeUnknown('no response')
        if (step === 'bug') throw new TypeError('a bug of ours, after the write')
        if (step === 'nonsense') return { outcome: 'applied', results: [] }
        return committed
      },
      async discard() {
        const open = [...journal.operations.values()].filter(({ state }) => state === 'sending')
        assert.ok(
          open.every(({ fence }) => fence !== prepared.fence),
          'nothing is cleared away while the journal goes by it',
        )
        await prepared.discard()
      },
    }
  }

  function instanceId(): string {
    return `life ${lives}`
  }

  function newWriting(): Writing {
    lives++
    const ours = journal.of(instanceId())
    void liveOn(ours, time, () => false)
    const store = ours as unknown as Store
    const providers = new Map([['faulty', provider]])
    const observe = () => {}
    const decoding: Decoding = {
      async decode(_accountId, fetch) {
        const fetched: Fetched | 'unchanged' | null = await fetch(noTurn)
        if (fetched === null || fetched === 'unchanged') return fetched as never
        const { bytes, version } = fetched
        const snapshot = buildSnapshot({ rows: JSON.parse(Buffer.from(bytes).toString()) as Cell[][] })
        return { version, snapshot, indexed: snapshot }
      },
      inTurn: (_accountId, work) => work(noTurn),
      close: async () => {},
    }
    const reading = createReading({ store, providers, decoding, clock: time, observe, maxHeldBytes: 1e6 })
    // As of a sheet whose owner wants no history; with one: test/changes/simulation/.
    const parts = { log: noLog, turns: createLoopTurns(noTimePasses), maxKeptBytes }
    return createWriting({ ...parts, store, providers, reading, clock: time, observe, timers: time })
  }
}
