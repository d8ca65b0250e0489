import assert from 'node:assert/strict'
import { test } from 'node:test'
import { freshPlace } from '../process/running.ts'
import { createVisitor } from './visitor.ts'

test('the first screen has a link that signs in once; a later one has none, and the command makes another', async (t) => {
  const place = await freshPlace(t)
  const tokenIn = (text: string) =>
    /http:\/\/localhost:\d+\/sign-in-link\?token=([\w-]{43})\n/.exec(text)?.[1]
  const first = await place.start()
  const token = tokenIn(first.screen)
  assert.ok(token, first.screen)
  const owner = createVisitor(first)
  const entered = await owner.call<{ account: { slug: string } }>('POST', '/sign-in-link', { token })
  assert.equal(entered.json.account.slug, 'demo')
  const sheets = await owner.call<{ slug: string; state: string }[]>('GET', '/sheets')
  assert.deepEqual(
    sheets.json.map(({ slug, state }) => [slug, state]),
    [['products', 'live']],
  )
  assert.ok(!first.stderr().includes(token), 'the log does not know it')
  first.child.kill('SIGTERM')
  await first.ended

  const second = await place.start()
  assert.equal(tokenIn(second.screen), undefined)
  const again = createVisitor(second)
  again.cookie = owner.cookie
  assert.equal((await again.call('GET', '/session')).status, 200, 'a session outlives the process')
  const { stdout } = await place.rowportHere(['account', 'link', 'demo'])
  const other = createVisitor(second)
  assert.equal((await other.call('POST', '/sign-in-link', { token: tokenIn(stdout) })).status, 200)
})
