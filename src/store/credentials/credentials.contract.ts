import assert from 'node:assert/strict'
import { newAccount, newSheet } from '../records.fixture.ts'
import type { Store } from '../store.ts'
import type { StoreTest } from '../store-test.fixture.ts'
import type { CredentialIdentity, NewCredential } from './credentials.ts'

export function credentialsContract(of: StoreTest): void {
  of('a credential is saved under the identity that its seal was made for', async (store, clock) => {
    const account = await newAccount(store, 'acme')
    assert.equal(await store.credentialOf(account.id, 'google'), null)
    const saved = await store.saveCredential(newCredential(account.id))
    assert.match(saved.id, /^cr_[0-9A-Za-z]{22}$/)
    assert.deepEqual(saved, {
      id: saved.id,
      accountId: account.id,
      provider: 'google',
      subject: '1001',
      label: 'owner@example.com',
      scopes: 'openid drive.file',
      sealedToken: sealTokenFor({ credentialId: saved.id, accountId: account.id, version: 1 }),
      keyId: 'key 1',
      version: 1,
      state: 'valid',
      expiredReason: null,
      createdAtMs: clock.nowMs(),
      connectedAtMs: clock.nowMs(),
    })
    assert.deepEqual(await store.findCredential(saved.id), saved)
    assert.deepEqual(await store.credentialOf(account.id, 'google'), saved)
    assert.equal(await store.credentialOf(account.id, 'other'), null)
    assert.equal(await store.findCredential('cr_none'), null)
    const other = await newAccount(store, 'other')
    assert.equal(await store.credentialOf(other.id, 'google'), null)
    assert.notEqual((await store.saveCredential(newCredential(other.id))).id, saved.id)
  })

  of('connecting again keeps the id, and is valid under the next version', async (store, clock) => {
    const account = await newAccount(store, 'acme')
    const first = await store.saveCredential(newCredential(account.id))
    assert.equal(await store.expireCredential(first.id, 1, 'invalid_grant'), true)
    clock.advanceMs(5_000)
    const again = await store.saveCredential({ ...newCredential(account.id), label: 'new@example.com' })
    assert.deepEqual(again, {
      ...first,
      label: 'new@example.com',
      version: 2,
      sealedToken: sealTokenFor({ credentialId: first.id, accountId: account.id, version: 2 }),
      connectedAtMs: clock.nowMs(),
    })
    assert.deepEqual(await store.findCredential(first.id), again)
  })

  of('any number that connect at once leave one credential, sealed for its own version', async (store) => {
    const account = await newAccount(store, 'acme')
    const saved = await Promise.all(
      Array.from({ length: 8 }, () => store.saveCredential(newCredential(account.id))),
    )
    assert.equal(new Set(saved.map(({ id }) => id)).size, 1)
    assert.deepEqual(saved.map(({ version }) => version).sort(), [1, 2, 3, 4, 5, 6, 7, 8])
    const kept = await store.credentialOf(account.id, 'google')
    assert.equal(kept?.version, 8)
    assert.equal(
      kept.sealedToken,
      sealTokenFor({ credentialId: kept.id, accountId: account.id, version: kept.version }),
    )
  })

  of('a seal that fails leaves everything as it was', async (store) => {
    const account = await newAccount(store, 'acme')
    const failing = {
      ...newCredential(account.id),
      seal() {
        throw new Error('no seal')
      },
    }
    await assert.rejects(store.saveCredential(failing), /no seal/)
    assert.equal(await store.credentialOf(account.id, 'google'), null)
    const saved = await store.saveCredential(newCredential(account.id))
    await assert.rejects(store.saveCredential(failing), /no seal/)
    assert.deepEqual(await store.findCredential(saved.id), saved)
  })

  of('only the version that failed expires, once, with its first reason', async (store) => {
    const account = await newAccount(store, 'acme')
    const { id } = await store.saveCredential(newCredential(account.id))
    await store.saveCredential(newCredential(account.id))
    assert.equal(await store.expireCredential(id, 1, 'of the token before'), false)
    assert.equal((await store.findCredential(id))?.state, 'valid')
    assert.equal(await store.expireCredential(id, 2, 'invalid_grant'), true)
    assert.equal(await store.expireCredential(id, 2, 'told again'), false)
    assert.equal(await store.expireCredential('cr_none', 1, 'x'), false)
    const { state, expiredReason } = (await store.findCredential(id)) ?? {}
    assert.deepEqual({ state, expiredReason }, { state: 'expired', expiredReason: 'invalid_grant' })
  })

  of(
    'an expired credential is in the next look-up of every sheet under it, and of no other',
    async (store) => {
      const account = await newAccount(store, 'acme')
      const { id, version } = await store.saveCredential(newCredential(account.id))
      const sheetIds: string[] = []
      for (const [slug, credentialId] of [
        ['one', id],
        ['two', id],
        ['own', null],
      ] as const) {
        const sheet = await store.createSheet({ ...newSheet(account.id, slug), credentialId })
        assert.ok(typeof sheet === 'object')
        assert.equal(sheet.credentialId, credentialId)
        assert.equal((await store.sheetById(sheet.id))?.credentialId, credentialId)
        sheetIds.push(sheet.id)
      }
      const listed = (await store.sheetsOf(account.id)).map(({ slug, credentialId }) => [slug, credentialId])
      assert.deepEqual(listed, [
        ['one', id],
        ['own', null],
        ['two', id],
      ])
      assert.deepEqual(await reconnects(), [false, false, false])
      await store.expireCredential(id, version, 'invalid_grant')
      assert.deepEqual(await reconnects(), [true, true, false])
      await store.saveCredential(newCredential(account.id))
      assert.deepEqual(await reconnects(), [false, false, false])
      await store.forgetCredential(id)
      assert.deepEqual(await reconnects(), [true, true, false])
      const byName = await store.lookUp({ form: 'a', accountSlug: 'acme', sheetSlug: 'one' }, null)
      assert.equal(byName.sheet?.needsReconnect, true)

      function reconnects() {
        return Promise.all(
          sheetIds.map(
            async (sheetId) => (await store.lookUp({ form: 'b', sheetId }, null)).sheet?.needsReconnect,
          ),
        )
      }
    },
  )

  of("a sheet cannot stand under another account's credential", async (store) => {
    const [account, other] = [await newAccount(store, 'acme'), await newAccount(store, 'other')]
    const { id } = await store.saveCredential(newCredential(other.id))
    await assert.rejects(store.createSheet({ ...newSheet(account.id, 'stolen'), credentialId: id }))
    assert.deepEqual(await store.sheetsOf(account.id), [])
  })

  of(
    'a forgotten credential holds no token, and what is said of the old one changes nothing',
    async (store) => {
      const account = await newAccount(store, 'acme')
      const saved = await store.saveCredential(newCredential(account.id))
      await store.forgetCredential(saved.id)
      const forgotten = {
        ...saved,
        sealedToken: '',
        version: 2,
        state: 'expired',
        expiredReason: 'disconnected',
      }
      assert.deepEqual(await store.findCredential(saved.id), forgotten)
      assert.equal(await store.expireCredential(saved.id, 1, 'invalid_grant'), false)
      const late = { sealedToken: 'the token, back again', keyId: 'key 2' }
      assert.equal(await store.resealCredential(saved.id, 1, 'key 1', late), false)
      assert.deepEqual(await store.findCredential(saved.id), forgotten)
      assert.deepEqual(await store.credentialsNotUnderKey('key 2'), [], 'there is nothing to seal anew')
      assert.equal((await store.saveCredential(newCredential(account.id))).version, 3)
    },
  )

  of('a token is sealed anew only where it is still the one that was read', async (store) => {
    const ids: string[] = []
    for (const slug of ['a-1', 'b-2', 'c-3']) ids.push(await connectOwner(store, slug))
    const [a = '', b = '', c = ''] = ids
    assert.deepEqual(await notUnder('key 2'), ids.toSorted())
    assert.deepEqual(await notUnder('key 1'), [])
    assert.equal(await store.resealCredential(a, 1, 'key 1', { sealedToken: 'new', keyId: 'key 2' }), true)
    const { sealedToken, keyId, version, state } = (await store.findCredential(a)) ?? {}
    assert.deepEqual(
      { sealedToken, keyId, version, state },
      { sealedToken: 'new', keyId: 'key 2', version: 1, state: 'valid' },
    )
    const late = { sealedToken: 'late', keyId: 'key 2' }
    assert.equal(await store.resealCredential(a, 1, 'key 1', late), false, 'another did it before')
    assert.equal(await store.resealCredential(b, 2, 'key 1', late), false, 'of another version')
    assert.deepEqual(await notUnder('key 2'), [b, c].toSorted())

    async function notUnder(keyIdNow: string) {
      return (await store.credentialsNotUnderKey(keyIdNow)).map(({ id }) => id)
    }
  })
}

async function connectOwner(store: Store, slug: string): Promise<string> {
  return (await store.saveCredential(newCredential((await newAccount(store, slug)).id))).id
}

function newCredential(accountId: string): NewCredential {
  return {
    accountId,
    provider: 'google',
    subject: '1001',
    label: 'owner@example.com',
    scopes: 'openid drive.file',
    seal: (identity) => ({ sealedToken: sealTokenFor(identity), keyId: 'key 1' }),
  }
}

function sealTokenFor({ credentialId, accountId, version }: CredentialIdentity): string {
  return `sealed for ${credentialId} of ${accountId}, version ${version}`
}
