import type { LoggedChange } from '../../sheets/logged-change.ts'
import type { Cell } from '../../sheets/rows/grid.ts'
import { createRowWriter } from '../../sheets/rows/row-json.ts'
import { blankOf, columnsNamed, type TabRows } from './tab-rows.ts'

export interface AsWritten {
  /** With the rows that they belong to. */
  told: LoggedChange[]
  /** Those whose row nobody knows, or that hit another one. */
  left: LoggedChange[]
}

/**
 * What was written nobody knew where, and somebody did something as well: each write as it was acknowledged, on the rows as they were known, so
 * that only what is left between these and `next` is somebody else's. `tab` has the writes then. A row that is seen as it
 * was before a write was not hit by it.
 */
export function asWritten(
  tab: TabRows,
  written: readonly LoggedChange[],
  next: TabRows,
  keyOf: ((row: string) => string | null) | null,
): AsWritten {
  const seen = timesOf(next.rows)
  const known = timesOf(tab.rows)
  const rows = keyOf ? rowsByKey(tab, keyOf) : rowsByPosition(tab, known)
  const told: LoggedChange[] = []
  const left: LoggedChange[] = []
  for (const change of written) {
    if (change.kind === 'added') {
      told.push(rows.add(change))
      count(change.after, 1)
      continue
    }
    const at = change.before === undefined ? racedRow(change) : isHit(change) ? rows.find(change) : null
    const before = at === null ? undefined : tab.rows[at]
    if (at === null || before === undefined) {
      left.push(change)
      continue
    }
    const isAsFound = change.before === undefined || change.before === before
    const after = isAsFound ? change.after : withCellsOf(change, before, tab.names)
    // Somebody else did the same before.
    if (before === after) continue
    told.push({ ...change, before, ...(after !== undefined && { after }), ...rows.put(at, after) })
    count(before, -1)
    count(after, 1)
  }
  rows.end()
  return { told, left }

  /** The answer told what became of the row that was hit, and not which one it was: the one that is so but for the cells of the write. */
  function racedRow({ kind, after, wrote = [] }: LoggedChange): number | null {
    if (kind !== 'updated' || after === undefined || wrote.length === 0) return null
    const isIt = (text: string) =>
      text !== after && withCellsOf({ kind, after, changed: wrote }, text, tab.names) === after
    const places = tab.rows.flatMap((text, at) => (text !== '' && isIt(text) ? at : []))
    return places.length === 1 ? (places[0] ?? null) : null
  }

  function isHit({ before, after }: LoggedChange): boolean {
    if (before === undefined) return false
    if (after !== undefined && timesSeen(after) > timesKnown(after)) return true
    return before === blankOf(tab) || timesSeen(before) < Math.max(timesKnown(before), 1)
  }

  function timesSeen(text: string): number {
    return seen.get(text) ?? 0
  }

  function timesKnown(text: string): number {
    return known.get(text) ?? 0
  }

  function count(text: string | undefined, more: number): void {
    if (text !== undefined) known.set(text, timesKnown(text) + more)
  }
}

interface RowLocator {
  /** Its place; null where nobody knows. */
  find(change: LoggedChange): number | null
  add(change: LoggedChange): LoggedChange
  /** Nothing instead of it where it is gone. Returns its number, where rows have one. */
  put(at: number, text: string | undefined): Pick<LoggedChange, 'row'>
  end(): void
}

function rowsByKey(tab: TabRows, keyOf: (row: string) => string | null): RowLocator {
  const [byText, byKey] = [new Map<string, Set<number>>(), new Map<string, Set<number>>()]
  for (const at of tab.rows.keys()) note(at)
  return {
    find({ before = '', key }) {
      const [same] = byText.get(before) ?? []
      if (same !== undefined) return same
      const named = key === undefined ? undefined : byKey.get(key)
      const [only] = named ?? []
      return named?.size === 1 && only !== undefined ? only : null
    },
    add(change) {
      note(tab.rows.push(change.after ?? '') - 1)
      return change
    },
    put(at, text) {
      for (const [places, name] of namesOf(at)) places.get(name)?.delete(at)
      tab.rows[at] = text ?? ''
      if (text !== undefined) note(at)
      return {}
    },
    end() {
      const blank = blankOf(tab)
      tab.rows = tab.rows.filter((text) => text !== '' && text !== blank)
    },
  }

  function note(at: number): void {
    for (const [places, name] of namesOf(at)) {
      const known = places.get(name)
      if (known) known.add(at)
      else places.set(name, new Set([at]))
    }
  }

  function namesOf(at: number): [places: Map<string, Set<number>>, name: string][] {
    const text = tab.rows[at] ?? ''
    const key = keyOf(text)
    return key === null
      ? [[byText, text]]
      : [
          [byText, text],
          [byKey, key],
        ]
  }
}

/** The tab is a list that changes with each; `known`: how often each row is in it. */
function rowsByPosition(tab: TabRows, known: ReadonlyMap<string, number>): RowLocator {
  const blank = blankOf(tab)
  return {
    find({ row = 0, before = '' }) {
      if (tab.rows[row - 2] === before) return row - 2
      return known.get(before) === 1 ? tab.rows.indexOf(before) : null
    },
    add(change) {
      const end = tab.rows.length + 2
      const row = Math.min(change.row ?? end, end)
      tab.rows.splice(row - 2, 0, change.after ?? blank)
      return { ...change, row }
    },
    put(at, text) {
      tab.rows.splice(at, 1, ...(text === undefined ? [] : [text]))
      while (tab.rows.length > 0 && tab.rows.at(-1) === blank) tab.rows.pop()
      return { row: at + 2 }
    },
    end() {},
  }
}

/** A row that is another than the write found, with the cells that it changed; undefined where it deleted it. */
function withCellsOf({ after, changed = [] }: LoggedChange, row: string, names: readonly string[]) {
  if (after === undefined) return undefined
  const [is, made] = [JSON.parse(row), JSON.parse(after)] as Record<string, Cell>[]
  const cells = names.map((name) => (changed.includes(name) ? made : is)?.[name] ?? null)
  return createRowWriter(columnsNamed(names))(cells)
}

function timesOf(rows: readonly string[]): Map<string, number> {
  const times = new Map<string, number>()
  for (const row of rows) times.set(row, (times.get(row) ?? 0) + 1)
  return times
}
