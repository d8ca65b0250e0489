import type { LoggedChange } from '../../sheets/logged-change.ts'
import type { Cell } from '../../sheets/rows/grid.ts'
import { alignRows } from './align-rows.ts'
import { blankOf, renameColumns, type TabRows } from './tab-rows.ts'

/** More is not told row by row. */
const maxChangesBytes = 8 * 1024 * 1024

/** What became of the columns; null where nothing did. `known` is left under the names of `next`. 'reset' where it is another spreadsheet. */
export function compareColumns(known: TabRows, next: TabRows): LoggedChange | null | 'reset' {
  if (known.names.join('\n') === next.names.join('\n')) return null
  const kept = new Set(known.names).intersection(new Set(next.names))
  const renamed = renamedColumns(known.names, next.names)
  if (kept.size + renamed.length === 0 || (kept.size === 0 && renamed.length < known.names.length)) {
    return 'reset'
  }
  const [before, after] = [JSON.stringify(known.names), JSON.stringify(next.names)]
  renameColumns(known, next.names, renamed)
  return { kind: 'columns_changed', before, after, ...(renamed.length > 0 && { renamed }) }
}

/** What leads from one tab to another of the same columns, in an order in which it can be applied. 'reset' where it is too much to tell. */
export function compareRows(
  known: TabRows,
  next: TabRows,
  keyOf: KeyReader | null,
): LoggedChange[] | 'reset' {
  const changes: LoggedChange[] = []
  let bytes = 0
  for (const change of keyOf ? byKey(known.rows, next.rows, keyOf) : byPosition(known, next)) {
    bytes += (change.before?.length ?? 0) + (change.after?.length ?? 0) + 100
    if (bytes > maxChangesBytes) return 'reset'
    if (change.kind === 'updated') change.changed = changedColumns(change)
    changes.push(change)
  }
  return changes
}

/** In the same place, where the old name is gone and the new one was not there. */
function renamedColumns(from: readonly string[], to: readonly string[]): [string, string][] {
  const [former, present] = [new Set(from), new Set(to)]
  return from.flatMap((name, at): [string, string][] => {
    const now = to[at]
    return now !== undefined && !present.has(name) && !former.has(now) ? [[name, now]] : []
  })
}

/** In the order of the columns. */
export function changedColumns({ before = '{}', after = '{}' }: LoggedChange): string[] {
  const [was, is] = [JSON.parse(before), JSON.parse(after)] as Record<string, Cell>[]
  return Object.keys(is ?? {}).filter((name) => was?.[name] !== is?.[name])
}

function* byPosition(known: TabRows, next: TabRows): Generator<LoggedChange> {
  const blank = blankOf(next)
  const isByPosition = true
  let length = known.rows.length
  let row = 2
  for (const step of alignRows(known.rows, next.rows)) {
    switch (step.kind) {
      case 'same':
        row += step.count
        break
      case 'changed':
        yield { kind: 'updated', row, before: step.before, after: step.after, isByPosition }
        row++
        break
      case 'gone':
        yield { kind: 'deleted', row, before: step.before, isByPosition }
        length--
        break
      case 'new':
        // Past the end, blank rows are there with the next one that is not.
        if (step.after !== blank || row - 2 < length) {
          yield { kind: 'added', row, after: step.after, isByPosition }
          length = Math.max(length + 1, row - 1)
        }
        row++
    }
  }
}

/**
 * Rows that read alike are the same. Of the others, those whose key is there once are told by it, and the rest by what they held.
 * `row` is left out where nobody knows: rows may have moved, and that is no change.
 */
function* byKey(
  known: readonly string[],
  next: readonly string[],
  keyOf: KeyReader,
): Generator<LoggedChange> {
  const left = new Map<string, number>()
  for (const row of known) left.set(row, (left.get(row) ?? 0) + 1)
  const come: string[] = []
  for (const row of next) {
    const count = left.get(row) ?? 0
    if (count > 0) left.set(row, count - 1)
    else come.push(row)
  }
  const gone: string[] = []
  for (const row of known) {
    const count = left.get(row) ?? 0
    if (count === 0) continue
    left.set(row, count - 1)
    gone.push(row)
  }
  if (gone.length + come.length === 0) return
  const [timesKnown, timesNext] = [timesOf(known, keyOf), timesOf(next, keyOf)]
  const isName = (key: string | null): key is string =>
    key !== null && (timesKnown.get(key) ?? 0) <= 1 && (timesNext.get(key) ?? 0) <= 1
  const comeByKey = new Map<string, string>()
  const nameless: string[] = []
  for (const row of come) {
    const key = keyOf(row)
    if (isName(key)) comeByKey.set(key, row)
    else nameless.push(row)
  }
  for (const before of gone) {
    const key = keyOf(before)
    if (!isName(key)) {
      const after = nameless.pop()
      yield after === undefined
        ? { kind: 'deleted', before, isByPosition: true }
        : { kind: 'updated', before, after, isByPosition: true }
      continue
    }
    const after = comeByKey.get(key)
    comeByKey.delete(key)
    yield after === undefined ? { kind: 'deleted', key, before } : { kind: 'updated', key, before, after }
  }
  for (const [key, after] of comeByKey) yield { kind: 'added', key, after }
  for (const after of nameless) yield { kind: 'added', after, isByPosition: true }
}

function timesOf(rows: readonly string[], keyOf: KeyReader): Map<string, number> {
  const times = new Map<string, number>()
  for (const row of rows) {
    const key = keyOf(row)
    if (key !== null) times.set(key, (times.get(key) ?? 0) + 1)
  }
  return times
}

/** The JSON text of a row's cell in the key column; null where it is empty. */
export type KeyReader = (row: string) => string | null

/** Cut out of its row: quotes within texts are escaped, so a name between quotes is nothing else. */
export function createKeyReader(names: readonly string[], keyColumn: string): KeyReader {
  const at = names.indexOf(keyColumn)
  if (at === -1) return () => null
  const prefix = `${at === 0 ? '{' : ','}${JSON.stringify(keyColumn)}:`
  return (row) => {
    const found = at === 0 ? 0 : row.indexOf(prefix)
    if (found === -1) return null
    const from = found + prefix.length
    let to = from
    if (row[from] === '"') {
      for (to = from + 1; to < row.length && row[to] !== '"'; to++) if (row[to] === '\\') to++
      to++
    } else while (to < row.length && row[to] !== ',' && row[to] !== '}') to++
    const text = row.slice(from, to)
    return text === 'null' || text === '""' ? null : text
  }
}
