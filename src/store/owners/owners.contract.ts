import assert from 'node:assert/strict'
import { GoneMeanwhile } from '../../errors.ts'
import { maxFormerSlugs, slugReservedMs } from '../accounts/former-slugs.ts'
import { createChangeTexts } from '../changes/change-texts.ts'
import { asideMs, passTime } from '../leases/leases.contract.ts'
import { newId } from '../new-id.ts'
import { accountWithSheet, newAccount, newKey, newSheet } from '../records.fixture.ts'
import type { StoreTest } from '../store-test.fixture.ts'
import type { SignUp } from './owners.ts'

const plainForm = {
  ...{ intro: '', fields: [], thanks: '', next: null, honeypot: '_gotcha', minSeconds: 0, set: [] },
  ...{ framedBy: [], origins: [] },
  ...{ entriesPerMinute: 10, entriesPerHour: 500, captcha: null },
}

const roomFor = (entries: number) => ({ entries, characters: 1_000 })
const minuteMs = 60_000
const limits = { idleMs: 30 * minuteMs, maxAgeMs: 24 * 60 * minuteMs }

function signUp(slug: string, more: Partial<SignUp> = {}): SignUp {
  const email = `${slug}@example.com`
  return { slug, plan: 'free', email, passwordHash: '$a', googleSubject: null, sessionHash: slug, ...more }
}

