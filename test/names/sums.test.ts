import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bearer, startRowport } from '../harness.ts'

const orders = [
  'category,day,price,city,"a,b"',
  'Lamps,2026-11-15,59.9,Berlin,1',
  'lamps,2026-11-16T09:30:00,89,BERLIN,2',
  'Tables,2026-10-01,420,Bonn,3',
  'Tables,soon,"n/a",,4',
  'Chairs,,0.1,Bonn,5',
  'Chairs,2025-01-31,0.2,Köln,6',
].join('\n')

test('sums in both forms and every format, with what was left out', async (t) => {
  const rowport = await startRowport(t)
  const sheet = await rowport.connectFile('orders', 'orders.csv', orders)
  const key = bearer(await rowport.createKey())
  const query =
    'group_by=category&aggregate=count(),sum(price),avg(price),max(day),count_distinct(city)&sort=-sum_price'
  const flat = await rowport.get(`${sheet.formA}?${query}`, key)
  const rows = [
    {
      category: 'Tables',
      count: 2,
      sum_price: 420,
      avg_price: 420,
      max_day: '2026-10-01',
      count_distinct_city: 1,
    },
    {
      category: 'Lamps',
      count: 2,
      sum_price: 148.9,
      avg_price: 74.45,
      max_day: '2026-11-16T09:30:00',
      count_distinct_city: 1,
    },
    {
      category: 'Chairs',
      count: 2,
      sum_price: 0.3,
      avg_price: 0.15,
      max_day: '2025-01-31',
      count_distinct_city: 2,
    },
  ]
  assert.equal(flat.status, 200)
  assert.deepEqual(await flat.json(), rows)
  assert.equal(flat.headers.get('x-ignored-cells'), 'price=1, day=1')
  assert.equal(flat.headers.get('x-total-count'), '3')
  const nested = await rowport.get(`${sheet.formB}?${query}&limit=2`, key)
  const { data, meta } = (await nested.json()) as { data: unknown; meta: Record<string, unknown> }
  assert.deepEqual(data, rows.slice(0, 2))
  assert.deepEqual(
    [meta.total, meta.count, meta.ignored, meta.rows, meta.columns],
    [3, 2, { price: 1, day: 1 }, undefined, Object.keys(rows[0] ?? {})],
  )
  assert.match(nested.headers.get('link') ?? '', /aggregate=count.*offset=2.*rel="next"/)
  const csv = await rowport.get(`${sheet.formA}?group_by=month(day)&format=csv`, key)
  assert.equal(await csv.text(), 'month_day,count\r\n"2026-11",2\r\n"2026-10",1\r\n,2\r\n"2025-01",1\r\n')
})

test('a cell that several functions leave out is counted once, and each that any of them does', async (t) => {
  const rowport = await startRowport(t)
  const days = ['day', '2026-11-15', '2026-11-16', 'soon', '7', '', 'TRUE'].map((day) => `${day},1`)
  const sheet = await rowport.connectFile('days', 'days.csv', days.join('\n'))
  const key = bearer(await rowport.createKey())
  const ignoredBy = async (query: string) =>
    (await rowport.get(`${sheet.formA}?${query}`, key)).headers.get('x-ignored-cells')
  assert.equal(await ignoredBy('group_by=month(day)'), 'day=3', 'a text, a number and a boolean')
  assert.equal(await ignoredBy('aggregate=sum(day)'), 'day=4', 'all but the number')
  assert.equal(
    await ignoredBy('group_by=month(day)&aggregate=sum(day)'),
    'day=5',
    'every cell but the empty one',
  )
  assert.equal(await ignoredBy('group_by=month(day)&aggregate=sum(day),avg(day)&day[gt]=2026-01-01'), 'day=2')
})

test('a sum of whole numbers is exact as far as JSON goes, others have 15 digits', async (t) => {
  const rowport = await startRowport(t)
  const cells = [
    'whole,others',
    '999999999999999,100000000000.1',
    '999999999999999,0.23',
    '999999999999999,0.00004',
  ]
  const more = Array.from({ length: 6 }, () => '999999999999999,')
  const sheet = await rowport.connectFile('s', 's.csv', [...cells, ...more].join('\n'))
  const answer = await rowport.get(
    `${sheet.formA}?aggregate=sum(whole),sum(others)`,
    bearer(await rowport.createKey()),
  )
  assert.equal(await answer.text(), '[{"sum_whole":8999999999999991,"sum_others":100000000000.33}]')
})

