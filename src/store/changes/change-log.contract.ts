import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { GoneMeanwhile } from '../../errors.ts'
import { passTime } from '../leases/leases.contract.ts'
import { newId } from '../new-id.ts'
import type { ChangesToSend } from '../operations/operations.ts'
import { accountWithSheet } from '../records.fixture.ts'
import type { SheetRecord } from '../sheets/sheets.ts'
import type { SqlDatabase } from '../sql/sql-database.ts'
import type { Store } from '../store.ts'
import type { StoreTest } from '../store-test.fixture.ts'
import type { ChunkToLog, LogPosition, SeenChanges } from './change-log.ts'
import { createChangeTexts, removeUnnamed } from './change-texts.ts'
import { forgetBehind, logBehindHead } from './changes-of-writes.ts'

const anything = Number.POSITIVE_INFINITY
const dayMs = 24 * 60 * 60_000

export function changeLogContract(of: StoreTest): void {
  of('a log begins empty, with the rows that were first seen', async (store) => {
    const { sheet } = await accountWithSheet(store)
    const before = await positionOf(store, sheet)
    assert.deepEqual([before.epoch, before.head, before.stateSeq], [null, 0, null])
    assert.equal(await store.logSeen(seenChangesOf(sheet, before, [], 'rows 0')), 0)
    const after = await positionOf(store, sheet)
    assert.match(after.epoch ?? '', /^[0-9A-Za-z]{8}$/)
    assert.deepEqual([after.head, after.floor, after.stateSeq, after.stateBytes], [0, 0, 0, 6])
    assert.deepEqual(await store.loggedState(sheet.id), { state: ['rows 0'], stateSeq: 0 })
  })

  of('a log is called what was promised where it begins with those rows, and nowhere else', async (store) => {
    const { sheet } = await accountWithSheet(store)
    const before = await positionOf(store, sheet)
    const promised = (firstEpoch: string) => ({ ...seenChangesOf(sheet, before, [], 'rows'), firstEpoch })
    const [id = ''] = await begin(store, sheet, 'fence', changes(sheet, 'write', 1))
    assert.equal(await store.logSeen(promised('AAAAAAAA')), 'writing')
    assert.notEqual((await positionOf(store, sheet)).epoch, 'AAAAAAAA')
    const applied = { sheetId: sheet.id, outcome: 'as_begun' } as const
    await store.finishApplied(sheet.source, [{ id, answer: null }], applied)
    assert.equal(await store.logSeen(promised('BBBBBBBB')), 'writing')
    assert.notEqual((await positionOf(store, sheet)).epoch, 'BBBBBBBB')
    const { sheet: other } = await accountWithSheet(store, 'other')
    const first = {
      ...seenChangesOf(other, await positionOf(store, other), [], 'rows'),
      firstEpoch: 'CCCCCCCC',
    }
    assert.equal(await store.logSeen(first), 0)
    assert.equal((await positionOf(store, other)).epoch, 'CCCCCCCC')
    assert.equal(await store.logSeen({ ...first, firstEpoch: 'DDDDDDDD' }), 'overtaken')
    assert.equal((await positionOf(store, other)).epoch, 'CCCCCCCC')
  })

  of('what the rows are is known by their hash until the log goes on', async (store) => {
    const { sheet } = await accountWithSheet(store)
    const first = await positionOf(store, sheet)
    assert.equal(first.contentHash, null)
    await store.noteContent(sheet.id, { epoch: null, seq: 0 }, 'of no log')
    await store.logSeen({ ...seenChangesOf(sheet, first, [], 'rows'), contentHash: 'one' })
    const second = await positionOf(store, sheet)
    assert.equal(second.contentHash, 'one')
    const [id = ''] = await begin(store, sheet, 'fence', changes(sheet, 'write', 1))
    assert.equal((await positionOf(store, sheet)).contentHash, 'one', 'it is not told yet')
    await store.finishApplied(sheet.source, [{ id, answer: null }], {
      sheetId: sheet.id,
      outcome: 'as_begun',
    })
    const third = await positionOf(store, sheet)
    assert.deepEqual([third.head, third.contentHash], [1, null])
    await store.noteContent(sheet.id, { epoch: second.epoch, seq: 0 }, 'late')
    await store.noteContent(sheet.id, { epoch: 'another', seq: 1 }, 'of another')
    assert.equal((await positionOf(store, sheet)).contentHash, null)
    await store.noteContent(sheet.id, { epoch: third.epoch, seq: 1 }, 'two')
    assert.equal((await positionOf(store, sheet)).contentHash, 'two')
  })

  of(
    'long rows are kept in pieces, of which those of the log alone are left',
    async (store, clock, database) => {
      const { sheet } = await accountWithSheet(store)
      const long = (name: string) => Array.from({ length: 11 }, (_, n) => `${name} ${n}`)
      const idOfPieces = async () => {
        const pieces = await database.kysely.selectFrom('change_state').select('state_id').execute()
        return new Set(pieces.map(({ state_id }) => state_id))
      }
      const first = await positionOf(store, sheet)
      await store.logSeen(seenChangesOf(sheet, first, [], long('a')))
      assert.deepEqual(await store.loggedState(sheet.id), { state: long('a'), stateSeq: 0 })
      const second = await positionOf(store, sheet)
      assert.equal(second.stateBytes, long('a').join('').length)
      const [before] = await idOfPieces()
      await store.logSeen(seenChangesOf(sheet, second, [chunk('look', 2)], long('bb')))
      assert.deepEqual(await store.loggedState(sheet.id), { state: long('bb'), stateSeq: 2 })
      const [after, ...others] = await idOfPieces()
      assert.ok(after !== undefined && after !== before && others.length === 0)
      assert.equal(await store.logSeen(seenChangesOf(sheet, second, [], long('late'))), 'overtaken')
      assert.deepEqual(await idOfPieces(), new Set([after]), 'nothing of what was not logged')
      // Whoever is killed before its pieces are named leaves them behind.
      const lost = { sheet_id: sheet.id, state_id: 'lost', made_at_ms: database.nowMs(), piece: 'x' }
      for (let nth = 0; nth < 9; nth++)
        await database.kysely
          .insertInto('change_state')
          .values({ ...lost, nth })
          .execute()
      await passTime(database, clock, 61 * 60_000)
      await store.logSeen(seenChangesOf(sheet, await positionOf(store, sheet), [], long('c')))
      assert.equal((await idOfPieces()).size, 1)
      assert.deepEqual(await store.loggedState(sheet.id), { state: long('c'), stateSeq: 2 })
    },
  )

  of('whoever reads long rows while others take their place gets one or the other', async (store) => {
    const { sheet } = await accountWithSheet(store)
    const long = (n: number) => Array.from({ length: 20 }, () => `${n}`)
    await store.logSeen(seenChangesOf(sheet, await positionOf(store, sheet), [], long(0)))
    let isOver = false
    const writing = (async () => {
      for (let n = 1; n < 15; n++)
        await store.logSeen(seenChangesOf(sheet, await positionOf(store, sheet), [chunk('x', 1)], long(n)))
      isOver = true
    })()
    while (!isOver) {
      const { state = [], stateSeq = -1 } = (await store.loggedState(sheet.id)) ?? {}
      assert.deepEqual(state, long(stateSeq))
    }
    await writing
  })

  of('of any number that saw the same difference one logs it', async (store) => {
    const { sheet } = await accountWithSheet(store)
    const position = await positionOf(store, sheet)
    const logged = await Promise.all(
      Array.from({ length: 8 }, (_, n) =>
        store.logSeen(seenChangesOf(sheet, position, [chunk(`look ${n}`, 2)])),
      ),
    )
    assert.equal(logged.filter((outcome) => outcome === 2).length, 1)
    assert.equal(logged.filter((outcome) => outcome === 'overtaken').length, 7)
    const chunks = await store.loggedChanges(sheet.id, 0, anything)
    assert.deepEqual(
      chunks.map(({ firstSeq, lastSeq }) => [firstSeq, lastSeq]),
      [[1, 2]],
    )
  })

  of('a long log that goes is never read with a gap, and is gone when it is said to be', async (store) => {
    const { sheet } = await accountWithSheet(store)
    const chunks = Array.from({ length: 100 }, (_, nth) => chunk(`look ${nth}`, 2))
    await store.logSeen(seenChangesOf(sheet, await positionOf(store, sheet), chunks))
    let isGone = false
    const going = store.changeSheet(sheet.id, { historyDays: 0 }).then(() => {
      isGone = true
    })
    const seen: number[] = []
    while (!isGone) {
      const left = await store.loggedChanges(sheet.id, 0, anything)
      seen.push(left.length)
      for (const [at, { firstSeq }] of left.entries()) {
        assert.equal(firstSeq, at === 0 ? firstSeq : (left[at - 1]?.lastSeq ?? 0) + 1)
      }
      const isToItsEnd = left.length === 0 || left.at(-1)?.lastSeq === 200
      // It is read in several statements, and may be gone before the last.
      if (!isToItsEnd) assert.equal(await store.changeLogOf(sheet.id), null, 'from its beginning')
      // An embedded store answers without a look at anything else.
      await new Promise((resolve) => setImmediate(resolve))
    }
    await going
    assert.ok(new Set(seen).size > 2, `in steps: ${seen.join(' ')}`)
    assert.deepEqual(await store.loggedChanges(sheet.id, 0, anything), [])
    assert.equal(await store.changeLogOf(sheet.id), null)
  })

  of('changes of a write are told when it is finished, and not before', async (store) => {
    const { sheet } = await accountWithSheet(store)
    const [id = ''] = await begin(store, sheet, 'fence 1', changes(sheet, 'write 1', 3))
    assert.deepEqual(await store.loggedChanges(sheet.id, 0, anything), [])
    assert.equal((await positionOf(store, sheet)).head, 0)
    const finished = { sheetId: sheet.id, outcome: 'as_begun' } as const
    assert.equal(await store.finishApplied(sheet.source, [{ id, answer: null }], finished), 3)
    const chunks = await store.loggedChanges(sheet.id, 0, anything)
    assert.deepEqual(chunks, [{ firstSeq: 1, lastSeq: 3, atMs: 5, entries: '["write 1"]' }])
    assert.deepEqual(await store.loggedChanges(sheet.id, 2, anything), chunks)
    assert.deepEqual(await store.loggedChanges(sheet.id, 3, anything), [])
    assert.equal(await store.finishApplied(sheet.source, [], finished), 3, 'told once')
  })

  of('a write is found in the log by its name, while all of it is kept', async (store, clock, database) => {
    const { sheet } = await accountWithSheet(store)
    const finished = { sheetId: sheet.id, outcome: 'as_begun' } as const
    const [id = ''] = await begin(store, sheet, 'fence 1', {
      ...changes(sheet, 'write 1', 3),
      chunks: [{ ...chunk('write 1', 3), operations: ['op_a', 'op_b'] }],
    })
    assert.equal(await store.chunkOfOperation(sheet.id, 'op_a'), null, 'it is not told yet')
    await store.finishApplied(sheet.source, [{ id, answer: null }], finished)
    for (const name of ['op_a', 'op_b']) {
      assert.equal((await store.chunkOfOperation(sheet.id, name))?.entries, '["write 1"]')
    }
    assert.equal(await store.chunkOfOperation(sheet.id, 'op_c'), null)
    const position = await positionOf(store, sheet)
    const later = { ...chunk('look', 1), operations: ['op_a', 'op_c'] }
    await store.logSeen(seenChangesOf(sheet, position, [later], 'rows'))
    assert.equal((await store.chunkOfOperation(sheet.id, 'op_a'))?.firstSeq, 1, 'its first')
    assert.equal((await store.chunkOfOperation(sheet.id, 'op_c'))?.firstSeq, 4)
    await passTime(database, clock, 8 * dayMs)
    await store.forgetOldChanges(anything)
    for (const name of ['op_a', 'op_b', 'op_c'])
      assert.equal(await store.chunkOfOperation(sheet.id, name), null)
  })

  of('a write is not begun where the log went on since the rows that it was judged on', async (store) => {
    const { sheet } = await accountWithSheet(store)
    assert.equal(await store.logSeen(seenChangesOf(sheet, await positionOf(store, sheet), [], 'rows 0')), 0)
    const { epoch } = await positionOf(store, sheet)
    const operations = [{ id: null, accountId: sheet.accountId, sheetId: sheet.id, answer: '' }]
    const { source } = sheet
    const sendAfter = (after: ChangesToSend['after']) =>
      store.beginSending({
        ...{ source, fence: 'fence', place: '{}', operations },
        changes: { ...changes(sheet, 'write', 1), after },
      })
    assert.equal(
      await store.logSeen(seenChangesOf(sheet, await positionOf(store, sheet), [chunk('person', 1)])),
      1,
    )
    for (const after of [
      { epoch, seq: 0 },
      { epoch: null, seq: 1 },
      { epoch: 'AAAAAAAA', seq: 1 },
    ]) {
      assert.deepEqual(await sendAfter(after), { isOvertaken: true })
      assert.deepEqual(await store.sendingOperations(source), [], 'nothing was recorded')
    }
    assert.ok(Array.isArray(await sendAfter({ epoch, seq: 1 })))
  })

  of('what was sent in vain and waits again keeps nobody from logging a look', async (store) => {
    const { sheet } = await accountWithSheet(store)
    const ids = await begin(store, sheet, 'fence 1', changes(sheet, 'void', 1))
    const position = await positionOf(store, sheet)
    assert.equal(await store.logSeen(seenChangesOf(sheet, position, [chunk('person', 1)])), 'writing')
    await store.unsendOperations(ids)
    assert.deepEqual(await store.sendingOperations(sheet.source), [])
    assert.equal(await store.logSeen(seenChangesOf(sheet, position, [chunk('person', 1)])), 1)
  })

  of('a write without changes does not tell what a void one left', async (store) => {
    const { sheet } = await accountWithSheet(store)
    const [first = ''] = await begin(store, sheet, 'fence 1', changes(sheet, 'void', 1))
    await store.dropOperations([first])
    const [id = ''] = await begin(store, sheet, 'fence 2', { ...changes(sheet, '', 0), chunks: [] })
    const finished = { sheetId: sheet.id, outcome: 'as_begun' } as const
    assert.equal(await store.finishApplied(sheet.source, [{ id, answer: null }], finished), 0)
    assert.deepEqual(await store.loggedChanges(sheet.id, 0, anything), [])
  })

  of(
    'a long write is in several chunks, of which none is told before all are, and none after it was void',
    async (store) => {
      const { sheet } = await accountWithSheet(store)
      const long = { ...changes(sheet, '', 0), chunks: [chunk('a', 2), chunk('b', 3), chunk('c', 1)] }
      const [first = ''] = await begin(store, sheet, 'fence 1', long)
      assert.deepEqual(await store.loggedChanges(sheet.id, 0, anything), [])
      await store.dropOperations([first])
      const [second = ''] = await begin(store, sheet, 'fence 2', changes(sheet, 'short', 2))
      const finished = { sheetId: sheet.id, outcome: 'as_begun' } as const
      assert.equal(await store.finishApplied(sheet.source, [{ id: second, answer: null }], finished), 2)
      const [third = ''] = await begin(store, sheet, 'fence 3', {
        ...long,
        chunks: [chunk('d', 2), chunk('e', 1)],
      })
      assert.equal(await store.finishApplied(sheet.source, [{ id: third, answer: null }], finished), 5)
      const [fourth = ''] = await begin(store, sheet, 'fence 4', { ...long, isPlaced: false })
      const placed = { sheetId: sheet.id, outcome: 'placed', chunks: [chunk('f', 1), chunk('g', 4)] } as const
      assert.equal(await store.finishApplied(sheet.source, [{ id: fourth, answer: null }], placed), 10)
      const [fifth = ''] = await begin(store, sheet, 'fence 5', { ...long, isPlaced: false })
      assert.equal(await store.finishApplied(sheet.source, [{ id: fifth, answer: null }], finished), 10)
      assert.equal((await positionOf(store, sheet)).unplaced, '["a","b","c"]')
      const chunks = await store.loggedChanges(sheet.id, 0, anything)
      assert.deepEqual(
        chunks.map(({ firstSeq, lastSeq, entries }) => [firstSeq, lastSeq, entries]),
        [
          [1, 2, '["short"]'],
          [3, 4, '["d"]'],
          [5, 5, '["e"]'],
          [6, 6, '["f"]'],
          [7, 10, '["g"]'],
        ],
      )
    },
  )

  of('a look that is wanted is so until one is logged', async (store, clock, database) => {
    const { sheet } = await accountWithSheet(store)
    await store.logSeen(seenChangesOf(sheet, await positionOf(store, sheet), [], 'rows 0'))
    assert.equal((await positionOf(store, sheet)).lookWantedForMs, null)
    await store.wantLook(sheet.id)
    await passTime(database, clock, 60)
    await store.wantLook(sheet.id)
    const position = await positionOf(store, sheet)
    assert.ok((position.lookWantedForMs ?? 0) >= 50, 'since the first time')
    await store.logSeen(seenChangesOf(sheet, position, []))
    assert.equal((await positionOf(store, sheet)).lookWantedForMs, null)
  })

  of('changes of a write that was void are never told, and leave no gap', async (store) => {
    const { sheet } = await accountWithSheet(store)
    const [id = ''] = await begin(store, sheet, 'fence 1', changes(sheet, 'void', 3))
    await store.dropOperations([id])
    const [second = ''] = await begin(store, sheet, 'fence 2', changes(sheet, 'write 2', 1))
    const finished = { sheetId: sheet.id, outcome: 'as_begun' } as const
    assert.equal(await store.finishApplied(sheet.source, [{ id: second, answer: null }], finished), 1)
    await begin(store, sheet, 'fence 3', changes(sheet, 'void again', 3)).then((ids) =>
      store.dropOperations(ids),
    )
    assert.equal(
      await store.logSeen(seenChangesOf(sheet, await positionOf(store, sheet), [chunk('look', 1)])),
      2,
    )
    const chunks = await store.loggedChanges(sheet.id, 0, anything)
    assert.deepEqual(
      chunks.map(({ firstSeq, lastSeq, entries }) => [firstSeq, lastSeq, entries]),
      [
        [1, 1, '["write 2"]'],
        [2, 2, '["look"]'],
      ],
    )
  })

  of('where row numbers turned out to be others these are told', async (store) => {
    const { sheet } = await accountWithSheet(store)
    const [id = ''] = await begin(store, sheet, 'fence 1', changes(sheet, 'guess', 3, false))
    const finished = { sheetId: sheet.id, outcome: 'placed', chunks: [chunk('known', 2)] } as const
    const outcomes = [{ id, answer: null }]
    assert.equal(await store.finishApplied(sheet.source, outcomes, finished), 2)
    assert.equal(await store.finishApplied(sheet.source, outcomes, finished), 2, 'told once')
    const [only] = await store.loggedChanges(sheet.id, 0, anything)
    assert.deepEqual([only?.lastSeq, only?.entries], [2, '["known"]'])
  })

  of(
    'whoever finishes a second time tells nothing of the write that is being sent by then',
    async (store) => {
      const { sheet } = await accountWithSheet(store)
      const [first = ''] = await begin(store, sheet, 'fence 1', changes(sheet, 'write 1', 1))
      const finished = { sheetId: sheet.id, outcome: 'as_begun' } as const
      await store.finishApplied(sheet.source, [{ id: first, answer: null }], finished)
      const [second = ''] = await begin(store, sheet, 'fence 2', changes(sheet, 'write 2', 1))
      assert.equal(await store.finishApplied(sheet.source, [{ id: first, answer: null }], finished), 1)
      assert.equal((await store.loggedChanges(sheet.id, 0, anything)).length, 1)
      await store.dropOperations([second])
    },
  )

  of('what landed nobody knows where waits for the next look, also after a crash', async (store) => {
    const { sheet } = await accountWithSheet(store)
    const unplaced = async (fence: string, text: string, outcome: 'as_begun' | 'unplaced') => {
      const [id = ''] = await begin(store, sheet, fence, changes(sheet, text, 1, false))
      await store.finishApplied(sheet.source, [{ id, answer: null }], { sheetId: sheet.id, outcome })
    }
    await unplaced('fence 1', 'one', 'as_begun')
    await unplaced('fence 2', 'two', 'unplaced')
    const position = await positionOf(store, sheet)
    assert.deepEqual([position.head, position.unplaced], [0, '["one","two"]'])
    assert.equal(await store.logSeen(seenChangesOf(sheet, position, [chunk('found', 2)])), 2)
    assert.equal((await positionOf(store, sheet)).unplaced, null)
  })

  of('a look is not logged while a write is being sent, nor when one was finished since', async (store) => {
    const { sheet } = await accountWithSheet(store)
    const before = await positionOf(store, sheet)
    const [id = ''] = await begin(store, sheet, 'fence 1', null)
    assert.equal(await store.logSeen(seenChangesOf(sheet, before, [chunk('look', 1)])), 'writing')
    await store.finishApplied(sheet.source, [{ id, answer: null }])
    assert.equal(await store.logSeen(seenChangesOf(sheet, before, [chunk('look', 1)])), 'writing')
    assert.equal(
      await store.logSeen(seenChangesOf(sheet, await positionOf(store, sheet), [chunk('look', 1)])),
      1,
    )
  })

  of('however looks and writes meet, numbers have no gap and no double', async (store) => {
    const { sheet } = await accountWithSheet(store)
    const look = async (n: number) => {
      for (let tries = 0; tries < 40; tries++) {
        const outcome = await store.logSeen(
          seenChangesOf(
            sheet,
            await positionOf(store, sheet),
            [chunk(`look ${n}`, 2)],
            tries % 2 ? `rows ${n}` : null,
          ),
        )
        if (typeof outcome === 'number') return
      }
    }
    const write = async (n: number) => {
      const [id = ''] = await begin(store, sheet, `fence ${n}`, changes(sheet, `write ${n}`, 3))
      await store.finishApplied(sheet.source, [{ id, answer: null }], {
        sheetId: sheet.id,
        outcome: 'as_begun',
      })
    }
    const writes = async () => {
      for (let n = 0; n < 8; n++) await write(n)
    }
    await Promise.all([writes(), ...Array.from({ length: 6 }, (_, n) => look(n))])
    const chunks = await store.loggedChanges(sheet.id, 0, anything)
    let last = 0
    for (const { firstSeq, lastSeq } of chunks) {
      assert.equal(firstSeq, last + 1)
      last = lastSeq
    }
    assert.equal((await positionOf(store, sheet)).head, last)
    assert.equal(new Set(chunks.map(({ entries }) => entries)).size, chunks.length)
    assert.equal(chunks.filter(({ entries }) => String(entries).includes('write')).length, 8)
  })

  of('long changes take little room, and are read as they were written', async (store) => {
    const { sheet } = await accountWithSheet(store)
    const names = Array.from({ length: 60 }, (_, n) => [`a column with a name ${n}`, null])
    const wide = JSON.stringify([{ before: Object.fromEntries(names), after: Object.fromEntries(names) }])
    const own = { ...changes(sheet, '', 1), chunks: [{ ...chunk('', 1), entries: wide }] }
    const [id = ''] = await begin(store, sheet, 'fence 1', own)
    const finished = { sheetId: sheet.id, outcome: 'as_begun' } as const
    await store.finishApplied(sheet.source, [{ id, answer: null }], finished)
    const look = { ...chunk('', 1), entries: wide }
    await store.logSeen(seenChangesOf(sheet, await positionOf(store, sheet), [look]))
    const chunks = await store.loggedChanges(sheet.id, 0, anything)
    assert.deepEqual(
      chunks.map(({ entries }) => entries),
      [wide, wide],
    )
    const { sinceStateBytes } = await positionOf(store, sheet)
    assert.ok(sinceStateBytes >= 2 * wide.length, 'the rows are written anew by how long the texts are')
    assert.equal(
      (await store.forgetOldChanges(wide.length)).chunks,
      0,
      'both together take less than one of them',
    )
  })

  of(
    'very long changes stay where they are, and are handed out part by part',
    async (store, _clock, database) => {
      const { sheet } = await accountWithSheet(store)
      const short = JSON.stringify(['Ж'.repeat(100_000)])
      const long = JSON.stringify(['Ж'.repeat(150_000)])
      const written = [short, long, short].map((entries) => ({ ...chunk('', 1), entries }))
      await store.logSeen(seenChangesOf(sheet, await positionOf(store, sheet), written))
      const chunks = await store.loggedChanges(sheet.id, 0, anything)
      const [first, second, third] = chunks.map(({ entries }) => entries)
      assert.deepEqual([first, third], [short, short])
      assert.ok(second !== undefined && typeof second !== 'string')
      assert.equal(second.bytes, Buffer.byteLength(long))
      const parts = [await second.slice(0, 100_001), await second.slice(100_001, 300_000)]
      assert.equal(Buffer.concat(parts).toString(), long)
      assert.equal((await store.loggedChanges(sheet.id, 0, 300_000)).length, 2, 'it counts with its bytes')
      const [id = ''] = await begin(store, sheet, 'fence', {
        ...changes(sheet, '', 1),
        chunks: [{ ...chunk('', 1), entries: long, operations: ['op_1'] }],
      })
      await store.finishApplied(sheet.source, [{ id, answer: null }], {
        sheetId: sheet.id,
        outcome: 'as_begun',
      })
      const ofWrite = (await store.chunkOfOperation(sheet.id, 'op_1'))?.entries
      assert.ok(ofWrite !== undefined && typeof ofWrite !== 'string')
      assert.equal(Buffer.from(await ofWrite.slice(0, 1_000_000)).toString(), long)
      await database.kysely.updateTable('change_log').set({ epoch: 'another' }).execute()
      await assert.rejects(second.slice(0, 10), GoneMeanwhile, 'another log may have the same numbers')
    },
  )

  of(
    'changes of a long write are read as they were written, each from any place',
    async (store, _clock, database) => {
      const { sheet } = await accountWithSheet(store)
      const finished = { sheetId: sheet.id, outcome: 'as_begun', textBytes: 7 } as const
      const written = longChunks('first')
      const [id = ''] = await begin(store, sheet, 'fence', { ...changes(sheet, '', 0), chunks: written })
      assert.deepEqual(await store.loggedChanges(sheet.id, 0, anything), [])
      assert.equal(await store.finishApplied(sheet.source, [{ id, answer: null }], finished), 4)
      await holdsChunks(store, sheet, written)
      assert.equal((await positionOf(store, sheet)).sinceStateBytes, 7)
      const kept = await store.keptChangesBytes(sheet.accountId)
      const bytes = written.reduce((sum, { entries }) => sum + Buffer.byteLength(entries), 0)
      assert.ok(kept >= bytes && kept < bytes + 1_000, `${kept} of ${bytes} bytes are counted`)
      const ofWrite = await store.chunkOfOperation(sheet.id, 'op_first')
      assert.equal(ofWrite?.firstSeq, 2)
      const seen = longChunks('second')
      assert.equal(await store.logSeen(seenChangesOf(sheet, await positionOf(store, sheet), seen)), 8)
      await holdsChunks(store, sheet, [...written, ...seen])
      const [third = ''] = await begin(store, sheet, 'fence 3', changes(sheet, 'guess', 1, false))
      const placed = { sheetId: sheet.id, outcome: 'placed', chunks: longChunks('third') } as const
      assert.equal(await store.finishApplied(sheet.source, [{ id: third, answer: null }], placed), 12)
      assert.equal(await store.finishApplied(sheet.source, [{ id: third, answer: null }], placed), 12)
      await holdsChunks(store, sheet, [...written, ...seen, ...placed.chunks])
      assert.equal((await textIds(database)).size, 3, 'what was written ahead for nothing is gone')
    },
  )

  of('of a long write that was void, or not begun, nothing is left', async (store, _clock, database) => {
    const { sheet } = await accountWithSheet(store)
    const long = { ...changes(sheet, '', 0), chunks: longChunks('void') }
    const [id = ''] = await begin(store, sheet, 'fence 1', long)
    await store.dropOperations([id])
    const [void1] = await textIds(database)
    assert.ok(void1 !== undefined)
    const [second = ''] = await begin(store, sheet, 'fence 2', { ...long, chunks: longChunks('other') })
    const [other, ...more] = await textIds(database)
    assert.ok(other !== void1 && more.length === 0)
    await store.dropOperations([second])
    assert.equal(
      await store.logSeen(seenChangesOf(sheet, await positionOf(store, sheet), [chunk('look', 1)])),
      1,
    )
    assert.equal((await textIds(database)).size, 0)
    const operations = [{ id: null, accountId: sheet.accountId, sheetId: sheet.id, answer: '' }]
    const sent = { source: sheet.source, fence: 'fence 3', place: '{}', operations }
    const overtaken = { ...long, after: { epoch: 'AAAAAAAA', seq: 0 } }
    assert.deepEqual(await store.beginSending({ ...sent, changes: overtaken }), { isOvertaken: true })
    assert.equal((await textIds(database)).size, 0)
    const late = { ...(await positionOf(store, sheet)), head: 0 }
    assert.equal(await store.logSeen(seenChangesOf(sheet, late, longChunks('late'))), 'overtaken')
    assert.equal((await textIds(database)).size, 0)
    const [fourth = ''] = await begin(store, sheet, 'fence 4', { ...long, isPlaced: false })
    const asBegun = { sheetId: sheet.id, outcome: 'as_begun' } as const
    assert.equal(await store.finishApplied(sheet.source, [{ id: fourth, answer: null }], asBegun), 1)
    assert.deepEqual(
      JSON.parse((await positionOf(store, sheet)).unplaced ?? ''),
      long.chunks.flatMap(({ entries }) => JSON.parse(entries) as unknown[]),
    )
    assert.equal((await textIds(database)).size, 0)
  })

  of('a long write ends, also where its sheet was deleted while it was on its way', async (store) => {
    const { sheet } = await accountWithSheet(store)
    const [id = ''] = await begin(store, sheet, 'fence', changes(sheet, 'guess', 0, false))
    await store.deleteSheet(sheet.id)
    const placed = { sheetId: sheet.id, outcome: 'placed', chunks: longChunks('late') } as const
    assert.equal(await store.finishApplied(sheet.source, [{ id, answer: null }], placed), null)
  })

  of('of two who write ahead for the same sheet each names its own', async (store, _clock, database) => {
    const { sheet } = await accountWithSheet(store)
    const position = await positionOf(store, sheet)
    const looks = ['one', 'two', 'three'].map((name) => longChunks(name))
    const outcomes = await Promise.all(
      looks.map((chunks) => store.logSeen(seenChangesOf(sheet, position, chunks))),
    )
    const logged = looks.filter((_, at) => outcomes[at] === 4)
    assert.equal(logged.length, 1)
    await holdsChunks(store, sheet, logged[0] ?? [])
    assert.equal((await textIds(database)).size, 1)
  })

  of(
    'what was written ahead and is not there as a whole any more is written with its chunks',
    async (store, clock, database) => {
      const { sheet } = await accountWithSheet(store)
      const texts = createChangeTexts(database)
      const harms = [
        () => database.kysely.deleteFrom('change_text').where('nth', '=', 2).where('at', '>', 0).execute(),
        () => database.kysely.deleteFrom('change_text').execute(),
        () => passTime(database, clock, 31 * 60_000),
        () => removeUnnamed(database, sheet.id),
      ]
      for (const [nth, harm] of harms.entries()) {
        const long = { ...changes(sheet, '', 0), chunks: longChunks(`harm ${nth}`) }
        const written = await texts.writeAhead(sheet.id, long.chunks)
        await harm()
        await database.kysely
          .transaction()
          .execute((transaction) => logBehindHead(transaction, long, written, database))
        await database.kysely.updateTable('change_log').set({ head: 4 }).execute()
        await holdsChunks(store, sheet, long.chunks)
        await store.changeSheet(sheet.id, { historyDays: 0 })
        await store.changeSheet(sheet.id, { historyDays: 7 })
      }
    },
  )

  of('what whoever was killed had written ahead goes, of any sheet', async (store, clock, database) => {
    const { sheet } = await accountWithSheet(store)
    const { sheet: other } = await accountWithSheet(store, 'other')
    const texts = createChangeTexts(database)
    const logged = longChunks('logged')
    await store.logSeen(seenChangesOf(sheet, await positionOf(store, sheet), logged))
    const kept = await textIds(database)
    await texts.writeAhead(sheet.id, longChunks('killed'))
    await texts.writeAhead(other.id, longChunks('killed before its first change'))
    await passTime(database, clock, 59 * 60_000)
    await store.forgetOldChanges(anything)
    assert.equal((await textIds(database)).size, 3, 'they may be about to be named')
    await passTime(database, clock, 2 * 60_000)
    const inAnotherServer = await texts.writeAhead(other.id, longChunks('in another server'))
    await store.forgetOldChanges(anything)
    assert.deepEqual(await textIds(database), kept.add(inAnotherServer?.textId ?? ''))
    assert.deepEqual(await unnamedIds(database), new Set([inAnotherServer?.textId]))
    await holdsChunks(store, sheet, logged)
  })

  of(
    'what whoever was killed had left when its changes were forgotten goes, whatever else was logged with it',
    async (store, clock, database) => {
      const { sheet } = await accountWithSheet(store)
      const long = { ...changes(sheet, '', 0), chunks: longChunks('void') }
      const [id = ''] = await begin(store, sheet, 'fence 1', long)
      await store.dropOperations([id])
      const left = await database.kysely
        .transaction()
        .execute((transaction) => forgetBehind(transaction, sheet.id, 2, database))
      assert.equal(left.length, 2)
      const nths = async () => {
        const rows = await database.kysely.selectFrom('change_text').select('nth').execute()
        return new Set(rows.map(({ nth }) => nth))
      }
      assert.equal((await nths()).size, 4)
      await passTime(database, clock, 61 * 60_000)
      await store.forgetOldChanges(anything)
      assert.deepEqual(await nths(), new Set([0, 1]))
    },
  )

  of(
    'what is written ahead for a log that goes goes with it, a little at a time',
    async (store, _clock, database) => {
      const { sheet } = await accountWithSheet(store)
      const texts = createChangeTexts(database)
      for (let nth = 0; nth < 4; nth++) await texts.writeAhead(sheet.id, longChunks(`killed ${nth}`))
      let isGone = false
      const going = store.changeSheet(sheet.id, { historyDays: 0 }).then(() => {
        isGone = true
      })
      const seen = new Set<number>()
      while (!isGone) {
        const { count } = await database.kysely
          .selectFrom('change_text')
          .select((of) => of.fn.countAll<number | string>().as('count'))
          .executeTakeFirstOrThrow()
        seen.add(Number(count))
        await new Promise((resolve) => setImmediate(resolve))
      }
      await going
      assert.ok(seen.size > 4, `in steps: ${[...seen].join(' ')}`)
      assert.equal((await textIds(database)).size, 0)
      assert.equal((await unnamedIds(database)).size, 0)
    },
  )

  of('what is being named is removed by nobody', async (store, _clock, database) => {
    const { sheet } = await accountWithSheet(store)
    const long = { ...changes(sheet, '', 0), chunks: longChunks('named') }
    const written = await createChangeTexts(database).writeAhead(sheet.id, long.chunks)
    let removing: Promise<void> | undefined
    await database.kysely.transaction().execute(async (transaction) => {
      await logBehindHead(transaction, long, written, database)
      removing = removeUnnamed(database, sheet.id)
      await sleep(100)
    })
    await removing
    await database.kysely.updateTable('change_log').set({ head: 4 }).execute()
    await holdsChunks(store, sheet, long.chunks)
  })

  for (const what of ['a sheet', 'an account'] as const)
    of(`${what} ends, whatever is logged for it in that moment`, async (store, _clock, database) => {
      const texts = createChangeTexts(database)
      const untilGone = async (work: () => Promise<unknown>) => {
        await assert.rejects(async () => {
          for (;;) {
            await work().catch((error: unknown) => {
              // Of two that wait for each other one is ended, whichever it is.
              if (!database.isDeadlock(error)) throw error
            })
            // An embedded store answers without a look at anything else.
            await sleep(1)
          }
        }, GoneMeanwhile)
      }
      for (let round = 0; round < 6; round++) {
        const { account, sheet } = await accountWithSheet(store, `round-${round}`)
        const { id, source } = sheet
        if (round % 2 === 0) {
          const begun = await positionOf(store, sheet)
          await store.logSeen(seenChangesOf(sheet, begun, [chunk('look', 1)], 'rows'))
        }
        const logs = async () => {
          if (!(await store.sheetById(id))) throw new GoneMeanwhile()
          await store.logSeen(
            seenChangesOf(sheet, await positionOf(store, sheet), [chunk('look', 1)], 'rows'),
          )
        }
        const long = [{ ...chunk('', 1), entries: JSON.stringify(['x'.repeat(600_000)]) }]
        const claims = () =>
          store.claimOperation(
            {
              ...{ id: newId('op'), accountId: account.id, sheetId: id, source },
              ...{ idempotencyKey: newId('op'), fingerprint: 'f' },
            },
            dayMs,
          )
        const adding = [() => texts.writeAhead(id, long), logs, claims].map(untilGone)
        await sleep(30)
        if (what === 'a sheet') await store.deleteSheet(id)
        else await store.deleteAccount(account.id)
        await Promise.all(adding)
        assert.equal((await textIds(database)).size, 0)
      }
    })

  of('the texts of long changes are forgotten with them', async (store, clock, database) => {
    const { sheet } = await accountWithSheet(store)
    const log = async (name: string) => {
      await store.logSeen(seenChangesOf(sheet, await positionOf(store, sheet), longChunks(name), 'rows'))
    }
    await log('old')
    const old = (await store.loggedChanges(sheet.id, 0, anything))[2]?.entries
    assert.ok(typeof old === 'object')
    await passTime(database, clock, 8 * dayMs)
    await log('new')
    assert.equal((await store.forgetOldChanges(anything)).chunks, 4)
    assert.equal((await textIds(database)).size, 1)
    await assert.rejects(old.slice(0, 10), GoneMeanwhile)
    await log('newer')
    await store.forgetOldChanges(1_000_000)
    const { count } = await database.kysely
      .selectFrom('change_text')
      .select((of) => of.fn.countAll<number | string>().as('count'))
      .executeTakeFirstOrThrow()
    const left = await store.loggedChanges(sheet.id, 0, anything)
    assert.ok(left.length < 4 && Number(count) <= left.length, `${count} pieces of ${left.length} chunks`)
    await log('newest')
    await store.changeSheet(sheet.id, { historyDays: 0 })
    assert.equal((await textIds(database)).size, 0)
    await store.changeSheet(sheet.id, { historyDays: 7 })
    await log('after it')
    await store.deleteSheet(sheet.id)
    assert.equal((await textIds(database)).size, 0)
    assert.equal((await unnamedIds(database)).size, 0)
  })

  of(
    'changes are forgotten after their days, but not those that the rows are told from',
    async (store, clock, database) => {
      const { sheet } = await accountWithSheet(store)
      await store.logSeen(seenChangesOf(sheet, await positionOf(store, sheet), [chunk('old', 2)], 'rows'))
      await store.logSeen(seenChangesOf(sheet, await positionOf(store, sheet), [chunk('needed', 1)]))
      await passTime(database, clock, 6 * dayMs)
      assert.deepEqual(await store.forgetOldChanges(anything), { chunks: 0, accountsOverShare: [] })
      await passTime(database, clock, 2 * dayMs)
      assert.deepEqual(await store.forgetOldChanges(anything), { chunks: 1, accountsOverShare: [] })
      const position = await positionOf(store, sheet)
      assert.deepEqual([position.floor, position.head, position.isBroken], [2, 3, false])
      assert.equal((await store.loggedChanges(sheet.id, 0, anything)).length, 1)
    },
  )

  of('beyond its bytes an account loses the oldest, and a log that lost too much says so', async (store) => {
    const { sheet } = await accountWithSheet(store)
    await store.logSeen(seenChangesOf(sheet, await positionOf(store, sheet), [], 'rows'))
    const long = 'x'.repeat(1_000)
    for (let n = 0; n < 10; n++) {
      await store.logSeen(seenChangesOf(sheet, await positionOf(store, sheet), [chunk(`${n}${long}`, 1)]))
    }
    assert.deepEqual(await store.forgetOldChanges(anything), { chunks: 0, accountsOverShare: [] })
    assert.deepEqual(await store.forgetOldChanges(5_000), {
      chunks: 6,
      accountsOverShare: [sheet.accountId],
    })
    assert.ok((await store.keptChangesBytes(sheet.accountId)) <= 5_000)
    const position = await positionOf(store, sheet)
    assert.deepEqual([position.floor, position.isBroken, position.stateSeq], [6, true, null])
    assert.deepEqual((await store.forgetOldChanges(5_000)).accountsOverShare, [])
    await store.logSeen(seenChangesOf(sheet, position, [chunk('reset', 1)], 'rows anew'))
    assert.equal((await positionOf(store, sheet)).isBroken, false)
  })

  of(
    'without history there is no log, and none is left of a sheet that is gone',
    async (store, _clock, database) => {
      const { sheet } = await accountWithSheet(store)
      await store.logSeen(seenChangesOf(sheet, await positionOf(store, sheet), [chunk('look', 1)], 'rows'))
      const position = await positionOf(store, sheet)
      await store.changeSheet(sheet.id, { historyDays: 0 })
      assert.equal(await store.changeLogOf(sheet.id), null)
      assert.equal(await store.logSeen(seenChangesOf(sheet, position, [chunk('look', 1)])), 'overtaken')
      assert.deepEqual(await database.kysely.selectFrom('change_chunk').selectAll().execute(), [])
      await store.changeSheet(sheet.id, { historyDays: 30 })
      await store.logSeen(seenChangesOf(sheet, await positionOf(store, sheet), [chunk('look', 1)], 'rows'))
      assert.notEqual((await positionOf(store, sheet)).epoch, position.epoch)
      await store.deleteSheet(sheet.id)
      for (const table of [
        'change_chunk',
        'change_text',
        'unnamed_text',
        'change_log',
        'change_operation',
        'change_state',
      ] as const) {
        assert.deepEqual(await database.kysely.selectFrom(table).selectAll().execute(), [])
      }
    },
  )

  of('the logs of an account go with it, those of others stay', async (store, _clock, database) => {
    const { sheet } = await accountWithSheet(store)
    const { sheet: other } = await accountWithSheet(store, 'others')
    for (const each of [sheet, other]) {
      await store.logSeen(seenChangesOf(each, await positionOf(store, each), [chunk('look', 1)], 'rows'))
      const told = { ...changes(each, '', 0), chunks: [{ ...chunk('write', 1), operations: ['op_1'] }] }
      const [id = ''] = await begin(store, each, `fence ${each.id}`, told)
      const finished = { sheetId: each.id, outcome: 'as_begun' } as const
      await store.finishApplied(each.source, [{ id, answer: null }], finished)
    }
    await store.deleteAccount(sheet.accountId)
    for (const table of ['change_chunk', 'change_log', 'change_operation', 'change_state'] as const) {
      const rows = await database.kysely.selectFrom(table).select('sheet_id').execute()
      assert.deepEqual([...new Set(rows.map(({ sheet_id }) => sheet_id))], [other.id], table)
    }
  })
}

