import assert from 'node:assert/strict'
import { setImmediate as takeTurn } from 'node:timers/promises'
import { GoneMeanwhile } from '../../errors.ts'
import { asideMs, passTime } from '../leases/leases.contract.ts'
import { newId } from '../new-id.ts'
import { accountWithSheet, newAccount, newSheet } from '../records.fixture.ts'
import type { SheetRecord } from '../sheets/sheets.ts'
import { createSqlStore } from '../sql/sql-store.ts'
import type { Store } from '../store.ts'
import type { StoreTest } from '../store-test.fixture.ts'
import { keptRowBytes, type OperationToClaim, type OperationToSend, type StoredClaim } from './operations.ts'

const keepMs = 24 * 60 * 60_000
const keepingMuch = { maxKeptBytes: 100_000_000, keepMs }

export function operationsContract(of: StoreTest): void {
  of('of any number that claim a key at once one gets it, and the others are shown it', async (store) => {
    const { sheet } = await accountWithSheet(store)
    const claims = await Promise.all(
      Array.from({ length: 12 }, (_, n) => store.claimOperation(toClaim(sheet, 'k', `f${n}`), keepMs)),
    )
    const claimed = claims.flatMap((claim) => ('claimed' in claim ? [claim.claimed] : []))
    assert.equal(claimed.length, 1)
    assert.match(claimed[0] ?? '', /^op_[0-9A-Za-z]{22}$/)
    const winner = claims.findIndex((claim) => 'claimed' in claim)
    for (const claim of claims) {
      if ('claimed' in claim) continue
      assert.deepEqual(claim.existing, {
        id: claimed[0],
        accountId: sheet.accountId,
        sheetId: sheet.id,
        source: sheet.source,
        idempotencyKey: 'k',
        fingerprint: `f${winner}`,
        state: 'queued',
        fence: null,
        place: null,
        answer: null,
        ageMs: claim.existing.ageMs,
      })
      assert.ok(claim.existing.ageMs >= 0 && claim.existing.ageMs < asideMs)
    }
  })

  of('of many keys that are claimed together those are told that were free', async (store) => {
    const { sheet } = await accountWithSheet(store)
    const held = await claim(store, sheet, 'held')
    const asked = ['b', 'held', 'a', 'b'].map((key) => toClaim(sheet, key))
    const [first, , third, again] = asked.map(({ id }) => id)
    const claimed = await store.claimFreeKeys(asked)
    assert.equal(claimed.size, 2)
    assert.ok(claimed.has(third ?? '') && (claimed.has(first ?? '') || claimed.has(again ?? '')))
    const open = await store.unfinishedOperations()
    assert.deepEqual(open.map(({ id }) => id).sort(), [held, ...claimed].sort())
    assert.deepEqual(open.map(({ idempotencyKey }) => idempotencyKey).sort(), ['a', 'b', 'held'])
    for (const { accountId, sheetId, source, state, fingerprint, answer } of open) {
      assert.deepEqual(
        { accountId, sheetId, source, state, fingerprint, answer },
        {
          ...{ accountId: sheet.accountId, sheetId: sheet.id, source: sheet.source },
          ...{ state: 'queued', fingerprint: 'f', answer: null },
        },
      )
    }
    assert.deepEqual(await store.claimFreeKeys(asked), new Set())
  })

  of(
    'many that claim the same keys together, each in another order, have each key once',
    async (store, clock, database) => {
      const { sheet } = await accountWithSheet(store)
      const other = createSqlStore(database, clock)
      const keys = Array.from({ length: 1_000 }, (_, nth) => `key ${nth}`)
      const claimed = await Promise.all(
        Array.from({ length: 8 }, (_, nth) => {
          const inSomeOrder = nth % 2 ? keys : keys.toReversed()
          return (nth % 3 ? store : other).claimFreeKeys(
            inSomeOrder.map((key) => toClaim(sheet, key, `${nth}`)),
          )
        }),
      )
      assert.equal(new Set(claimed.flatMap((ids) => [...ids])).size, keys.length)
      assert.equal((await store.unfinishedOperations()).length, keys.length)
    },
  )

  of('where one of the sheets is gone no key is claimed', async (store) => {
    const { sheet } = await accountWithSheet(store)
    const gone = { ...toClaim(sheet, 'b'), sheetId: 'none' }
    await assert.rejects(store.claimFreeKeys([toClaim(sheet, 'a'), gone]), GoneMeanwhile)
    assert.deepEqual(await store.unfinishedOperations(), [])
  })

  of('a batch of many, short and long, with keys and without, is kept as it was given', async (store) => {
    const { sheet } = await accountWithSheet(store)
    const asked = Array.from({ length: 230 }, (_, nth) => (nth % 2 ? toClaim(sheet, `k${nth}`) : null))
    const claimed = await store.claimFreeKeys(asked.flatMap((one) => one ?? []))
    assert.equal(claimed.size, 115)
    const operations = asked.map((one, nth): OperationToSend => {
      const answer = JSON.stringify(`${nth} “quoted” \u0000 \ud83d 𝄞 ${'x'.repeat(nth % 5 ? 10 : 5_000)}`)
      return { id: one?.id ?? null, accountId: sheet.accountId, sheetId: sheet.id, answer }
    })
    const batch = { source: sheet.source, fence: 'f', place: '{}' }
    const ids = await idsOfBegun(store.beginSending({ ...batch, operations, keeping: keepingMuch }))
    assert.deepEqual(
      ids.filter((_, nth) => nth % 2),
      operations.flatMap(({ id }) => id ?? []),
    )
    const sent = new Map((await store.unfinishedOperations()).map((each) => [each.id, each]))
    assert.deepEqual(
      ids.map((id) => [sent.get(id)?.answer, sent.get(id)?.fence, sent.get(id)?.state]),
      operations.map(({ answer }) => [answer, 'f', 'sending']),
    )
    const kept = operations.filter(({ id }) => id !== null)
    const keptBytes = kept.reduce((sum, { answer }) => sum + keptRowBytes + Buffer.byteLength(answer), 0)
    assert.equal((await store.keptAnswers(sheet.accountId, keepMs)).bytes, keptBytes)
    await store.finishApplied(
      sheet.source,
      ids.map((id) => ({ id, answer: null })),
    )
    assert.deepEqual(await store.unfinishedOperations(), [])
    const last = existingOf(await store.claimOperation(toClaim(sheet, 'k229'), keepMs))
    assert.deepEqual([last.state, last.answer], ['applied', operations[229]?.answer])
  })

  of("a key is the account's own: the same one of another account is another", async (store) => {
    const { sheet } = await accountWithSheet(store)
    const other = await newAccount(store, 'other')
    const theirs = await store.createSheet(newSheet(other.id, 'stock'))
    assert.ok(typeof theirs === 'object')
    const [mine, foreign] = [await claim(store, sheet, 'k'), await claim(store, theirs, 'k')]
    assert.notEqual(mine, foreign)
    assert.notEqual(await claim(store, sheet, 'another key'), mine)
  })

  of('an applied operation with a key is kept with its answer; one without is gone', async (store) => {
    const { sheet } = await accountWithSheet(store)
    const keyed = await claim(store, sheet, 'k')
    const ids = await begin(store, sheet, 'fence 1', [null, keyed, null])
    assert.equal(ids[1], keyed)
    assert.equal(new Set(ids).size, 3)
    const sending = await store.unfinishedOperations()
    assert.deepEqual(sending.map(({ id }) => id).sort(), ids.toSorted())
    for (const { id, idempotencyKey, state, fence, place, source, answer } of sending) {
      assert.equal(idempotencyKey, id === keyed ? 'k' : null)
      assert.deepEqual(
        { state, fence, place, source },
        { state: 'sending', fence: 'fence 1', place: '{"tab":7}', source: sheet.source },
      )
      assert.match(answer ?? '', /^foreseen/)
    }

    await store.finishApplied(
      sheet.source,
      ids.map((id, at) => ({ id, answer: `answer ${at}` })),
    )
    assert.deepEqual(await store.unfinishedOperations(), [])
    const existing = existingOf(await store.claimOperation(toClaim(sheet, 'k'), keepMs))
    assert.deepEqual(
      { id: existing.id, state: existing.state, answer: existing.answer },
      { id: keyed, state: 'applied', answer: 'answer 1' },
    )
    assert.equal(await store.forgetOldOperations(-asideMs), 1, 'only the one with a key was left')
  })

  of('an applied batch is in the next look-up of every sheet of its source, once', async (store) => {
    const { account, sheet } = await accountWithSheet(store)
    const twin = await store.createSheet(newSheet(account.id, 'twin'))
    const unrelated = await store.createSheet({ ...newSheet(account.id, 'else'), source: 'file:/else.csv' })
    assert.ok(typeof twin === 'object' && typeof unrelated === 'object')
    const sheetIds = [sheet.id, twin.id, unrelated.id]
    const [first = '', second = ''] = await begin(store, sheet, 'fence', [null, null])
    assert.deepEqual(await writeSeqs(), [0, 0, 0], 'nothing is written yet')
    await store.finishApplied(sheet.source, [
      { id: first, answer: '1' },
      { id: second, answer: '2' },
    ])
    assert.deepEqual(await writeSeqs(), [1, 1, 0])
    const [refused = ''] = await begin(store, sheet, 'fence 2', [null])
    await store.finishRefused([{ id: refused, answer: 'no' }])
    assert.deepEqual(await writeSeqs(), [1, 1, 0], 'a refusal wrote nothing')

    function writeSeqs() {
      return Promise.all(
        sheetIds.map(async (sheetId) => (await store.lookUp({ form: 'b', sheetId }, null)).sheet?.writeSeq),
      )
    }
  })

  of('answers are kept and the write is counted, both or neither', async (store, _clock, database) => {
    const { sheet } = await accountWithSheet(store)
    const ids = await begin(store, sheet, 'fence', [await claim(store, sheet, 'k'), null])
    const before = await findUnfinished(store)
    await database.kysely.schema.alterTable('sheet').renameColumn('write_seq', 'missing').execute()
    await assert.rejects(
      store.finishApplied(
        sheet.source,
        ids.map((id) => ({ id, answer: 'done' })),
      ),
    )
    assert.deepEqual(await findUnfinished(store), before)
  })

  of(
    'the journal of a sheet that is deleted goes in steps, and nothing more is taken for it meanwhile',
    async (store, _clock, { kysely }) => {
      const { account, sheet } = await accountWithSheet(store)
      const kept = await store.createSheet(newSheet(account.id, 'kept'))
      assert.ok(typeof kept === 'object')
      await claim(store, kept, 'of another sheet')
      await claim(store, sheet, 'not settled')
      // So many steps that somebody who looks beside them sees some, on a busy machine too.
      const ended = Array.from({ length: 4_000 }, (_, n) => ({
        id: newId('op'),
        account_id: account.id,
        sheet_id: sheet.id,
        source: sheet.source,
        idempotency_key: `k${n}`,
        state: 'applied' as const,
        created_at_ms: 1,
        finished_at_ms: 1,
      }))
      for (let from = 0; from < ended.length; from += 500)
        await kysely
          .insertInto('operation')
          .values(ended.slice(from, from + 500))
          .execute()
      let isGone = false
      const deleting = store.deleteSheet(sheet.id).finally(() => {
        isGone = true
      })
      const pausedAtCounts = new Map<number, boolean | undefined>()
      while (!isGone) {
        const { count } = await kysely
          .selectFrom('operation')
          .where('sheet_id', '=', sheet.id)
          .select((of) => of.fn.countAll<number>().as('count'))
          .executeTakeFirstOrThrow()
        pausedAtCounts.set(Number(count), (await store.sheetById(sheet.id))?.paused)
        await takeTurn()
      }
      await deleting
      const between = [...pausedAtCounts].filter(([count]) => count > 1 && count < ended.length)
      assert.ok(between.length >= 2, `seen with ${[...pausedAtCounts.keys()].join()} left`)
      assert.ok(
        between.every(([, isPaused]) => isPaused !== false),
        'else a write that is sent again would be done a second time',
      )
      const left = await kysely.selectFrom('operation').select('idempotency_key').execute()
      assert.deepEqual(
        left.map((one) => one.idempotency_key),
        ['of another sheet'],
      )
    },
  )

  of('a batch is recorded whole or not at all', async (store) => {
    const { account, sheet } = await accountWithSheet(store)
    const second = await store.createSheet(newSheet(account.id, 'second'))
    assert.ok(typeof second === 'object')
    const [open, dropped, done, elsewhere] = await Promise.all([
      claim(store, sheet, 'open'),
      claim(store, sheet, 'dropped'),
      claim(store, sheet, 'done'),
      claim(store, second, 'of another sheet'),
    ])
    await store.dropOperations([dropped])
    await begin(store, sheet, 'fence', [done])
    await store.finishApplied(sheet.source, [{ id: done, answer: 'first' }])
    const before = await findUnfinished(store)
    for (const closed of [dropped, done, elsewhere, 'op_none']) {
      await assert.rejects(begin(store, sheet, 'fence 2', [null, open, closed]), /no longer open/)
      assert.deepEqual(await findUnfinished(store), before)
    }
    await begin(store, sheet, 'fence 2', [null, open])
  })

  of('what was split off a refused batch goes out again under another fence', async (store) => {
    const { sheet } = await accountWithSheet(store)
    const ids = await begin(store, sheet, 'fence 1', [await claim(store, sheet, 'k'), null])
    const [keyed = '', plain = ''] = ids
    assert.deepEqual(await begin(store, sheet, 'fence 2', [plain]), [plain])
    const fences = (await store.unfinishedOperations()).map(({ id, fence }) => [id, fence])
    assert.deepEqual(Object.fromEntries(fences), { [keyed]: 'fence 1', [plain]: 'fence 2' })
  })

  of(
    'a refusal for good is replayed for its key, and the first end of an operation stands',
    async (store) => {
      const { sheet } = await accountWithSheet(store)
      const [refused, applied] = [await claim(store, sheet, 'refused'), await claim(store, sheet, 'applied')]
      const [, , plain = ''] = await begin(store, sheet, 'fence', [refused, applied, null])
      await store.finishRefused([
        { id: refused, answer: 'no' },
        { id: plain, answer: 'no' },
      ])
      await store.finishApplied(sheet.source, [{ id: applied, answer: 'yes' }])
      await store.finishApplied(sheet.source, [{ id: refused, answer: 'yes after all' }])
      await store.finishRefused([{ id: applied, answer: 'no after all' }])
      assert.deepEqual(await store.unfinishedOperations(), [])
      const ends = []
      for (const key of ['refused', 'applied']) {
        const { state, answer } = existingOf(await store.claimOperation(toClaim(sheet, key), keepMs))
        ends.push([state, answer])
      }
      assert.deepEqual(ends, [
        ['refused', 'no'],
        ['applied', 'yes'],
      ])
    },
  )

  of('a claim can be refused before anything was sent', async (store) => {
    const { sheet } = await accountWithSheet(store)
    const id = await claim(store, sheet, 'k')
    await store.finishRefused([{ id, answer: 'invalid' }])
    const { state, answer } = existingOf(await store.claimOperation(toClaim(sheet, 'k'), keepMs))
    assert.deepEqual([state, answer], ['refused', 'invalid'])
  })

  of('a dropped operation frees its key; a finished one cannot be dropped', async (store) => {
    const { sheet } = await accountWithSheet(store)
    const [queued, sent, done] = [
      await claim(store, sheet, 'queued'),
      await claim(store, sheet, 'sent'),
      await claim(store, sheet, 'done'),
    ]
    const ids = await begin(store, sheet, 'fence', [sent, done, null])
    await store.finishApplied(sheet.source, [{ id: done, answer: 'done' }])
    await store.dropOperations([...ids, queued, 'op_none'])
    assert.deepEqual(await store.unfinishedOperations(), [])
    assert.notEqual(await claim(store, sheet, 'queued'), queued)
    assert.notEqual(await claim(store, sheet, 'sent'), sent)
    assert.equal(existingOf(await store.claimOperation(toClaim(sheet, 'done'), keepMs)).answer, 'done')
  })

  of(
    'a finished operation gives its key back after its time; an open one never does',
    async (store, clock, database) => {
      const { sheet } = await accountWithSheet(store)
      const [done, open] = [await claim(store, sheet, 'done'), await claim(store, sheet, 'open')]
      await begin(store, sheet, 'fence', [done, open])
      await passTime(database, clock, keepMs)
      await store.finishApplied(sheet.source, [{ id: done, answer: 'done' }])
      await passTime(database, clock, keepMs - asideMs)
      assert.equal(existingOf(await store.claimOperation(toClaim(sheet, 'done'), keepMs)).id, done)
      await passTime(database, clock, asideMs)
      const claims = await Promise.all(
        Array.from({ length: 8 }, () => store.claimOperation(toClaim(sheet, 'done', 'anew'), keepMs)),
      )
      const fresh = claims.flatMap((each) => ('claimed' in each ? [each.claimed] : []))
      assert.equal(fresh.length, 1)
      assert.notEqual(fresh[0], done)
      assert.equal(existingOf(await store.claimOperation(toClaim(sheet, 'open'), keepMs)).id, open)
    },
  )

  of('a key that is claimed and given up over and over has one holder at a time', async (store) => {
    const { sheet } = await accountWithSheet(store)
    let holders = 0
    await Promise.all(
      Array.from({ length: 6 }, async () => {
        for (let round = 0; round < 10; round++) {
          const answer = await store.claimOperation(toClaim(sheet, 'k'), keepMs)
          if (!('claimed' in answer)) continue
          assert.equal(++holders, 1)
          await store.ping()
          holders--
          await store.dropOperations([answer.claimed])
        }
      }),
    )
    assert.deepEqual(await store.unfinishedOperations(), [])
  })

  of(
    'what a dead process left is told oldest first, with what was finished left out',
    async (store, clock, database) => {
      const { sheet } = await accountWithSheet(store)
      const expected: string[] = []
      for (let round = 0; round < 8; round++) {
        const key = `round ${round}`
        expected.push(await claim(store, sheet, key))
        await passTime(database, clock, 1)
        expected.push(...(await begin(store, sheet, key, [null])))
        await passTime(database, clock, 1)
      }
      await begin(store, sheet, 'late', [expected[2] ?? null])
      await store.finishRefused([{ id: expected[4] ?? '', answer: 'no' }])
      const left = (await store.unfinishedOperations()).map(({ id, state }) => [id, state])
      const inOrder = expected.map((id, at) => [id, at % 2 === 1 || at === 2 ? 'sending' : 'queued'])
      assert.deepEqual(left, inOrder.toSpliced(4, 1))
    },
  )

  of('old operations are forgotten, open ones never', async (store, clock, database) => {
    const { sheet } = await accountWithSheet(store)
    const [old, young] = [await claim(store, sheet, 'old'), await claim(store, sheet, 'young')]
    const open = await claim(store, sheet, 'open')
    await store.finishRefused([{ id: old, answer: 'no' }])
    await passTime(database, clock, keepMs)
    await store.finishRefused([{ id: young, answer: 'no' }])
    assert.equal(await store.forgetOldOperations(keepMs + asideMs), 0)
    assert.equal(await store.forgetOldOperations(keepMs - asideMs), 1)
    assert.notEqual(await claim(store, sheet, 'old'), old)
    assert.equal(existingOf(await store.claimOperation(toClaim(sheet, 'young'), keepMs)).id, young)
    assert.equal(await store.forgetOldOperations(-asideMs), 1)
    assert.equal(existingOf(await store.claimOperation(toClaim(sheet, 'open'), keepMs)).id, open)
  })
}

