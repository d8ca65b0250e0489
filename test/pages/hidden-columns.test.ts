import assert from 'node:assert/strict'
import { readFile, utimes, writeFile } from 'node:fs/promises'
import { test } from 'node:test'
import { filterOperators } from '../../src/sheets/rows/query/operators.ts'
import { bearer, done, type Rowport, startRowport } from '../harness.ts'
import { createPageKey, fromPage } from './page-keys.ts'

/*
 * Two worlds in which everything that a key may see is the same, and everything that it may not see differs: the cells of hidden
 * columns, their kinds, and the rows that its filter leaves out. Whatever is asked with the key must be answered alike, to the byte.
 */

const columns = ['name', 'price', 'cost', 'published', 'supplier']

interface World {
  rowport: Rowport
  key: { value: string; id: string }
  owner: { value: string; id: string }
  formA: string
  formB: string
  path: string
}

const visible = [
  ['Chair', '10'],
  ['Table', '20'],
  ['Lamp', '30'],
  ['Desk', ''],
]

function csv(
  cost: (row: number) => string,
  supplier: (row: number) => string,
  draft: readonly string[],
): string {
  const shown = visible.map(([name, price], row) => `${name},${price},${cost(row)},TRUE,${supplier(row)}`)
  const [first = '', second = '', ...rest] = shown
  return `${[columns.join(), first, draft.join(), second, ...rest].join('\n')}\n`
}

async function world(
  t: Parameters<typeof startRowport>[0],
  content: string,
  keyColumn: string | null,
): Promise<World> {
  const rowport = await startRowport(t, { settings: { isBaseUrlSet: true } })
  const { path, formA, formB } = await rowport.connectFile('stock', 'stock.csv', content)
  if (keyColumn !== null) done(await rowport.workshop.sheets.change('acme', 'stock', { keyColumn }))
  const key = await createPageKey(rowport, 'stock', {
    readColumns: ['name', 'price'],
    writeColumns: ['name', 'price', 'supplier'],
    where: 'published=true',
    set: [['published', true]],
    maxRows: 3,
  })
  return { rowport, key, owner: await rowport.createKey(), formA, formB, path }
}

async function twoWorlds(
  t: Parameters<typeof startRowport>[0],
  keyColumn: string | null = null,
): Promise<[World, World]> {
  const one = csv(
    (row) => String(5 + row),
    (row) => `Acme ${row}`,
    ['Secret', '99', '1', 'FALSE', 'Hush'],
  )
  const other = csv(
    (row) => ['n/a', '2026-01-01', 'TRUE', ''][row] ?? '',
    (row) => `Zeta ${9 - row}`,
    ['Other', '1', 'x', '', 'Chair'],
  )
  return [await world(t, one, keyColumn), await world(t, other, keyColumn)]
}

interface Asked {
  path: string
  method?: string
  body?: string
  headers?: Record<string, string>
}

/** Everything of an answer that a client can notice, with what belongs to the machine and not to the sheet made equal. */
async function told({ rowport, key, formA, formB }: World, { path, method = 'GET', body, headers }: Asked) {
  const url = `${rowport.url}${path.replace('{a}', formA).replace('{b}', formB)}`
  const response = await fetch(url, {
    method,
    headers: { ...fromPage(key), ...headers },
    ...(body !== undefined && { body }),
  })
  const text = await response.text()
  const ours = new Set(['date', 'connection', 'keep-alive', 'transfer-encoding'])
  // A description names the sheet by its id, which is random, and so does its ETag.
  if (/schema|openapi/.test(path)) for (const name of ['etag', 'content-length']) ours.add(name)
  const kept = [...response.headers].filter(([name]) => !ours.has(name) && !name.startsWith('x-ratelimit'))
  const all = JSON.stringify({ status: response.status, headers: kept, text })
  return all.replaceAll(formB, '{b}')
}

