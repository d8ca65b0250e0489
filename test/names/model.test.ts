import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { writeXlsx } from 'hucre/xlsx'
import { appendCsvRows } from '../../src/providers/file/csv/csv.fixture.ts'
import type { Cell } from '../../src/sheets/rows/grid.ts'
import type { Filter } from '../../src/sheets/rows/query/query.ts'
import { bearer, done, type Rowport, startRowport } from '../harness.ts'
import { times } from '../soak.ts'
import { startGoogleGround } from '../writing/google-ground.ts'
import { type Act, columns, SheetModel, type Target } from './sheet-model.ts'

/*
 * Any writes, one after the other, by number, by value, by filters, as upserts, on each provider: each is answered, and the sheet
 * then is, as the rules say; a dry run before it gives the same answer and changes nothing.
 */

const seed = 20_261_116
const names: readonly Exclude<Cell, null>[] = [
  'A-1',
  'a-1',
  'B',
  'x/y',
  7,
  '7',
  true,
  'TRUE',
  '2026-11-15',
  'ß 😀',
]
const value = fc.constantFrom(...names)
const price = fc.constantFrom<Cell>(1, 2.5, 100, 'n/a', null)
const added = fc.record({ sku: fc.option(value, { freq: 8 }), name: value, price })
const changed = fc.oneof(
  fc.record({ price: fc.constantFrom<Cell>(3, 'n/a', null) }),
  fc.record({ name: value, price }),
  fc.record({ sku: value }),
  fc.record({ sku: fc.constant(null) }),
)
const column = fc.constantFrom('sku' as const, 'name' as const)
const target: fc.Arbitrary<Target> = fc.oneof(
  { weight: 1, arbitrary: fc.record({ number: fc.integer({ min: 2, max: 9 }) }) },
  { weight: 3, arbitrary: fc.record({ column, value }) },
)
const filters: fc.Arbitrary<Filter[]> = fc
  .oneof(
    fc.record({
      column: fc.constant(2),
      operator: fc.constant('gte' as const),
      values: fc.constantFrom(['2'], ['50']),
    }),
    fc.record({
      column: fc.nat(1),
      operator: fc.constant('eq' as const),
      values: value.map((one) => [String(one)]),
    }),
    fc.record({
      column: fc.nat(2),
      operator: fc.constant('empty' as const),
      values: fc.constantFrom(['true'], ['false']),
    }),
  )
  .map((filter) => [filter])
const maxRows = fc.constantFrom(1, 2, 100)
const act: fc.Arbitrary<Act> = fc.oneof(
  fc.record({ kind: fc.constant('add' as const), rows: fc.array(added, { minLength: 1, maxLength: 2 }) }),
  fc.record({
    kind: fc.constant('upsert' as const),
    column,
    rows: fc.array(added, { minLength: 1, maxLength: 3 }),
    skip: fc.boolean(),
  }),
  fc.record({ kind: fc.constant('change' as const), target, row: changed }),
  fc.record({ kind: fc.constant('remove' as const), target }),
  fc.record({ kind: fc.constant('change many' as const), filters, row: changed, maxRows }),
  fc.record({ kind: fc.constant('remove many' as const), filters, maxRows }),
)
const histories = fc.record({ isKeyed: fc.boolean(), acts: fc.array(act, { minLength: 4, maxLength: 10 }) })
const atFirst: Cell[][] = [
  ['A-1', 'Lamp', 59.9],
  ['B', 'Table', 420],
  [7, 'Shelf', 'n/a'],
  ['2026-11-15', 'Chair', null],
]

type Ask = (method: string, path: string, body?: unknown) => Promise<{ status: number; body: Json }>
// biome-ignore lint/suspicious/noExplicitAny: the model says what is in it.
type Json = any

interface Ground {
  rowport: Rowport
  /** A new sheet with the first rows. */
  newSheet(slug: string): Promise<Ask>
}

const encoders = {
  csv: async () => appendCsvRows(new Uint8Array(), [[...columns], ...atFirst]),
  xlsx: async () => writeXlsx({ sheets: [{ name: 'Sheet1', rows: [[...columns], ...atFirst] }] }),
}

for (const kind of ['csv', 'xlsx'] as const)
  test(`${kind}: any writes by what rows hold do what the rules say`, (t) =>
    play(t, () => fileGround(t, kind), times(6, 400)))