async function positionOf(store: Store, { id }: SheetRecord): Promise<LogPosition> {
  const position = await store.changeLogOf(id)
  assert.ok(position)
  return position
}

/** Together longer than what is written in one go: letters of one to four bytes, short and long, packed and not. */
function longChunks(name: string): ChunkToLog[] {
  const entries = [
    [name],
    ['x'.repeat(200_000), name],
    // The first piece would end between the two halves of a character.
    [`xxx${'aЖ€😀'.repeat(100_001)}`, name],
    [Buffer.from(name.repeat(30_000)).toString('base64')],
  ]
  return entries.map((texts, nth) => ({
    ...chunk('', 1),
    entries: JSON.stringify(texts),
    ...(nth % 2 === 1 && { operations: [`op_${name}`] }),
  }))
}

async function holdsChunks(store: Store, { id }: SheetRecord, written: readonly ChunkToLog[]): Promise<void> {
  const chunks = await store.loggedChanges(id, 0, anything)
  assert.equal(chunks.length, written.length)
  for (const [at, { entries }] of chunks.entries()) {
    const expected = Buffer.from(written[at]?.entries ?? '')
    const isLong = expected.byteLength > 256 * 1024
    assert.equal(typeof entries, isLong ? 'object' : 'string')
    if (typeof entries === 'string') {
      assert.equal(entries, expected.toString())
      continue
    }
    assert.equal(entries.bytes, expected.byteLength)
    const steps = [1, 100_003, 262_144, 524_288, 700_001, 2_000_000]
    for (const from of [0, 1, 262_143, 262_145, 600_000, expected.byteLength - 1]) {
      for (const count of steps) {
        const slice = await entries.slice(from, count)
        assert.ok(expected.subarray(from, from + count).equals(slice), `${count} bytes from ${from}`)
      }
    }
  }
}

