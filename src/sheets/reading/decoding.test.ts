import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { TooManyAtOnce } from '../../errors.ts'
import type { Observation } from '../../reporting/observe.ts'
import { defaultShares } from '../../shares/shares.ts'
import type { ReadingTurn } from '../provider.ts'
import { ProviderFailure } from '../provider-failure.ts'
import { runQuery } from '../rows/query/run-query.ts'
import { createDecoding } from './decoding.ts'

test('a decoder that takes its thread down fails its own file, and the next one is read', async (t) => {
  const { decode, seen } = start(t)
  await assert.rejects(decode('process.exit(3)'), ProviderFailure)
  await assert.rejects(
    decode("setImmediate(() => { throw new Error('later') }); return new Promise(() => {})"),
    ProviderFailure,
  )
  assert.equal(seen.filter(({ event }) => event === 'decoder_lost').length, 2)
  assert.equal((await decode("return { rows: [['a'], [1]] }")).snapshot.rowNumbers.length, 1)
})

test('a failure keeps its words, a bug stays a bug', async (t) => {
  const { decode } = start(t)
  const provider = JSON.stringify(import.meta.resolve('../provider-failure.ts'))
  const failing = `const { ProviderFailure } = await import(${provider}); throw new ProviderFailure('not a workbook')`
  await assert.rejects(decode(failing), { name: 'ProviderFailure', message: 'not a workbook' })
  await assert.rejects(decode("throw new TypeError('ours')"), (error) => !(error instanceof ProviderFailure))
})

test('a short file whose headers make a very long list of it is refused', async (t) => {
  const { decode } = start(t)
  const rows = (count: number) =>
    `return { rows: [['h'.repeat(100_000)], ...Array.from({ length: ${count} }, () => [1])] }`
  await assert.rejects(decode(rows(1_000)), {
    name: 'ProviderFailure',
    message: /each repeats the headers, more than 64 MiB; shorten the headers/,
  })
  assert.equal((await decode(rows(500))).snapshot.rowNumbers.length, 500)
})

test('many at once all get their own rows', async (t) => {
  const { decode } = start(t)
  const snapshots = await Promise.all(
    Array.from({ length: 20 }, (_, n) => decode(`return { rows: [['n'], [${n}]] }`)),
  )
  const texts = snapshots.map(({ snapshot }) => Buffer.from(snapshot.listJson).toString())
  assert.deepEqual(
    texts,
    Array.from({ length: 20 }, (_, n) => `[{"n":${n}}]`),
  )
})

test('the rows of a large sheet are there before its indexes', async (t) => {
  const { decode } = start(t)
  const { snapshot, indexed } = await decode(large)
  assert.equal(snapshot.rowNumbers.length, 30_000)
  assert.ok(indexed instanceof Promise)
  const filters = [{ column: 0, operator: 'eq' as const, values: ['777'] }]
  const query = { filters, search: null, sort: [], limit: null, offset: 0 }
  assert.deepEqual([...runQuery(await indexed, query).positions], [777])
})

test('indexes that cannot be made fail their own sheet, and every other one gets its own rows', async (t) => {
  const { decode } = start(t)
  // The first Map that is made after the rows were sent.
  const failing = `const { parentPort } = await import('node:worker_threads')
    const { postMessage } = parentPort
    const { Map } = globalThis
    parentPort.postMessage = (...reply) => {
      postMessage.apply(parentPort, reply)
      parentPort.postMessage = postMessage
      globalThis.Map = class { constructor() { globalThis.Map = Map; throw new RangeError('too large') } }
    }`
  const broken = await decode(`${failing}; ${large}`)
  await assert.rejects(async () => broken.indexed, /too large/)
  for (let n = 0; n < 6; n++) {
    const { snapshot } = await decode(`return { rows: [['n'], [${n}]] }`)
    assert.equal(Buffer.from(snapshot.listJson).toString(), `[{"n":${n}}]`)
  }
})

// Well below what a thread may take: nobody waits for that one.
test('while one thread makes indexes, the other is asked', { timeout: 20_000 }, async (t) => {
  const { decode, decoding } = start(t)
  const first = await decode(`${standing}; ${large}`)
  assert.ok(first.indexed instanceof Promise)
  for (let n = 0; n < 3; n++) assert.equal((await (await decode(large)).indexed).rowNumbers.length, 30_000)
  await decoding.close()
})

