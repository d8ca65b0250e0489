import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { bearer, startRowport } from '../harness.ts'

const ofReads = ['sort', 'limit', 'offset', 'fields', 'row_numbers', 'values', 'format', 'escape_formulas']
const ofOthers = [...ofReads, 'bom', 'aggregate', 'group_by', 'distinct', 'upsert', 'on_match']

test('a parameter that a write to many rows does not take is none of its filters, whatever columns there are', async (t) => {
  const named = await start(t, `sku,${ofOthers.join(',')}\nA,${ofOthers.map(() => 5).join(',')}\n`)
  const plain = await start(t, 'sku,price\nA,5\n')
  for (const name of ofOthers)
    for (const method of ['PATCH', 'DELETE'])
      for (const send of [named, plain]) {
        const { status, body } = await send(method, `?${name}=5`)
        assert.deepEqual([status, body.code], [400, 'invalid_query'], `${method} ${name}`)
        assert.match(
          body.details,
          new RegExp(`"${name}" cannot be used here: this write takes filters, q, all, max_rows, dry_run`),
        )
        assert.match(body.details, new RegExp(`"${name}\\[eq\\]"`), 'how the column is reached')
        assert.doesNotMatch(body.details, /Did you mean/)
      }
  const { status, body } = await named('DELETE', '?limit[eq]=5&format[eq]=5&dry_run=true')
  assert.deepEqual([status, body.rows_deleted], [200, 1])
})

test('whoever mistypes a parameter of a write is told what that write takes', async (t) => {
  const send = await start(t, 'sku,price\nA,5\n')
  const cases: [method: string, path: string, details: RegExp][] = [
    [
      'DELETE',
      '?sku=A&dry_rum=true',
      /Did you mean "dry_run"\?.* Other parameters are q, all, max_rows, dry_run\.$/,
    ],
    ['PATCH', '?sku=A&max_row=3', /Did you mean "max_rows"\?/],
    ['PATCH', '?prise=3', /Did you mean "price"\?/],
    ['DELETE', '?limt=3', /^There is no column "limt" to filter by\. The columns are "sku", "price"\. /],
    ['DELETE', '/2?dryrun=true', /this write takes dry_run\. Did you mean "dry_run"\?$/],
    ['POST', '?upsret=sku', /this write takes upsert, on_match, dry_run\. Did you mean "upsert"\?$/],
  ]
  for (const [method, path, details] of cases) {
    const { status, body } = await send(method, path)
    assert.deepEqual([status, body.code], [400, 'invalid_query'], path)
    assert.match(body.details, details)
  }
})

// biome-ignore lint/suspicious/noExplicitAny: what is in it is what the test asserts.
type Json = any

async function start(t: TestContext, csv: string) {
  const rowport = await startRowport(t)
  const { formA } = await rowport.connectFile('stock', 'stock.csv', csv)
  const headers = bearer(await rowport.createKey())
  return async (method: string, path: string): Promise<{ status: number; body: Json }> => {
    const sent = method === 'DELETE' ? {} : { body: JSON.stringify({ sku: 'A' }) }
    const answer = await fetch(rowport.url + formA + path, { method, headers, ...sent })
    return { status: answer.status, body: await answer.json() }
  }
}
