import assert from 'node:assert/strict'
import { readFile, utimes, writeFile } from 'node:fs/promises'
import { type TestContext, test } from 'node:test'
import { appendCsvRows } from '../../src/providers/file/csv/csv.fixture.ts'
import { editCsv } from '../../src/providers/file/csv/edit.ts'
import { editXlsx } from '../../src/providers/file/xlsx/edit/edit.ts'
import { decodeXlsx } from '../../src/providers/file/xlsx/read/xlsx.ts'
import { buildWorkbook, escapeXml } from '../../src/providers/file/xlsx/workbook.fixture.ts'
import type { Change } from '../../src/sheets/change.ts'
import type { Cell } from '../../src/sheets/rows/grid.ts'
import { bearer, done, startRowport } from '../harness.ts'
import { patienceMs, times } from '../soak.ts'
import { startGoogleGround } from '../writing/google-ground.ts'
import { createPlay, type Play } from './random-play.ts'

/*
 * A write that is taken back leaves the sheet as it was: values at their numbers, dates as dates, as the API tells them and as people see
 * them, and a CSV file to the byte. One whose rows somebody has touched since is refused, and says which.
 */

/** A sheet with the columns of a play, and one of dates. */
interface Ground {
  url: string
  headers: Record<string, string>
  /** What must be the same again. */
  exact?(): Promise<unknown>
  /** A person sets a cell, or puts a row in. */
  setCell(row: number, column: number, value: Cell): Promise<void>
  insertRow(row: number, name: string): Promise<void>
}

type NewSheet = (slug: string, play: Play) => Promise<Ground>

const firstDay = 46_000
const columns = ['sku', 'name', 'price', 'day']
/** What people keep in a column without a name: only they see it. */
const noteOf = (at: number) => `note ${at}`
const notesIn = (rows: readonly (readonly unknown[])[]) => rows.map((row) => row[columns.length] ?? null)
/** No two are alike: else nobody could tell which of them came in. */
const strangeRow = (name: string) => ({ sku: 'strange', name, price: null, day: null })

test('CSV: undo restores the file to the byte', { timeout: patienceMs }, async (t) => {
  const rowport = await startRowport(t)
  const headers = bearer(await rowport.createKey())
  await playOn(t, times(4, 150), async (slug, { grid, chance }) => {
    const rows = grid.map((row, at): Cell[] => [
      ...row,
      ...(at === 0 ? ['day', null] : [`2026-11-${10 + at}`, noteOf(at)]),
    ])
    const clean = Buffer.from(appendCsvRows(new Uint8Array(), rows)).toString()
    // As others spell it.
    const content = chance(0.5) ? clean.replaceAll(/,(\d)(?=,)/g, ',$1.0').replace('K-1,', '"K-1",') : clean
    const { path, formB } = await rowport.connectFile(slug, `${slug}.csv`, content)
    const edit = personAt(path, async (bytes, changes) => editCsv(bytes, changes))
    return { url: rowport.url + formB, headers, exact: () => readFile(path, 'utf8'), ...edit }
  })
})

test('XLSX: undo restores the sheet, with its dates', { timeout: patienceMs }, async (t) => {
  const rowport = await startRowport(t)
  const headers = bearer(await rowport.createKey())
  await playOn(t, times(3, 150), async (slug, { grid }) => {
    const { path, formB } = await rowport.connectFile(slug, `${slug}.xlsx`, workbookOf(grid))
    return {
      url: rowport.url + formB,
      headers,
      exact: async () => notesIn((await decodeXlsx(await readFile(path), {})).rows),
      ...personAt(path, (bytes, changes) => editXlsx(bytes, undefined, changes)),
    }
  })
})

