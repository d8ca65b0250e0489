import type { LoggedChange } from '../../sheets/logged-change.ts'
import type { Cell } from '../../sheets/rows/grid.ts'

/** A write, as `as-written.ts` has it. */
interface Missed {
  change: LoggedChange
  cells: Cells
  /** A deletion of which the log has a row such as it says that it took. */
  isKnown: boolean
}

type Cells = readonly (readonly [name: string, value: Cell])[]

/** What nobody has explained yet. */
export interface Unexplained {
  /** Rows that are known and not seen, in their order. */
  gone: readonly { at: number; text: string }[]
  /** Rows that are seen and not known. */
  come: readonly string[]
  keyOf: ((row: string) => string | null) | null
  withCells(row: string, cells: Cells): string
  isCome(text: string): boolean
}

export interface RowHit {
  at: number
  /** As the write left it; undefined where it deleted it. */
  after: string | undefined
}

/** More pairs of rows are not held against each other. */
const maxPairs = 250_000

/**
 * Somebody moved rows in the round trip of a write: it was done once, and not to the row that was meant. The row that it hit is among those
 * that are not seen any more as they were known. Of an update, it is one that is seen with just the cells of the write, or, where a person
 * changed it as well, one that is seen with these cells and is else much the same. Of a deletion, it is one that nothing that is seen
 * resembles; or that resembles what the answer said, where a person had changed it a moment before. Where there are several, the nearest to the place that was meant: people rarely move rows far in such a moment, and one of them it
 * was. null where there is none.
 */
export function rowHitInstead({ change, cells, isKnown }: Missed, rows: Unexplained): RowHit | null {
  const { gone, come, keyOf, withCells, isCome } = rows
  const meantRow = change.row ?? change.meantRow ?? 2
  const distance = (at: number) => Math.abs(at + 2 - meantRow)
  if (change.kind === 'deleted') {
    if (gone.length * come.length > maxPairs) return null
    const isIt = ({ text }: { text: string }) =>
      isKnown
        ? !come.some((other) => likeness(text, other, keyOf) !== null)
        : likeness(text, change.before ?? '{}', keyOf) !== null
    const nearest = gone.filter(isIt).toSorted((one, other) => distance(one.at) - distance(other.at))[0]
    return nearest ? { at: nearest.at, after: undefined } : null
  }
  if (cells.length === 0) return null
  for (const found of [seenWith(), seenChangedWith()]) {
    const [nearest] = found.toSorted(
      (one, other) => other.likeness - one.likeness || distance(one.at) - distance(other.at),
    )
    if (nearest) return { at: nearest.at, after: nearest.after }
  }
  return null

  function seenWith() {
    return gone.flatMap(({ at, text }) => {
      const after = withCells(text, cells)
      return after !== text && isCome(after) ? { at, after, likeness: 0 } : []
    })
  }

  /** The answer may have told how the row was when it was written to; else it is one that is seen. */
  function seenChangedWith() {
    const names = cells.map(([name]) => name)
    const told = change.before === undefined && change.after !== undefined ? [change.after] : come
    const others = told.filter((text) => holds(text, cells))
    if (gone.length * others.length > maxPairs) return []
    return gone.flatMap(({ at, text }) => {
      const after = withCells(text, cells)
      if (after === text) return []
      const most = others.reduce<number | null>((best, other) => {
        const like = likeness(text, other, keyOf, names)
        return like !== null && like > (best ?? 0) ? like : best
      }, null)
      return most === null ? [] : { at, after, likeness: most }
    })
  }
}

export function holds(row: string, cells: Cells): boolean {
  const is = JSON.parse(row) as Record<string, Cell>
  return cells.every(([name, value]) => (is[name] ?? null) === value)
}

/** By key, or by how many cells beside these are the same, where that is half of them at least; null where they are two rows. */
export function likeness(
  one: string,
  other: string,
  keyOf: Unexplained['keyOf'],
  besides: readonly string[] = [],
): number | null {
  const key = keyOf?.(one) ?? null
  if (keyOf && key !== null) return key === keyOf(other) ? 1 : null
  const [here, there] = [JSON.parse(one), JSON.parse(other)] as Record<string, Cell>[]
  const filled = Object.entries(here ?? {}).filter(([name, cell]) => cell !== null && !besides.includes(name))
  const same = filled.filter(([name, cell]) => there?.[name] === cell).length
  return same > 0 && same * 2 >= filled.length ? same : null
}
