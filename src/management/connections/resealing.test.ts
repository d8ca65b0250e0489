import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { tokenIdentity } from '../../providers/remote/access-tokens.ts'
import { createSealing, type Sealing } from '../../secrets/sealing.ts'
import type { CredentialRecord } from '../../store/credentials/credentials.ts'
import { startResealing } from './resealing.ts'

const oldSecret = 'the secret of yesterday'
const newSecret = 'the secret of tomorrow'
const lookEveryMs = 5_000

/** As docs/operating.md, "Changing the secret", has them. */
const step1 = createSealing(oldSecret, [], newSecret)
const step2 = createSealing(newSecret, [oldSecret])
const step3 = createSealing(newSecret, [])

test('what was connected long before the change is under the new secret from the first new instance on', async (t) => {
  const { store, start, pass } = setUp(t)
  store.connect(step1, 'c', 0)
  await pass(600_000)
  await start(step2)
  assert.equal(store.opens(step3, 'c'), true)
})

for (const [order, starts] of [
  ['an old one starts again after a new one', [step2, step1]],
  ['a new one after an old one', [step1, step2]],
  ['old and new ones in turn', [step1, step2, step1, step2, step1]],
] as const) {
  test(`${order}: nothing goes back under the old secret, and nothing is left there`, async (t) => {
    const { store, start, pass } = setUp(t)
    store.connect(step1, 'early', 0)
    for (const [at, sealing] of starts.entries()) {
      await start(sealing)
      // Whichever runs, the old ones still let owners connect.
      store.connect(step1, `during ${at}`, 1_000 * at)
      await pass(2 * lookEveryMs)
      const isAnyNew = starts.slice(0, at + 1).includes(step2)
      assert.equal(store.opens(step3, 'early'), isAnyNew)
    }
    await pass(2 * lookEveryMs)
    for (const id of store.ids()) assert.equal(store.opens(step3, id), true, id)
    const resealed = store.resealed
    await pass(60_000)
    assert.equal(store.resealed, resealed, 'and then all is quiet')
  })
}

test('one that owners reconnect at the old instance in this very moment is sealed anew the next time', async (t) => {
  const { store, start, pass } = setUp(t)
  store.connect(step1, 'c', 0)
  store.beforeReseal = () => store.connect(step1, 'c', 0)
  await start(step2)
  assert.equal(store.opens(step3, 'c'), false)
  store.beforeReseal = () => {}
  await pass(lookEveryMs)
  assert.equal(store.opens(step3, 'c'), true)
})

test('a store that is away for a while is asked again', async (t) => {
  const { store, start, pass } = setUp(t)
  await start(step2)
  store.connect(step1, 'c', 0)
  store.beforeReseal = () => {
    throw new Error('away')
  }
  await pass(lookEveryMs)
  store.beforeReseal = () => {}
  await pass(lookEveryMs)
  assert.equal(store.opens(step3, 'c'), true)
})

function setUp(t: TestContext) {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const credentials = new Map<string, CredentialRecord>()
  const store = {
    resealed: 0,
    beforeReseal() {},
    connect(sealing: Sealing, id: string, connectedAtMs: number): void {
      const version = (credentials.get(id)?.version ?? 0) + 1
      const sealedToken = sealing.seal('token', tokenIdentity({ credentialId: id, accountId: 'a', version }))
      const { keyId } = sealing
      credentials.set(id, { ...anyCredential, id, version, sealedToken, keyId, connectedAtMs })
    },
    ids: () => [...credentials.keys()],
    opens({ open }: Sealing, id: string): boolean {
      const { sealedToken = '', keyId = '', accountId = '', version = 0 } = credentials.get(id) ?? {}
      return open(sealedToken, keyId, tokenIdentity({ credentialId: id, accountId, version })) === 'token'
    },
    formsNotUnderKey: async () => [],
    resealForm: async () => {},
    webhooksNotUnderKey: async () => [],
    resealWebhook: async () => {},
    credentialsNotUnderKey: async (keyId: string) =>
      [...credentials.values()].filter((credential) => credential.keyId !== keyId),
    async resealCredential(id: string, version: number, formerKeyId: string, sealed: SealedParts) {
      store.beforeReseal()
      const there = credentials.get(id)
      if (!there || there.version !== version || there.keyId !== formerKeyId) return false
      credentials.set(id, { ...there, ...sealed })
      store.resealed++
      return true
    },
  }
  return {
    store,
    async start(sealing: Sealing): Promise<void> {
      const { stop } = await startResealing(store, sealing)
      t.after(stop)
    },
    async pass(ms: number): Promise<void> {
      for (let passed = 0; passed < ms; passed += lookEveryMs) {
        t.mock.timers.tick(lookEveryMs)
        await turn()
      }
    },
  }
}

type SealedParts = Pick<CredentialRecord, 'sealedToken' | 'keyId'>

const anyCredential: Omit<CredentialRecord, keyof SealedParts | 'id' | 'version' | 'connectedAtMs'> = {
  accountId: 'a',
  provider: 'google',
  subject: 's',
  label: 'ada@example.com',
  scopes: '',
  state: 'valid',
  expiredReason: null,
  createdAtMs: 0,
}
