import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { consentAnswerIn } from '../../src/management/connections/owner-connection.ts'
import { bearer, done } from '../harness.ts'
import { ada, googleOf, startTogether } from './with-google.ts'

/** An owner as far as the verbs need one: a session, the way through Google's page, and what comes back from it. */
async function startChoosing(t: TestContext) {
  const together = await startTogether(t)
  const { rowport, google } = together
  const { workshop } = rowport
  const { token } = done(await workshop.signIn.createLink('acme'))
  const session = await workshop.signIn.find(done(await workshop.signIn.follow(token, null)))
  assert.ok(session)
  const choose = async (pick: string[]) => {
    await google.control('POST', 'settings', { autoConsent: { user: ada, pick } })
    const answer = await fetch(done(await googleOf(rowport).start(session)), { redirect: 'manual' })
    const { searchParams: back } = new URL(answer.headers.get('location') ?? '')
    const outcome = await googleOf(rowport).finish(session, consentAnswerIn(back))
    return done(outcome)
  }
  return { ...together, workshop, account: session.account, choose }
}

test('the owner chooses at Google what Rowport may use, and chooses more later without losing any', async (t) => {
  const { rowport, workshop, account, google, choose, createSpreadsheet } = await startChoosing(t)
  const prices = await createSpreadsheet('Prices', { pickedBy: false })
  const stock = await createSpreadsheet('Stock', { pickedBy: false })
  await createSpreadsheet('Diary', { pickedBy: false })
  const listed = async () => {
    const list = done(await googleOf(rowport).spreadsheets.list(account.id, ''))
    assert.ok(list !== 'not_allowed')
    return list.spreadsheets.map(({ title }) => title).sort()
  }

  const first = await choose(['Prices'])
  assert.deepEqual([first.pickedIds, first.formerLabel, first.isSameOwner], [[prices], null, true])
  assert.deepEqual(await listed(), ['Prices'])
  const { source, place } = done(await googleOf(rowport).spreadsheets.locate(account.id, prices, null))
  done(
    await workshop.sheets.connect({
      accountSlug: 'acme',
      sheetSlug: 'prices',
      access: 'private',
      provider: 'google',
      source,
      ...place,
    }),
  )
  const key = await rowport.createKey()
  const read = () => rowport.get('/api/sheets/acme/prices', { ...bearer(key), 'Cache-Control': 'no-cache' })
  assert.equal((await read()).status, 200)

  const unchosen = await googleOf(rowport).spreadsheets.open(account.id, stock)
  assert.ok('message' in unchosen)
  assert.match(unchosen.message, /not chosen for Rowport.*“Select spreadsheets in Google”/)

  const second = await choose(['Stock'])
  assert.deepEqual([second.pickedIds, second.formerLabel, second.isSameOwner], [[stock], ada, true])
  assert.deepEqual(await listed(), ['Prices', 'Stock'])
  assert.equal((await read()).status, 200, 'what was chosen before is served as before')
  assert.deepEqual((await choose([])).pickedIds, [])
  assert.deepEqual(await listed(), ['Prices', 'Stock'])

  // The access is withdrawn and given anew: what was chosen is still chosen.
  await google.control('POST', `grants/${ada}/revoke`, {})
  assert.equal((await read()).status, 503)
  await choose([])
  assert.equal((await read()).status, 200)
})

test('the same person under another GOOGLE_SCOPE is no other Google account, though Google names them otherwise', async (t) => {
  const { workshop, account, choose } = await startChoosing(t)
  const { store } = workshop
  const { id: accountId } = account
  await choose([])
  const before = await store.credentialOf(accountId, 'google')
  assert.ok(before)
  // As it was saved while the server asked for `spreadsheets`.
  const { provider, label, scopes, sealedToken, keyId } = before
  await store.saveCredential({
    accountId,
    provider,
    subject: '100000000000000000001',
    label,
    scopes,
    seal: () => ({ sealedToken, keyId }),
  })
  assert.equal((await choose([])).isSameOwner, true)
  assert.equal((await store.credentialOf(accountId, 'google'))?.subject, before.subject)
})
