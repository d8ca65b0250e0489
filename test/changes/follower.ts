import assert from 'node:assert/strict'

/** One change as the API tells it. */
export interface Change {
  cursor: string
  kind: 'added' | 'updated' | 'deleted' | 'columns_changed' | 'reset'
  row: number | null
  key: unknown
  // biome-ignore lint/suspicious/noExplicitAny: rows of any sheet, or names of columns.
  before: any
  // biome-ignore lint/suspicious/noExplicitAny: the same.
  after: any
  changed?: string[]
  renamed?: { from: string; to: string }[]
  identity?: 'position'
  source: 'api' | 'outside'
  operation: string | null
  by: string | null
}

export interface List {
  columns: string[]
  /** With `_row`. */
  rows: Row[]
  cursor: string
}

type Row = Record<string, unknown>

/**
 * A client that read all rows once and has followed the log since, by the rules that docs/api.md tells, knowing nothing else. Whatever
 * `before` says must be what it has.
 */
export class Follower {
  cursor: string
  #columns: string[]
  /** From row 2 on, blank ones included; with keys in no order, and without blank ones. */
  #rows: Row[]
  readonly #isKeyed: boolean
  applied = 0

  constructor({ columns, rows, cursor }: List, isKeyed: boolean) {
    this.cursor = cursor
    this.#columns = columns
    this.#isKeyed = isKeyed
    this.#rows = isKeyed ? rows.map(bare) : byNumber(rows, columns)
  }

  apply(change: Change): void {
    this.cursor = change.cursor
    this.applied++
    const { kind, row, before, after } = change
    if (kind === 'columns_changed') {
      assert.deepEqual(before, this.#columns)
      const former = new Map(change.renamed?.map(({ from, to }) => [to, from]))
      this.#rows = this.#rows.map((row) =>
        Object.fromEntries((after as string[]).map((name) => [name, row[former.get(name) ?? name] ?? null])),
      )
      this.#columns = after
      return
    }
    assert.notEqual(kind, 'reset', 'nothing here is too much to tell')
    if (kind === 'updated') {
      const others = Object.keys(after).filter((name) => before[name] !== after[name])
      assert.deepEqual(change.changed, others)
    }
    if (this.#isKeyed) {
      const at = before === null ? -1 : this.#rows.findIndex((row) => isSame(row, before))
      assert.ok(before === null || at !== -1, `nobody knows ${JSON.stringify(change)}`)
      if (kind === 'added') this.#rows.push(after)
      else if (kind === 'updated') this.#rows[at] = after
      else this.#rows.splice(at, 1)
      this.#rows = this.#rows.filter((row) => !this.#isBlank(row))
      return
    }
    const at = (row ?? 0) - 2
    assert.ok(at >= 0, JSON.stringify(change))
    if (kind !== 'added') {
      const known = this.#rows[at] ?? this.#blank()
      assert.deepEqual(known, before, `"before" of ${JSON.stringify(change)}`)
    }
    while (kind !== 'deleted' && this.#rows.length < at) this.#rows.push(this.#blank())
    if (kind === 'added') this.#rows.splice(at, 0, after)
    else if (kind === 'updated') this.#rows[at] = after
    else this.#rows.splice(at, 1)
    while (this.#rows.length > 0 && this.#isBlank(this.#rows.at(-1) ?? {})) this.#rows.pop()
  }

  assertEquals({ columns, rows }: List, message: string): void {
    assert.deepEqual(this.#columns, columns, message)
    if (this.#isKeyed) {
      const texts = (some: readonly Row[]) => some.map((row) => JSON.stringify(row)).sort()
      assert.deepEqual(texts(this.#rows), texts(rows.map(bare)), message)
    } else assert.deepEqual(this.#rows, byNumber(rows, columns), message)
  }

  #blank(): Row {
    return Object.fromEntries(this.#columns.map((name) => [name, null]))
  }

  #isBlank(row: Row): boolean {
    return this.#columns.every((name) => row[name] === null)
  }
}

function byNumber(rows: readonly Row[], columns: readonly string[]): Row[] {
  const all: Row[] = []
  for (const row of rows) {
    while (all.length < Number(row._row) - 2)
      all.push(Object.fromEntries(columns.map((name) => [name, null])))
    all.push(bare(row))
  }
  return all
}

function bare({ _row, ...row }: Row): Row {
  return row
}

function isSame(one: Row, other: Row): boolean {
  const names = Object.keys(one)
  return (
    names.length === Object.keys(other).length &&
    names.every((name) => Object.hasOwn(other, name) && one[name] === other[name])
  )
}