test('Google: undo restores the sheet, with its dates', { timeout: patienceMs }, async (t) => {
  const { rowport, newSheet } = await startGoogleGround(t, { speed: 5 })
  const headers = bearer(await rowport.createKey())
  await playOn(t, times(2, 60), async (slug, { grid }) => {
    const { batchUpdate, cells } = await newSheet(
      slug,
      grid.map((row, at) => [...row, ...(at === 0 ? ['day'] : [firstDay + at, noteOf(at)])]),
    )
    const { id, location } = done(await rowport.workshop.sheets.find('acme', slug))
    const sheetId = JSON.parse(location).tabId
    const format = { userEnteredFormat: { numberFormat: { type: 'DATE', pattern: 'd.m.yyyy' } } }
    const range = { sheetId, startRowIndex: 1, endRowIndex: 20, startColumnIndex: 3, endColumnIndex: 4 }
    await batchUpdate({ repeatCell: { range, cell: format, fields: 'userEnteredFormat.numberFormat' } })
    const put = (row: number, columnIndex: number, values: Cell[]) => ({
      updateCells: {
        start: { sheetId, rowIndex: row - 1, columnIndex },
        rows: [{ values: values.map(asEntered) }],
        fields: 'userEnteredValue',
      },
    })
    return {
      url: `${rowport.url}/v1/sheets/${id}`,
      headers,
      exact: async () => notesIn(await cells()),
      setCell: (row, column, value) => batchUpdate(put(row, column, [value])),
      insertRow: (row, name) =>
        batchUpdate(
          {
            insertDimension: {
              range: { sheetId, dimension: 'ROWS', startIndex: row - 1, endIndex: row },
              inheritFromBefore: false,
            },
          },
          put(row, 0, Object.values(strangeRow(name))),
        ),
    }
  })
})

async function playOn(t: TestContext, histories: number, newSheet: NewSheet): Promise<void> {
  const totals = { undone: 0, refused: 0, moved: 0 }
  for (let seed = 1; seed <= histories; seed++) {
    const play = createPlay(seed * 611_953, false)
    const ground = await newSheet(`sheet-${seed}`, play)
    for (let step = 0; step < 6; step++) {
      const { method, path, body } = writeOf(play)
      const message = `seed ${seed}, step ${step}: ${method} ${path} ${JSON.stringify(body)}`
      const before = await stateOf(ground)
      const written = await ask(ground, method, path, body)
      const first = written.operation
      if (!first || JSON.stringify(before) === JSON.stringify(await stateOf(ground))) continue
      const between = await stateOf(ground)
      const undone = await undo(ground, first)
      assert.equal(undone.status, 200, `${message} ${JSON.stringify(undone.body)}`)
      assert.deepEqual(await stateOf(ground), before, message)
      const redone = await undo(ground, undone.operation)
      assert.equal(redone.status, 200, `${message} ${JSON.stringify(redone.body)}`)
      assert.deepEqual(await stateOf(ground), between, `${message}, undone and done again`)
      totals.undone += 2
      await refuseTouched(ground, play, redone.operation, message)
      if (play.chance(0.5)) await undoAfterMove(ground, redone.operation, before, message)
      const { rows } = await stateOf(ground)
      play.take(columns.slice(0, 3), rows)
    }
  }
  t.diagnostic(JSON.stringify(totals))
  assert.ok(totals.undone > 0 && totals.refused > 0 && totals.moved > 0)

  async function refuseTouched(
    ground: Ground,
    play: Play,
    operation: string,
    message: string,
  ): Promise<void> {
    const { body } = await undo(ground, operation, '?dry_run=true')
    const standing = (body.data as { kind: string; row: number; before: Record<string, Cell> }[]).filter(
      ({ kind }) => kind !== 'added',
    )
    const touched = standing[play.below(standing.length)]
    if (!touched) return
    const column = play.below(3)
    const name = columns[column] ?? ''
    const was = touched.before[name] ?? null
    // A row that is emptied might be the last, and no row any more.
    if (touched.kind === 'updated' && Object.values(touched.before).every((cell) => cell === null)) return
    await ground.setCell(touched.row, column, 'somebody was here')
    const refused = await undo(ground, operation)
    assert.deepEqual([refused.status, refused.body.error?.code], [409, 'undo_conflict'], message)
    assert.match(
      refused.body.error.details,
      new RegExp(`[Rr]ow ${touched.row} has other values in "${name}"`),
    )
    await ground.setCell(touched.row, column, was)
    totals.refused++
  }

  async function undoAfterMove(
    ground: Ground,
    operation: string,
    before: State,
    message: string,
  ): Promise<void> {
    await ground.insertRow(2, operation)
    const undone = await undo(ground, operation)
    assert.equal(undone.status, 200, `${message} ${JSON.stringify(undone.body)}`)
    const { rows } = await stateOf(ground)
    const moved = before.rows.map((row) => ({ ...row, _row: Number(row._row) + 1 }))
    const isSame = (one: Record<string, unknown>) => JSON.stringify(one)
    assert.deepEqual(rows.map(isSame), [{ _row: 2, ...strangeRow(operation) }, ...moved].map(isSame), message)
    totals.moved++
  }
}