function everyRead(): string[] {
  const sheets = ['{a}', '{b}']
  const queries: string[] = [
    '',
    'row_numbers=true',
    'limit=1',
    'limit=100',
    'offset=2',
    'q=acme',
    'q=zeta',
    'q=5',
  ]
  for (const format of ['csv', 'ndjson', 'json'])
    queries.push(`format=${format}`, `format=${format}&row_numbers=true`)
  queries.push('values=formatted', 'values=formatted&q=acme')
  for (const column of [...columns, 'COST', 'Supplier', 'cosst', 'nothing']) {
    const name = encodeURIComponent(column)
    queries.push(`fields=${name}`, `sort=${name}`, `sort=-${name}`, `fields[]=${name}`, `distinct=${name}`)
    queries.push(`group_by=${name}`, `group_by=month(${name})`, `aggregate=count(),sum(${name})`)
    queries.push(`aggregate=count_distinct(${name})`, `aggregate=min(${name}),max(${name})`)
    queries.push(`q=chair&sort=${name}`)
    for (const operator of filterOperators) {
      const value = operator === 'empty' ? 'true' : 'Acme 1'
      queries.push(`${name}[${operator}]=${encodeURIComponent(value)}`, `${name}[${operator}]=5`)
    }
    queries.push(`${name}=5`, `${name}=TRUE`, `${name}[nope]=1`, `${name}[in][0]=5`)
  }
  queries.push(
    'aggregate=count()',
    'published=false',
    'published[ne]=true',
    '_row=3',
    'sort=_row',
    'fields=_row',
  )
  const paths = sheets.flatMap((sheet) => queries.map((query) => `${sheet}?${query}`))
  for (const sheet of sheets) {
    for (let row = 0; row <= 9; row++)
      paths.push(`${sheet}/${row}`, `${sheet}?row=${row}`, `${sheet}/${row}?format=csv`)
    for (const column of [...columns, 'cosst'])
      for (const value of ['Chair', 'Secret', 'Hush', 'Acme 1', '5', 'TRUE'])
        paths.push(`${sheet}/by/${column}/${value}`)
    paths.push(`${sheet}/schema`, `${sheet}/schema?values=formatted`, `${sheet}/openapi.json`)
    paths.push(`${sheet}/changes`, `${sheet}/changes?since=earliest`, `${sheet}/changes?key=Acme%201`)
  }
  return [...paths, '/v1/sheets', '/openapi.json']
}

test('nothing of a hidden column or row is told, whatever is asked and however', async (t) => {
  const [one, other] = await twoWorlds(t)
  const asked: Asked[] = everyRead().map((path) => ({ path }))
  for (const sheet of ['{a}', '{b}']) {
    asked.push({ path: sheet, method: 'HEAD' })
    asked.push({ path: `${sheet}/changes`, headers: { Accept: 'text/event-stream' } })
    asked.push({ path: `${sheet}/refresh`, method: 'POST' })
    asked.push({ path: `${sheet}/operations/op_1/undo`, method: 'POST' })
    for (const method of ['PUT', 'PATCH', 'DELETE'])
      for (const target of ['/2', '/3', '/by/name/Chair', '/by/supplier/Acme%200', '?cost=5', '?all=true'])
        asked.push({
          path: `${sheet}${target}`,
          method,
          ...(method !== 'DELETE' && { body: '{"name":"x"}' }),
          headers: { 'If-Match': '*' },
        })
    for (const column of [...columns, 'cosst', 'publishd', 'x'])
      asked.push({
        path: `${sheet}?dry_run=true`,
        method: 'POST',
        body: JSON.stringify({ [column]: 'Acme 1' }),
      })
    asked.push({ path: `${sheet}?upsert=supplier`, method: 'POST', body: '{"supplier":"Acme 1"}' })
    asked.push({ path: sheet, method: 'POST', body: '{}' })
    asked.push({ path: sheet, method: 'POST', body: '{"name":""}' })
  }
  // The first look at a sheet says so (`Cache-Status`).
  await Promise.all([one, other].map((world) => told(world, { path: '{a}' })))
  await Promise.all([one, other].map((world) => told(world, { path: '{a}?values=formatted' })))
  let leaks = 0
  // One after the other: of those who ask at once, another one may be the first beyond a limit in each world.
  for (const each of asked) await compare(each)
  assert.equal(leaks, 0)
  assert.ok(asked.length > 600, `${asked.length} requests`)

  async function compare(each: Asked): Promise<void> {
    const [here, there] = await Promise.all([told(one, each), told(other, each)])
    if (here !== there) leaks++
    assert.equal(here, there, `${each.method ?? 'GET'} ${each.path}`)
    for (const hidden of ['cost', 'supplier', 'Hush', 'Secret', 'Acme 0', 'Zeta', 'published'])
      if (!JSON.stringify(each).includes(hidden)) assert.ok(!here.includes(hidden), `${each.path}: ${here}`)
  }
})

