import type { ColumnIndexes } from '../query/columns/column-index.ts'

/** What every code of a column stands for, as a number; NaN, or 0 where they are added up, for a code that stands for none. */
export type CodeNumbers = Float64Array

/**
 * Reading each different cell of a column takes longer than summing all of them, so what was read is kept for the next who
 * asks, as long as the rows are there. All tables together have a bound: those that were not used for longest go.
 */
export interface KeptTables {
  get(of: ColumnIndexes, name: string): CodeNumbers | null
  keep(of: ColumnIndexes, name: string, table: CodeNumbers): void
}

interface Kept {
  of: WeakRef<ColumnIndexes>
  name: string
  table: CodeNumbers
}

export function createKeptTables(maxBytes: number): KeptTables {
  const known = new WeakMap<ColumnIndexes, Map<string, Kept>>()
  /** In the order of use. */
  const all = new Set<Kept>()
  let bytes = 0

  return {
    get(of, name) {
      const kept = known.get(of)?.get(name)
      if (!kept) return null
      all.delete(kept)
      all.add(kept)
      return kept.table
    },
    keep(of, name, table) {
      if (table.byteLength > maxBytes) return
      const tables = known.get(of) ?? new Map<string, Kept>()
      known.set(of, tables)
      const former = tables.get(name)
      if (former) letGo(former)
      const kept = { of: new WeakRef(of), name, table }
      tables.set(name, kept)
      all.add(kept)
      bytes += table.byteLength
      for (const oldest of all) {
        if (bytes <= maxBytes) break
        letGo(oldest)
      }
    },
  }

  function letGo(kept: Kept): void {
    all.delete(kept)
    bytes -= kept.table.byteLength
    const of = kept.of.deref()
    if (of) known.get(of)?.delete(kept.name)
  }
}