/** What a play does, and what is done to dates. */
function writeOf(play: Play): { method: string; path: string; body?: unknown } {
  if (play.chance(0.7)) return play.write()
  const path = `/${2 + play.below(5)}`
  return { method: 'PATCH', path, body: { day: [5, 'soon', null, true][play.below(4)] } }
}

interface State {
  rows: Record<string, unknown>[]
  shown: unknown
  exact: unknown
}

async function stateOf({ url, headers, exact }: Ground): Promise<State> {
  const list = async (more: string) => {
    const response = await fetch(`${url}?row_numbers=true${more}`, {
      headers: { ...headers, 'Cache-Control': 'no-cache' },
    })
    return ((await response.json()) as { data: Record<string, unknown>[] }).data
  }
  return { rows: await list(''), shown: await list('&values=formatted'), exact: await exact?.() }
}

async function ask({ url, headers }: Ground, method: string, path: string, body?: unknown) {
  const response = await fetch(url + path, {
    method,
    headers,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  return {
    status: response.status,
    operation: response.headers.get('Operation-Id') ?? '',
    // biome-ignore lint/suspicious/noExplicitAny: a test knows what it asked for.
    body: (await response.json()) as any,
  }
}

function undo(ground: Ground, operation: string, query = '') {
  return ask(ground, 'POST', `/operations/${operation}/undo${query}`)
}

/** Somebody who saves the file, each time at another moment. */
function personAt(
  path: string,
  edit: (bytes: Uint8Array, changes: readonly Change[]) => Promise<{ bytes: Uint8Array } | object>,
): Pick<Ground, 'setCell' | 'insertRow'> {
  let times = 0
  const save = async (change: Change) => {
    const edited = await edit(await readFile(path), [change])
    assert.ok('bytes' in edited, JSON.stringify(edited))
    await writeFile(path, edited.bytes)
    const at = new Date(Date.now() - 3_600_000 + ++times * 1_000)
    await utimes(path, at, at)
  }
  return {
    setCell: (rowNumber, columnIndex, value) =>
      save({ kind: 'update', rowNumber, cells: [{ columnIndex, value }] }),
    insertRow: (rowNumber, name) =>
      save({
        kind: 'insert',
        rowNumber,
        cells: Object.values(strangeRow(name)).map((value, columnIndex) => ({ columnIndex, value })),
      }),
  }
}

/** With dates in a format of their own, and one row without. */
function workbookOf(grid: readonly (readonly Cell[])[]): Uint8Array {
  const rows = grid.map((row, at) => {
    const cells = row.map((cell, column) => {
      const reference = `${'ABC'[column]}${at + 1}`
      if (typeof cell === 'number') return `<c r="${reference}"><v>${cell}</v></c>`
      return cell === null ? '' : `<c r="${reference}" t="str"><v>${escapeXml(String(cell))}</v></c>`
    })
    const day =
      at === 0
        ? '<c r="D1" t="str"><v>day</v></c>'
        : at === 3
          ? ''
          : `<c r="D${at + 1}" s="1"><v>${firstDay + at}</v></c>`
    const note = at === 0 ? '' : `<c r="E${at + 1}" t="str"><v>${noteOf(at)}</v></c>`
    return `<row r="${at + 1}">${cells.join('')}${day}${note}</row>`
  })
  return buildWorkbook({ rows: rows.join(''), formats: [0, 'd.m.yyyy'] })
}

function asEntered(cell: Cell): object {
  if (cell === null) return {}
  const kind =
    typeof cell === 'number' ? 'numberValue' : typeof cell === 'boolean' ? 'boolValue' : 'stringValue'
  return { userEnteredValue: { [kind]: cell } }
}
