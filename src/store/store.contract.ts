import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { type Clock, createMovableClock } from '../clock.ts'
import { AccountFull } from '../errors.ts'
import type { SheetAddress } from './admission/admission-facts.ts'
import { alertsContract } from './alerts/alerts.contract.ts'
import { changeLogContract } from './changes/change-log.contract.ts'
import { accessTokensContract } from './credentials/access-tokens.contract.ts'
import { credentialsContract } from './credentials/credentials.contract.ts'
import { formsContract } from './forms/forms.contract.ts'
import type { FormSettings } from './forms/forms.ts'
import { asideMs, leasesContract, passTime, timeOf } from './leases/leases.contract.ts'
import { looksContract } from './looks/looks.contract.ts'
import { mailContract } from './mail/mail.contract.ts'
import { journalUseContract, operationsContract } from './operations/operations.contract.ts'
import { ownersContract } from './owners/owners.contract.ts'
import { proofsContract } from './proofs/proofs.contract.ts'
import { accountWithSheet, newAccount, newKey, newSheet } from './records.fixture.ts'
import { registersContract } from './registers/registers.contract.ts'
import { sessionsContract } from './sessions/sessions.contract.ts'
import { migrate } from './sql/migrate.ts'
import type { SqlDatabase } from './sql/sql-database.ts'
import { createSqlStore } from './sql/sql-store.ts'
import type { StoreTest } from './store-test.fixture.ts'
import { usageFiguresContract } from './usage/usage-figures.contract.ts'
import { webhooksContract } from './webhooks/webhooks.contract.ts'
import { windowsContract } from './windows/windows.contract.ts'

const startMs = Date.UTC(2026, 10, 15)

