import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { newId } from '../../src/store/new-id.ts'
import { createLoadClient } from '../load-clients.ts'
import { patienceMs, times } from '../soak.ts'
import { clusterOfThisFile, skipCluster } from './cluster.ts'

/**
 * docs/contract.md#writing across instances: one lane for each spreadsheet, keys that count everywhere, reads that see
 * the write.
 */

const cluster = clusterOfThisFile()

test('R4: a hundred at once under one key, on two instances, are one row', {
  skip: skipCluster,
  timeout: patienceMs,
}, async (t) => {
  const { connectFile, createKey, instances } = cluster()
  const key = await createKey()
  const rounds = times(50, 1_000)
  const { file } = await connectFile('keyed', 'name\nfirst\n')
  const path = '/api/sheets/acme/keyed'
  const tally = { created: 0, inProgress: 0, reused: 0 }
  const clients = Array.from({ length: 100 }, (_, n) => {
    const { ask, close } = createLoadClient()
    t.after(close)
    const { port } = instances[n % 2] ?? { port: 0 }
    return (name: string, round: number) =>
      ask({
        port,
        path,
        apiKey: key,
        body: JSON.stringify({ name }),
        headers: { 'Idempotency-Key': `round-${round}` },
      })
  })
  for (let round = 0; round < rounds; round++) {
    const answers = await Promise.all(clients.map((post) => post(`row ${round}`, round)))
    const created = answers.flatMap((answer) => (answer.status === 201 ? [answer.text] : []))
    const others = answers.filter(({ status }) => status !== 201)
    assert.deepEqual(
      others.filter(({ status }) => status !== 409),
      [],
    )
    assert.ok(created.length > 0, JSON.stringify(answers[0]))
    assert.equal(new Set(created).size, 1, 'all are told the same')
    tally.created += created.length
    tally.inProgress += others.length
    const reused = await clients[round % 2]?.('another', round)
    assert.equal(reused?.status, 422)
    tally.reused++
  }
  const rows = (await readFile(file, 'utf8')).trim().split('\n').slice(2)
  assert.deepEqual(
    rows,
    Array.from({ length: rounds }, (_, round) => `row ${round}`),
  )
  process.stdout.write(
    `R4: ${rounds} rounds of 100 under one key on 2 instances: ${rows.length} rows, ` +
      `${tally.created} answers 201 alike, ${tally.inProgress} × 409, ${tally.reused} of ${rounds} others × 422\n`,
  )
})

test('rows that are added on two instances at once all arrive, once, and each client is told where', {
  skip: skipCluster,
}, async () => {
  const { connectFile, createKey, ask } = cluster()
  const key = await createKey()
  const { file } = await connectFile('added', 'name\nfirst\n')
  const told = new Map<number, string>()
  await Promise.all(
    Array.from({ length: 8 }, async (_, client) => {
      for (let n = 0; n < 25; n++) {
        const name = `${client}-${n}`
        const body = { name }
        const answer = await ask(client % 2, '/api/sheets/acme/added', { key, method: 'POST', body })
        const { rows } = (await answer.json()) as { rows: { _row: number }[] }
        assert.equal(answer.status, 201)
        told.set(rows[0]?._row ?? 0, name)
      }
    }),
  )
  const lines = (await readFile(file, 'utf8')).trim().split('\n')
  assert.equal(lines.length, 2 + 200)
  assert.equal(told.size, 200, 'no row number was told twice')
  for (const [row, name] of told) assert.equal(lines[row - 1], name)
})

test('deletions on two instances never take a row that nobody named', { skip: skipCluster }, async () => {
  const { connectFile, createKey, ask } = cluster()
  const key = await createKey()
  const names = Array.from({ length: 60 }, (_, n) => `row ${n}`)
  const { file } = await connectFile('deleted', `name\n${names.join('\n')}\n`)
  const deleted: string[] = []
  await Promise.all(
    Array.from({ length: 4 }, async (_, client) => {
      for (let n = 0; n < 10; n++) {
        const answer = await ask(client % 2, `/api/sheets/acme/deleted/${2 + client}`, {
          key,
          method: 'DELETE',
        })
        assert.equal(answer.status, 200)
        deleted.push(((await answer.json()) as { data: { name: string } }).data.name)
      }
    }),
  )
  const left = (await readFile(file, 'utf8')).trim().split('\n').slice(1)
  assert.equal(new Set(deleted).size, 40)
  assert.deepEqual([...deleted, ...left].sort(), names.toSorted())
})

test('a key that is in the hands of a living instance is not taken over by one that starts', {
  skip: skipCluster,
}, async () => {
  const { connectFile, createKey, instances, startAnother, ask } = cluster()
  const key = await createKey()
  await connectFile('held', 'name\nfirst\n')
  const store = instances[0]?.workshop.store
  assert.ok(store)
  const account = await store.findAccount('acme')
  const sheet = account && (await store.findSheet(account.id, 'held'))
  assert.ok(sheet)
  const { accountId, id: sheetId, source } = sheet
  const asked = { id: newId('op'), accountId, sheetId, source, idempotencyKey: 'held', fingerprint: 'f' }
  const held = await store.claimOperation(asked, 60_000)
  assert.ok('claimed' in held)
  await startAnother()
  // Longer than an instance may be silent.
  await new Promise((resolve) => setTimeout(resolve, 5_000))
  const headers = { 'Idempotency-Key': 'held' }
  const body = { name: 'x' }
  const answer = await ask(2, '/api/sheets/acme/held', { key, method: 'POST', body, headers })
  assert.equal(answer.status, 422, 'it is still held, by another request')
  assert.equal((await store.unfinishedOperations()).length, 1)
})
