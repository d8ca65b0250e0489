import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { test } from 'node:test'
import { buildWorkbook } from '../../../src/providers/file/xlsx/workbook.fixture.ts'
import { bearer, done, startRowport } from '../../harness.ts'

const header = '<row r="1"><c r="A1" t="str"><v>n</v></c><c r="B1" t="str"><v>twice, ö</v></c></row>'
const row = (number: number, n: number, twice: number) =>
  `<row r="${number}"><c r="A${number}"><v>${n}</v></c><c r="B${number}"><f>A${number}*2</f><v>${twice}</v></c></row>`
const workbookOf = (...rows: string[]) => buildWorkbook({ rows: header + rows.join('') })

interface Body {
  meta: { stale?: Record<string, number[]>; warnings?: string[] }
  data: Record<string, unknown>[]
  properties: Record<string, { type?: unknown; description?: string }>
}

test('results that rest on what was written are null and told to be missing, until they are calculated', async (t) => {
  const rowport = await startRowport(t)
  const key = bearer(await rowport.createKey())
  const before = workbookOf(row(2, 2, 4), row(3, 3, 6))
  const { formA, formB, path } = await rowport.connectFile('sums', 'sums.xlsx', before)
  const get = async (address: string) => {
    const answer = await rowport.get(address, key)
    return {
      warning: answer.headers.get('x-rowport-warning'),
      etag: answer.headers.get('etag'),
      body: (await answer.json()) as Body,
    }
  }
  const clean = await get(formB)
  assert.equal(clean.warning, null)
  assert.deepEqual([clean.body.meta.warnings, clean.body.meta.stale], [undefined, undefined])

  const patch = (address: string, body: string) =>
    fetch(rowport.url + address, { method: 'PATCH', headers: { ...key, 'Idempotency-Key': address }, body })
  const written = await patch(`${formB}/2`, '{"n":1000}')
  const said =
    'Formulas that rest on what was written are not calculated: 1 cell has no result, until a spreadsheet program has opened and saved the workbook.'
  assert.equal(written.headers.get('x-rowport-warning'), said)
  assert.deepEqual(await written.json(), {
    data: { n: 1000, 'twice, ö': null },
    meta: { row: 2, stale: { 'twice, ö': [2] }, warnings: [said] },
  })
  const replayed = await patch(`${formB}/2`, '{"n":1000}')
  assert.equal(replayed.headers.get('x-rowport-warning'), said)

  const list = await get(formB)
  const ofSheet =
    'Formulas of this sheet were not calculated since the last write: 1 cell has no result or an earlier one, until a spreadsheet program has opened and saved the workbook.'
  assert.deepEqual([list.warning, list.body.meta.warnings], [ofSheet, [ofSheet]])
  assert.deepEqual(list.body.meta.stale, { 'twice, ö': [2] })
  assert.deepEqual(list.body.data[0], { n: 1000, 'twice, ö': null })
  assert.equal((await get(formA)).warning, ofSheet)
  const csv = await rowport.get(`${formA}?format=csv`, key)
  assert.equal(csv.headers.get('x-rowport-warning'), ofSheet)
  assert.deepEqual((await get(`${formB}?n=3`)).body.meta.stale, undefined, 'not in these rows')
  assert.deepEqual((await get(`${formB}/2`)).body.meta.stale, { 'twice, ö': [2] })
  assert.match((await get(`${formA}/2`)).warning ?? '', /of this row/)
  assert.equal((await get(`${formA}/3`)).warning, null)
  const schema = await get(`${formA}/schema`)
  assert.equal(
    schema.body.properties['twice, ö']?.description,
    'Results of formulas; in row 2 not calculated since the last write.',
  )

  assert.deepEqual(schema.body.properties['twice, ö']?.type, ['integer', 'null'])

  const inFormA = await patch(`${formA}/3`, '{"n":5}')
  const body = (await inFormA.json()) as { stale: unknown; warnings: string[] }
  assert.deepEqual([body.stale, body.warnings], [{ 'twice, ö': [3] }, [said]])

  const { etag } = await get(formB)
  // A spreadsheet program has calculated and saved it; the results are what they were.
  await writeFile(path, workbookOf(row(2, 1000, 4), row(3, 5, 6)))
  const calculated = await rowport.get(formB, {
    ...key,
    'Cache-Control': 'no-cache',
    'If-None-Match': etag ?? '',
  })
  assert.equal(calculated.status, 200)
  assert.equal(calculated.headers.get('x-rowport-warning'), null)
})