/** What every store must do. `open` gives a database of the test's own, empty, and closes it afterwards. */
export function storeContract(
  engine: string,
  open: (t: TestContext, clock: Clock) => Promise<SqlDatabase>,
  skip: string | false,
): void {
  const of: StoreTest = (title, check) =>
    test(`${engine}: ${title}`, { skip }, async (t) => {
      const clock = createMovableClock(startMs)
      const database = await open(t, clock)
      await migrate(database, clock.nowMs(), () => {})
      const store = createSqlStore(database, clock)
      await check(store, clock, database)
    })

  credentialsContract(of)
  sessionsContract(of)
  ownersContract(of)
  usageFiguresContract(of)
  operationsContract(of)
  journalUseContract(of)
  leasesContract(of)
  accessTokensContract(of)
  windowsContract(of)
  registersContract(of)
  proofsContract(of)
  mailContract(of)
  alertsContract(of)
  changeLogContract(of)
  looksContract(of)
  webhooksContract(of)
  formsContract(of)

  of('an account is found by its slug, which is taken once', async (store) => {
    assert.equal(await store.countAccounts(), 0)
    const account = await newAccount(store, 'acme')
    assert.match(account.id, /^acc_[0-9A-Za-z]{22}$/)
    assert.equal(await store.createAccount({ slug: 'acme', plan: 'pro' }), 'slug_taken')
    assert.deepEqual(await store.findAccount('acme'), account)
    assert.equal(await store.findAccount('nobody'), null)
    assert.equal(await store.countAccounts(), 1)
    assert.deepEqual(await store.listAccounts(), [{ ...account, sheetCount: 0 }])
    await store.setPlan(account.id, {
      plan: 'enterprise',
      requestsPerMinute: 7,
      requestsPerMonth: 5_000_000_000,
    })
    const changed = { ...account, plan: 'enterprise', requestsPerMinute: 7, requestsPerMonth: 5_000_000_000 }
    assert.deepEqual(await store.findAccount('acme'), changed)
  })

  of('a sheet slug is taken once within its account, and starts with the defaults', async (store) => {
    const account = await newAccount(store, 'acme')
    const other = await newAccount(store, 'other')
    const sheet = await store.createSheet(newSheet(account.id, 'stock'))
    assert.ok(typeof sheet === 'object')
    assert.match(sheet.id, /^sh_[0-9A-Za-z]{22}$/)
    assert.deepEqual(
      { ...sheet, id: '', createdAtMs: 0 },
      {
        ...newSheet(account.id, 'stock'),
        id: '',
        paused: false,
        accepts: 'both',
        cacheSeconds: 10,
        staleIfErrorSeconds: 0,
        unknownFields: 'reject',
        keyColumn: null,
        autoKey: 'none',
        historyDays: 7,
        watchSeconds: 0,
        writeSeq: 0,
        createdAtMs: 0,
      },
    )
    assert.equal(await store.createSheet(newSheet(account.id, 'stock')), 'slug_taken')
    assert.equal(typeof (await store.createSheet(newSheet(other.id, 'stock'))), 'object')
    assert.deepEqual(await store.findSheet(account.id, 'stock'), sheet)
    assert.deepEqual(await store.sheetById(sheet.id), sheet)
    assert.deepEqual(await store.sheetsOf(account.id), [sheet])
    assert.equal(await store.sheetById('sh_none'), null)
  })

  of('an account never has more sheets than it may, however many are made at once', async (store) => {
    const account = await newAccount(store, 'acme')
    const other = await newAccount(store, 'other')
    const made = await Promise.all(
      Array.from({ length: 40 }, (_, n) => store.createSheet(newSheet(account.id, `sheet-${n}`), 25)),
    )
    assert.equal(made.filter((one) => one === 'too_many').length, 15)
    assert.equal((await store.sheetsOf(account.id)).length, 25)
    assert.equal(
      typeof (await store.createSheet(newSheet(other.id, 'stock'), 1)),
      'object',
      "another's share",
    )
    const [first] = made.filter((one) => typeof one === 'object')
    await store.deleteSheet(first?.id ?? '')
    assert.equal(typeof (await store.createSheet(newSheet(account.id, 'room'), 25)), 'object')
    assert.equal(await store.createSheet(newSheet(account.id, 'again'), 25), 'too_many')
    assert.equal(typeof (await store.createSheet(newSheet(account.id, 'again'), null)), 'object', 'no limit')
  })

  of(
    'nor more active keys, forms and webhooks; what has ended does not count, and who names no bound has none',
    async (store) => {
      const { account, sheet } = await accountWithSheet(store)
      const wish = { accountId: account.id, sheetId: sheet.id }
      const key = (n: number) => newKey(account.id, null, `key ${n}`)
      const keys = await madeAtOnce((n) => store.createKey(key(n), 5))
      assert.deepEqual(keys, { made: 5, full: 7 })
      const [first, second] = await store.keysOf(account.id)
      const successor = { hash: 'next', shownStart: 'a', shownEnd: 'z' }
      await assert.rejects(store.replaceKey(first?.id ?? '', successor, 1_000, 5), AccountFull)
      assert.ok(await store.replaceKey(first?.id ?? '', successor, 0, 5), 'one for one')
      await store.revokeKey(second?.id ?? '')
      await store.createKey(key(20), 5)
      await assert.rejects(store.createKey(key(21), 5), AccountFull)
      await store.createKey(key(22))
      const settings = { fields: [] } as unknown as FormSettings
      const forms = await madeAtOnce(() => store.createForm({ ...wish, name: 'f', settings }, 3))
      assert.deepEqual(forms, { made: 3, full: 9 })
      const usual = { url: 'https://a.example', kinds: null, columns: null, place: { epoch: null, seq: 0 } }
      const secret = { sealed: 's', keyId: 'k' }
      const webhooks = await madeAtOnce((n) =>
        store.createWebhook({ id: `wh_${n}`, ...wish, ...usual, secret }, 3),
      )
      assert.deepEqual(webhooks, { made: 3, full: 9 })
      assert.equal((await store.webhooksOf(account.id)).length, 3)
    },
  )

  of(
    'nor does an expired key come back where there are as many active ones, at once or later',
    async (store, clock, database) => {
      const { account } = await accountWithSheet(store)
      const soon = (await timeOf(database)) + 1_000
      const brief = { ...newKey(account.id, null, ''), expiresAtMs: soon }
      for (const hash of ['a', 'b', 'c', 'd']) await store.createKey({ ...brief, hash })
      const expired = await store.keysOf(account.id)
      const [first] = expired
      await store.changeKey(first?.id ?? '', { expiresAtMs: soon + 1 }, 1)
      await passTime(database, clock, 2_000)
      const lasting = await store.createKey(newKey(account.id, null, 'lasting'))
      const outcomes = await madeAtOnce((n) =>
        store.changeKey(expired[n % 4]?.id ?? '', { expiresAtMs: null }, 3),
      )
      assert.deepEqual(outcomes, { made: 6, full: 6 }, 'two of four came back, each asked for three times')
      await store.changeKey(lasting.id, { expiresAtMs: soon * 2, name: 'longer' }, 3)
      const ended = (await store.keysOf(account.id)).find(
        ({ id, expiresAtMs }) => expiresAtMs !== null && id !== lasting.id,
      )
      await store.changeKey(ended?.id ?? '', { name: 'other' }, 3)
      await store.changeKey(ended?.id ?? '', { expiresAtMs: null })
    },
  )

  of(
    'both addresses of a sheet look up the same facts, with the key where it opens that sheet',
    async (store, _clock, database) => {
      const { account, sheet } = await accountWithSheet(store)
      const key = await store.createKey(newKey(account.id, null, 'h1'))
      const expected = {
        account: {
          id: account.id,
          createdAtMs: startMs,
          plan: 'pro',
          requestsPerMinute: null,
          requestsPerMonth: null,
        },
        sheet: {
          id: sheet.id,
          paused: false,
          access: 'private',
          accepts: 'both',
          cacheSeconds: 10,
          staleIfErrorSeconds: 0,
          writeSeq: 0,
          keyColumn: null,
          autoKey: 'none',
          needsReconnect: false,
        },
        key: { id: key.id, mode: 'live', scope: 'read', policy: null },
      }
      const lookedUp = async (address: SheetAddress, keyHash: string | null) => {
        const { account, ...facts } = await store.lookUp(address, keyHash)
        const { lookedUpAtMs = 0, ...rest } = account ?? {}
        const agoMs = (await timeOf(database)) - lookedUpAtMs
        assert.ok(agoMs >= 0 && agoMs < asideMs, `looked up ${agoMs} ms ago`)
        return { account: rest, ...facts }
      }
      const byName = { form: 'a', accountSlug: 'acme', sheetSlug: 'stock' } as const
      assert.deepEqual(await lookedUp(byName, 'h1'), expected)
      assert.deepEqual(await lookedUp({ form: 'b', sheetId: sheet.id }, 'h1'), expected)
      assert.deepEqual(await lookedUp({ form: 'b', sheetId: sheet.id }, null), { ...expected, key: null })
    },
  )

  of('what is not there is null, one by one', async (store) => {
    const { account } = await accountWithSheet(store)
    const nothing = { account: null, sheet: null, key: null }
    assert.deepEqual(
      await store.lookUp({ form: 'a', accountSlug: 'nobody', sheetSlug: 'stock' }, 'h1'),
      nothing,
    )
    assert.deepEqual(await store.lookUp({ form: 'b', sheetId: 'sh_none' }, 'h1'), nothing)
    const noSheet = await store.lookUp({ form: 'a', accountSlug: 'acme', sheetSlug: 'none' }, 'h1')
    assert.equal(noSheet.account?.id, account.id)
    assert.equal(noSheet.sheet, null)
  })

  of('a name that no text can hold is not there, and keeps nobody else from being found', async (store) => {
    const { account } = await accountWithSheet(store)
    const nothing = { account: null, sheet: null, key: null }
    const looked = await Promise.all([
      store.lookUp({ form: 'a', accountSlug: 'acme\0', sheetSlug: 'stock' }, 'h1'),
      store.lookUp({ form: 'a', accountSlug: 'acme', sheetSlug: 'stock' }, 'h1'),
      store.lookUp({ form: 'b', sheetId: '\0' }, '\0'),
    ])
    assert.deepEqual(looked[0], nothing)
    assert.equal(looked[1].account?.id, account.id)
    assert.deepEqual(looked[2], nothing)
    assert.equal(await store.findAccount('acme\0'), null)
  })

  of('a key of another account, of another sheet, or revoked is no key', async (store) => {
    const { account, sheet } = await accountWithSheet(store)
    const second = await store.createSheet(newSheet(account.id, 'second'))
    assert.ok(typeof second === 'object')
    const other = await newAccount(store, 'other')
    await store.createKey(newKey(other.id, null, 'foreign'))
    await store.createKey(newKey(account.id, second.id, 'second only'))
    const gone = await store.createKey(newKey(account.id, null, 'gone'))
    const opens = async (hash: string, sheetId: string) =>
      (await store.lookUp({ form: 'b', sheetId }, hash)).key !== null
    assert.equal(await opens('gone', sheet.id), true)
    assert.equal(await store.revokeKey(gone.id), true)
    assert.equal(await store.revokeKey(gone.id), false, 'a revoked key stays revoked')
    assert.deepEqual(
      await Promise.all(['foreign', 'second only', 'gone', 'unknown'].map((hash) => opens(hash, sheet.id))),
      [false, false, false, false],
    )
    assert.equal(await opens('second only', second.id), true)
    assert.equal(await store.lookUpKey('gone'), null)
    assert.equal((await store.lookUpKey('second only'))?.key.sheetId, second.id)
  })

  of(
    'replacing a key kills the old and makes the new with the same rights, both or neither',
    async (store) => {
      const { account, sheet } = await accountWithSheet(store)
      const old = await store.createKey({
        ...newKey(account.id, sheet.id, 'old'),
        mode: 'test',
        scope: 'read-write',
      })
      const fresh = await store.replaceKey(old.id, { hash: 'fresh', shownStart: 's', shownEnd: 'e' })
      assert.ok(fresh)
      assert.notEqual(fresh.id, old.id)
      const { name, mode, scope, sheetId } = fresh
      assert.deepEqual(
        { name, mode, scope, sheetId },
        { name: 'key', mode: 'test', scope: 'read-write', sheetId: sheet.id },
      )
      assert.equal((await store.lookUp({ form: 'b', sheetId: sheet.id }, 'old')).key, null)
      assert.equal((await store.lookUp({ form: 'b', sheetId: sheet.id }, 'fresh')).key?.id, fresh.id)
      assert.equal(await store.replaceKey(old.id, { hash: 'again', shownStart: 's', shownEnd: 'e' }), null)
      assert.equal((await store.keysOf(account.id)).length, 2)
      const clash = store.replaceKey(fresh.id, { hash: 'fresh', shownStart: 's', shownEnd: 'e' })
      await assert.rejects(clash)
      assert.equal(
        (await store.findKey(fresh.id))?.revokedAtMs,
        null,
        'the failed replacement revoked nothing',
      )
    },
  )

  of(
    'a pause and a write are in the next look-up, the write for every sheet of the source',
    async (store) => {
      const { account, sheet } = await accountWithSheet(store)
      const facts = async (sheetId: string) => (await store.lookUp({ form: 'b', sheetId }, null)).sheet
      await store.setPaused(sheet.id, true)
      assert.equal((await facts(sheet.id))?.paused, true)
      await store.countWrite('file:/stock.csv')
      await store.countWrite('file:/unrelated.csv')
      assert.equal((await facts(sheet.id))?.writeSeq, 1)
      const twin = await store.createSheet(newSheet(account.id, 'twin'))
      assert.ok(typeof twin === 'object')
      assert.equal((await facts(twin.id))?.writeSeq, 1)
      await Promise.all(Array.from({ length: 10 }, () => store.countWrite('file:/stock.csv')))
      assert.equal((await facts(sheet.id))?.writeSeq, 11)
      assert.equal((await facts(twin.id))?.writeSeq, 11)
    },
  )

  of(
    'sheets follow their spreadsheet to another place, all or none, and not while a write is on its way',
    async (store) => {
      const { account, sheet } = await accountWithSheet(store)
      const twin = await store.createSheet(newSheet(account.id, 'twin'))
      const other = await store.createSheet({ ...newSheet(account.id, 'other'), source: 'file:/other.csv' })
      assert.ok(typeof twin === 'object' && typeof other === 'object')
      assert.deepEqual(
        (await store.sheetsOfSource(sheet.source)).map(({ id }) => id).sort(),
        [sheet.id, twin.id].sort(),
      )
      const [from, to] = [sheet.location, '{"path":"/shop.csv"}']
      const both = [sheet, twin].map(({ id: sheetId }) => ({ sheetId, from, to }))
      const places = async () =>
        (await store.sheetsOf(account.id)).map(({ slug, location, writeSeq }) => ({
          slug,
          location,
          writeSeq,
        }))
      const before = await places()

      const changed = [...both.slice(0, 1), { sheetId: twin.id, from: '{}', to }]
      assert.equal(await store.relocateSheets(sheet.source, changed), 'changed')
      const ofOthers = [...both, { sheetId: other.id, from, to }]
      assert.equal(await store.relocateSheets(sheet.source, ofOthers), 'changed')
      const operations = [{ id: null, accountId: account.id, sheetId: sheet.id, answer: '' }]
      const ids = await store.beginSending({ source: sheet.source, fence: 'f', place: '{}', operations })
      assert.ok(Array.isArray(ids))
      assert.equal(await store.relocateSheets(sheet.source, both), 'being_written')
      assert.deepEqual(await places(), before, 'none of it was done')

      await store.dropOperations(ids)
      assert.equal(await store.relocateSheets(sheet.source, both), 'relocated')
      assert.deepEqual(await places(), [
        { slug: 'other', location: from, writeSeq: 0 },
        { slug: 'stock', location: to, writeSeq: 1 },
        { slug: 'twin', location: to, writeSeq: 1 },
      ])
      assert.equal((await store.sheetById(sheet.id))?.source, sheet.source)
      assert.equal(await store.relocateSheets(sheet.source, []), 'relocated')
    },
  )

  of(
    'a key that expires is no key from that moment on, and a new value ends the former one',
    async (store, clock, database) => {
      const { account, sheet } = await accountWithSheet(store)
      const { id: sheetId } = sheet
      const address = { form: 'b', sheetId } as const
      const isKey = async (hash: string) => {
        const [found, ofAccount] = [await store.lookUp(address, hash), await store.lookUpKey(hash)]
        assert.equal(found.key?.id, ofAccount?.key.id)
        return found.key !== null
      }
      await store.createSession('session', account.id)
      const put = (hash: string) =>
        store.putConsoleKey(
          { ...newKey(account.id, sheetId, hash), sheetId, sessionHash: 'session' },
          3_600_000,
        )
      const lasting = await store.createKey(newKey(account.id, sheetId, 'lasting'))
      const first = await put('first')
      assert.ok(await isKey('first'))
      await passTime(database, clock, 3_600_000 - asideMs)
      assert.ok(await isKey('first'))
      await passTime(database, clock, asideMs)
      assert.equal(await isKey('first'), false)
      const second = await put('second')
      assert.equal(second.id, first.id)
      const third = await put('third')
      assert.ok(await isKey('third'))
      for (const hash of ['first', 'second']) assert.equal(await isKey(hash), false)
      assert.ok(await isKey('lasting'), 'other keys of the sheet are left alone')
      assert.equal(lasting.expiresAtMs, null)
      await store.revokeKey(third.id)
      assert.equal(await isKey('third'), false)
    },
  )

  of(
    'of keys that were revoked or have expired the last ones are remembered, of active ones all',
    async (store, clock) => {
      const account = await newAccount(store, 'acme')
      const lasting = await store.createKey(newKey(account.id, null, 'lasting'))
      const made: string[] = []
      for (let n = 0; n < 110; n++) {
        clock.advanceMs(1)
        const expiresAtMs = n % 2 === 0 ? clock.nowMs() + 1 : null
        const { id } = await store.createKey({ ...newKey(account.id, null, `key ${n}`), expiresAtMs })
        if (expiresAtMs === null) await store.revokeKey(id)
        made.push(id)
      }
      clock.advanceMs(2)
      const last = await store.createKey(newKey(account.id, null, 'last'))
      const kept = new Set((await store.keysOf(account.id)).map(({ id }) => id))
      assert.deepEqual(kept, new Set([lasting.id, ...made.slice(10), last.id]))
    },
  )

  of('settings of a sheet change one by one', async (store) => {
    const { sheet } = await accountWithSheet(store)
    await store.changeSheet(sheet.id, { cacheSeconds: 0, accepts: 'live' })
    await store.changeSheet(sheet.id, {
      access: 'public-read',
      unknownFields: 'ignore',
      staleIfErrorSeconds: 60,
    })
    const { cacheSeconds, accepts, access, unknownFields, staleIfErrorSeconds } =
      (await store.sheetById(sheet.id)) ?? sheet
    assert.deepEqual(
      { cacheSeconds, accepts, access, unknownFields, staleIfErrorSeconds },
      {
        cacheSeconds: 0,
        accepts: 'live',
        access: 'public-read',
        unknownFields: 'ignore',
        staleIfErrorSeconds: 60,
      },
    )
    const { sheet: facts } = await store.lookUp({ form: 'b', sheetId: sheet.id }, null)
    assert.equal(facts?.staleIfErrorSeconds, 60)
    assert.equal(facts?.keyColumn, null)
    await store.changeSheet(sheet.id, { keyColumn: 'sku', autoKey: 'uuid' })
    const keyed = await store.sheetById(sheet.id)
    assert.deepEqual([keyed?.keyColumn, keyed?.autoKey, keyed?.cacheSeconds], ['sku', 'uuid', 0])
    assert.equal((await store.lookUp({ form: 'b', sheetId: sheet.id }, null)).sheet?.keyColumn, 'sku')
    await store.changeSheet(sheet.id, { keyColumn: null })
    const { writeSeq } = sheet
    await store.changeSheet(sheet.id, { location: '{"path":"/stock.csv","encoding":"koi8-r"}' })
    const moved = await store.sheetById(sheet.id)
    assert.deepEqual(
      [moved?.location, moved?.writeSeq],
      ['{"path":"/stock.csv","encoding":"koi8-r"}', writeSeq + 1],
    )
    assert.equal((await store.sheetById(sheet.id))?.keyColumn, null)
  })

  of(
    'charges never exceed the limit, however many ask at once, and what is given back can be charged again',
    async (store) => {
      const { account } = await accountWithSheet(store)
      const asked = Array.from({ length: 20 }, (_, n) => store.chargeAhead(account.id, 0, 100, 1 + (n % 9)))
      const granted = (await Promise.all(asked)).reduce((sum, charge) => sum + charge.granted, 0)
      assert.equal(
        granted,
        Math.min(
          100,
          Array.from({ length: 20 }, (_, n) => 1 + (n % 9)).reduce((a, b) => a + b),
        ),
      )
      const rest = await store.chargeAhead(account.id, 0, 100, 1_000)
      assert.deepEqual(rest, { granted: 100 - granted, charged: 100 })
      assert.deepEqual(await store.chargeAhead(account.id, 0, 100, 1), { granted: 0, charged: 100 })
      await store.refundCharge(account.id, 0, 7)
      assert.deepEqual(await store.chargeAhead(account.id, 0, 100, 50), { granted: 7, charged: 100 })
      assert.deepEqual(
        await store.chargeAhead(account.id, 1, 100, 50),
        { granted: 50, charged: 50 },
        'a cycle of its own',
      )
      assert.deepEqual(
        await store.chargeAhead(account.id, 0, 60, 5),
        { granted: 0, charged: 100 },
        'a lowered limit',
      )
    },
  )

  of('readers without a key have a month of their own', async (store) => {
    const { account } = await accountWithSheet(store)
    assert.deepEqual(await store.chargeAhead(account.id, 0, 10, 10), { granted: 10, charged: 10 })
    assert.deepEqual(await store.chargePublicAhead(account.id, 0, 10, 4), { granted: 4, charged: 4 })
    await store.refundPublicCharge(account.id, 0, 3)
    assert.deepEqual(await store.chargePublicAhead(account.id, 0, 10, 20), { granted: 9, charged: 10 })
    assert.deepEqual(await store.chargeAhead(account.id, 0, 10, 1), { granted: 0, charged: 10 })
    await store.refundCharge(account.id, 0, 2)
    assert.deepEqual(await store.chargePublicAhead(account.id, 0, 10, 1), { granted: 0, charged: 10 })
  })

  of('when a key was last used only moves forward', async (store) => {
    const { account } = await accountWithSheet(store)
    const key = await store.createKey(newKey(account.id, null, 'h1'))
    assert.equal(key.lastUsedAtMs, null)
    for (const [usedMs, expected] of [
      [5_000, 5_000],
      [3_000, 5_000],
      [9_000, 9_000],
    ] as const) {
      await store.noteKeysUsed(new Map([[key.id, usedMs]]))
      assert.equal((await store.findKey(key.id))?.lastUsedAtMs, expected)
    }
  })

  of('any number of instances note the same keys at once, in whatever order', async (store) => {
    const { account } = await accountWithSheet(store)
    const keys = await Promise.all(
      Array.from({ length: 20 }, (_, n) => store.createKey(newKey(account.id, null, `h${n}`))),
    )
    await Promise.all(
      Array.from({ length: 16 }, (_, at) => {
        const ordered = at % 2 === 0 ? keys : keys.toReversed()
        return store.noteKeysUsed(new Map(ordered.map(({ id }) => [id, 1_000 + at])))
      }),
    )
    for (const { id } of keys) assert.equal((await store.findKey(id))?.lastUsedAtMs, 1_015)
  })

  of('migrations run once, and a store from the future is refused', async (store, _clock, database) => {
    const applied: number[] = []
    await migrate(database, 0, (seen) => seen.event === 'migration_applied' && applied.push(seen.number))
    assert.deepEqual(applied, [])
    await database.kysely
      .insertInto('migration')
      .values({ number: 999, name: 'future', applied_at_ms: 0 })
      .execute()
    await assert.rejects(
      migrate(database, 0, () => {}),
      /newer Rowport/,
    )
    await store.ping()
  })
}

async function madeAtOnce(make: (n: number) => Promise<unknown>): Promise<{ made: number; full: number }> {
  const outcomes = await Promise.allSettled(Array.from({ length: 12 }, (_, n) => make(n)))
  const full = outcomes.filter((one) => one.status === 'rejected' && one.reason instanceof AccountFull)
  return { made: outcomes.filter(({ status }) => status === 'fulfilled').length, full: full.length }
}
