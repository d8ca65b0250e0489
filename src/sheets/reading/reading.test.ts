import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createMovableClock } from '../../clock.ts'
import type { Fetched, Provider } from '../provider.ts'
import { ProviderFailure } from '../provider-failure.ts'
import { buildSnapshot } from '../rows/build-snapshot.ts'
import { noTurn } from '../threads/no-turn.ts'
import type { Decoded } from './decoding.ts'
import { createReading } from './reading.ts'

const sheet = {
  id: 'sh_1',
  paused: false,
  access: 'private',
  accepts: 'both',
  cacheSeconds: 10,
  staleIfErrorSeconds: 0,
  writeSeq: 0,
  keyColumn: null,
  autoKey: 'none',
  needsReconnect: false,
} as const
const typed = { values: 'typed', mustAskProvider: false } as const

function start(
  indexed: (snapshot: ReturnType<typeof buildSnapshot>) => Decoded['indexed'],
  remote = {},
  { maxHeldBytes = 1e6, turn = noTurn } = {},
) {
  const clock = createMovableClock(1_000_000)
  let fetches = 0
  const timers: { delayMs: number; work(): void }[] = []
  const provider = {
    async fetch() {
      fetches++
      return { bytes: new Uint8Array(), version: '1', decoder: { module: '', name: '', options: {} } }
    },
    ...remote,
  } as unknown as Provider
  const reading = createReading({
    store: {
      sheetById: async (id) => ({ ...sheet, id, provider: 'p', location: '', credentialId: null }) as never,
    },
    providers: new Map([['p', provider]]),
    decoding: {
      async decode(_accountId, fetch) {
        const fetched: Fetched | 'unchanged' | null = await fetch(turn)
        if (fetched === null || fetched === 'unchanged') return fetched as never
        const snapshot = buildSnapshot({ rows: [['a'], [1]] })
        return { version: fetched.version, snapshot, indexed: indexed(snapshot) }
      },
      inTurn: (_accountId, work) => work(noTurn),
      close: async () => {},
    },
    clock,
    observe: () => {},
    maxHeldBytes,
    timers: {
      after(delayMs, work) {
        timers.push({ delayMs, work })
        return () => {}
      },
    },
  })
  return { reading, clock, timers, fetches: () => fetches }
}

test('whoever wants the rows does not wait for indexes; whoever queries them does', async () => {
  const { promise, resolve } = Promise.withResolvers<ReturnType<typeof buildSnapshot>>()
  const { reading } = start(() => promise)
  const first = await reading.read(sheet, typed)
  assert.equal(first.snapshot.rowNumbers.length, 1)
  assert.ok(first.indexed instanceof Promise)
  resolve(buildSnapshot({ rows: [['a'], [1]] }))
  assert.equal((await first.indexed).rowNumbers.length, 1)
  const second = await reading.read(sheet, typed)
  assert.ok(!(second.indexed instanceof Promise), 'from then on they are there at once')
})

test('a copy whose indexes failed is not kept: the failure stands for a while, then it is read again', async () => {
  let isBroken = true
  const { reading, clock, fetches } = start(async (snapshot) => {
    if (isBroken) throw new ProviderFailure('too complex')
    return snapshot
  })
  const first = await reading.read(sheet, typed)
  await assert.rejects(async () => first.indexed, ProviderFailure)
  await assert.rejects(async () => reading.read(sheet, typed), ProviderFailure)
  assert.equal(fetches(), 1)
  isBroken = false
  clock.advanceMs(1_001)
  const again = await reading.read(sheet, typed)
  assert.equal((await again.indexed).rowNumbers.length, 1)
  assert.equal(fetches(), 2)
})

test('who comes now and then does not wait either: a copy in use is read again by the clock', async () => {
  const { reading, clock, timers, fetches } = start((snapshot) => snapshot, { isTight: () => false })
  const wait = async (ms: number) => {
    clock.advanceMs(ms)
    await new Promise(setImmediate)
  }
  await reading.read(sheet, typed)
  assert.equal(timers.length, 0, 'one who comes once is not in use')
  for (let at = 0; at < 20; at++) {
    await wait(4_000)
    const answer = await reading.read(sheet, typed)
    assert.equal(answer.source, 'hit')
    for (const { delayMs, work } of timers.splice(0)) {
      await wait(delayMs)
      work()
      await wait(0)
    }
  }
  assert.ok(fetches() > 8, `${fetches()} reads`)
  const before = fetches()
  await wait(1_000)
  await reading.read(sheet, typed)
  await wait(8_500)
  for (const { work } of timers.splice(0)) work()
  await wait(0)
  assert.equal(fetches(), before, 'nobody has come for most of its time')
})

test('who waits for a turn to read a sheet again keeps nothing of it in memory', async () => {
  let wait = Promise.resolve()
  const turn = { ...noTurn, begin: () => wait }
  const remote = {
    // As for a file that was saved since.
    async fetch(_place: unknown, _wish: unknown, turns: typeof noTurn) {
      await turns.begin(1)
      return { bytes: new Uint8Array(1), version: '1', decoder: { module: '', name: '', options: {} } }
    },
  }
  const { reading } = start((snapshot) => snapshot, remote, { maxHeldBytes: 1, turn })
  const urgent = { ...typed, mustAskProvider: true }
  const former = new WeakRef((await reading.read(sheet, urgent)).snapshot)
  const { promise, resolve } = Promise.withResolvers<void>()
  wait = promise
  const waiting = reading.read(sheet, urgent)
  await new Promise(setImmediate)
  wait = Promise.resolve()
  await reading.read({ ...sheet, id: 'sh_2' }, urgent)
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  await new Promise(setImmediate)
  collect()
  assert.equal(former.deref(), undefined, 'the rows went when their room was needed')
  resolve()
  assert.equal((await waiting).snapshot.rowNumbers.length, 1)
})

test('rows that are as they were, and gone meanwhile, are read', async () => {
  let versionsKnown: (string | null)[] = []
  const others = { drop: async () => {} }
  const remote = {
    async fetch(_place: unknown, { knownVersion }: { knownVersion: string | null }, turns: typeof noTurn) {
      await turns.begin(1)
      versionsKnown.push(knownVersion)
      if (knownVersion === '1') return 'unchanged'
      return { bytes: new Uint8Array(1), version: '1', decoder: { module: '', name: '', options: {} } }
    },
  }
  const turn = { ...noTurn, begin: () => others.drop() }
  const { reading } = start((snapshot) => snapshot, remote, { maxHeldBytes: 1, turn })
  const urgent = { ...typed, mustAskProvider: true }
  await reading.read(sheet, urgent)
  await reading.read(sheet, urgent)
  assert.deepEqual(versionsKnown, [null, '1'])
  versionsKnown = []
  others.drop = async () => {
    others.drop = async () => {}
    await reading.read({ ...sheet, id: 'sh_2' }, urgent)
  }
  assert.equal((await reading.read(sheet, urgent)).snapshot.rowNumbers.length, 1)
  assert.deepEqual(versionsKnown, [null, '1', null])
})