export function ownersContract(of: StoreTest): void {
  of('signing up makes account, owner and session, or none of them', async (store, clock) => {
    const made = await store.signUp(signUp('ada'))
    assert.ok(typeof made === 'object')
    assert.match(made.owner.id, /^own_[0-9A-Za-z]{22}$/)
    assert.deepEqual(
      { ...made.owner, id: '' },
      {
        id: '',
        accountId: made.account.id,
        email: 'ada@example.com',
        passwordHash: '$a',
        googleSubject: null,
        createdAtMs: clock.nowMs(),
        emailVerifiedAtMs: null,
        wantsAlerts: true,
      },
    )
    assert.deepEqual(await store.findAccount('ada'), made.account)
    assert.deepEqual(await store.accountById(made.account.id), made.account)
    assert.equal((await store.findSession('ada', limits))?.account.id, made.account.id)
    for (const found of [await store.ownerOf(made.account.id), await store.ownerByEmail('ada@example.com')]) {
      assert.deepEqual(found, made.owner)
    }

    assert.equal(await store.signUp(signUp('ada', { email: 'b@x.org', sessionHash: 'b' })), 'slug_taken')
    const taken = signUp('other', { email: 'ada@example.com' })
    assert.equal(await store.signUp(taken), 'email_taken')
    assert.equal(await store.findAccount('other'), null, 'the account is not left behind')
    assert.equal(await store.findSession('other', limits), null)
    assert.equal(await store.ownerByEmail('b@x.org'), null)
    assert.equal(await store.accountById('acc_nothing'), null)
  })

  of('an e-mail address and a Google account belong to one owner', async (store) => {
    const made = await store.signUp(signUp('ada', { googleSubject: '1' }))
    assert.ok(typeof made === 'object')
    const account = await newAccount(store, 'grace')
    const grace = { accountId: account.id, passwordHash: null, googleSubject: null }
    assert.equal(await store.createOwner({ ...grace, email: 'ada@example.com' }), 'email_taken')
    const owner = await store.createOwner({ ...grace, email: 'grace@example.com' })
    assert.ok(owner !== 'email_taken')
    assert.equal(await store.setGoogleSubject(owner.id, '1'), false)
    assert.equal(await store.setGoogleSubject(owner.id, '2'), true)
    assert.equal((await store.ownerByGoogle('2'))?.id, owner.id)
    assert.equal((await store.ownerByGoogle('1'))?.id, made.owner.id)
    assert.equal(await store.ownerByGoogle('3'), null)
    assert.equal(await store.setPassword(owner.id, { from: null, to: '$b' }), true)
    assert.equal((await store.ownerOf(account.id))?.passwordHash, '$b')
    assert.equal((await store.ownerOf(made.account.id))?.passwordHash, '$a')
  })

  of('a password is changed, and signs in, only while it is still what was checked', async (store) => {
    const made = await store.signUp(signUp('ada'))
    assert.ok(typeof made === 'object')
    const { id } = made.owner
    for (const from of ['$b', null]) {
      assert.equal(await store.setPassword(id, { from, to: '$c' }), false)
      assert.equal(await store.createSessionByPassword('no', id, { from, to: '$c' }), false)
    }
    assert.equal(await store.findSession('no', limits), null)
    assert.equal((await store.ownerOf(made.account.id))?.passwordHash, '$a')
    assert.equal(await store.createSessionByPassword('same', id, { from: '$a', to: '$a' }), true)
    assert.equal(await store.createSessionByPassword('renewed', id, { from: '$a', to: '$b' }), true)
    for (const session of ['same', 'renewed'])
      assert.equal((await store.findSession(session, limits))?.account.id, made.account.id)
    assert.equal(await store.createSessionByPassword('late', id, { from: '$a', to: '$a' }), false)
    assert.equal((await store.ownerOf(made.account.id))?.passwordHash, '$b')
    await assert.rejects(store.createSessionByPassword('same', id, { from: '$b', to: '$c' }))
    assert.equal((await store.ownerOf(made.account.id))?.passwordHash, '$b', 'both or none')
  })

  of('no session by a password outlives its change, whoever comes first', async (store) => {
    const made = await store.signUp(signUp('ada'))
    assert.ok(typeof made === 'object')
    const { id } = made.owner
    for (let round = 0; round < 20; round++) {
      const from = round === 0 ? '$a' : `$${round}`
      const names = [1, 2, 3].map((n) => `${round} ${n}`)
      const enter = (name: string) => store.createSessionByPassword(name, id, { from, to: from })
      const change = async () => {
        assert.equal(await store.setPassword(id, { from, to: `$${round + 1}` }), true)
        await store.endSessionsOf(made.account.id)
      }
      await Promise.all([enter(names[0] ?? ''), change(), enter(names[1] ?? ''), enter(names[2] ?? '')])
      for (const name of names) assert.equal(await store.findSession(name, limits), null, name)
    }
  })

  of(
    'a link from a mail shows once whose the address is, until its time is over',
    async (store, clock, database) => {
      const made = await store.signUp(signUp('ada'))
      assert.ok(typeof made === 'object')
      const { id: accountId } = made.account
      const { email } = made.owner
      const link = (hash: string) => ({ hash, accountId, kind: 'verify', email }) as const
      await store.createMailLink(link('late'), minuteMs)
      await passTime(database, clock, minuteMs)
      assert.equal(await store.verifyEmail('late'), null)
      await store.createMailLink(link('one'), minuteMs)
      assert.equal(await store.isMailLinkGood('one', 'verify'), true)
      assert.equal(await store.isMailLinkGood('one', 'reset'), false, 'it is good for one thing alone')
      assert.equal(await store.resetPassword('one', { passwordHash: '$b', sessionHash: 'no' }), null)
      const both = await Promise.all([store.verifyEmail('one'), store.verifyEmail('one')])
      assert.equal(both.filter((owner) => owner !== null).length, 1)
      const verifiedAtMs = (await store.ownerOf(accountId))?.emailVerifiedAtMs
      assert.equal(verifiedAtMs, clock.nowMs())
      assert.equal((await store.ownerOf(accountId))?.passwordHash, '$a')

      await store.createMailLink(link('former'), minuteMs)
      assert.equal(await store.setEmail(made.owner.id, 'ada@other.org'), 'set')
      assert.equal((await store.ownerOf(accountId))?.emailVerifiedAtMs, null, 'nobody has shown that yet')
      assert.equal(await store.verifyEmail('former'), null, 'it was for another address')
      await newAccount(store, 'grace')
      const other = await store.signUp(signUp('hopper'))
      assert.ok(typeof other === 'object')
      assert.equal(await store.setEmail(other.owner.id, 'ada@other.org'), 'email_taken')
      await store.setAlerts(made.owner.id, false)
      assert.equal((await store.ownerOf(accountId))?.wantsAlerts, false)
      const known = await store.signUp(signUp('google', { googleSubject: '9', isEmailVerified: true }))
      assert.ok(typeof known === 'object' && known.owner.emailVerifiedAtMs === clock.nowMs())
    },
  )

  of('of all links that reset a password one does, and the others are worth nothing then', async (store) => {
    const made = await store.signUp(signUp('ada'))
    assert.ok(typeof made === 'object')
    const { id: accountId } = made.account
    const { email } = made.owner
    const hashes = ['one', 'two', 'three']
    for (const hash of hashes) await store.createMailLink({ hash, accountId, kind: 'reset', email }, minuteMs)
    const outcomes: (string | null)[] = []
    for (const hash of hashes) {
      const wish = { passwordHash: `$${hash}`, sessionHash: hash }
      outcomes.push((await store.resetPassword(hash, wish))?.accountId ?? null)
    }
    assert.deepEqual(outcomes, [accountId, null, null])
    const owner = await store.ownerOf(accountId)
    assert.equal(owner?.passwordHash, '$one')
    assert.ok(owner?.emailVerifiedAtMs !== null, 'whoever reads the mail has shown whose the address is')
    assert.equal((await store.findSession('one', limits))?.account.id, accountId)
    assert.equal(await store.findSession('two', limits), null)
  })

  of('an account changes its slug, unless another has it', async (store) => {
    const account = await newAccount(store, 'acme')
    await newAccount(store, 'other')
    assert.equal(await store.renameAccount(account.id, 'other'), 'slug_taken')
    assert.equal(await store.renameAccount(account.id, 'acme-2'), 'renamed')
    assert.equal((await store.findAccount('acme-2'))?.id, account.id)
    assert.equal(await store.findAccount('acme'), null)
    assert.equal(await store.renameAccount(account.id, 'acme-2'), 'renamed', 'to what it is called already')
    assert.equal(await store.renameAccount(account.id, 'acme'), 'renamed', 'and back')
  })

  of(
    'a slug that was given up is taken for all but its former account, until its time is over',
    async (store, clock, database) => {
      const [account, other] = [await newAccount(store, 'acme'), await newAccount(store, 'other')]
      const assertIsTaken = async (slug: string) => {
        assert.equal(await store.createAccount({ slug, plan: 'pro' }), 'slug_taken')
        assert.equal(await store.signUp(signUp(slug, { email: 'late@x.org' })), 'slug_taken')
        assert.equal(await store.renameAccount(other.id, slug), 'slug_taken')
        assert.equal(await store.findAccount(slug), null)
        assert.equal(await store.ownerByEmail('late@x.org'), null)
      }
      assert.equal(await store.renameAccount(account.id, 'acme-2'), 'renamed')
      await assertIsTaken('acme')
      await passTime(database, clock, slugReservedMs - asideMs)
      await assertIsTaken('acme')
      assert.equal(await store.renameAccount(account.id, 'acme'), 'renamed', 'its own again')
      await assertIsTaken('acme-2')
      assert.equal(await store.renameAccount(account.id, 'acme-3'), 'renamed')
      await passTime(database, clock, slugReservedMs)
      assert.equal(await store.renameAccount(other.id, 'acme'), 'renamed', 'free at last')
      await newAccount(store, 'acme-2')
      assert.equal(await store.renameAccount(account.id, 'acme'), 'slug_taken', 'its claim is over')

      await store.deleteAccount(account.id)
      const late = await newAccount(store, 'late')
      assert.equal(await store.renameAccount(late.id, 'acme-3'), 'slug_taken', 'of an account that has ended')
      await passTime(database, clock, slugReservedMs)
      assert.equal(await store.renameAccount(late.id, 'acme-3'), 'renamed')
    },
  )

  of('an account leaves only so many slugs behind, and may always go back', async (store) => {
    const account = await newAccount(store, 'slug-0')
    for (let n = 1; n <= maxFormerSlugs; n++)
      assert.equal(await store.renameAccount(account.id, `slug-${n}`), 'renamed')
    assert.equal(await store.renameAccount(account.id, 'one-more'), 'too_often')
    assert.equal((await store.accountById(account.id))?.slug, `slug-${maxFormerSlugs}`)
    assert.equal(await store.renameAccount(account.id, 'slug-0'), 'renamed')
    assert.equal(await store.renameAccount(account.id, 'one-more'), 'too_often')
  })

  of('nobody takes a slug in the moment in which it is given up', async (store) => {
    for (let round = 0; round < 15; round++) {
      const slug = `round-${round}`
      const [account, ended, other] = await Promise.all([
        newAccount(store, slug),
        newAccount(store, `${slug}-ended`),
        newAccount(store, `${slug}-other`),
      ])
      const [renamed, , ...takers] = await Promise.all([
        store.renameAccount(account.id, `${slug}-new`),
        store.deleteAccount(ended.id),
        store.createAccount({ slug, plan: 'pro' }),
        store.renameAccount(other.id, `${slug}-ended`),
        store.signUp(signUp(slug)),
        store.createAccount({ slug: `${slug}-ended`, plan: 'pro' }),
      ])
      assert.equal(renamed, 'renamed')
      assert.deepEqual(new Set(takers), new Set(['slug_taken']), slug)
    }
  })

  of('nothing is kept for what has ended meanwhile, and that is told', async (store) => {
    const { account, sheet } = await accountWithSheet(store)
    const { id: accountId } = account
    const credential = {
      accountId,
      provider: 'google',
      subject: 's',
      label: 'l',
      scopes: '',
      seal: () => ({ sealedToken: 'sealed', keyId: 'k' }),
    }
    const { id: credentialId } = await store.saveCredential(credential)
    await store.deleteAccount(accountId)
    const attempt = { stateHash: 's', sessionHash: 'x', accountId, provider: 'google', codeVerifier: 'v' }
    for (const [what, keeping] of Object.entries({
      sheet: () => store.createSheet(newSheet(accountId, 'late')),
      sheetAtGoogle: () => store.createSheet({ ...newSheet(accountId, 'late'), credentialId }),
      settings: () => store.changeSheet(sheet.id, { paused: true }),
      key: () => store.createKey(newKey(accountId, null, 'late')),
      keyOfSheet: () => store.createKey(newKey(accountId, sheet.id, 'late of sheet')),
      session: () => store.createSession('late', accountId),
      credential: () => store.saveCredential(credential),
      attempt: () => store.createConnectAttempt({ ...attempt, returnTo: '/connect' }, minuteMs),
      link: () => store.createSignInLink('late', accountId, minuteMs),
      mail: () => store.addMail({ id: 'late', accountId, sealed: 's', keyId: 'k', lifeMs: minuteMs }),
      mailLink: () =>
        store.createMailLink({ hash: 'late', accountId, kind: 'reset', email: 'a@x.org' }, minuteMs),
      owner: () =>
        store.createOwner({ accountId, email: 'a@x.org', passwordHash: null, googleSubject: null }),
      slug: () => store.renameAccount(accountId, 'late'),
    }))
      await assert.rejects(keeping(), GoneMeanwhile, what)
    assert.deepEqual(await store.sheetsOf(accountId), [])
    assert.deepEqual(await store.keysOf(accountId), [])
  })

  of('an account ends, whatever is added to it in that moment', async (store) => {
    for (let round = 0; round < 15; round++) {
      const { id } = await newAccount(store, `round-${round}`)
      const adding = Array.from({ length: 6 }, (_, n) => [
        store.createSession(`session ${round} ${n}`, id),
        store.createSheet(newSheet(id, `sheet-${n}`)),
        store.createKey(newKey(id, null, `key ${round} ${n}`)),
      ]).flat()
      const [ended, ...added] = await Promise.allSettled([store.deleteAccount(id), ...adding])
      assert.equal(ended.status, 'fulfilled', 'reason' in ended ? String(ended.reason?.cause) : '')
      for (const outcome of added)
        if (outcome.status === 'rejected') assert.ok(outcome.reason instanceof GoneMeanwhile)
      assert.equal(await store.accountById(id), null)
      assert.deepEqual([await store.sheetsOf(id), await store.keysOf(id)], [[], []])
    }
  })

  of('a deleted account leaves nothing behind, and others lose nothing', async (store, _clock, database) => {
    const { account, sheet } = await accountWithSheet(store)
    const other = await newAccount(store, 'other')
    const theirs = await store.createSheet(newSheet(other.id, 'stock'))
    assert.ok(typeof theirs === 'object')
    for (const [one, of] of [
      [account, sheet],
      [other, theirs],
    ] as const) {
      const { id: accountId } = one
      await store.createKey(newKey(accountId, null, `all ${accountId}`))
      await store.createKey(newKey(accountId, of.id, `one ${accountId}`))
      const credential = await store.saveCredential({
        accountId,
        provider: 'google',
        subject: 's',
        label: 'l',
        scopes: '',
        seal: () => ({ sealedToken: 'sealed', keyId: 'k' }),
      })
      await database.kysely
        .insertInto('access_token')
        .values({
          credential_id: credential.id,
          version: 1,
          sealed_token: 's',
          key_id: 'k',
          expires_at_ms: 1,
        })
        .execute()
      const change = {
        actor: 'owner',
        address: '127.0.0.1',
        action: 'key.created',
        subject: 'k',
        details: null,
      } as const
      await store.addAuditEntry({ accountId, ...change })
      const position = await store.changeLogOf(of.id)
      assert.ok(position)
      // Long enough for a text that stands beside its chunk.
      const entries = JSON.stringify(['x'.repeat(600_000)])
      const chunks = [{ entries, count: 1, atMs: 1, identity: '', operations: ['op_1'] }]
      await store.noteFollowed([of.id], 60_000)
      await store.logSeen({
        ...{ sheetId: of.id, accountId, source: of.source, position, chunks },
        ...{ identity: '', state: ['rows'], contentHash: 'hash' },
      })
      await createChangeTexts(database).writeAhead(of.id, chunks)
      const form = await store.createForm({ accountId, sheetId: of.id, name: 'f', settings: plainForm })
      const entry = { formId: form.id }
      assert.ok(
        await store.holdEntry(
          { ...entry, name: { name: 'one' }, reason: 'honeypot', row: [['a', 1]] },
          roomFor(1),
        ),
      )
      assert.equal(
        await store.holdEntry({ ...entry, name: { name: 'two' }, reason: 'too_quick', row: [] }, roomFor(1)),
        false,
      )
      for (const [n, sheetId] of [of.id, null].entries()) {
        const webhookId = `wh ${n} ${accountId}`
        const hook = { id: webhookId, accountId, sheetId, url: 'https://x.org', kinds: null, columns: null }
        const secret = { sealed: 's', keyId: 'k' }
        await store.createWebhook({ ...hook, secret, place: { epoch: null, seq: 0 } })
        const attempt = { messageId: 'm', type: 't', changes: 1, cursor: null, atMs: 1, durationMs: 1 }
        await store.addDelivery(webhookId, { ...attempt, status: null, failure: null, answer: '' })
        const news = { webhookId, account: one, subject: 'sheet x', told: null }
        await store.addWebhookEvent(news, { state: 'broken', type: 't', atMs: 1, data: '{}' })
      }
      await store.createSession(`session ${accountId}`, accountId)
      await store.createSignInLink(`link ${accountId}`, accountId, minuteMs)
      const mail = { id: `mail ${accountId}`, accountId, sealed: 's', keyId: 'k', lifeMs: minuteMs }
      await store.addMail(mail)
      const link = { hash: `mailed ${accountId}`, accountId, kind: 'verify', email: 'x@x.org' } as const
      await store.createMailLink(link, minuteMs)
      await store.addAuditEntry({
        accountId,
        actor: 'owner',
        address: null,
        action: 'account.renamed',
        subject: '',
        details: null,
      })
      const wish = { stateHash: `state ${accountId}`, sessionHash: 'x', accountId, provider: 'google' }
      await store.createConnectAttempt({ ...wish, codeVerifier: 'v', returnTo: '/connect' }, minuteMs)
      await store.chargeAhead(accountId, 0, 10, 1)
      await store.chargePublicAhead(accountId, 0, 10, 1)
      const idempotencyKey = 'k'
      const id = newId('op')
      const operation = { id, accountId, sheetId: of.id, source: 's', idempotencyKey, fingerprint: 'f' }
      const claim = await store.claimOperation(operation, 1_000)
      if ('claimed' in claim) await store.finishRefused([{ id: claim.claimed, answer: 'no' }])
      const owner = { accountId, email: `${one.slug}@x.org`, passwordHash: null, googleSubject: null }
      await store.createOwner(owner)
      const counted = { accountId, day: '2026-11-15', sheetId: of.id, keyId: '', requests: 1 }
      await store.addUsage({
        counts: [{ ...counted, outcome: 'success', rowsFrom: 'hit' }],
        latencies: [{ ...counted, bucket: 3 }],
        providerCalls: [{ sheetId: of.id, day: '2026-11-15', calls: 1 }],
        activity: [{ sheetId: of.id, firstRequestAtMs: 1, lastRequestAtMs: 1, health: null }],
        recent: [
          {
            id: `r ${accountId}`,
            sheetId: of.id,
            keyId: null,
            atMs: 1,
            method: 'GET',
            operation: 'list_rows',
            status: 200,
            code: null,
            rowsFrom: 'hit',
            durationMs: 1,
          },
        ],
      })
    }
    const rowsPerTable = async () => {
      const tables = await database.kysely.introspection.getTables()
      const counts: Record<string, number> = {}
      for (const { name } of tables) {
        const [row] = await database.kysely
          .selectFrom(name as 'account')
          .select((expression) => expression.fn.countAll<number | string>().as('count'))
          .execute()
        counts[name] = Number(row?.count)
      }
      return counts
    }
    const before = await rowsPerTable()
    await store.deleteAccount(account.id)
    const after = await rowsPerTable()
    // What a former slug keeps is the slug, for nobody; it is gone when its time is over.
    const shared = new Set([
      'former_slug',
      'migration',
      'lease',
      'rate_window',
      'shared_cell',
      'machine_time',
      'provider_proof',
    ])
    for (const [table, count] of Object.entries(before)) {
      if (shared.has(table)) continue
      assert.equal(after[table], count / 2, table)
      assert.ok(count > 0, `${table} was not filled, so nothing was shown of it`)
    }
    assert.equal(await store.findAccount('acme'), null)
    const address = { form: 'a', accountSlug: 'other', sheetSlug: 'stock' } as const
    assert.ok((await store.lookUp(address, `one ${other.id}`)).key)
  })
}
