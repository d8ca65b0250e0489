import type { Cell } from '../../src/sheets/rows/grid.ts'
import { naiveQuery } from '../../src/sheets/rows/query/naive-query.fixture.ts'
import type { Filter } from '../../src/sheets/rows/query/query.ts'

export const columns = ['sku', 'name', 'price'] as const
type Given = Partial<Record<(typeof columns)[number], Cell>>

/** One write as a client words it. */
export type Act =
  | { kind: 'add'; rows: Given[] }
  | { kind: 'upsert'; column: 'sku' | 'name'; rows: Given[]; skip: boolean }
  | { kind: 'change'; target: Target; row: Given }
  | { kind: 'remove'; target: Target }
  | { kind: 'change many'; filters: Filter[]; row: Given; maxRows: number }
  | { kind: 'remove many'; filters: Filter[]; maxRows: number }

export type Target = { number: number } | { column: 'sku' | 'name'; value: Exclude<Cell, null> }

/** What the client must be told: the body of form A without its message, or a code. */
export type Told = { status: number; code: string } | { status: number; body: Record<string, unknown> }

/** The rules of docs/contract.md for writes once more, on plain rows: for nothing but being right. */
export class SheetModel {
  rows: Cell[][]
  readonly isKeyed: boolean

  constructor(rows: readonly Cell[][], isKeyed: boolean) {
    this.rows = rows.map((row) => [...row])
    this.isKeyed = isKeyed
  }

  shown(row: readonly Cell[], number?: number): Record<string, Cell> {
    const cells = Object.fromEntries(columns.map((name, at) => [name, row[at] ?? null]))
    return number === undefined ? cells : { _row: number, ...cells }
  }

  do(act: Act): Told {
    switch (act.kind) {
      case 'add':
        return this.#add(act.rows)
      case 'upsert':
        return this.#upsert(act)
      case 'change':
      case 'remove':
        return this.#one(act)
      case 'change many':
      case 'remove many':
        return this.#many(act)
    }
  }

