import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { bearer, startRowport } from '../../harness.ts'

test('a column of numbers reads as one, however it is spelled, and the schema names the exceptions', async (t) => {
  const rowport = await startRowport(t)
  const key = bearer(await rowport.createKey())
  const spelled = [
    '.31',
    '1.00E+05',
    ' 7 ',
    '-18.43',
    '-18.430000000000007',
    '0050',
    '2.5e-07',
    'n/a',
    '',
    '12',
  ]
  const csv = `id,n\n${spelled.map((text, at) => `${at + 1},${text}`).join('\n')}\n`
  const { formA } = await rowport.connectFile('numbers', 'numbers.csv', csv)
  const rows = (await (await rowport.get(formA, key)).json()) as { n: unknown }[]
  assert.deepEqual(
    rows.map(({ n }) => n),
    [0.31, 100_000, 7, -18.43, '-18.430000000000007', '0050', 2.5e-7, 'n/a', null, 12],
  )
  const schema = (await (await rowport.get(`${formA}/schema`, key)).json()) as {
    properties: { n: { anyOf: unknown[]; description: string }; id: { description?: string } }
  }
  assert.deepEqual(schema.properties.n.anyOf, [{ type: 'number' }, { type: 'string' }, { type: 'null' }])
  assert.equal(
    schema.properties.n.description,
    'Numbers, but for 3 of 9 cells: "-18.430000000000007" in row 6, "0050" in row 7, "n/a" in row 9.',
  )
  assert.equal(schema.properties.id.description, undefined)
  const large = await rowport.get(`${formA}?n[gte]=7&sort=-n`, key)
  assert.deepEqual(
    ((await large.json()) as { n: unknown }[]).map(({ n }) => n),
    [100_000, 12, 7],
  )
})

test('a file in another encoding is served, and written back in it', async (t) => {
  const rowport = await startRowport(t)
  const key = bearer(await rowport.createKey())
  const text = 'Größe|Preis\r\nklein|5\r\n'
  const files: Record<string, Buffer> = {
    'utf-16.csv': Buffer.from(`\uFEFF${text}`, 'utf16le'),
    'windows.csv': Buffer.from(text, 'latin1'),
  }
  for (const [name, before] of Object.entries(files)) {
    const { formA, path } = await rowport.connectFile(name.replace('.csv', ''), name, before)
    assert.deepEqual(await (await rowport.get(formA, key)).json(), [{ Größe: 'klein', Preis: 5 }])
    const body = JSON.stringify({ Größe: 'groß', Preis: 7 })
    const added = await fetch(rowport.url + formA, { method: 'POST', headers: key, body })
    assert.equal(added.status, 201)
    const after = await readFile(path)
    assert.deepEqual(after.subarray(0, before.length), before)
    const more = 'groß|7\r\n'
    const encoding = name === 'windows.csv' ? 'latin1' : 'utf16le'
    assert.equal(after.subarray(before.length).toString(encoding), more)
  }
})

test('what the encoding of a file lacks is refused, and nothing is written', async (t) => {
  const rowport = await startRowport(t)
  const key = bearer(await rowport.createKey())
  const before = Buffer.from('Größe\nklein\n', 'latin1')
  const { formA, path } = await rowport.connectFile('windows', 'windows.csv', before)
  const body = JSON.stringify({ Größe: 'Łódź' })
  const refused = await fetch(rowport.url + formA, { method: 'POST', headers: key, body })
  assert.equal(refused.status, 400)
  assert.match(await refused.text(), /windows-1252, which has no \\"Ł\\"/)
  assert.deepEqual(await readFile(path), before)
})

test('new rows come before blank records at the end, which stay to the byte', async (t) => {
  const rowport = await startRowport(t)
  const key = bearer(await rowport.createKey())
  const { formA, path } = await rowport.connectFile('blank', 'blank.csv', 'a,b\n1,2\n,\n"",""\n')
  const added = await fetch(rowport.url + formA, { method: 'POST', headers: key, body: '{"a":3}' })
  assert.equal(added.headers.get('location'), `${formA}/3`)
  assert.equal(await readFile(path, 'utf8'), 'a,b\n1,2\n3,\n,\n"",""\n')
})

test('the line in which Excel is told the delimiter is no row, and stays where it is', async (t) => {
  const rowport = await startRowport(t)
  const key = bearer(await rowport.createKey())
  for (const [slug, hint, delimiter] of [
    ['semicolons', 'sep=;\r\n', ';'],
    ['commas', 'SEP=,\n', ','],
    ['quoted', '"sep=|"\n', '|'],
  ] as const) {
    const lines = [['Ort', 'Preis'].join(delimiter), ['Köln', '7'].join(delimiter)]
    const before = `\uFEFF${hint}${lines.join('\n')}\n`
    const { formA, path } = await rowport.connectFile(slug, `${slug}.csv`, before)
    const list = await rowport.get(`${formA}?row_numbers=true`, key)
    assert.deepEqual(await list.json(), [{ _row: 2, Ort: 'Köln', Preis: 7 }], slug)
    const body = JSON.stringify({ Ort: 'Bonn', Preis: 9 })
    const added = await fetch(rowport.url + formA, { method: 'POST', headers: key, body })
    assert.equal(added.status, 201)
    const change = { method: 'PATCH', headers: key, body: '{"Preis":8}' }
    assert.equal((await fetch(`${rowport.url}${formA}/2`, change)).status, 200)
    const after = [lines[0], ['Köln', '8'].join(delimiter), ['Bonn', '9'].join(delimiter)]
    assert.equal(await readFile(path, 'utf8'), `\uFEFF${hint}${after.join('\n')}\n`, slug)
  }
})
