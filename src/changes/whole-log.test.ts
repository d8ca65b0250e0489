import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextRound } from 'node:timers/promises'
import { GoneMeanwhile } from '../errors.ts'
import type { LongText } from './long-text.ts'
import type { ReadingChanges } from './reading-changes.ts'
import { wholeLog } from './whole-log.ts'

const kept = 1_000
const after = 'x'.repeat(10_000)

test('a log is handed over in short pieces, and a page is read in its turn and when the one before is taken', async () => {
  const { changes, pagesRead } = longLog()
  const turns: (() => void)[] = []
  const pieces = wholeLog('s', changes, () => new Promise((resolve) => turns.push(resolve)))
  const first = pieces.next()
  await nextRound()
  assert.equal(pagesRead(), 0, 'it waits for its turn')
  turns.shift()?.()
  let told = (await first).value?.length ?? 0
  await nextRound()
  assert.deepEqual([pagesRead(), turns.length], [1, 0], 'nothing is read ahead')
  for (;;) {
    const next = pieces.next()
    await nextRound()
    turns.shift()?.()
    const { done, value = [] } = await next
    if (done) break
    told += value.length
    const characters = value.join('').length
    assert.ok(characters <= 64 * 1_024 + 11_000, `${characters} characters in one piece`)
  }
  assert.deepEqual([told, pagesRead()], [kept, 3])
})

test('a very long change that is forgotten before it is told is left out, and one that goes in the middle of it ends the answer', async () => {
  const told = async (lasting: number) => {
    const parts: string[] = []
    let isClosed = false
    const after: LongText = {
      characters: 9,
      async *pieces() {
        try {
          for (let nth = 0; nth < 3; nth++) {
            if (nth === lasting) throw new GoneMeanwhile()
            yield Buffer.from(`<${nth}>`)
          }
        } finally {
          isClosed = true
        }
      },
    }
    const short = { cursor: 'e-1', atMs: 0, change: { kind: 'added', row: 2, after: '{}' } } as const
    const long = { ...short, cursor: 'e-2', long: { after } }
    const changes = {
      positionOf: async () => ({ epoch: 'e', floor: 0 }),
      after: async (_sheetId: string, { seq }: { seq: number }) => ({
        changes: seq === 0 ? [short, long, short] : [],
        next: { epoch: 'e', seq: 3 },
        hasMore: false,
      }),
    } as unknown as Pick<ReadingChanges, 'positionOf' | 'after'>
    const read = async () => {
      for await (const piece of wholeLog('s', changes, () => undefined)) {
        if (Array.isArray(piece)) parts.push(...piece.map(() => 'short'))
        else for await (const bytes of piece) parts.push(Buffer.from(bytes).toString().slice(0, 3))
      }
    }
    const failure = await read().catch((error: unknown) => error)
    assert.ok(isClosed)
    return { parts, failure }
  }
  assert.deepEqual(await told(0), { parts: ['short', 'short'], failure: undefined })
  const cut = await told(2)
  assert.deepEqual(cut.parts, ['short', '{"c', '<0>', '<1>'])
  assert.ok(cut.failure instanceof GoneMeanwhile)
  assert.deepEqual((await told(9)).parts, ['short', '{"c', '<0>', '<1>', '<2>', ',"s', 'short'])
})

function longLog() {
  let pages = 0
  const epoch = 'e'
  const changes = {
    positionOf: async () => ({ epoch, floor: 0 }),
    async after(_sheetId, { seq }, { limit }) {
      pages++
      const read = Array.from({ length: Math.min(limit, kept - seq) }, (_, nth) => ({
        cursor: `${epoch}-${seq + nth + 1}`,
        atMs: 0,
        change: { kind: 'added', row: 2, after: `{"a":"${after}"}` } as const,
      }))
      return { changes: read, next: { epoch, seq: seq + read.length }, hasMore: false }
    },
  } as Pick<ReadingChanges, 'after'> & { positionOf(): Promise<{ epoch: string; floor: number }> }
  return { changes: changes as Pick<ReadingChanges, 'positionOf' | 'after'>, pagesRead: () => pages }
}