  #find(filters: Filter[]): number[] {
    return naiveQuery(this.rows, { filters, search: null, sort: [], limit: null, offset: 0 }).positions
  }

  #equal(column: string, value: Cell): number[] {
    return this.#find([{ column: columns.indexOf(column as 'sku'), operator: 'eq', values: [String(value)] }])
  }

  /** `changed`: the rows that get another key, by position; new ones have none. */
  #keyProblem(changed: { at: number | null; given: Given }[]): Told | null {
    if (!this.isKeyed) return null
    const keys: Exclude<Cell, null>[] = []
    const written = changed.filter(({ given }) => 'sku' in given)
    const own = new Set(written.map(({ at }) => at))
    for (const { given } of written) {
      const { sku = null } = given
      if (sku === null) return { status: 400, code: 'invalid_body' }
      if (keys.some((key) => isSame(key, sku))) return { status: 409, code: 'row_exists' }
      keys.push(sku)
    }
    const isTaken = keys.some((key) => this.#equal('sku', key).some((at) => !own.has(at)))
    return isTaken ? { status: 409, code: 'row_exists' } : null
  }

  #add(rows: Given[]): Told {
    if (this.isKeyed && rows.some(({ sku = null }) => sku === null))
      return { status: 400, code: 'invalid_body' }
    const problem = this.#keyProblem(rows.map((given) => ({ at: null, given })))
    if (problem) return problem
    const first = this.rows.length + 2
    this.rows.push(...rows.map(cellsOf))
    return {
      status: 201,
      body: {
        success: true,
        rows_added: rows.length,
        rows: rows.map((row, at) => this.shown(cellsOf(row), first + at)),
      },
    }
  }

  #upsert({ column, rows, skip }: Act & { kind: 'upsert' }): Told {
    for (const [at, row] of rows.entries()) {
      const value = row[column] ?? null
      if (value === null) return { status: 400, code: 'invalid_body' }
      if (rows.slice(0, at).some((other) => isSame(other[column] ?? null, value)))
        return { status: 400, code: 'invalid_body' }
    }
    const places = rows.map((row) => this.#equal(column, row[column] ?? null))
    if (places.some(({ length }) => length > 1)) return { status: 409, code: 'ambiguous_row' }
    const changes = rows.map((row, nth) => {
      const at = places[nth]?.[0]
      const given = Object.fromEntries(
        Object.entries(row).filter(([name]) => at === undefined || name !== column),
      ) as Given
      const isChanged =
        at !== undefined &&
        !skip &&
        Object.entries(given).some(([name, value]) => this.#cell(at, name) !== value)
      return { at: at ?? null, given, was: at === undefined ? 'added' : isChanged ? 'updated' : 'unchanged' }
    })
    const added = changes.filter(({ was }) => was === 'added')
    if (this.isKeyed && added.some(({ given }) => (given.sku ?? null) === null))
      return { status: 400, code: 'invalid_body' }
    const problem = this.#keyProblem(changes.filter(({ was }) => was !== 'unchanged'))
    if (problem) return problem
    const numbers = changes.map(({ at, given, was }) => {
      if (was === 'added') return this.rows.push(cellsOf(given)) + 1
      if (was === 'updated') this.#set(at ?? 0, given)
      return (at ?? 0) + 2
    })
    const count = (wanted: string) => changes.filter(({ was }) => was === wanted).length
    return {
      status: added.length > 0 ? 201 : 200,
      body: {
        success: true,
        rows_added: count('added'),
        rows_updated: count('updated'),
        rows_unchanged: count('unchanged'),
        rows: numbers.map((number) => this.shown(this.rows[number - 2] ?? [], number)),
      },
    }
  }

  #one(act: Act & { kind: 'change' | 'remove' }): Told {
    const { target } = act
    const places = 'number' in target ? [target.number - 2] : this.#equal(target.column, target.value)
    const [at = -1, another] = places
    if (at < 0 || at >= this.rows.length) return { status: 404, code: 'row_not_found' }
    if (another !== undefined) return { status: 409, code: 'ambiguous_row' }
    if (act.kind === 'change') {
      const problem = this.#keyProblem([{ at, given: act.row }])
      if (problem) return problem
      this.#set(at, act.row)
    }
    const data = this.shown(this.rows[at] ?? [])
    if (act.kind === 'remove') this.rows.splice(at, 1)
    return { status: 200, body: { success: true, row: at + 2, data } }
  }

  #many(act: Act & { kind: 'change many' | 'remove many' }): Told {
    const places = this.#find(act.filters)
    if (places.length > act.maxRows) return { status: 409, code: 'too_many_rows' }
    if (act.kind === 'change many') {
      const problem = this.#keyProblem(places.map((at) => ({ at, given: act.row })))
      if (problem) return problem
      for (const at of places) this.#set(at, act.row)
    }
    const rows = places.map((at) => this.shown(this.rows[at] ?? [], at + 2))
    if (act.kind === 'remove many') this.rows = this.rows.filter((_, at) => !places.includes(at))
    const count = act.kind === 'change many' ? 'rows_updated' : 'rows_deleted'
    return { status: 200, body: { success: true, [count]: rows.length, rows } }
  }

  #cell(at: number, name: string): Cell {
    return this.rows[at]?.[columns.indexOf(name as 'sku')] ?? null
  }

  #set(at: number, given: Given): void {
    for (const [name, value] of Object.entries(given)) {
      const row = this.rows[at]
      if (row) row[columns.indexOf(name as 'sku')] = value ?? null
    }
  }
}

function cellsOf(given: Given): Cell[] {
  return columns.map((name) => given[name] ?? null)
}

/** Whether one finds the other. */
function isSame(one: Cell, other: Cell): boolean {
  const finds = (cell: Cell, value: Cell) =>
    value !== null &&
    naiveQuery([[cell]], {
      filters: [{ column: 0, operator: 'eq', values: [String(value)] }],
      ...{ search: null, sort: [], limit: null, offset: 0 },
    }).total > 0
  return finds(one, other) || finds(other, one)
}
