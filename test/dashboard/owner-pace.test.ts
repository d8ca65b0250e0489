import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { KeyView } from '../../src/dashboard/contract.ts'
import { defaultShares } from '../../src/shares/shares.ts'
import { createVisitor, ownPage, refusalIn, signedIn, type Visitor } from '../connect/visitor.ts'
import { bearer, done, startRowport } from '../harness.ts'

const perMinute = 20

async function startNarrow(t: TestContext) {
  const shares = { ...defaultShares, owner_requests_per_minute: perMinute }
  const rowport = await startRowport(t, { settings: { shares, trustedProxies: ['127.0.0.1'] } })
  const sheet = await rowport.connectFile('s', 's.csv', 'a\n1\n')
  return { rowport, sheet }
}

/** Asks until there is no more; how often it was answered. */
async function useUp(visitor: Visitor, path = '/sheets'): Promise<number> {
  for (let calls = 0; ; calls++) {
    const answer = await visitor.call('GET', path)
    if (answer.status === 429) return calls
    assert.ok(calls < 1_000, 'there is no limit')
  }
}

test('rows are read at the dashboard no more often than the plan allows through the API', async (t) => {
  const rowport = await startRowport(t, { plan: 'free' })
  await rowport.connectFile('s', 's.csv', 'a\n1\n')
  const owner = await signedIn(rowport)
  const begunMs = performance.now()
  const answers = []
  for (let n = 0; n < 500; n++) answers.push(await owner.call('GET', '/sheets/s/rows?limit=500'))
  const seconds = ((performance.now() - begunMs) / 1_000).toFixed(1)
  const passed = answers.filter(({ status }) => status === 200).length
  t.diagnostic(`of 500 reads in ${seconds} s by an account on the plan free ${passed} passed`)
  assert.equal(passed, 60)
  const refused = answers.at(-1)
  assert.ok(refused)
  assert.deepEqual([refused.status, refused.headers['retry-after']], [429, '60'])
  assert.match(refusalIn(refused), /^Too many requests\. Try again in 60 seconds\.$/)
  rowport.clock.advanceMs(60_000)
  assert.equal((await owner.call('GET', '/sheets/s/rows')).status, 200)
})

test('an account asks so often in a minute; others, and what takes access away, are not held up by it', async (t) => {
  const { rowport, sheet } = await startNarrow(t)
  const key = await rowport.createKey()
  const owner = await signedIn(rowport)
  const elsewhere = await signedIn(rowport)
  done(await rowport.workshop.accounts.create('other', 'free'))
  const other = await signedIn(rowport, 'other')
  const asked = await useUp(owner)
  t.diagnostic(`${asked} of ${perMinute} calls passed`)
  assert.ok(asked > perMinute - 4 && asked <= perMinute)
  const refused = await elsewhere.call<{ error: { code: string } }>('GET', '/keys')
  assert.deepEqual([refused.status, refused.json.error.code], [429, 'too_often'], 'all sessions together')
  assert.ok(Number(refused.headers['retry-after']) > 0)
  assert.equal((await other.call('GET', '/sheets')).status, 200, 'another account is not held up')
  assert.ok(
    rowport.seen.some((seen) => seen.event === 'share_used_up' && seen.share === 'owner_requests_per_minute'),
  )

  assert.equal((await owner.call('POST', `/keys/${key.id}/regenerate`)).status, 429)
  assert.equal((await owner.call('PATCH', '/sheets/s', { paused: false })).status, 429)
  assert.equal((await owner.call('PATCH', '/sheets/s', { paused: true, access: 'public-read' })).status, 429)
  assert.equal((await owner.call('PATCH', '/sheets/s', { paused: true })).status, 200)
  assert.equal((await rowport.get(sheet.formA, bearer(key))).status, 503)
  assert.equal((await owner.call('POST', `/keys/${key.id}/revoke`)).status, 200)
  assert.equal((await rowport.get('/v1/sheets', bearer(key))).status, 403)
  assert.equal((await owner.call('POST', '/sign-out')).status, 200)
  assert.equal((await elsewhere.call('POST', '/sign-out-everywhere')).status, 200)
  assert.equal((await elsewhere.call('GET', '/session')).status, 401)

  rowport.clock.advanceMs(60_000)
  const again = await signedIn(rowport)
  assert.equal((await again.call<KeyView[]>('GET', '/keys')).status, 200)
})

test('what takes access away has a bound of its own', async (t) => {
  const { rowport } = await startNarrow(t)
  const owner = await signedIn(rowport)
  await useUp(owner)
  const statuses: number[] = []
  for (let n = 0; n < 70; n++)
    statuses.push((await owner.call('PATCH', '/sheets/s', { paused: true })).status)
  assert.equal(statuses.filter((status) => status === 200).length, 60)
  assert.equal(statuses.at(-1), 429)
  const key = await rowport.createKey()
  const elsewhere = await signedIn(rowport)
  const revoked = await elsewhere.call('POST', `/keys/${key.id}/revoke`)
  assert.equal(revoked.status, 200, 'in each session: a stolen one does not use up the owner’s')
})

test('strangers are counted by network: one that asks too often holds up neither another nor whoever is signed in', async (t) => {
  const { rowport } = await startNarrow(t)
  const owner = await signedIn(rowport)
  const from = (address: string) => ({ ...ownPage, 'X-Forwarded-For': address })
  const ask = async (address: string, path: string) =>
    (await createVisitor(rowport).call('GET', path, undefined, from(address))).status
  const statuses: number[] = []
  for (let n = 0; n < perMinute; n++) {
    const forged = createVisitor(rowport)
    forged.cookie = `rowport=${String(n).padStart(43, 'x')}`
    statuses.push((await forged.call('GET', '/sheets', undefined, from('203.0.113.9'))).status)
  }
  assert.deepEqual(new Set(statuses), new Set([401]))
  assert.equal(await ask('203.0.113.9', '/sheets'), 429)
  assert.equal(await ask('203.0.113.9', '/server'), 429)
  assert.equal(await ask('203.0.113.10', '/server'), 200)
  const sameNetwork = await owner.call('GET', '/sheets', undefined, from('203.0.113.9'))
  assert.equal(sameNetwork.status, 200)
})