test('where results are missing and keys are repeated, both are told', async (t) => {
  const rowport = await startRowport(t)
  const key = bearer(await rowport.createKey())
  const before = workbookOf(row(2, 2, 4), row(3, 3, 6), row(4, 4, 8))
  const { formA, formB, path } = await rowport.connectFile('sums', 'sums.xlsx', before)
  done(await rowport.workshop.sheets.change('acme', 'sums', { keyColumn: 'n' }))
  await writeFile(path, workbookOf(row(2, 2, 4), row(3, 2, 4), row(4, 4, 8)))
  const written = await fetch(`${rowport.url}${formA}/4`, { method: 'PATCH', headers: key, body: '{"n":9}' })
  assert.equal(written.status, 200)
  for (const [address, old] of [
    [formB, /^Formulas of this sheet were not calculated.*\.$/],
    [`${formB}/4`, /^Formulas of this row were not calculated.*\.$/],
    [`${formB}?aggregate=sum(n)`, /^Formulas of this sheet were not calculated.*\.$/],
  ] as const) {
    const answer = await rowport.get(address, key)
    const { warnings = [] } = ((await answer.json()) as Body).meta
    assert.match(warnings[0] ?? '', old)
    assert.deepEqual(warnings.slice(1), ['Rows with a key that another row has too: 2, 3.'])
    assert.equal(answer.headers.get('x-rowport-warning'), warnings.join(' '))
  }
})

test('a row of nothing but formulas that are not calculated is a row: listed, read, changed and deleted', async (t) => {
  const rowport = await startRowport(t)
  const key = bearer(await rowport.createKey())
  const sum = '<row r="4"><c r="B4"><f>SUM(A2:A3)</f><v>5</v></c></row>'
  const prepared = '<row r="6"><c r="B6" t="str"><f>IF(A6="","",A6)</f><v></v></c></row>'
  const before = workbookOf(row(2, 2, 4), row(3, 3, 6), sum, prepared)
  const { formA, formB } = await rowport.connectFile('sums', 'sums.xlsx', before)
  const send = async (method: string, address: string, body?: unknown) => {
    const sent = { method, headers: key, ...(body !== undefined && { body: JSON.stringify(body) }) }
    const answer = await fetch(rowport.url + address, sent)
    return { status: answer.status, body: (await answer.json()) as Body & { meta: { rows: number[] } } }
  }
  assert.equal((await send('PATCH', `${formB}/2`, { n: 10 })).status, 200)
  const list = await send('GET', `${formB}?row_numbers=true`)
  assert.deepEqual(list.body.data, [
    { _row: 2, n: 10, 'twice, ö': null },
    { _row: 3, n: 3, 'twice, ö': 6 },
    { _row: 4, n: null, 'twice, ö': null },
  ])
  assert.deepEqual(list.body.meta.stale, { 'twice, ö': [2, 4] })
  const one = await send('GET', `${formB}/4`)
  assert.deepEqual([one.status, one.body.meta.stale], [200, { 'twice, ö': [4] }])
  assert.deepEqual((await send('GET', `${formA}?values=formatted&n=`)).status, 200)

  const added = await send('POST', formB, { n: 7 })
  assert.deepEqual([added.status, added.body.meta.rows], [201, [5]])
  assert.equal((await send('DELETE', `${formB}/5`)).status, 200)
  const changed = await send('PATCH', `${formB}/4`, { n: 1 })
  assert.deepEqual([changed.status, changed.body.data], [200, { n: 1, 'twice, ö': null }])
  assert.equal((await send('PATCH', `${formB}/4`, { n: null })).status, 200)
  assert.equal((await send('DELETE', `${formB}/4`)).status, 200)
  assert.equal((await send('GET', formB)).body.data.length, 2)
})

test('formulas that were never calculated make a row, also the last one', async (t) => {
  const rowport = await startRowport(t)
  const key = bearer(await rowport.createKey())
  const never = '<row r="3"><c r="A3"><f>A2+1</f><v></v></c></row><row r="5"><c r="B5"><f>A2*2</f></c></row>'
  const { formA, formB } = await rowport.connectFile('never', 'never.xlsx', workbookOf(row(2, 2, 4), never))
  const { data, meta } = (await (await rowport.get(`${formB}?row_numbers=true`, key)).json()) as Body
  assert.deepEqual(
    data.map(({ _row }) => _row),
    [2, 3, 5],
  )
  assert.deepEqual(meta.stale, { n: [3], 'twice, ö': [5] })
  const patched = await fetch(`${rowport.url}${formA}/5`, { method: 'PATCH', headers: key, body: '{"n":8}' })
  assert.equal(patched.status, 200, await patched.text())
  assert.equal((await fetch(`${rowport.url}${formA}/3`, { method: 'DELETE', headers: key })).status, 200)
})
