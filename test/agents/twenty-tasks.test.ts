import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { bearer, startRowport } from '../harness.ts'

/** What somebody would ask for, as the call of a tool and as a request of the API, and what the answer must say. */
interface Task {
  wish: string
  tool: [name: string, args: Record<string, unknown>]
  request: [method: string, query: string, body?: unknown]
  says: RegExp
}

const orders = [
  'id,customer,city,item,amount,status,day',
  ...Array.from({ length: 240 }, (_, at) => {
    const city = ['Berlin', 'Bonn', 'Köln'][at % 3]
    const status = ['paid', 'open', 'paid', 'late'][at % 4]
    const day = `2026-${String((at % 12) + 1).padStart(2, '0')}-15`
    return `O-${at},Customer ${at % 40},${city},${at % 2 ? 'Lamp' : 'Chair'},${at * 2},${status},${day}`
  }),
].join('\n')

const query = (args: Record<string, unknown>): Task['tool'] => ['query_rows', args]

const tasks: Task[] = [
  {
    wish: 'What columns are there?',
    tool: ['describe_sheet', {}],
    request: ['GET', '/schema'],
    says: /amount/,
  },
  {
    wish: 'How many orders?',
    tool: query({ aggregate: 'count()' }),
    request: ['GET', '?aggregate=count()'],
    says: /240/,
  },
  {
    wish: 'How many are open?',
    tool: query({ aggregate: 'count()', where: { status: 'open' } }),
    request: ['GET', '?aggregate=count()&status=open'],
    says: /\b60\b/,
  },
  {
    wish: 'Turnover of paid orders',
    tool: query({ aggregate: 'sum(amount)', where: { status: 'paid' } }),
    request: ['GET', '?aggregate=sum(amount)&status=paid'],
    says: /28560/,
  },
  {
    wish: 'Turnover by city',
    tool: query({ aggregate: 'sum(amount)', group_by: 'city' }),
    request: ['GET', '?aggregate=sum(amount)&group_by=city'],
    says: /Köln.{1,20}19280/,
  },
  {
    wish: 'Orders by month',
    tool: query({ aggregate: 'count()', group_by: 'month(day)' }),
    request: ['GET', '?aggregate=count()&group_by=month(day)'],
    says: /2026-12.{1,12}20/,
  },
  {
    wish: 'The largest order',
    tool: query({ sort: '-amount', limit: 1 }),
    request: ['GET', '?sort=-amount&limit=1'],
    says: /O-239/,
  },
  {
    wish: 'The three smallest in Bonn',
    tool: query({ sort: 'amount', limit: 3, where: { city: 'Bonn' }, fields: ['id'] }),
    request: ['GET', '?sort=amount&limit=3&city=Bonn&fields=id'],
    says: /O-1\b[\s\S]*O-4\b[\s\S]*O-7\b/,
  },
  {
    wish: 'Order O-77',
    tool: query({ where: { id: 'O-77' } }),
    request: ['GET', '/by/id/O-77'],
    says: /154/,
  },
  {
    wish: 'Between 100 and 104',
    tool: query({ where: { amount: { gte: 100, lte: 104 } }, fields: ['id'] }),
    request: ['GET', '?amount[gte]=100&amount[lte]=104&fields=id'],
    says: /O-50[\s\S]*O-51[\s\S]*O-52/,
  },
  {
    wish: 'Anything about customer 39',
    tool: query({ q: 'customer 39', aggregate: 'count()' }),
    request: ['GET', '?q=customer 39&aggregate=count()'],
    says: /\b6\b/,
  },
  {
    wish: 'How many customers?',
    tool: query({ aggregate: 'count_distinct(customer)' }),
    request: ['GET', '?aggregate=count_distinct(customer)'],
    says: /\b40\b/,
  },
  {
    wish: 'What statuses are there?',
    tool: query({ group_by: 'status' }),
    request: ['GET', '?distinct=status'],
    says: /late.{1,12}60/,
  },
  {
    wish: 'Late in Köln or Bonn in December',
    tool: query({
      where: { status: 'late', city: ['Köln', 'Bonn'], day: { gte: '2026-12-01' } },
      aggregate: 'count()',
    }),
    request: ['GET', '?status=late&city[in]=Köln,Bonn&day[gte]=2026-12-01&aggregate=count()'],
    says: /\b20\b/,
  },
  {
    wish: 'Add an order',
    tool: ['add_rows', { rows: [{ id: 'O-500', city: 'Bonn', amount: 10 }] }],
    request: ['POST', '', { id: 'O-501', city: 'Bonn', amount: 10 }],
    says: /rows.added"?: ?1/,
  },
  {
    wish: 'Correct its amount',
    tool: ['update_rows', { where: { id: 'O-500' }, set: { amount: 11 } }],
    request: ['PATCH', '/by/id/O-501', { amount: 11 }],
    says: /"amount":11/,
  },
  {
    wish: 'What would closing O-1 and O-5 change?',
    tool: ['update_rows', { where: { id: ['O-1', 'O-5'] }, set: { status: 'paid' }, dry_run: true }],
    request: ['PATCH', '?id[in]=O-1,O-5&dry_run=true', { status: 'paid' }],
    says: /rows.updated"?: ?2/,
  },
  {
    wish: 'Take it in or change it',
    tool: ['add_rows', { rows: [{ id: 'O-500', amount: 12 }], upsert: 'id' }],
    request: ['POST', '?upsert=id', { id: 'O-501', amount: 12 }],
    says: /rows.updated"?: ?1/,
  },
  {
    wish: 'Not more than two may go',
    tool: ['delete_rows', { where: { status: 'late' }, max_rows: 2 }],
    request: ['DELETE', '?status=late&max_rows=2'],
    says: /too_many_rows[\s\S]*60/,
  },
  {
    wish: 'Delete the order that was added',
    tool: ['delete_rows', { where: { id: 'O-500' } }],
    request: ['DELETE', '/by/id/O-501'],
    says: /O-50[01]/,
  },
]