test('a thread that ends before the indexes are made fails those who wait for them, and nobody else', async (t) => {
  const { decode, decoding, seen } = start(t)
  const { snapshot, indexed } = await decode(`${standing}; ${large}`)
  await decoding.close()
  assert.equal(snapshot.rowNumbers.length, 30_000)
  await assert.rejects(async () => indexed, /stopping/)
  assert.deepEqual(seen, [], 'it was ended on purpose')
})

test('a thread that has made much garbage has little room for more', async (t) => {
  const { decode } = start(t)
  // Some of it outlives a collection, and that is when V8 makes more room for the young.
  const young = `const { getHeapSpaceStatistics } = await import('node:v8')
    const living = []
    for (let n = 0; n < 1_000_000; n++) living[n % 100_000] = { n, text: String(n) }
    const { space_size } = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')
    return { rows: [['bytes'], [space_size]] }`
  const { snapshot } = await decode(young)
  const [{ bytes }] = JSON.parse(Buffer.from(snapshot.listJson).toString())
  assert.ok(bytes <= 12 * 2 ** 20, `${Math.round(bytes / 2 ** 20)} MB for the young`)
})

// Well below what a thread may take, as above.
test('one account takes one thread, however much it asks for', { timeout: 20_000 }, async (t) => {
  const { decode, decoding } = start(t)
  const forEver = Array.from({ length: 10 }, () => decode(`${standing}; ${large}`, 'acc_greedy'))
  const settled = Promise.allSettled(forEver)
  await forEver[0]
  for (let n = 0; n < 3; n++) assert.equal((await decode(small)).snapshot.rowNumbers.length, 1)
  await decoding.close()
  assert.equal((await settled).filter(({ status }) => status === 'fulfilled').length, 1)
})

// Well below what a thread may take, as above.
test('a small file does not wait for large ones, however many accounts have some', {
  timeout: 20_000,
}, async (t) => {
  const { decode, decodeBytes } = start(t)
  const over = new AbortController()
  const theirs = Array.from({ length: 5 }, () => decodeBytes(megabyte, forEver, { left: over.signal }))
  const settled = Promise.allSettled(theirs)
  for (let n = 0; n < 3; n++) assert.equal((await decode(small)).snapshot.rowNumbers.length, 1)
  over.abort()
  assert.ok((await settled).every(({ status }) => status === 'rejected'))
})

test('what looks small and takes its time makes room for others, and is read all the same', {
  timeout: 20_000,
}, async (t) => {
  const { decode, decodeBytes } = start(t)
  const over = new AbortController()
  const theirs = Array.from({ length: 5 }, () => decodeBytes(1, forEver, { left: over.signal }))
  const settled = Promise.allSettled(theirs)
  const long = decode(`const end = performance.now() + 1_000; while (performance.now() < end); ${small}`)
  const longIndexes = decode(`${oneSecondAfterRows}; ${large}`)
  for (let n = 0; n < 3; n++) assert.equal((await decode(small)).snapshot.rowNumbers.length, 1)
  over.abort()
  assert.ok((await settled).every(({ status }) => status === 'rejected'))
  assert.equal((await long).snapshot.rowNumbers.length, 1)
  assert.equal((await (await longIndexes).indexed).rowNumbers.length, 30_000)
})

test('a file for somebody who has left is not read', { timeout: 20_000 }, async (t) => {
  const { decodeBytes, seen } = start(t)
  const [first, second] = [new AbortController(), new AbortController()]
  let fetches = 0
  const fetching = async () => void fetches++
  const running = decodeBytes(megabyte, forEver, { fetching, left: first.signal })
  const waiting = decodeBytes(megabyte, forEver, { fetching, left: second.signal })
  const next = decodeBytes(megabyte, small, { fetching })
  second.abort(new Error('the second has left'))
  await assert.rejects(waiting, /the second has left/)
  first.abort(new Error('the first has left'))
  await assert.rejects(running, /the first has left/)
  assert.equal((await next).snapshot.rowNumbers.length, 1, 'what was running for nobody was ended')
  assert.equal(fetches, 2, 'what waited for nobody was not begun')
  assert.deepEqual(
    seen.filter(({ event }) => event !== 'turn_waited'),
    [],
    'nothing of it is a failure',
  )
})