test('Google: any writes by what rows hold do what the rules say', (t) =>
  play(
    t,
    async () => {
      const { rowport, newSheet } = await startGoogleGround(t, { speed: 5 })
      return {
        rowport,
        async newSheet(slug) {
          const sheet = await newSheet(slug, [[...columns], ...atFirst])
          return async (method, path, body) => sheet.ask(method, path, body === undefined ? {} : { body })
        },
      }
    },
    times(4, 150),
  ))

async function fileGround(t: TestContext, kind: keyof typeof encoders): Promise<Ground> {
  const rowport = await startRowport(t)
  const headers = bearer(await rowport.createKey())
  return {
    rowport,
    async newSheet(slug) {
      const { formA } = await rowport.connectFile(slug, `${slug}.${kind}`, await encoders[kind]())
      return async (method, path, body) => {
        const init = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) }
        const answer = await fetch(rowport.url + formA + path, init)
        return { status: answer.status, body: (await answer.json()) as Json }
      }
    },
  }
}

async function play(t: TestContext, start: () => Promise<Ground>, numRuns: number): Promise<void> {
  const { rowport, newSheet } = await start()
  const outcomes = new Map<string, number>()
  let made = 0
  await fc.assert(
    fc.asyncProperty(histories, async ({ isKeyed, acts }) => {
      const slug = `s${made++}`
      const ask = await newSheet(slug)
      if (isKeyed) done(await rowport.workshop.sheets.change('acme', slug, { keyColumn: 'sku' }))
      const model = new SheetModel(atFirst, isKeyed)
      for (const one of acts) {
        const { method, path, body } = requestOf(one)
        const dry = await ask(method, `${path}${path.includes('?') ? '&' : '?'}dry_run=true`, body)
        const told = model.do(one)
        const real = await ask(method, path, body)
        const context = `${JSON.stringify(one)} → ${JSON.stringify(real)}`
        assert.equal(real.status, told.status, context)
        if ('code' in told) assert.equal(real.body.code, told.code, context)
        else {
          const { message: _, ...rest } = real.body
          assert.deepEqual(rest, told.body, context)
          assert.equal(dry.body.dry_run, true)
          delete dry.body.dry_run
        }
        assert.deepEqual(dry, { ...real }, `the dry run of ${context}`)
        const outcome = `${one.kind} ${'code' in told ? told.code : told.status}`
        outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
        const list = await ask('GET', '?row_numbers=true')
        const wanted = model.rows.map((row, at) => model.shown(row, at + 2))
        assert.deepEqual(list.body, wanted, `the sheet after ${context}`)
        await readOne(ask, model, one)
      }
    }),
    { seed, numRuns },
  )
  t.diagnostic(
    [...outcomes]
      .sort()
      .map(([name, count]) => `${name} ×${count}`)
      .join(', '),
  )
}

/** What was named is then read by the same name. */
async function readOne(ask: Ask, model: SheetModel, act: Act): Promise<void> {
  if (!('target' in act) || !('column' in act.target)) return
  const { column: name, value: wanted } = act.target
  const read = await ask('GET', `/by/${name}/${encodeURIComponent(String(wanted))}`)
  const told = new SheetModel(model.rows, false).do({ kind: 'change', target: act.target, row: {} })
  assert.deepEqual('code' in told ? read.body.code : read.body, 'code' in told ? told.code : told.body.data)
}

function requestOf(act: Act): { method: string; path: string; body?: unknown } {
  switch (act.kind) {
    case 'add':
      return { method: 'POST', path: '', body: act.rows }
    case 'upsert':
      return {
        method: 'POST',
        path: `?upsert=${act.column}${act.skip ? '&on_match=skip' : ''}`,
        body: act.rows,
      }
    case 'change':
      return { method: 'PATCH', path: pathOf(act.target), body: act.row }
    case 'remove':
      return { method: 'DELETE', path: pathOf(act.target) }
    case 'change many':
      return { method: 'PATCH', path: queryOf(act), body: act.row }
    case 'remove many':
      return { method: 'DELETE', path: queryOf(act) }
  }
}

function pathOf(target: Target): string {
  if ('number' in target) return `/${target.number}`
  return `/by/${target.column}/${encodeURIComponent(String(target.value))}`
}

function queryOf({ filters: all, maxRows: most }: { filters: Filter[]; maxRows: number }): string {
  const parts = all.map(
    ({ column: at, operator, values }) =>
      `${columns[at]}[${operator}]=${encodeURIComponent(String(values[0]))}`,
  )
  return `?${parts.join('&')}&max_rows=${most}`
}
