import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { defaultShares } from '../../src/shares/shares.ts'
import { ownPage, refusalIn, signedIn } from '../connect/visitor.ts'
import { startRowport } from '../harness.ts'
import { freshPlace } from '../process/running.ts'

test('an account connects as many sheets as its share says, however many at once', async (t) => {
  const shares = { ...defaultShares, sheets: 3 }
  const rowport = await startRowport(t, { settings: { shares } })
  const owner = await signedIn(rowport)
  const uploaded = await fetch(`${rowport.url}/dashboard/api/files?name=s.csv`, {
    method: 'POST',
    body: 'a\n1\n',
    headers: { Cookie: owner.cookie, ...ownPage },
  })
  assert.equal(uploaded.status, 201, await uploaded.text())
  const connect = (slug: string) =>
    owner.call('POST', '/sheets', {
      slug,
      access: 'private',
      source: { provider: 'file', path: 's.csv', tab: null },
    })
  const answers = await Promise.all(Array.from({ length: 10 }, (_, n) => connect(`sheet-${n}`)))
  assert.equal(answers.filter(({ status }) => status === 201).length, 3)
  const refused = answers.filter(({ status }) => status !== 201)
  for (const one of refused) {
    assert.equal(one.status, 400)
    assert.equal(refusalIn(one), 'Your account is limited to 3 sheets; disconnect one first.')
  }
  assert.equal((await owner.call<unknown[]>('GET', '/sheets')).json.length, 3)
  const counted = rowport.seen.filter((one) => one.event === 'share_used_up' && one.share === 'sheets')
  assert.equal(counted.length, 7)

  const [first] = answers.filter(({ status }) => status === 201) as { json: { slug: string } }[]
  assert.equal((await owner.call('DELETE', `/sheets/${first?.json.slug}`)).status, 200)
  assert.equal((await connect('room-again')).status, 201)
})

test("the operator's command may go beyond the share", async (t) => {
  const place = await freshPlace(t)
  const env = { ROWPORT_SHARES: '{"sheets": 1}' }
  const file = join(place.folder, 'a.csv')
  await writeFile(file, 'a\n1\n')
  const rowport = (...words: string[]) => place.rowportHere(words, { env })
  assert.equal((await rowport('account', 'create', 'acme')).code, 0)
  for (const slug of ['one', 'two', 'three']) {
    const { code, stderr } = await rowport('sheet', 'connect', `acme/${slug}`, '--file', file)
    assert.equal(code, 0, stderr)
  }
})
