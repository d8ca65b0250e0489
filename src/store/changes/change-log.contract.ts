import assert from 'node:assert/strict'
import { passTime } from '../leases/leases.contract.ts'
import type { ChangesToSend } from '../operations/operations.ts'
import { accountWithSheet } from '../records.fixture.ts'
import type { SheetRecord } from '../sheets/sheets.ts'
import type { Store } from '../store.ts'
import type { StoreTest } from '../store-test.fixture.ts'
import type { ChunkToLog, LogPosition, SeenChanges } from './change-log.ts'

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
    assert.equal(chunks.filter(({ entries }) => entries.includes('write')).length, 8)
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
    assert.equal(await store.forgetOldChanges(wide.length), 0, 'both together take less than one of them')
  })

  of(
    'changes are forgotten after their days, but not those that the rows are told from',
    async (store, clock, database) => {
      const { sheet } = await accountWithSheet(store)
      await store.logSeen(seenChangesOf(sheet, await positionOf(store, sheet), [chunk('old', 2)], 'rows'))
      await store.logSeen(seenChangesOf(sheet, await positionOf(store, sheet), [chunk('needed', 1)]))
      await passTime(database, clock, 6 * dayMs)
      assert.equal(await store.forgetOldChanges(anything), 0)
      await passTime(database, clock, 2 * dayMs)
      assert.equal(await store.forgetOldChanges(anything), 1)
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
    assert.equal(await store.forgetOldChanges(anything), 0)
    assert.equal(await store.forgetOldChanges(5_000), 6)
    const position = await positionOf(store, sheet)
    assert.deepEqual([position.floor, position.isBroken, position.stateSeq], [6, true, null])
    assert.equal(await store.forgetOldChanges(5_000), 0)
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
      for (const table of ['change_chunk', 'change_log', 'change_operation', 'change_state'] as const) {
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