const hourMs = 60 * 60_000

/** What an account may keep of answers. */
export function journalUseContract(of: StoreTest): void {
  const keeping = (rows: number) => ({ maxKeptBytes: rows * (keptRowBytes + answerBytes), keepMs })
  const answerBytes = 100_000
  const answer = 'x'.repeat(answerBytes)

  async function beginLarge(store: Store, sheet: SheetRecord, key: string, rows: number) {
    const id = await claim(store, sheet, key)
    const operations = [{ id, accountId: sheet.accountId, sheetId: sheet.id, answer }]
    const batch = { source: sheet.source, fence: `fence ${key}`, place: '{}', operations }
    return { id, begun: await store.beginSending({ ...batch, keeping: keeping(rows) }) }
  }

  of(
    'an account keeps no more answers than it may, however many come at once',
    async (store, clock, database) => {
      const { sheet } = await accountWithSheet(store)
      const other = createSqlStore(database, clock)
      const outcomes = await Promise.all(
        Array.from({ length: 8 }, (_, n) => beginLarge(n % 2 ? store : other, sheet, `k${n}`, 3)),
      )
      const refused = outcomes.flatMap(({ begun }) => ('noRoomAt' in begun ? [begun] : []))
      assert.equal(outcomes.length - refused.length, 3)
      for (const { noRoomAt, roomInMs } of refused) {
        assert.deepEqual(noRoomAt, [0])
        assert.ok(roomInMs > keepMs - asideMs && roomInMs <= keepMs + hourMs, `${roomInMs}`)
      }
      const { bytes } = await store.keptAnswers(sheet.accountId, keepMs)
      assert.equal(bytes, keeping(3).maxKeptBytes)
      const states = (await store.unfinishedOperations()).map(({ state, answer: kept }) => [
        state,
        kept !== null,
      ])
      assert.equal(states.filter(([state]) => state === 'sending').length, 3)
      assert.equal(states.filter(([state, hasAnswer]) => state === 'queued' && hasAnswer).length, 0)
    },
  )

  of('one that is to leave room finds none where others still do', async (store) => {
    const { sheet } = await accountWithSheet(store)
    const send = async (key: string, leavesBytes: number) => {
      const operation = { accountId: sheet.accountId, sheetId: sheet.id, answer, leavesBytes }
      const operations = [{ ...operation, id: await claim(store, sheet, key) }]
      const batch = { source: sheet.source, fence: `fence ${key}`, place: '{}', operations }
      return store.beginSending({ ...batch, keeping: keeping(2) })
    }
    const oneAnswer = keeping(1).maxKeptBytes
    assert.ok(Array.isArray(await send('first of visitors', oneAnswer)))
    assert.ok('noRoomAt' in (await send('second of visitors', oneAnswer)))
    assert.ok(Array.isArray(await send('own', 0)))
  })

  of('of a batch those are named that have no room, and the others may go without them', async (store) => {
    const { sheet } = await accountWithSheet(store)
    const theirs = await newAccount(store, 'other')
    const second = await store.createSheet(newSheet(theirs.id, 'stock'))
    assert.ok(typeof second !== 'string')
    const ids = [
      await claim(store, sheet, 'a'),
      await claim(store, sheet, 'b'),
      await claim(store, sheet, 'c'),
    ]
    const foreign = await claim(store, second, 'a')
    const operations: OperationToSend[] = [...ids, null].map((id, at) => ({
      id,
      accountId: sheet.accountId,
      sheetId: sheet.id,
      answer: at === 1 ? answer : 'short',
    }))
    operations.push({ id: foreign, accountId: theirs.id, sheetId: second.id, answer: 'short' })
    const batch = { source: sheet.source, fence: 'f', place: '{}' }
    const small = { maxKeptBytes: 10_000, keepMs }
    const begun = await store.beginSending({ ...batch, operations, keeping: small })
    assert.ok('noRoomAt' in begun)
    assert.deepEqual(begun.noRoomAt, [1])
    assert.equal((await store.keptAnswers(sheet.accountId, keepMs)).bytes, 0, 'nothing was recorded')
    const rest = operations.toSpliced(1, 1)
    assert.ok(Array.isArray(await store.beginSending({ ...batch, operations: rest, keeping: small })))
    assert.equal((await store.keptAnswers(sheet.accountId, keepMs)).bytes, 2 * (keptRowBytes + 5))
    assert.equal((await store.keptAnswers(theirs.id, keepMs)).bytes, keptRowBytes + 5, 'each for its own')
  })

  of(
    'what is counted follows what is kept: sent again, dropped, answered otherwise, refused',
    async (store) => {
      const { sheet } = await accountWithSheet(store)
      const used = async () => (await store.keptAnswers(sheet.accountId, keepMs)).bytes
      const send = (id: string | null, text: string) =>
        store.beginSending({
          source: sheet.source,
          fence: 'f',
          place: '{}',
          operations: [{ id, accountId: sheet.accountId, sheetId: sheet.id, answer: text }],
          keeping: keeping(5),
        })
      const id = await claim(store, sheet, 'k')
      assert.equal(await used(), 0, 'a key alone keeps no answer')
      await send(id, answer)
      assert.equal(await used(), keptRowBytes + answerBytes)
      await send(id, 'shorter')
      assert.equal(await used(), keptRowBytes + 7, 'not twice')
      await store.finishApplied(sheet.source, [{ id, answer: 'as it turned out' }])
      assert.equal(await used(), keptRowBytes + 16)
      const dropped = await claim(store, sheet, 'dropped')
      await send(dropped, answer)
      await store.dropOperations([dropped])
      assert.equal(await used(), keptRowBytes + 16)
      const refused = await claim(store, sheet, 'refused')
      await store.finishRefused([{ id: refused, answer: 'no' }])
      assert.equal(await used(), 2 * keptRowBytes + 18)
      const plain = await send(null, answer)
      assert.ok(Array.isArray(plain))
      await store.finishApplied(sheet.source, [{ id: plain[0] ?? '', answer: null }])
      assert.equal(await used(), 2 * keptRowBytes + 18, 'without a key nothing is kept')
      const exact = await claim(store, sheet, 'exact')
      await send(exact, 'as foreseen')
      await store.finishApplied(sheet.source, [{ id: exact, answer: null }])
      const existing = existingOf(await store.claimOperation(toClaim(sheet, 'exact'), keepMs))
      assert.deepEqual([existing.state, existing.answer], ['applied', 'as foreseen'])
    },
  )

  of(
    'a day later there is room again, also where nobody cleared anything away',
    async (store, clock, database) => {
      const { sheet } = await accountWithSheet(store)
      for (const key of ['a', 'b']) {
        const { id, begun } = await beginLarge(store, sheet, key, 2)
        assert.ok(Array.isArray(begun))
        await store.finishApplied(sheet.source, [{ id, answer: null }])
      }
      const full = await beginLarge(store, sheet, 'c', 2)
      assert.ok('noRoomAt' in full.begun)
      await passTime(database, clock, keepMs - asideMs)
      const { bytes, roomInMs } = await store.keptAnswers(sheet.accountId, keepMs)
      assert.equal(bytes, keeping(2).maxKeptBytes)
      assert.ok(roomInMs <= hourMs + asideMs, `${roomInMs}`)
      await passTime(database, clock, roomInMs + asideMs)
      assert.deepEqual(await store.keptAnswers(sheet.accountId, keepMs), { bytes: 0, roomInMs: 0 })
      assert.ok(Array.isArray((await beginLarge(store, sheet, 'd', 2)).begun))
      assert.equal(await store.forgetOldOperations(keepMs), 2)
      assert.equal((await store.keptAnswers(sheet.accountId, keepMs)).bytes, keptRowBytes + answerBytes)
    },
  )

  of('many old operations are all forgotten', async (store, clock, database) => {
    const { sheet } = await accountWithSheet(store)
    for (let n = 0; n < 120; n++) {
      await store.finishRefused([{ id: await claim(store, sheet, `k${n}`), answer: 'no' }])
    }
    await passTime(database, clock, keepMs + asideMs)
    assert.equal(await store.forgetOldOperations(keepMs), 120)
  })
}