test('an account whose queue is full is refused, and what is refused was not fetched', async (t) => {
  const { decode, seen } = start(t)
  const { decoding_at_once, decoding_waiting } = defaultShares
  const room = decoding_at_once + decoding_waiting
  let fetches = 0
  const fetching = async (turn: ReadingTurn) => {
    await turn.begin(1)
    fetches++
  }
  const outcomes = await Promise.allSettled(
    Array.from({ length: room + 5 }, () => decode(small, 'acc_greedy', fetching)),
  )
  const refused = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []))
  assert.equal(refused.length, 5)
  assert.ok(refused.every((reason) => reason instanceof TooManyAtOnce))
  assert.equal(fetches, room)
  assert.equal(seen.filter(({ event }) => event === 'share_used_up').length, 5)
  assert.equal((await decode(small, 'acc_greedy')).snapshot.rowNumbers.length, 1, 'there is room again')
})

test('of one account, one after the other is fetched and decoded, also where indexes come later', async (t) => {
  const { decode } = start(t)
  let underWay = 0
  let most = 0
  const decoded = Array.from({ length: 6 }, async () => {
    const { indexed } = await decode(large, 'acc_greedy', async (turn) => {
      await turn.begin(1)
      underWay++
      most = Math.max(most, underWay)
    })
    await indexed
    underWay--
  })
  await Promise.all(decoded)
  assert.equal(most, 1)
})

test('a fetch that fails, or finds nothing new, gives its turn back', async (t) => {
  const { decode, decoding } = start(t)
  for (let n = 0; n < 3; n++) {
    await assert.rejects(
      decode(small, 'acc_one', async (turn) => {
        await turn.begin(1)
        throw new ProviderFailure('the file is gone')
      }),
      /the file is gone/,
    )
    const unchanged = await decoding.decode('acc_one', async (turn) => {
      await turn.begin(1)
      return 'unchanged' as const
    })
    assert.equal(unchanged, 'unchanged')
    assert.equal(await decoding.decode('acc_one', async () => null), null)
  }
  assert.equal((await decode(small, 'acc_one')).version, '1')
})

test('at the end, what has begun is finished, and what waits is not begun', async (t) => {
  const { decode, decoding } = start(t)
  const slow = `await new Promise((done) => setTimeout(done, 200)); return { rows: [['a'], [1]] }`
  const settled = Promise.allSettled(Array.from({ length: 8 }, () => decode(slow)))
  await sleep(50)
  await decoding.close()
  const outcomes = await settled
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    [...Array(2).fill('fulfilled'), ...Array(6).fill('rejected')],
  )
})

/** Sends its rows, and never gets done with their indexes. */
const standing = `const { parentPort } = await import('node:worker_threads')
  const { postMessage } = parentPort
  parentPort.postMessage = (...reply) => { postMessage.apply(parentPort, reply); for (;;); }`
/** The same, for a second. */
const oneSecondAfterRows = `const { parentPort } = await import('node:worker_threads')
  const { postMessage } = parentPort
  parentPort.postMessage = (...reply) => {
    postMessage.apply(parentPort, reply)
    parentPort.postMessage = postMessage
    const end = performance.now() + 1_000
    while (performance.now() < end);
  }`
const forEver = 'for (;;);'
const megabyte = 1024 * 1024
const small = "return { rows: [['a'], [1]] }"
const large = `return { rows: [['n'], ...Array.from({ length: 30_000 }, (_, n) => [n])] }`

interface FileWish {
  accountId?: string | undefined
  fetching?: ((turn: ReadingTurn) => Promise<void>) | undefined
  left?: AbortSignal
}

/** Decoders made of a line of code each. */
function start(t: TestContext) {
  const seen: Observation[] = []
  const observe = (observation: Observation) => void seen.push(observation)
  const decoding = createDecoding({ observe })
  t.after(() => decoding.close())
  let accounts = 0
  /** Each for an account of its own, unless it is named. */
  const decode = (
    body: string,
    accountId = `acc_${++accounts}`,
    fetching?: (turn: ReadingTurn) => Promise<void>,
  ) => decodeBytes(1, body, { accountId, fetching })
  const decodeBytes = (
    length: number,
    body: string,
    { accountId = `acc_${++accounts}`, fetching, left }: FileWish = {},
  ) => {
    const source = `export async function decode() { ${body} }`
    const module = `data:text/javascript,${encodeURIComponent(source)}`
    const fetch = async (turn: ReadingTurn) => {
      await turn.begin(length)
      await fetching?.(turn)
      return { bytes: new Uint8Array(length), version: '1', decoder: { module, name: 'decode', options: {} } }
    }
    return decoding.decode(accountId, fetch, left && { left })
  }
  return { seen, decode, decodeBytes, decoding }
}