test('where the key column is hidden, additions neither name it nor tell which keys are taken', async (t) => {
  const [one, other] = await twoWorlds(t, 'supplier')
  for (const body of [{ name: 'Stool' }, { name: 'Stool', supplier: 'Acme 1' }, { supplier: 'Hush' }]) {
    const asked = { path: '{a}', method: 'POST', body: JSON.stringify(body) }
    const here = await told(one, asked)
    assert.equal(here, await told(other, asked))
    assert.match(here, /invalid_body/)
    if (!('supplier' in body)) assert.ok(!here.includes('supplier'), here)
  }
})

test('additions are answered alike, and nothing is told of what others sent', async (t) => {
  const [one, other] = await twoWorlds(t)
  const sent = { name: 'Stool', price: 5 }
  for (const asked of [
    { path: '{a}', body: JSON.stringify({ ...sent, cost: 1 }) },
    { path: '{b}', body: JSON.stringify([{ ...sent, published: false }]) },
  ] as const)
    assert.equal(
      await told(one, { ...asked, method: 'POST' }),
      await told(other, { ...asked, method: 'POST' }),
    )

  for (const { rowport, owner, key, formA } of [other]) {
    const headers = { 'Idempotency-Key': 'guessed' }
    const body = JSON.stringify(sent)
    const owners = await fetch(rowport.url + formA, {
      method: 'POST',
      headers: { ...bearer(owner), ...headers },
      body,
    })
    assert.equal(owners.status, 201)
    const pages = await fetch(rowport.url + formA, {
      method: 'POST',
      headers: { ...fromPage(key), ...headers },
      body,
    })
    assert.equal(pages.status, 201)
    assert.equal(pages.headers.get('idempotent-replayed'), null)
    const again = await fetch(rowport.url + formA, {
      method: 'POST',
      headers: { ...fromPage(key), ...headers },
      body,
    })
    assert.equal(again.headers.get('idempotent-replayed'), 'true')
    assert.deepEqual(((await again.json()) as { rows: unknown }).rows, [sent])
  }
})

test('what changes in hidden cells and rows moves neither ETag nor as_of nor anything else', async (t) => {
  const [{ rowport, key, owner, formA, formB, path }] = await twoWorlds(t)
  const looked = async () => {
    const answers = await Promise.all(
      [formB, `${formB}?sort=price`, formA, `${formA}/2`, `${formA}/schema`].map(async (address) => {
        const response = await rowport.get(address, fromPage(key))
        const { headers } = response
        return [response.status, headers.get('etag'), headers.get('x-change-cursor'), await response.text()]
      }),
    )
    return JSON.stringify(answers)
  }
  const before = await looked()
  assert.ok(before.includes('as_of') && !before.includes('cursor'))
  rowport.clock.advanceMs(60_000)
  const changes = [
    ['2', { cost: 77, supplier: 'Someone' }],
    ['3', { name: 'Still a draft', supplier: 'Hidden' }],
  ] as const
  for (const [row, body] of changes) {
    const changed = await fetch(`${rowport.url}${formA}/${row}`, {
      method: 'PATCH',
      headers: bearer(owner),
      body: JSON.stringify(body),
    })
    assert.equal(changed.status, 200)
    assert.equal(await looked(), before)
  }
  const text = await readFile(path, 'utf8')
  assert.ok(text.includes('77') && text.includes('Still a draft'))
  await rewrite(path, `${text}Draft,1,2,FALSE,x\n`)
  rowport.clock.advanceMs(60_000)
  assert.equal(await looked(), before)
  await rewrite(path, text.replace('Chair', 'Chair!'))
  rowport.clock.advanceMs(60_000)
  const after = await looked()
  assert.ok(after.includes('Chair!') && after !== before)
})

/** As if it had been done a while ago: what was written just now may still be being written. */
async function rewrite(path: string, text: string): Promise<void> {
  await writeFile(path, text)
  const earlier = new Date(Date.now() - 60_000)
  await utimes(path, earlier, earlier)
}
