import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bearer, done, type Rowport, startRowport } from '../harness.ts'
import { largeCsv } from './tenants.ts'

const mebibyte = 1024 * 1024

async function readFrom(rowport: Rowport, path: string, key: { value: string }): Promise<string> {
  const answer = await rowport.get(path, bearer(key))
  assert.equal(answer.status, 200, await answer.text())
  return answer.headers.get('cache-status') ?? ''
}

test('an account that reads many large sheets does not push rows of others out of memory', async (t) => {
  const rowport = await startRowport(t, { account: 'victim', settings: { maxSnapshotBytes: 24 * mebibyte } })
  done(await rowport.workshop.accounts.create('attacker', 'enterprise'))
  const small = await rowport.connectFile('small', 'small.csv', 'a\n1\n', { account: 'victim' })
  const victimKey = await rowport.createKey({ account: 'victim' })
  await rowport.workshop.store.changeSheet(small.id, { cacheSeconds: 3_600 })
  const attackerKey = await rowport.createKey({ account: 'attacker' })
  const large = await Promise.all(
    Array.from({ length: 8 }, (_, at) =>
      rowport.connectFile(`large-${at}`, `large-${at}.csv`, largeCsv(2, at), { account: 'attacker' }),
    ),
  )
  assert.match(await readFrom(rowport, small.formA, victimKey), /fwd=miss/)
  for (const sheet of large) {
    rowport.clock.advanceMs(1_000)
    await readFrom(rowport, sheet.formA, attackerKey)
  }
  const source = await readFrom(rowport, small.formB, victimKey)
  const dropped = rowport.seen.filter(({ event }) => event === 'snapshot_dropped').length
  process.stdout.write(
    `${large.length} large sheets of another account were read, ${dropped} snapshots dropped; victim: ${source}\n`,
  )
  assert.ok(dropped > 0, 'memory was short')
  assert.equal(source, 'rowport; hit')
})
