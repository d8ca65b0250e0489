import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createVirtualTime } from '../../../test/google/virtual-time.ts'
import { type Admitted, refuse } from '../../admission/admitted.ts'
import type { Pass } from '../../admission/judge.ts'
import type { ChangePage } from '../../changes/change-pages.ts'
import { Refusal } from '../../errors.ts'
import { createOpenStreams, type OpenStreamsParts } from './open-streams.ts'

const place = { epoch: 'AAAAAAAA', seq: 3 }
const opening = 'retry: 2000\nid: AAAAAAAA-3\n\n'

test('a comment comes every 15 seconds', async () => {
  const { time, text } = open()
  await time.pass(46_000)
  assert.equal(text(), `${opening}:\n\n:\n\n:\n\n`)
})

test('each further minute is a request, and one that is refused ends the stream', async () => {
  const { time, text, admitted, parts } = open()
  await time.pass(121_000)
  assert.equal(admitted.count, 2)
  parts.admission.admit = async () => refuse(new Refusal('usage_limit_exceeded', { retryAfterSeconds: 7 }))
  await time.pass(60_000)
  assert.match(text(), /\nretry: 7000\nevent: end\ndata: \{"error":".*","code":"usage_limit_exceeded"\}\n\n$/)
})

test('who is no longer admitted hears so within two seconds, and gets nothing that came since', async () => {
  const { time, text, parts, deliver } = open()
  await time.pass(1_000)
  parts.admission.stillAdmits = async () => new Refusal('invalid_api_key')
  deliver({ changes: [change(4)], next: { ...place, seq: 4 }, end: null })
  await time.pass(1_000)
  assert.equal(text(), `${opening}event: end\ndata: {"error":"Invalid API key","code":"invalid_api_key"}\n\n`)
})

test('while the store is away a change waits, and so does the stream', async () => {
  const { time, text, parts, deliver } = open()
  const { stillAdmits } = parts.admission
  parts.admission.stillAdmits = async () => Promise.reject(new Error('away'))
  deliver({ changes: [change(4)], next: { ...place, seq: 4 }, end: null })
  await time.pass(10_000)
  assert.equal(text(), opening)
  parts.admission.stillAdmits = stillAdmits
  await time.pass(2_000)
  assert.match(text(), /id: AAAAAAAA-4\ndata: \{"cursor":"AAAAAAAA-4"/)
})

test('who is handed a page sends it in a turn, and asks then whether it may', async () => {
  const turn = Promise.withResolvers<void>()
  const { time, text, parts, deliver } = open(true, () => turn.promise)
  let asked = 0
  parts.admission.stillAdmits = async () => {
    asked++
    return null
  }
  deliver({ changes: [change(4)], next: { ...place, seq: 4 }, end: null })
  await time.pass(1_000)
  assert.deepEqual([text(), asked], [opening, 0])
  turn.resolve()
  await time.pass(0)
  assert.match(text(), /id: AAAAAAAA-4\ndata: /)
  assert.equal(asked, 1)
})

test('nothing is made for a client that does not read', async () => {
  const { time, takers, chunks } = open(false)
  const iterator = chunks[Symbol.asyncIterator]()
  await iterator.next()
  const [take] = takers
  take?.({ changes: [change(4)], next: { ...place, seq: 4 }, end: null })
  await iterator.next()
  await time.pass(3_600_000)
  assert.equal(takers.length, 1, 'it is not at the next page before this one is read')
  await iterator.return?.()
})

function open(isRead = true, nextTurn: () => Promise<void> | undefined = () => undefined) {
  const time = createVirtualTime()
  const takers: ((page: ChangePage) => void)[] = []
  const admitted = { count: 0 }
  const parts: OpenStreamsParts & { admission: OpenStreamsParts['admission'] } = {
    pages: {
      next(_sheetId, _place, take) {
        takers.push(take)
        return () => {}
      },
    },
    admission: {
      admit: async () => {
        admitted.count++
        return { verdict: {} } as Admitted<Pass>
      },
      stillAdmits: async () => null,
    },
    timers: time.timers,
    random: () => 0.5,
  }
  const chunks = createOpenStreams(parts).open({
    sheetId: 'sh_1',
    place,
    filter: { matches: () => true, filterName: '' },
    call: {
      address: { form: 'b', sheetId: 'sh_1' },
      keyHash: null,
      intent: 'read',
      pageRight: 'never',
      origin: null,
    },
    clientAddress: '127.0.0.1',
    form: 'flat',
    left: new AbortController().signal,
    onHalfClosed() {},
    nextTurn,
  })
  let text = ''
  const read = async () => {
    for await (const chunk of chunks) text += Buffer.from(chunk).toString()
  }
  if (isRead) void read()
  const deliver = (page: ChangePage) => takers.at(-1)?.(page)
  return { time, parts, admitted, takers, chunks, deliver, text: () => text }
}

function change(seq: number) {
  return {
    cursor: `AAAAAAAA-${seq}`,
    atMs: 0,
    change: { kind: 'deleted' as const, row: 2, before: '{"a":1}' },
  }
}
