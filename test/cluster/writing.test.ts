import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { times } from '../soak.ts'
import { skipCluster, startCluster } from './cluster.ts'

/** CONTRACT 3 across instances: one lane for each spreadsheet, keys that count everywhere, reads that see the write. */

test('R13: what was written on one instance is read on the other, at once', {
  skip: skipCluster,
}, async (t) => {
  const { connectFile, createKey, ask } = await startCluster(t)
  await connectFile('stock', 'name,count\nfirst,0\n')
  const key = await createKey()
  const pairs = times(500, 1_000)
  const each = pairs / 4
  const stale: string[] = []
  const sheets = ['stock', 'b', 'c', 'd']
  for (const slug of sheets.slice(1)) await connectFile(slug, 'name,count\nfirst,0\n')
  const begunMs = performance.now()
  await Promise.all(
    sheets.map(async (slug) => {
      for (let n = 1; n <= each; n++) {
        const writer = n % 2
        const path = `/api/sheets/acme/${slug}/2`
        const written = await ask(writer, path, { key, method: 'PUT', body: { count: n } })
        assert.equal(written.status, 200, await written.clone().text())
        await written.arrayBuffer()
        const row = (await (await ask(1 - writer, path, { key })).json()) as { count: number }
        if (row.count !== n) stale.push(`${slug}: ${row.count} after ${n}`)
      }
    }),
  )
  const seconds = ((performance.now() - begunMs) / 1_000).toFixed(1)
  process.stdout.write(`R13: ${pairs} pairs over 2 instances in ${seconds} s, ${stale.length} stale\n`)
  assert.deepEqual(stale, [])
})

test('R4: a hundred at once under one key, on two instances, are one row', {
  skip: skipCluster,
}, async (t) => {
  const { connectFile, createKey, ask } = await startCluster(t)
  const key = await createKey()
  const rounds = times(25, 50)
  const { file } = await connectFile('stock', 'name\nfirst\n')
  const tally = { created: 0, inProgress: 0, reused: 0 }
  for (let round = 0; round < rounds; round++) {
    const headers = { 'Idempotency-Key': `round-${round}` }
    const body = { name: `row ${round}` }
    const answers = await Promise.all(
      Array.from({ length: 100 }, async (_, n) => {
        const answer = await ask(n % 2, '/api/sheets/acme/stock', { key, method: 'POST', body, headers })
        return { status: answer.status, text: await answer.text() }
      }),
    )
    const created = answers.filter(({ status }) => status === 201)
    const others = answers.filter(({ status }) => status !== 201)
    assert.ok(created.length > 0, answers[0]?.text ?? '')
    assert.equal(new Set(created.map(({ text }) => text)).size, 1, 'all are told the same')
    assert.deepEqual(
      [...new Set(others.map(({ status }) => status))].filter((status) => status !== 409),
      [],
    )
    tally.created += created.length
    tally.inProgress += others.length
    const reused = await ask(round % 2, '/api/sheets/acme/stock', {
      key,
      method: 'POST',
      body: { name: 'another' },
      headers,
    })
    assert.equal(reused.status, 422)
    await reused.arrayBuffer()
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
}, async (t) => {
  const { connectFile, createKey, ask } = await startCluster(t)
  const key = await createKey()
  const { file } = await connectFile('stock', 'name\nfirst\n')
  const told = new Map<number, string>()
  await Promise.all(
    Array.from({ length: 8 }, async (_, client) => {
      for (let n = 0; n < 25; n++) {
        const name = `${client}-${n}`
        const answer = await ask(client % 2, '/api/sheets/acme/stock', {
          key,
          method: 'POST',
          body: { name },
        })
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

test('deletions on two instances never take a row that nobody named', { skip: skipCluster }, async (t) => {
  const { connectFile, createKey, ask } = await startCluster(t)
  const key = await createKey()
  const names = Array.from({ length: 60 }, (_, n) => `row ${n}`)
  const { file } = await connectFile('stock', `name\n${names.join('\n')}\n`)
  const deleted: string[] = []
  await Promise.all(
    Array.from({ length: 4 }, async (_, client) => {
      for (let n = 0; n < 10; n++) {
        const answer = await ask(client % 2, `/api/sheets/acme/stock/${2 + client}`, {
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
}, async (t) => {
  const { connectFile, createKey, instances, startAnother, ask } = await startCluster(t, { instances: 1 })
  await connectFile('stock', 'name\nfirst\n')
  const key = await createKey()
  const store = instances[0]?.workshop.store
  assert.ok(store)
  const account = await store.findAccount('acme')
  const sheet = account && (await store.findSheet(account.id, 'stock'))
  assert.ok(sheet)
  const { accountId, id: sheetId, source } = sheet
  const asked = { accountId, sheetId, source, idempotencyKey: 'held', fingerprint: 'f' }
  const held = await store.claimOperation(asked, 60_000)
  assert.ok('claimed' in held)
  await startAnother()
  // Longer than an instance may be silent.
  await new Promise((resolve) => setTimeout(resolve, 5_000))
  const headers = { 'Idempotency-Key': 'held' }
  const answer = await ask(1, '/api/sheets/acme/stock', { key, method: 'POST', body: { name: 'x' }, headers })
  assert.equal(answer.status, 422, 'it is still held, by another request')
  assert.equal((await store.unfinishedOperations()).length, 1)
})
