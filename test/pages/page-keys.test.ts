import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { test } from 'node:test'
import { Problem } from '../../src/management/problem.ts'
import { bearer, done, type Rowport, startMs, startRowport } from '../harness.ts'
import { createPageKey, fromPage, home } from './page-keys.ts'

const products = 'name,price,stock,source,at\nChair,10,1,,\nTable,20,2,,\nLamp,30,,,\n'

async function shop(t: Parameters<typeof startRowport>[0], wish: Parameters<typeof startRowport>[1] = {}) {
  const rowport = await startRowport(t, wish)
  const sheet = await rowport.connectFile('products', 'products.csv', products)
  return { rowport, ...sheet }
}

async function codeOf(response: Response): Promise<string> {
  return ((await response.json()) as { code: string }).code
}

function post(rowport: Rowport, path: string, headers: Record<string, string>, body: unknown) {
  return fetch(rowport.url + path, { method: 'POST', headers, body: JSON.stringify(body) })
}

test('a publishable key works from its pages alone, is shown in full, and ends when it is revoked', async (t) => {
  const { rowport, formA, formB } = await shop(t)
  const key = await createPageKey(rowport, 'products', {
    origins: [home, 'https://*.example.org', 'HTTP://LocalHost:3000/'],
  })
  assert.match(key.value, /^pk_live_[0-9A-Za-z]{32}$/)
  const allowed = [home, 'https://a.example.org', 'https://a.b.example.org', 'http://localhost:3000']
  for (const origin of allowed)
    assert.equal((await rowport.get(formA, fromPage(key, origin))).status, 200, origin)
  const others = [
    'https://elsewhere.example',
    `${home}:444`,
    'http://shop.example',
    'https://example.org',
    'null',
  ]
  const spoofed = [
    ...['https://evilexample.org', 'https://shop.example.evil.test', 'https://.example.org'],
    ...['https://evil.test/.example.org', 'https://evil.test#.example.org', 'https://u@a.example.org'],
  ]
  for (const origin of [...others, ...spoofed]) {
    const refused = await rowport.get(formA, fromPage(key, origin))
    assert.equal(refused.status, 403, origin)
    assert.equal(refused.headers.get('access-control-allow-origin'), '*')
    assert.equal(refused.headers.get('x-ratelimit-limit'), null)
    assert.equal(await codeOf(refused), 'origin_not_allowed')
  }
  assert.equal(await codeOf(await rowport.get(formA, bearer(key))), 'origin_not_allowed')
  const inQuery = await rowport.get(`${formA}?api_key=${key.value}`, { Origin: home })
  assert.equal(inQuery.status, 200)

  const listed = done(await rowport.workshop.keys.list('acme'))
  assert.equal(listed[0]?.publicValue, key.value)
  const other = await rowport.connectFile('other', 'other.csv', 'a\n1\n')
  assert.equal(await codeOf(await rowport.get(other.formA, fromPage(key))), 'invalid_api_key')
  done(await rowport.workshop.keys.revoke(key.id))
  for (const form of [formA, formB]) assert.equal((await rowport.get(form, fromPage(key))).status, 403)
})

test('it reads and adds as far as its policy says, and never changes or deletes', async (t) => {
  const { rowport, formA, path } = await shop(t)
  const reads = await createPageKey(rowport, 'products', { may: ['read'], origins: 'any' })
  const adds = await createPageKey(rowport, 'products', {
    may: ['add'],
    writeColumns: ['Name', 'price'],
    set: [
      ['source', 'site'],
      ['at', 'now()'],
    ],
  })
  assert.equal((await rowport.get(formA, bearer(reads))).status, 200)
  assert.equal(await codeOf(await post(rowport, formA, fromPage(reads), { name: 'x' })), 'insufficient_scope')
  assert.equal(await codeOf(await rowport.get(formA, fromPage(adds))), 'insufficient_scope')
  for (const key of [reads, adds])
    for (const method of ['PUT', 'PATCH', 'DELETE']) {
      const body = method === 'DELETE' ? null : '{"name":"x"}'
      const refused = await fetch(`${rowport.url}${formA}/2`, { method, headers: fromPage(key), body })
      assert.equal(await codeOf(refused), 'insufficient_scope')
    }
  for (const below of ['?upsert=name', '/refresh', '/operations/op_x/undo'])
    assert.equal(
      await codeOf(await post(rowport, formA + below, fromPage(adds), { name: 'Chair' })),
      'insufficient_scope',
    )

  const added = await post(rowport, formA, fromPage(adds), [{ NAME: '=1+1', price: 5 }, { name: 'Sofa' }])
  assert.equal(added.status, 201)
  assert.deepEqual(await added.json(), {
    success: true,
    message: '2 row(s) added',
    rows_added: 2,
    rows: [{}, {}],
  })
  assert.equal(added.headers.get('operation-id'), null)
  const at = new Date(startMs).toISOString()
  const text = await readFile(path, 'utf8')
  assert.ok(text.endsWith(`"=1+1",5,,site,${at}\nSofa,,,site,${at}\n`), text)
  const refused = await post(rowport, formA, fromPage(adds), { name: 'x', source: 'mine' })
  assert.equal(await codeOf(refused), 'invalid_body')
  const form = await fetch(rowport.url + formA, {
    method: 'POST',
    headers: { ...fromPage(adds), 'Content-Type': 'application/x-www-form-urlencoded' },
    body: 'name=Bench&price=12',
  })
  assert.equal(form.status, 201)
  assert.ok((await readFile(path, 'utf8')).endsWith(`Bench,12,,site,${at}\n`))
})