function toClaim(sheet: SheetRecord, idempotencyKey: string, fingerprint = 'f'): OperationToClaim {
  const { accountId, id: sheetId, source } = sheet
  return { id: newId('op'), accountId, sheetId, source, idempotencyKey, fingerprint }
}

async function claim(store: Store, sheet: SheetRecord, idempotencyKey: string): Promise<string> {
  const answer = await store.claimOperation(toClaim(sheet, idempotencyKey), keepMs)
  assert.ok('claimed' in answer, `${idempotencyKey} is taken`)
  return answer.claimed
}

async function findUnfinished(store: Store) {
  return (await store.unfinishedOperations()).map(({ ageMs: _, ...rest }) => rest)
}

function existingOf(answer: StoredClaim) {
  assert.ok('existing' in answer, 'the key was free')
  return answer.existing
}

function begin(store: Store, sheet: SheetRecord, fence: string, ids: (string | null)[]): Promise<string[]> {
  const operations = ids.map((id, at): OperationToSend => {
    return { id, accountId: sheet.accountId, sheetId: sheet.id, answer: `foreseen ${at}` }
  })
  return idsOfBegun(store.beginSending({ source: sheet.source, fence, place: '{"tab":7}', operations }))
}

/** What was begun, where there is no bound on what is kept. */
async function idsOfBegun(begun: ReturnType<Store['beginSending']>): Promise<string[]> {
  const ids = await begun
  assert.ok(Array.isArray(ids), 'there is no room')
  return ids
}
