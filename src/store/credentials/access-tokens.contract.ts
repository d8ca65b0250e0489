import assert from 'node:assert/strict'
import { passTime } from '../leases/leases.contract.ts'
import { newAccount } from '../records.fixture.ts'
import type { Store } from '../store.ts'
import type { StoreTest } from '../store-test.fixture.ts'

export function accessTokensContract(of: StoreTest): void {
  of('an access token is found by all until its time is over', async (store, clock, database) => {
    const credential = await newCredential(store)
    assert.equal(await store.findAccessToken(credential.id), null)
    const token = { version: credential.version, sealedToken: 'sealed', keyId: 'key', expiresInMs: 3_600_000 }
    await store.saveAccessToken(credential.id, token)
    await passTime(database, clock, 1_000_000)
    const found = await store.findAccessToken(credential.id)
    assert.deepEqual({ ...found, expiresInMs: 0 }, { ...token, expiresInMs: 0 })
    assert.ok(found && Math.abs(found.expiresInMs - 2_600_000) < 5_000)
    await store.saveAccessToken(credential.id, { ...token, sealedToken: 'newer' })
    assert.equal((await store.findAccessToken(credential.id))?.sealedToken, 'newer')
    await passTime(database, clock, 3_600_000)
    assert.equal(await store.findAccessToken(credential.id), null)
  })

  of('one that was made from what is no longer the credential is not kept', async (store) => {
    const credential = await newCredential(store)
    const token = { version: credential.version, sealedToken: 'sealed', keyId: 'key', expiresInMs: 3_600_000 }
    await store.saveAccessToken(credential.id, { ...token, version: credential.version - 1 })
    assert.equal(await store.findAccessToken(credential.id), null)
    await store.saveAccessToken(credential.id, token)
    await store.forgetCredential(credential.id)
    assert.equal(await store.findAccessToken(credential.id), null, 'a disconnected owner leaves nothing')
  })
}

async function newCredential(store: Store) {
  const { id: accountId } = await newAccount(store, 'acme')
  const seal = () => ({ sealedToken: 'refresh', keyId: 'key' })
  return store.saveCredential({ accountId, provider: 'google', subject: 's', label: 'l', scopes: 'x', seal })
}