test('an answer has at most so many rows, and says how to go on', async (t) => {
  const { rowport, formA, formB } = await shop(t)
  const key = await createPageKey(rowport, 'products', { maxRows: 2 })
  for (const query of ['', '?limit=50']) {
    const first = await rowport.get(formA + query, fromPage(key))
    assert.equal(((await first.json()) as unknown[]).length, 2)
    assert.equal(first.headers.get('x-total-count'), '3')
    assert.match(first.headers.get('link') ?? '', /offset=2>; rel="next"/)
  }
  const { meta } = (await (await rowport.get(formB, fromPage(key))).json()) as { meta: { limit: number } }
  assert.equal(meta.limit, 2)
  const groups = await rowport.get(`${formA}?distinct=name`, fromPage(key))
  assert.equal(((await groups.json()) as unknown[]).length, 2)
})

test('a policy that the sheet no longer fits shows nothing and says nothing', async (t) => {
  const { rowport, formA } = await shop(t)
  const key = await createPageKey(rowport, 'products', { where: 'stock[gte]=1', set: [['source', 'x']] })
  assert.equal(((await (await rowport.get(formA, fromPage(key))).json()) as unknown[]).length, 2)
  await rowport.connectFile('renamed', 'products.csv', products.replace('stock,source', 'amount,origin'))
  rowport.clock.advanceMs(60_000)
  for (const answer of [
    await rowport.get(formA, fromPage(key)),
    await post(rowport, formA, fromPage(key), { name: 'x' }),
  ]) {
    const text = await answer.text()
    assert.equal(answer.status, 403)
    assert.match(text, /insufficient_scope/)
    assert.ok(!text.includes('stock') && !text.includes('source') && !text.includes('amount'), text)
  }
})

test('visitors have windows and a month of their own, which are not those of secret keys', async (t) => {
  const { rowport, formA } = await shop(t, { plan: 'pro', settings: { trustedProxies: ['127.0.0.1'] } })
  const key = await createPageKey(rowport, 'products', { requestsPerMinute: 3 })
  const secret = await rowport.createKey()
  const from = (address: string) => rowport.get(formA, { ...fromPage(key), 'X-Forwarded-For': address })
  for (const address of ['198.51.100.1', '198.51.100.2'])
    for (let n = 0; n < 4; n++) {
      const answer = await from(address)
      assert.equal(answer.status, n < 3 ? 200 : 429)
      assert.equal(answer.headers.get('x-ratelimit-limit'), '3')
    }
  // From so many addresses that the key as a whole has its fill: 300 a minute, as the plan says.
  let refused = 0
  for (let n = 0; n < 110; n++)
    for (let time = 0; time < 3; time++) if ((await from(`203.0.113.${n}`)).status === 429) refused++
  assert.equal(refused, 330 - (300 - 6))
  const owners = await rowport.get(formA, bearer(secret))
  assert.equal(owners.status, 200)
  assert.equal(owners.headers.get('x-ratelimit-remaining'), '299')
  assert.equal(owners.headers.get('x-quota-remaining'), '249999')
  rowport.clock.advanceMs(60_000)
  assert.equal((await from('198.51.100.1')).status, 200)
})