async function textIds({ kysely }: SqlDatabase): Promise<Set<string>> {
  const rows = await kysely.selectFrom('change_text').select('text_id').execute()
  return new Set(rows.map(({ text_id }) => text_id))
}

async function unnamedIds({ kysely }: SqlDatabase): Promise<Set<string>> {
  const rows = await kysely.selectFrom('unnamed_text').select('text_id').execute()
  return new Set(rows.map(({ text_id }) => text_id))
}

function chunk(text: string, count: number): ChunkToLog {
  return { entries: JSON.stringify([text]), count, atMs: 5 }
}

function changes(sheet: SheetRecord, text: string, count: number, isPlaced = true): ChangesToSend {
  const chunks = [chunk(text, count)]
  return { chunks, identity: '', sheetId: sheet.id, accountId: sheet.accountId, isPlaced, after: null }
}

function seenChangesOf(
  { id: sheetId, accountId, source }: SheetRecord,
  position: LogPosition,
  chunks: readonly ChunkToLog[],
  state: string | readonly string[] | null = null,
): SeenChanges {
  return {
    sheetId,
    accountId,
    source,
    position,
    chunks,
    identity: '',
    contentHash: `hash of ${chunks.length}`,
    state: typeof state === 'string' ? [state] : state,
  }
}

async function begin(
  store: Store,
  { id: sheetId, accountId, source }: SheetRecord,
  fence: string,
  changes: ChangesToSend | null,
): Promise<string[]> {
  const operations = [{ id: null, accountId, sheetId, answer: '' }]
  const ids = await store.beginSending({ source, fence, place: '{}', operations, changes })
  assert.ok(Array.isArray(ids))
  return ids
}
