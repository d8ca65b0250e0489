import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Provider } from '../../src/sheets/provider.ts'
import { ownPage, signedIn } from '../connect/visitor.ts'
import { startRowport } from '../harness.ts'

test('previews and sheets that nobody waits for any more are not read', { timeout: 20_000 }, async (t) => {
  const rowport = await startRowport(t)
  const owner = await signedIn(rowport)
  const headers = { Cookie: owner.cookie, ...ownPage }
  const send = (path: string, body: string, signal?: AbortSignal) =>
    fetch(`${rowport.url}/dashboard/api${path}`, {
      method: 'POST',
      body,
      headers: { ...headers, 'Content-Type': 'application/json' },
      ...(signal && { signal }),
    })
  assert.equal((await send('/files?name=large.csv', 'a\n1\n')).status, 201)
  const source = { provider: 'file', path: 'large.csv', tab: null }

  const providers = rowport.workshop.providers as Map<string, Provider>
  const files = providers.get('file')
  assert.ok(files)
  const isFirstHeld = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  let [asked, begun, dropped] = [0, 0, 0]
  providers.set('file', {
    ...files,
    async fetch(place, wish, turn) {
      asked++
      await turn?.begin(1).catch((error: unknown) => {
        dropped++
        throw error
      })
      begun++
      isFirstHeld.resolve()
      await released.promise
      return files.fetch(place, wish, turn)
    },
  })
  const first = send('/preview', JSON.stringify(source))
  await isFirstHeld.promise
  const leaving = new AbortController()
  const left = Promise.allSettled([
    // With the first they are as many as are worked on for one account.
    ...Array.from({ length: 4 }, () => send('/preview', JSON.stringify(source), leaving.signal)),
    send('/sheets', JSON.stringify({ slug: 'left', access: 'private', source }), leaving.signal),
  ])
  while (asked < 6) await sleep(5)
  leaving.abort()
  await left
  while (dropped < 5) await sleep(5)
  const last = send('/preview', JSON.stringify(source))
  while (asked < 7) await sleep(5)
  released.resolve()
  assert.deepEqual([(await first).status, (await last).status], [200, 200])
  assert.equal(begun, 2)
  assert.deepEqual((await owner.call('GET', '/sheets')).json, [])
})