test('a policy is checked when it is made and changed, and a change holds at once', async (t) => {
  const { rowport, formA } = await shop(t)
  const { keys } = rowport.workshop
  const wrong = [
    { may: [] },
    { origins: [] },
    { origins: ['shop.example'] },
    { origins: ['https://shop.example/path'] },
    { origins: ['https://a.*.example'] },
    { readColumns: ['nothing'] },
    { writeColumns: ['nothing'] },
    { readColumns: Array.from({ length: 2_000 }, () => 'name') },
    { where: 'nothing=1' },
    { where: 'limit=1' },
    { where: 'utm_source=1' },
    { where: '%zz' },
    { set: [['nothing', 'x']] as const },
    { maxRows: 0 },
    { requestsPerMinute: 0.5 },
  ]
  for (const wish of wrong) {
    const policy = { may: ['read'] as const, origins: 'any' as const, ...wish }
    const asked = { accountSlug: 'acme', sheetSlug: 'products', name: 'x', mode: 'live' as const, policy }
    assert.ok((await keys.createPublishable(asked)) instanceof Problem, JSON.stringify(wish))
  }
  const key = await createPageKey(rowport, 'products')
  assert.equal(
    Object.keys(((await (await rowport.get(formA, fromPage(key))).json()) as object[])[0] ?? {}).length,
    5,
  )
  done(
    await keys.setPolicy(key.id, {
      may: ['read'],
      origins: [home],
      readColumns: ['PRICE'],
      where: 'price[gt]=10',
    }),
  )
  assert.deepEqual(await (await rowport.get(formA, fromPage(key))).json(), [{ price: 20 }, { price: 30 }])
  assert.ok((await keys.setScope(key.id, 'read-write')) instanceof Problem)
  const next = done(await keys.regenerate(key.id))
  assert.equal((await rowport.get(formA, fromPage(key))).status, 403)
  assert.deepEqual(await (await rowport.get(formA, fromPage(next))).json(), [{ price: 20 }, { price: 30 }])
  assert.ok(
    (await keys.setPolicy((await rowport.createKey()).id, { may: ['read'], origins: 'any' })) instanceof
      Problem,
  )
})

test('a form is typed, and a dry run placed, by what the key sees of the sheet', async (t) => {
  const answers: string[] = []
  for (const hidden of ['7,no,secret\n', 'cheap,no,secret\n,,below\n,,below\n']) {
    const rowport = await startRowport(t)
    const csv = `price,shown,note\n5,yes,x\n${hidden}`
    const { formA } = await rowport.connectFile('products', 'products.csv', csv)
    const rows = await createPageKey(rowport, 'products', { where: 'shown=yes' })
    const columns = await createPageKey(rowport, 'products', { readColumns: ['shown'] })
    const form = { method: 'POST', headers: fromPage(rows), body: new URLSearchParams({ price: '89' }) }
    const typed = await fetch(`${rowport.url}${formA}?dry_run=true`, form)
    assert.equal(typed.status, 201, await typed.clone().text())
    const placed = await post(rowport, `${formA}?dry_run=true`, fromPage(columns), { shown: 'yes' })
    assert.equal(placed.status, 201, await placed.clone().text())
    answers.push(`${await typed.text()} ${await placed.text()} ${placed.headers.get('location')}`)
  }
  assert.equal(answers[0], answers[1])
  assert.match(answers[0] ?? '', /"price":89\b/)
})

test('pages cannot make Rowport ask the provider, and see the same through both forms', async (t) => {
  const { rowport, formA, formB, path } = await shop(t)
  const key = await createPageKey(rowport, 'products', { readColumns: ['name'] })
  const first = await (await rowport.get(formA, fromPage(key))).json()
  await writeFile(path, 'name\nchanged\n')
  const again = await rowport.get(formA, { ...fromPage(key), 'Cache-Control': 'no-cache' })
  assert.deepEqual(await again.clone().json(), first)
  // Both would tell when something was written that the page may not see.
  assert.deepEqual([again.headers.get('age'), again.headers.get('cache-status')], [null, null])
  const { data } = (await (await rowport.get(formB, fromPage(key))).json()) as { data: unknown }
  assert.deepEqual(await again.json(), data)
  const etag = again.headers.get('etag') ?? ''
  assert.equal((await rowport.get(formA, { ...fromPage(key), 'If-None-Match': etag })).status, 304)
})
