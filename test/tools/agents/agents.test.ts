import assert from 'node:assert/strict'
import { after, describe, type TestContext, test } from 'node:test'
import { bearer, startRowport } from '../../harness.ts'
import { patienceMs } from '../../soak.ts'
import { installTools } from '../install-tools.ts'
import { runConformance, whyNotForUs } from './conformance.ts'
import { type Connect, type OthersClient, othersClients, tool } from './others-clients.ts'

/*
 * Others' programs for agents, as people run them, against a running instance: the official clients of both generations, the
 * inspector's command line, the conformance suite. Where the registry cannot be reached the tests are skipped.
 */

const missing = await installTools((line) => process.stdout.write(`${line}\n`), import.meta.dirname)
const skip = missing ?? false

const products = [
  'sku,name,category,price',
  'A-1,Oak table,Furniture,420',
  'A-2,Desk lamp,Lamps,59.9',
  'A-3,Floor lamp,Lamps,89',
].join('\n')

describe('agents of others', { skip, timeout: 6 * patienceMs }, () => {
  const table: [program: string, outcome: string][] = []
  after(() => {
    const width = Math.max(...table.map(([name]) => name.length))
    for (const [name, outcome] of table) process.stdout.write(`  ${name.padEnd(width)}  ${outcome}\n`)
  })

  for (const [name, connect] of Object.entries(othersClients))
    test(`${name}: list, describe, query, add, try, change, delete, undo`, {
      timeout: 3 * patienceMs,
    }, async (t) => {
      const { calls, longest } = await spendADay(t, connect)
      table.push([name, `${calls} calls, 0 wrong; longest answer of 100,000 rows: ${longest} characters`])
    })

  for (const version of ['2025-11-25', '2026-07-28'])
    test(`the conformance suite, ${version}`, { timeout: patienceMs }, async (t) => {
      const rowport = await startRowport(t, { isTimePassing: true })
      await rowport.connectFile('products', 'products.csv', products)
      const key = await rowport.createKey()
      const { port, folder } = rowport
      const checks = await runConformance(t, { port, folder, version, key: key.value })
      const unmet = checks.filter(({ status }) => status === 'FAILURE' || status === 'WARNING')
      const ours = unmet.filter((check) => whyNotForUs(check) === null)
      const passed = checks.filter(({ status }) => status === 'SUCCESS').length
      const reasons = Map.groupBy(unmet, whyNotForUs)
      table.push([`conformance 0.2.0-alpha.12, ${version}`, `${passed} passed, ${ours.length} failed`])
      for (const [why, { length }] of reasons) table.push(['', `${length} not for us: ${why}`])
      assert.deepEqual(ours, [])
      assert.ok(passed > 30, `${passed} passed`)
    })

  test('all schemas together, by real tokenizers', async (t) => {
    const rowport = await startRowport(t)
    const key = await rowport.createKey()
    const list = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }
    const headers = { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' }
    const answer = await fetch(`${rowport.url}/mcp`, {
      ...{ method: 'POST', headers: { ...headers, ...bearer(key) }, body: JSON.stringify(list) },
    })
    const [, data = ''] = /^data: (.*)$/m.exec(await answer.text()) ?? []
    // As it came, with hints and all.
    const schemas = JSON.stringify(JSON.parse(data).result.tools)
    for (const encoding of ['o200k_base', 'cl100k_base']) {
      const { encode } = await tool(`gpt-tokenizer/encoding/${encoding}`)
      const tokens = encode(schemas).length
      table.push([`schemas of all tools, ${encoding}`, `${schemas.length} characters, ${tokens} tokens`])
      assert.ok(tokens > 500 && tokens < 1_500, `${tokens} tokens`)
    }
  })
})

