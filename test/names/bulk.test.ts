import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { writeXlsx } from 'hucre/xlsx'
import { bearer, startRowport } from '../harness.ts'
import { patienceMs } from '../soak.ts'
import { startGoogleGround } from '../writing/google-ground.ts'

const rows = 20_000
const table = Array.from({ length: rows }, (_, n) => [`row ${n}`, n % 2 ? 'odd' : 'even', n])
const header = ['id', 'kind', 'n']

type Ask = (method: string, path: string, body?: unknown) => Promise<{ status: number; body: Json }>
// biome-ignore lint/suspicious/noExplicitAny: what is in it is what the test asserts.
type Json = any

/** Every other row of many is one write at the provider. */
async function changeEveryOther(t: TestContext, ask: Ask, writes: () => Promise<number>): Promise<void> {
  const before = await writes()
  const begunMs = performance.now()
  const { status, body } = await ask('PATCH', '?kind=odd&max_rows=10000', { kind: 'changed' })
  assert.deepEqual([status, body.rows_updated], [200, rows / 2], JSON.stringify(body).slice(0, 300))
  assert.equal(await writes(), before + 1)
  t.diagnostic(`10,000 of 20,000 rows changed in ${(performance.now() - begunMs).toFixed(0)} ms`)
}

async function deleteAll(
  t: TestContext,
  ask: Ask,
  writes: () => Promise<number>,
  query: string,
): Promise<Json[]> {
  const before = await writes()
  const begunMs = performance.now()
  const { status, body } = await ask('DELETE', `?${query}&max_rows=10000`)
  assert.deepEqual([status, body.rows_deleted], [200, rows / 2], JSON.stringify(body).slice(0, 300))
  assert.equal(await writes(), before + 1)
  t.diagnostic(`10,000 of 20,000 rows deleted in ${(performance.now() - begunMs).toFixed(0)} ms`)
  const left = (await ask('GET', '?row_numbers=true')).body as { _row: number }[]
  assert.equal(left.length, rows / 2)
  assert.ok(left.every(({ _row }, at) => _row === at + 2))
  return left
}

for (const kind of ['csv', 'xlsx'] as const)
  test(`${kind}: 10,000 rows at once`, { timeout: patienceMs }, async (t) => {
    const rowport = await startRowport(t)
    const csv = [header, ...table].map((row) => row.join(',')).join('\n')
    const content =
      kind === 'csv' ? csv : await writeXlsx({ sheets: [{ name: 'S', rows: [header, ...table] }] })
    const { formA } = await rowport.connectFile('s', `s.${kind}`, content)
    const headers = bearer(await rowport.createKey())
    const ask: Ask = async (method, path, body) => {
      const init = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) }
      const answer = await fetch(rowport.url + formA + path, init)
      return { status: answer.status, body: await answer.json() }
    }
    const writes = async () => rowport.seen.filter(({ event }) => event === 'rows_written').length
    await changeEveryOther(t, ask, writes)
    const left = await deleteAll(t, ask, writes, 'kind=changed')
    assert.ok(left.every(({ id, kind: what }, at) => id === `row ${at * 2}` && what === 'even'))
  })

test('Google: 10,000 rows at once', { timeout: patienceMs }, async (t) => {
  const { local, newSheet } = await startGoogleGround(t)
  const sheet = await newSheet('s', [header])
  const cells = table.map(([id, kind, n]) => ({
    values: [
      ...[id, kind].map((stringValue) => ({ userEnteredValue: { stringValue } })),
      { userEnteredValue: { numberValue: n } },
    ],
  }))
  for (let from = 0; from < rows; from += 5_000)
    await sheet.batchUpdate({
      appendCells: { sheetId: 0, fields: 'userEnteredValue', rows: cells.slice(from, from + 5_000) },
    })
  const writes = async () => {
    const { calls } = await local.control<{ calls: { kind: string }[] }>('GET', 'calls')
    return calls.filter(({ kind }) => kind === 'write').length
  }
  const ask: Ask = (method, path, body) => sheet.ask(method, path, body === undefined ? {} : { body })
  await changeEveryOther(t, ask, writes)
  const before = await writes()
  const refused = await ask('DELETE', '?kind=changed&max_rows=10000')
  assert.equal(refused.status, 502)
  assert.match(refused.body.error, /does not delete more than 1000 rows at once that do not lie side by side/)
  assert.equal(await writes(), before, 'nothing was sent')
  const left = await deleteAll(t, ask, writes, 'n[gte]=10000')
  assert.ok(left.every(({ id, n }, at) => id === `row ${at}` && n === at))
})