test('twenty everyday tasks through the tools alone, beside the same through the API', async (t) => {
  const rowport = await startRowport(t)
  const sheet = await rowport.connectFile('orders', 'orders.csv', orders)
  const key = await rowport.createKey()
  const bytes = { agent: 0, api: 0 }
  const calls = { agent: 0, api: 0 }
  const counting: typeof fetch = async (input, init) => {
    const answer = await fetch(input, init)
    const text = await answer.text()
    calls.agent++
    bytes.agent += Buffer.byteLength(text)
    return new Response(text || null, answer)
  }
  const versionNegotiation = { mode: { pin: '2026-07-28' } } as const
  const client = new Client({ name: 'tasks', version: '1.0.0' }, { versionNegotiation })
  const options = { requestInit: { headers: bearer(key) }, fetch: counting }
  await client.connect(new StreamableHTTPClientTransport(new URL(`${rowport.url}/mcp`), options))
  t.after(() => client.close())
  await client.listTools()
  const missed: string[] = []
  for (const { wish, tool, request, says } of tasks) {
    const [name, args] = tool
    const { content } = await client.callTool({ name, arguments: { sheet: sheet.id, ...args } })
    const [told] = content as { text: string }[]
    if (!says.test(told?.text ?? '')) missed.push(`${wish} ${told?.text}`)
    const [method, path, body] = request
    const init = { method, headers: bearer(key), ...(body !== undefined && { body: JSON.stringify(body) }) }
    const answer = await fetch(`${rowport.url}${sheet.formA}${path}`, init)
    const text = await answer.text()
    calls.api++
    bytes.api += Buffer.byteLength(text)
    if (!says.test(text)) missed.push(`${wish} (API) ${text}`)
  }
  assert.deepEqual(missed, [])
  assert.equal(tasks.length, 20)
  t.diagnostic(
    `agent: ${calls.agent} calls, ${bytes.agent} bytes, connecting and tools included; API: ${calls.api} requests, ${bytes.api} bytes`,
  )
})
