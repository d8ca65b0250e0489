import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Problem } from '../../src/management/problem.ts'
import { createVisitor, refusalIn, signedIn } from '../connect/visitor.ts'
import { bearer, done, startRowport } from '../harness.ts'

const dayMs = 24 * 60 * 60_000

test('a former address of an account is nobody else’s for 90 days, and may be taken back', async (t) => {
  const rowport = await startRowport(t)
  await rowport.connectFile('s', 's.csv', 'a\n1\n', { access: 'public-read' })
  const key = await rowport.createKey()
  const { accounts } = rowport.workshop
  done(await accounts.create('other', 'free'))
  const rename = async (account: string, slug: string) =>
    (await signedIn(rowport, account)).call('PATCH', '/account', { slug })
  const signUp = (slug: string) => {
    const wish = { email: `${slug}@example.com`, password: 'correct horse battery', slug }
    return createVisitor(rowport).call('POST', '/sign-up', wish)
  }
  assert.equal((await rename('acme', 'acme-labs')).status, 200)
  assert.equal((await rowport.get('/api/sheets/acme/s')).status, 404)
  assert.equal((await rowport.get('/api/sheets/acme-labs/s', bearer(key))).status, 200)

  const refused = await rename('other', 'acme')
  assert.equal(refused.status, 409)
  assert.match(refusalIn(refused), /^"acme" is taken: another account used it less than 90 days ago\.$/)
  const newcomer = await signUp('acme')
  assert.deepEqual(
    [newcomer.status, refusalIn(newcomer)],
    [409, 'This account name is taken. Choose another.'],
  )
  assert.ok((await accounts.create('acme', 'free')) instanceof Problem, 'nor for the operator')
  rowport.clock.advanceMs(90 * dayMs - 60_000)
  assert.equal((await signUp('acme')).status, 409)
  assert.equal((await rename('acme-labs', 'acme')).status, 200, 'its own again')
  assert.equal((await rowport.get('/api/sheets/acme/s')).status, 200)
  assert.equal((await signUp('acme-labs')).status, 409, 'and the other one is kept in turn')

  const owner = await signedIn(rowport, 'acme')
  assert.equal((await owner.call('POST', '/account/delete', { confirmSlug: 'acme' })).status, 200)
  assert.equal((await signUp('acme')).status, 409, 'an account that has ended leaves its address to nobody')
  rowport.clock.advanceMs(90 * dayMs)
  assert.equal((await signUp('acme')).status, 200)
  assert.equal((await rowport.get('/api/sheets/acme/s', bearer(key))).status, 404)
})

test('who renames again and again keeps only a few addresses from others', async (t) => {
  const rowport = await startRowport(t)
  const owner = await signedIn(rowport)
  const statuses: number[] = []
  for (let n = 0; n < 7; n++)
    statuses.push((await owner.call('PATCH', '/account', { slug: `acme-${n}` })).status)
  assert.deepEqual(statuses, [200, 200, 200, 200, 200, 403, 403])
  assert.equal((await owner.call('PATCH', '/account', { slug: 'acme' })).status, 200)
})
