import assert from 'node:assert/strict'
import { readFile, stat } from 'node:fs/promises'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { defaultShares } from '../../src/shares/shares.ts'
import type { Provider } from '../../src/sheets/provider.ts'
import { bearer, type ConnectedSheet, done, type Rowport, startRowport } from '../harness.ts'
import { holdWrites } from '../spec/held-writes.ts'

/** A file is young for 100 ms after its last change. */
const youngMs = 200

/** An account with a small file, and a large one that is being read until the test lets it end. */
async function startBusy(t: TestContext, decodingWaiting: number) {
  const shares = { ...defaultShares, decoding_waiting: decodingWaiting }
  const rowport = await startRowport(t, { settings: { shares } })
  const large = await rowport.connectFile('large', 'large.csv', 'a\n1\n')
  const small = await rowport.connectFile('small', 'small.csv', 'a\n1\n')
  const key = await rowport.createKey()
  const release = holdReads(rowport, large.path)
  const reading = rowport.get(large.formA, bearer(key))
  await release.isHeld
  return { rowport, large, small, key, reading, ...release }
}

/** Reads of this file have their turn, and stay in it. */
function holdReads({ workshop }: Rowport, path: string) {
  const providers = workshop.providers as Map<string, Provider>
  const files = providers.get('file')
  assert.ok(files)
  const held = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  providers.set('file', {
    ...files,
    async fetch(place, wish, turn) {
      if (place.location.includes(path)) {
        await turn?.begin(1)
        held.resolve()
        await released.promise
      }
      return files.fetch(place, wish, turn)
    },
  })
  return { isHeld: held.promise, release: () => released.resolve() }
}

function add(rowport: Rowport, path: string, key: { value: string }, value: string) {
  return fetch(rowport.url + path, {
    method: 'POST',
    body: JSON.stringify({ a: value }),
    headers: { ...bearer(key), 'Content-Type': 'application/json', 'Idempotency-Key': value },
  })
}

test('a write of an account that has too much under way is refused before anything is done, and can be repeated', async (t) => {
  const { rowport, small, key, reading, release } = await startBusy(t, 0)
  const refused = await add(rowport, small.formA, key, 'mine')
  assert.equal(refused.status, 429)
  assert.ok(Number(refused.headers.get('retry-after')) >= 1)
  assert.equal(((await refused.json()) as { code: string }).code, 'too_many_at_once')
  assert.equal(await readFile(small.path, 'utf8'), 'a\n1\n')
  assert.deepEqual(await rowport.workshop.store.unfinishedOperations(), [], 'the journal has nothing open')

  done(await rowport.workshop.accounts.create('other', 'enterprise'))
  const theirs = await rowport.connectFile('theirs', 'theirs.csv', 'a\n1\n', { account: 'other' })
  const theirKey = await rowport.createKey({ account: 'other' })
  assert.equal((await add(rowport, theirs.formA, theirKey, 'theirs')).status, 201, 'others go on')

  release()
  assert.equal((await reading).status, 200)
  assert.equal((await add(rowport, small.formA, key, 'mine')).status, 201)
  assert.equal(await readFile(small.path, 'utf8'), 'a\n1\nmine\n')
})

test('writes that wait for all spreadsheets of an account have a bound together: the next is told to come again, and nothing of it is done', async (t) => {
  const shares = { ...defaultShares, editing_waiting: 4 }
  const rowport = await startRowport(t, { settings: { shares } })
  const key = await rowport.createKey()
  const sheets = await Promise.all(
    ['one', 'two', 'three'].map((name) => rowport.connectFile(name, `${name}.csv`, 'a\n')),
  )
  const [one, two, three] = sheets as [ConnectedSheet, ConnectedSheet, ConnectedSheet]
  const { isHeld, release } = holdWrites(rowport)
  const adding = [one, one, two, two].map(({ formA }, n) => add(rowport, formA, key, `row-${n}`))
  await isHeld
  const { store } = rowport.workshop
  const accountId = (await store.findAccount('acme'))?.id ?? ''
  const isClaimed = async (value: string) =>
    (await store.findKeyedOperation(accountId, value, 60_000)) !== null
  // Each has its key in the journal, and enters right after that.
  while (!(await Promise.all([0, 1, 2, 3].map((n) => isClaimed(`row-${n}`)))).every(Boolean)) await sleep(5)
  await sleep(100)

  const refused = await add(rowport, three.formA, key, 'mine')
  assert.equal(refused.status, 429)
  assert.ok(Number(refused.headers.get('retry-after')) >= 1)
  const { code, details } = (await refused.json()) as { code: string; details: string }
  assert.deepEqual([code, /editing_waiting/.test(details)], ['too_many_at_once', true])
  assert.equal(await readFile(three.path, 'utf8'), 'a\n')
  assert.equal(await isClaimed('mine'), false, 'its key is free again')
  const usedUp = rowport.seen.filter(({ event }) => event === 'share_used_up')
  assert.deepEqual(usedUp, [{ event: 'share_used_up', share: 'editing_waiting', accountId }])

  done(await rowport.workshop.accounts.create('other', 'enterprise'))
  const theirs = await rowport.connectFile('theirs', 'theirs.csv', 'a\n', { account: 'other' })
  const addingTheirs = add(rowport, theirs.formA, await rowport.createKey({ account: 'other' }), 'theirs')
  assert.equal(await Promise.race([addingTheirs, sleep(50, 'waits')]), 'waits', 'others are not refused')

  release()
  const answers = await Promise.all([...adding, addingTheirs])
  assert.deepEqual(
    answers.map(({ status }) => status),
    [201, 201, 201, 201, 201],
  )
  for (let nth = 0; nth < 2; nth++)
    assert.equal((await add(rowport, three.formA, key, 'mine')).status, 201, 'the same again, under its key')
  assert.equal(await readFile(three.path, 'utf8'), 'a\nmine\n')
})

test('where it may wait, it is done when its turn comes', async (t) => {
  const { rowport, small, key, reading, release } = await startBusy(t, 32)
  const adding = add(rowport, small.formA, key, 'later')
  assert.equal(await Promise.race([adding, sleep(50, 'waits')]), 'waits')
  release()
  assert.equal((await reading).status, 200)
  assert.equal((await adding).status, 201)
  assert.equal(await readFile(small.path, 'utf8'), 'a\n1\nlater\n')
})

test('a file that has not changed is shown without waiting for a turn', async (t) => {
  const { rowport, small, key, reading: first, release } = await startBusy(t, 0)
  release()
  assert.equal((await first).status, 200)
  const fresh = { ...bearer(key), 'Cache-Control': 'no-cache' }
  // The version of a file that was changed just now goes by its bytes, which have to be read to be compared.
  await sleep(Math.max(0, (await stat(small.path)).ctimeMs + youngMs - Date.now()))
  // Twice: the second look finds a version that goes by the times of the file. The turn of the first read may last a little
  // longer than its answer, until its columns are indexed.
  for (let n = 0; n < 2; n++) {
    while ((await rowport.get(small.formA, fresh)).status === 429) await sleep(5)
  }
  const large = await rowport.connectFile('again', 'again.csv', 'a\n1\n')
  const again = holdReads(rowport, large.path)
  const reading = rowport.get(large.formA, bearer(key))
  await again.isHeld
  assert.equal((await rowport.get(small.formA, fresh)).status, 200)
  again.release()
  assert.equal((await reading).status, 200)
})