async function spendADay(t: TestContext, connect: Connect): Promise<{ calls: number; longest: number }> {
  const rowport = await startRowport(t)
  const sheet = await rowport.connectFile('products', 'products.csv', products)
  const rows = Array.from({ length: 100_000 }, (_, at) => `${at},${'x'.repeat(at % 70 === 7 ? 3_000 : 20)}`)
  await rowport.connectFile('large', 'large.csv', `n,text\n${rows.join('\n')}`)
  const url = `${rowport.url}/mcp`
  const { folder } = rowport
  const client = await connect(t, { url, folder, key: (await rowport.createKey()).value })
  let calls = 0
  const call: OthersClient['call'] = (name, args) => {
    calls++
    return client.call(name, args)
  }
  const good = async (name: string, args: Record<string, unknown> = {}) => {
    const { text, isError } = await call(name, args)
    assert.equal(isError, false, text)
    return text
  }

  assert.deepEqual(await client.toolNames(), [
    ...['list_sheets', 'describe_sheet', 'query_rows'],
    ...['add_rows', 'update_rows', 'delete_rows', 'undo'],
  ])
  assert.match(await good('list_sheets'), new RegExp(`${sheet.id} products`))
  assert.match(await good('describe_sheet', { sheet: 'products' }), /3 rows, 4 columns/)
  const lamps = { sheet: sheet.id, where: { category: 'Lamps' } }
  assert.match(
    await good('query_rows', { ...lamps, sort: '-price', fields: ['name', 'price'] }),
    /^1 to 2 of 2\.\n<(cells-\w+)>\n_row,name,price\n4,Floor lamp,89\n3,Desk lamp,59\.9\n<\/\1>$/,
  )
  assert.match(
    await good('add_rows', { sheet: sheet.id, rows: [{ sku: 'Ä-1', category: 'Lamps', price: 3 }] }),
    /^Done: rows added: 1\.\nTo take it back: undo/,
  )
  assert.match(
    await good('update_rows', { ...lamps, set: { price: 1 }, dry_run: true }),
    /^Nothing was written \(dry_run\)\. It would be: rows updated: 3\./,
  )
  assert.match(await good('query_rows', { sheet: sheet.id, where: { price: 1 } }), /^0 in all/)
  const refused = await call('delete_rows', { ...lamps, max_rows: 2 })
  assert.ok(refused.isError)
  assert.match(refused.text, /^too_many_rows: /)
  const deleted = await good('delete_rows', { ...lamps, max_rows: 3 })
  assert.match(deleted, /^Done: rows deleted: 3\./)
  assert.match(await good('query_rows', { sheet: sheet.id }), /^1 to 1 of 1\./)
  const [, operation = ''] = /"operation":"(op_\w+)"/.exec(deleted) ?? []
  assert.match(await good('undo', { sheet: sheet.id, operation }), /^Done: /)
  assert.match(await good('query_rows', { sheet: sheet.id }), /^1 to 4 of 4\.[\s\S]*Ä-1/)

  const uri = `rowport://sheets/${sheet.id}`
  assert.ok((await client.resourceUris()).includes(uri))
  assert.match(await client.read(uri), /A-1,Oak table/)

  const large = [
    await good('query_rows', { sheet: 'large', limit: 500 }),
    await good('query_rows', { sheet: 'large', limit: 500, offset: 99_000 }),
    await good('describe_sheet', { sheet: 'large' }),
  ]
  const longest = Math.max(...large.map(({ length }) => length))
  assert.ok(longest < 21_000, `${longest} characters`)
  assert.match(large[0] ?? '', /^1 to \d+ of 100000\. For more: offset \d+\./)

  const readKey = await rowport.createKey({ scope: 'read' })
  const reader = await connect(t, { url, folder, key: readKey.value })
  assert.deepEqual(await reader.toolNames(), ['list_sheets', 'describe_sheet', 'query_rows'])
  // The inspector itself calls no tool that is not listed.
  const kept = await reader.call('delete_rows', lamps).catch((error: Error) => ({
    ...{ isError: true, text: error.message },
  }))
  assert.ok(kept.isError)
  assert.match(kept.text, /^insufficient_scope: |"tool_not_found"/)
  return { calls: calls + 1, longest }
}
