import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { Change } from '../../src/sheets/change.ts'
import type { Prepared } from '../../src/sheets/provider.ts'
import type { Cell, Grid } from '../../src/sheets/rows/grid.ts'
import { columnsOf } from '../../src/sheets/rows/table.ts'
import { startWritingGround, type Tab, type WritingGround } from './writing-ground.ts'

/** Writes as the lane makes them, step by step. */
export async function prepared(
  { google }: WritingGround,
  { place }: Tab,
  changes: readonly Change[],
): Promise<Prepared> {
  const { version, grid } = await looked(google, place, changes)
  const made = await google.provider.prepare(place, changes, version, columnsOf(grid))
  assert.ok(made !== 'conflict' && 'commit' in made, JSON.stringify(made))
  return made
}

async function looked(
  { provider }: WritingGround['google'],
  place: Tab['place'],
  changes: readonly Change[],
): Promise<{ version: string; grid: Grid }> {
  const wanted = changes.flatMap((change) =>
    change.kind === 'add' || change.kind === 'insert'
      ? []
      : { kind: change.kind, from: change.rowNumber, to: change.rowNumber },
  )
  const rows = wanted.length === changes.length ? await provider.fetchRows?.(place, wanted) : null
  if (rows) return { version: rows.version, grid: { rows: [[...rows.header]] } }
  const fetched =
    wanted.length === 0
      ? await provider.fetchHeader?.(place)
      : await provider.fetch(place, { values: 'typed', knownVersion: null })
  assert.ok(fetched && fetched !== 'unchanged')
  const { bytes, version, decoder } = fetched
  const module = (await import(decoder.module)) as Record<
    string,
    (bytes: Uint8Array, options: unknown) => Grid
  >
  const grid = module[decoder.name]?.(bytes, decoder.options)
  assert.ok(grid)
  return { version, grid }
}

export async function write(ground: WritingGround, tab: Tab, changes: readonly Change[]) {
  const attempt = await prepared(ground, tab, changes)
  const committed = await attempt.commit()
  await attempt.discard()
  return committed
}

export async function applied(ground: WritingGround, tab: Tab, ...changes: Change[]) {
  const committed = await write(ground, tab, changes)
  assert.equal(committed.outcome, 'applied', JSON.stringify(committed))
  return committed.outcome === 'applied' ? committed.results : []
}

export const add = (...rows: Cell[][]): Change => ({ kind: 'add', rows })

/** One tab of its own, and a person who edits it. */
export async function startTab(t: TestContext, rows: readonly (readonly Cell[])[], title = 'Items') {
  const ground = await startWritingGround(t)
  const tab = await ground.newTab(rows, title)
  const { spreadsheetId } = tab
  const edit = (wish: object) => ground.local.control('POST', 'edit', { spreadsheetId, tab: title, ...wish })
  const fault = (wish: object) => ground.local.control('POST', 'faults', { match: ':batchUpdate', ...wish })
  return { ground, tab, edit, fault }
}
