import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { type TestContext, test } from 'node:test'
import { buildWorkbook } from '../../src/providers/file/xlsx/workbook.fixture.ts'
import { signedIn } from '../connect/visitor.ts'
import { bearer, startRowport } from '../harness.ts'

const columns = Array.from({ length: 2_001 }, (_, at) => `c${at}`)

test('a sheet with 2,000 columns is served; one more, and its owner is told what to do', async (t) => {
  const { rowport, ask } = await start(t)
  const widest = await rowport.connectFile(
    'widest',
    'widest.csv',
    `${columns.slice(1)}\n${'1,'.repeat(1_999)}1\n`,
  )
  const [row] = (await (await ask(widest.formA)).json()) as object[]
  assert.equal(Object.keys(row ?? {}).length, 2_000)
  const cells = columns.map((name) => `<c t="inlineStr"><is><t>${name}</t></is></c>`)
  const wider = {
    csv: await rowport.connectFile('csv', 'wider.csv', `${columns}\n1,2\n`),
    xlsx: await rowport.connectFile(
      'xlsx',
      'wider.xlsx',
      buildWorkbook({ rows: `<row>${cells.join('')}</row>` }),
    ),
  }
  for (const [kind, sheet] of Object.entries(wider)) {
    const before = await readFile(sheet.path)
    for (const [method, path, body] of [
      ['GET', sheet.formA, null],
      ['GET', `${sheet.formA}/2`, null],
      ['GET', `${sheet.formA}/schema`, null],
      ['POST', sheet.formA, '{"c1":1}'],
      ['PUT', `${sheet.formA}/2`, '{"c1":1}'],
      ['DELETE', `${sheet.formA}/2`, null],
    ] as const) {
      const answer = await ask(path, { method, body })
      const { error, code } = (await answer.json()) as { error: string; code: string }
      assert.deepEqual([answer.status, code], [502, 'google_api_error'], `${kind} ${method} ${path}`)
      assert.match(
        error,
        /^Failed to (?:read from|write to|update to|delete from) sheet: the sheet has more than 2,000 columns with a name in row 1; remove some, or split the sheet into several$/,
      )
    }
    assert.deepEqual(await readFile(sheet.path), before, kind)
  }
})

test('headers far to the right count as what they are: few', async (t) => {
  const { rowport, ask } = await start(t)
  const sheet = await rowport.connectFile(
    'far',
    'far.csv',
    `a${','.repeat(10_000)}b\n1${','.repeat(10_000)}2\n`,
  )
  assert.deepEqual(await (await ask(sheet.formA)).json(), [{ a: 1, b: 2 }])
  const added = await ask(sheet.formA, { method: 'POST', body: '{"b":3}' })
  assert.equal(added.status, 201)
  assert.deepEqual(await (await ask(`${sheet.formA}/3`)).json(), { a: null, b: 3 })
})

test('what a write would make of a wide sheet or a long row has an end too', async (t) => {
  const { rowport, ask } = await start(t)
  const wide = await rowport.connectFile('wide', 'wide.csv', `${columns.slice(1)}\n1\n`)
  const rows = (count: number) => JSON.stringify(Array.from({ length: count }, () => ({ c2000: 1 })))
  const tooMany = await ask(wide.formA, { method: 'POST', body: rows(1_000) })
  assert.equal(tooMany.status, 413)
  const { details } = (await tooMany.json()) as { details: string }
  const allowed = Number(/a request may add (\d+) rows; this one has 1000/.exec(details)?.[1])
  assert.ok(allowed >= 100, details)
  assert.equal((await ask(wide.formA, { method: 'POST', body: rows(allowed) })).status, 201)

  const long = await rowport.connectFile('long', 'long.csv', `${columns.slice(1)}\n1\n`)
  const cells = (from: number) =>
    JSON.stringify(
      Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`c${from + at}`, 'x'.repeat(50_000)])),
    )
  assert.equal((await ask(`${long.formA}/2`, { method: 'PUT', body: cells(1) })).status, 200)
  const tooLong = await ask(`${long.formA}/2`, { method: 'PUT', body: cells(41) })
  assert.equal(tooLong.status, 200, 'just under 4 MiB')
  const beyond = await ask(`${long.formA}/2`, { method: 'PUT', body: cells(81) })
  assert.equal(beyond.status, 413)
  assert.match(await beyond.text(), /A row may have 4 MiB; with this change it would have more/)
  assert.equal((await ask(`${long.formA}/2`)).status, 200, 'what was written can be read')
})

test('the dashboard shows a wide sheet as far as it fits a page', async (t) => {
  const { rowport, ask } = await start(t)
  const text = 'x'.repeat(50_000)
  const row = columns.slice(1, 61).map(() => text)
  const long = await rowport.connectFile('long', 'long.csv', `${columns.slice(1)}\n${`${row}\n`.repeat(8)}`)
  const visitor = await signedIn(rowport)
  const many = await visitor.call<{ error: { message: string } }>('GET', '/sheets/long/rows?limit=8')
  assert.equal(many.status, 400, many.text.slice(0, 200))
  assert.match(many.text, /too long to be shown together/)
  const some = await visitor.call<{ data: object[] }>('GET', '/sheets/long/rows?limit=2')
  assert.equal(some.status, 200)
  assert.equal(some.json.data.length, 2)
  assert.equal(some.headers['content-length'], undefined, 'it is sent while it is made, never as one text')
  const described = (await (await ask(`${long.formA}/openapi.json`)).json()) as { paths: object }
  assert.ok(Object.keys(described.paths).includes(long.formA))
})

async function start(t: TestContext) {
  const rowport = await startRowport(t, { settings: { maxSnapshotBytes: 256 * 1024 * 1024 } })
  const key = await rowport.createKey()
  const ask = (path: string, more: { method?: string; body?: string | null } = {}) =>
    fetch(rowport.url + path, { ...more, headers: bearer(key) })
  return { rowport, ask }
}
