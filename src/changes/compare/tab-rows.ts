import { blankRowOf, type LoggedChange } from '../../sheets/logged-change.ts'
import type { Cell } from '../../sheets/rows/grid.ts'
import { createRowWriter } from '../../sheets/rows/row-json.ts'
import { rowJson, type Snapshot } from '../../sheets/rows/snapshot.ts'
import type { Column } from '../../sheets/rows/table.ts'

/**
 * A tab as the log knows it. Without a key column: every row from number 2 on, blank ones included, to the last that is not. With
 * one: those that are not blank, in no order.
 */
export interface TabRows {
  names: string[]
  rows: string[]
}

export type RowsOfSnapshot = Pick<Snapshot, 'columns' | 'listJson' | 'rowStarts' | 'rowNumbers'>

export function tabOf(snapshot: RowsOfSnapshot, isKeyed: boolean): TabRows {
  const { columns, rowNumbers } = snapshot
  const names = columns.map(({ key }) => key)
  const rows: string[] = []
  const blank = blankOf({ names })
  let at = 0
  for (const text of textsOfRows(snapshot)) {
    if (!isKeyed) while (rows.length < (rowNumbers[at] ?? 0) - 2) rows.push(blank)
    rows.push(text)
    at++
  }
  return { names, rows }
}

/** Rows are parts of texts of this length: a text of its own for each takes twice the room. */
const bytesPerText = 256 * 1024

function* textsOfRows(snapshot: RowsOfSnapshot): Generator<string> {
  const { listJson, rowStarts, rowNumbers } = snapshot
  const startOf = (at: number) => rowStarts[at] ?? 0
  for (let from = 0; from < rowNumbers.length; ) {
    let to = from + 1
    while (to < rowNumbers.length && startOf(to + 1) - startOf(from) <= bytesPerText) to++
    const bytes = startOf(to) - 1 - startOf(from)
    const text = Buffer.from(listJson.buffer, listJson.byteOffset + startOf(from), bytes).toString()
    // Where a character takes several bytes, the text has other places than the list.
    const isAscii = text.length === bytes
    for (let at = from; at < to; at++) {
      yield isAscii
        ? text.slice(startOf(at) - startOf(from), startOf(at + 1) - 1 - startOf(from))
        : rowJson(snapshot as Snapshot, at)
    }
    from = to
  }
}

let lastBlank = ''

/** One object for the same columns: a million blank rows of two tabs are then alike without a look at what they say. */
export function blankOf({ names }: { names: readonly string[] }): string {
  const blank = blankRowOf(columnsNamed(names))
  if (blank !== lastBlank) lastBlank = blank
  return lastBlank
}

export function columnsNamed(names: readonly string[]): Column[] {
  return names.map((key, index) => ({ key, index }))
}

/** The tab after these changes (docs/api.md#changes tells clients the same rules). */
export function applyChanges(tab: TabRows, changes: readonly LoggedChange[], isKeyed: boolean): void {
  const find = createFinder(tab)
  for (const change of changes) {
    const { kind, row = null, before, after } = change
    if (kind === 'columns_changed') {
      renameColumns(tab, JSON.parse(after ?? '[]') as string[], change.renamed ?? [])
      find.forget()
    } else if (isKeyed) {
      const at = before === undefined ? null : find.row(before)
      if (kind === 'added') find.added(tab.rows.push(after ?? '') - 1)
      else if (at !== null) {
        if (kind === 'updated') tab.rows[at] = after ?? ''
        else tab.rows[at] = ''
        find.changed(at)
      }
    } else if (row !== null) {
      const at = row - 2
      const blank = blankOf(tab)
      if (kind === 'deleted') tab.rows.splice(at, 1)
      else {
        while (tab.rows.length < at) tab.rows.push(blank)
        tab.rows.splice(at, kind === 'added' ? 0 : 1, after ?? '')
      }
      while (tab.rows.at(-1) === blank) tab.rows.pop()
    }
  }
  if (isKeyed) {
    const blank = blankOf(tab)
    tab.rows = tab.rows.filter((text) => text !== '' && text !== blank)
  }
}

/** Rows by their text, made when the first is asked for. */
function createFinder(tab: TabRows) {
  let places: Map<string, number[]> | null = null
  const note = (at: number) => {
    const text = tab.rows[at] ?? ''
    const known = places?.get(text)
    if (known) known.push(at)
    else places?.set(text, [at])
  }
  return {
    row(text: string): number | null {
      if (!places) {
        places = new Map()
        for (const at of tab.rows.keys()) note(at)
      }
      return places.get(text)?.pop() ?? null
    },
    added: note,
    changed: note,
    forget() {
      places = null
    },
  }
}

/** Every row under the new names; a column that is new is empty. */
export function renameColumns(
  tab: TabRows,
  names: readonly string[],
  renamed: readonly (readonly [from: string, to: string])[],
): void {
  const former = new Map(renamed.map(([from, to]) => [to, from]))
  const toJson = createRowWriter(columnsNamed(names))
  const known = new Set(tab.names)
  const sources = names.map((name) => former.get(name) ?? name)
  const [blankBefore, blank] = [blankOf(tab), blankOf({ names })]
  tab.rows = tab.rows.map((text) => {
    // Made for each of a million, one with long names would take all memory.
    if (text === blankBefore) return blank
    const cells = JSON.parse(text || '{}') as Record<string, Cell>
    return toJson(
      sources.map((name) => (known.has(name) && Object.hasOwn(cells, name) ? (cells[name] ?? null) : null)),
    )
  })
  tab.names = [...names]
}