test('without groups there is one row, also of no rows; distinct is short for a count', async (t) => {
  const rowport = await startRowport(t)
  const sheet = await rowport.connectFile('orders', 'orders.csv', orders)
  const key = bearer(await rowport.createKey())
  const json = async (query: string) => (await rowport.get(`${sheet.formA}?${query}`, key)).json()
  assert.deepEqual(await json('aggregate=count(),sum(price)'), [{ count: 6, sum_price: 569.2 }])
  assert.deepEqual(await json('aggregate=count(),sum(price),avg(price),min(day)&city=Rome'), [
    { count: 0, sum_price: 0, avg_price: null, min_day: null },
  ])
  assert.deepEqual(await json('group_by=city&city=Rome'), [])
  assert.deepEqual(
    await json(
      'group_by[]=category&group_by[]=year(day)&aggregate[0]=sum(price)&aggregate[1]=count()&limit=1',
    ),
    await json('group_by=category,year(day)&aggregate=sum(price),count()&limit=1'),
  )
  assert.deepEqual(await json('distinct[]=city'), await json('distinct=city'))
  assert.deepEqual(await json('distinct=city&sort=city&fields=city'), [
    { city: 'Berlin' },
    { city: 'Bonn' },
    { city: 'Köln' },
    { city: null },
  ])
  assert.deepEqual(await json('aggregate=sum(a,b),count()&group_by=year(day)&q=lamps'), [
    { year_day: 2026, 'sum_a,b': 3, count: 2 },
  ])
})

test('what means nothing is refused, and the answer says what would', async (t) => {
  const rowport = await startRowport(t)
  const sheet = await rowport.connectFile('orders', 'orders.csv', orders)
  const key = bearer(await rowport.createKey())
  const cases: [query: string, details: RegExp][] = [
    ['aggregate=sum(prize)', /There is no column "prize" for "aggregate".* Did you mean "price"/],
    ['aggregate=total(price)', /no function "total" for "aggregate".*count, sum/],
    ['aggregate=price', /"price" is no figure/],
    ['aggregate=sum()', /"sum\(\)" lacks/],
    ['group_by=week(day)', /no function "week" for "group_by".*year, month, day/],
    ['group_by=town', /no column "town" for "group_by"/],
    ['distinct=city&aggregate=count()', /"distinct" stands alone/],
    ['distinct=city&row_numbers=true', /"row_numbers" cannot be used/],
    ['distinct=city&values=formatted', /cannot be used with sums/],
    ['distinct=city&sort=price', /no column "price" for "sort".*"city", "count"/],
  ]
  for (const [query, details] of cases) {
    const answer = await rowport.get(`${sheet.formA}?${query}`, key)
    const body = (await answer.json()) as { code: string; details: string }
    assert.deepEqual([answer.status, body.code], [400, 'invalid_query'], query)
    assert.match(body.details, details)
  }
  const row = await rowport.get(`${sheet.formA}/2?distinct=city`, key)
  assert.equal(row.status, 400)
})

test('sums as long as tens of megabytes are refused with what to do, and read in pages', async (t) => {
  const rowport = await startRowport(t, { isTimePassing: true })
  const rows = Array.from({ length: 120_000 }, (_, n) => `${n},${n % 9}`)
  const sheet = await rowport.connectFile('many', 'many.csv', ['number,remainder', ...rows].join('\n'))
  const key = bearer(await rowport.createKey())
  const figures = ['count', 'sum', 'avg', 'min', 'max', 'count_distinct']
  const aggregate = ['number', 'remainder'].flatMap((name) => figures.map((fold) => `${fold}(${name})`))
  const query = `group_by=number,remainder&aggregate=count(),${aggregate}`
  const refused = await rowport.get(`${sheet.formA}?${query}`, key)
  assert.equal(refused.status, 400)
  const { code, details } = (await refused.json()) as { code: string; details: string }
  assert.equal(code, 'invalid_query')
  assert.match(details, /32 MiB.*Group by less.*"limit"/)
  const paged = await rowport.get(`${sheet.formA}?${query}&sort=-sum_number&limit=2&offset=10`, key)
  assert.equal(paged.headers.get('x-total-count'), '120000')
  const page = (await paged.json()) as { number: number; max_number: number; count: number }[]
  assert.deepEqual(
    page.map(({ number, max_number, count }) => [number, max_number, count]),
    [
      [119_989, 119_989, 1],
      [119_988, 119_988, 1],
    ],
  )
  assert.equal((await rowport.get(`${sheet.formA}?distinct=number`, key)).status, 200)
})
