import assert from 'node:assert/strict'
import { accountWithSheet } from '../records.fixture.ts'
import { createSqlStore } from '../sql/sql-store.ts'
import type { StoreTest } from '../store-test.fixture.ts'
import type { FormSettings, NewEntry } from './forms.ts'

const settings: FormSettings = {
  ...{ intro: 'Hello', thanks: 'Bye', next: null, honeypot: '_gotcha', minSeconds: 3 },
  fields: [{ column: 'ä', label: 'Ä', help: '?', kind: 'choice', isRequired: true, choices: ['a', 'b'] }],
  set: [
    ['at', 'now()'],
    ['n', 1],
  ],
  ...{ framedBy: ['https://a.example'], origins: [], entriesPerMinute: 1, entriesPerHour: 2, captcha: null },
}
const entry = (formId: string, value: string): NewEntry => {
  return { formId, name: { name: value }, reason: 'honeypot', row: [['ä', value]] }
}

const roomFor = (entries: number) => ({ entries, characters: 1_000 })

export function formsContract(of: StoreTest): void {
  of('a form is kept as it was made, changed as a whole, closed and deleted', async (store, clock) => {
    const { account, sheet } = await accountWithSheet(store)
    const wish = { accountId: account.id, sheetId: sheet.id, name: 'Party', settings }
    const form = await store.createForm(wish)
    assert.deepEqual(form, {
      ...{ id: form.id, ...wish, isOpen: true, createdAtMs: clock.nowMs(), captchaSecret: null },
    })
    assert.deepEqual(await store.findForm(form.id), form)
    assert.equal(await store.findForm('form_nothing'), null)
    const change = { name: 'Feast', settings: { ...settings, intro: '', minSeconds: 0 } }
    await store.changeForm(form.id, change)
    await store.setFormOpen(form.id, false)
    assert.deepEqual(await store.findForm(form.id), { ...form, ...change, isOpen: false })
    const other = await store.createForm({ ...wish, name: 'Other' })
    assert.deepEqual(
      (await store.formsOf(account.id)).map(({ id }) => id).toSorted(),
      [form.id, other.id].toSorted(),
    )
    assert.deepEqual(await store.formsOf('acc_nobody'), [])
    await store.holdEntry(entry(form.id, 'x'), roomFor(1))
    await store.deleteForm(form.id)
    assert.equal(await store.findForm(form.id), null)
    assert.deepEqual(await store.heldEntries(form.id), [])
    assert.deepEqual(await store.findForm(other.id), other)
  })

  of('the secret of a captcha stays until it is changed, and is sealed anew', async (store) => {
    const { account, sheet } = await accountWithSheet(store)
    const captcha = { provider: 'turnstile', siteKey: 'k' } as const
    const wish = { accountId: account.id, sheetId: sheet.id, name: 'f', settings: { ...settings, captcha } }
    const [first, second] = ['one', 'two'].map((sealed) => ({ sealed, keyId: 'then' }))
    assert.ok(first && second)
    const form = await store.createForm({ id: 'form_own', ...wish, captchaSecret: first })
    assert.deepEqual([form.id, form.captchaSecret, form.settings.captcha], ['form_own', first, captcha])
    await store.createForm(wish)
    await store.changeForm(form.id, { name: 'g', settings: wish.settings })
    assert.deepEqual(await store.findForm(form.id), { ...form, name: 'g' })
    assert.deepEqual(await store.formsNotUnderKey('then'), [])
    assert.deepEqual(await store.formsNotUnderKey('now'), [{ ...form, name: 'g' }])
    await store.changeForm(form.id, { name: 'g', settings: wish.settings, captchaSecret: second })
    const anew = { sealed: 'anew', keyId: 'now' }
    await store.resealForm(form, anew)
    assert.deepEqual((await store.findForm(form.id))?.captchaSecret, second, 'it was changed meanwhile')
    await store.resealForm({ ...form, captchaSecret: second }, anew)
    assert.deepEqual((await store.findForm(form.id))?.captchaSecret, anew)
    await store.changeForm(form.id, { name: 'g', settings, captchaSecret: null })
    assert.equal((await store.findForm(form.id))?.captchaSecret, null)
  })

  of('a form ends with its sheet, and with its account', async (store) => {
    const { account, sheet } = await accountWithSheet(store)
    const form = await store.createForm({ accountId: account.id, sheetId: sheet.id, name: 'f', settings })
    await store.holdEntry(entry(form.id, 'x'), roomFor(1))
    await store.deleteSheet(sheet.id)
    assert.equal(await store.findForm(form.id), null)
    assert.deepEqual(await store.heldEntries(form.id), [])
  })

  of(
    'what is held is counted, released, added by whoever comes first and forgotten',
    async (store, clock) => {
      const { account, sheet } = await accountWithSheet(store)
      const form = await store.createForm({ accountId: account.id, sheetId: sheet.id, name: 'f', settings })
      for (const value of ['one', 'two', 'three']) {
        assert.equal(await store.holdEntry(entry(form.id, value), roomFor(3)), true)
        clock.advanceMs(1)
      }
      assert.equal(await store.holdEntry(entry(form.id, 'four'), roomFor(3)), false, 'as many as it may')
      const long = 'x'.repeat(1_000)
      assert.equal(await store.holdEntry(entry(form.id, long), roomFor(9)), false, 'as long as it may')
      assert.equal(await store.holdEntry(entry('form_nothing', 'x'), roomFor(3)), false)
      const held = await store.heldEntries(form.id)
      assert.deepEqual(
        held.map(({ row }) => row[0]?.[1]),
        ['one', 'two', 'three'],
      )
      assert.deepEqual(await store.heldCounts(account.id), new Map([[form.id, 3]]))
      assert.deepEqual(await store.heldCounts('acc_nobody'), new Map())
      assert.deepEqual(await store.releasedEntries(10, []), [])
      const [first, second] = held
      assert.ok(first && second)
      await store.releaseEntry(second.id)
      assert.deepEqual(await store.releasedEntries(10, []), [{ ...second, isReleased: true }])
      assert.deepEqual(await store.releasedEntries(10, [form.id]), [])
      assert.deepEqual(await store.heldCounts(account.id), new Map([[form.id, 2]]), 'it no longer waits')
      await store.deleteEntry(second.id)
      await store.deleteEntry(first.id)
      assert.equal(await store.findEntry(second.id), null)
      assert.deepEqual(await store.heldCounts(account.id), new Map([[form.id, 1]]))
    },
  )

  of(
    'what is held under a name is held once, and under a former name for as long as that counts',
    async (store, clock) => {
      const { account, sheet } = await accountWithSheet(store)
      const wish = { accountId: account.id, sheetId: sheet.id, name: 'f', settings }
      const [form, other] = [await store.createForm(wish), await store.createForm(wish)]
      const hold = (formId: string, name: NewEntry['name']) =>
        store.holdEntry({ ...entry(formId, 'x'), name }, roomFor(10))
      const first = { name: 'minute 1' }
      assert.deepEqual(await Promise.all([1, 2, 3].map(() => hold(form.id, first))), [true, true, true])
      assert.equal((await store.heldEntries(form.id)).length, 1)
      await hold(other.id, first)
      assert.equal((await store.heldEntries(other.id)).length, 1)
      const second = { name: 'minute 2', former: { name: 'minute 1', forMs: 1_000 } }
      clock.advanceMs(999)
      await hold(form.id, second)
      assert.equal((await store.heldEntries(form.id)).length, 1)
      clock.advanceMs(1)
      await hold(form.id, second)
      assert.deepEqual(
        (await store.heldEntries(form.id)).map(({ name }) => name),
        ['minute 1', 'minute 2'],
      )
    },
  )

  of('all of a form are released at once, and what the sheet did not take waits again', async (store) => {
    const { account, sheet } = await accountWithSheet(store)
    const wish = { accountId: account.id, sheetId: sheet.id, name: 'f', settings }
    const [form, other] = [await store.createForm(wish), await store.createForm(wish)]
    for (const value of ['one', 'two']) await store.holdEntry(entry(form.id, value), roomFor(10))
    await store.holdEntry(entry(other.id, 'three'), roomFor(10))
    assert.equal(await store.releaseEntries(form.id), 2)
    assert.equal(await store.releaseEntries(form.id), 0)
    const released = await store.releasedEntries(10, [])
    assert.deepEqual(new Set(released.map(({ formId }) => formId)), new Set([form.id]))
    const [first] = released
    assert.ok(first)
    await store.holdReleasedAgain(first.id, 'unfit')
    const again = (await store.heldEntries(form.id)).find(({ reason }) => reason === 'unfit')
    assert.deepEqual(again, { ...first, id: again?.id, reason: 'unfit', isReleased: false })
    assert.notEqual(again?.id, first.id)
    assert.equal(await store.deleteForm(form.id), 2)
  })

  of('however many are held at once, a form never holds more than it may', async (store, clock, database) => {
    const { account, sheet } = await accountWithSheet(store)
    const form = await store.createForm({ accountId: account.id, sheetId: sheet.id, name: 'f', settings })
    const stores = Array.from({ length: 4 }, () => createSqlStore(database, clock))
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, (_, n) => stores[n % 4]?.holdEntry(entry(form.id, `${n}`), roomFor(5))),
    )
    assert.equal(outcomes.filter((isHeld) => isHeld === true).length, 5)
    assert.equal((await store.heldEntries(form.id)).length, 5)
  })
}
