export type Cell = string | number | boolean | null

/** What `rowport types` writes of a sheet. */
export interface SheetTypes {
  Row: object
  Insert: object
  Update: object
  Key: string
}

/** A sheet of which nothing is known. */
export interface AnySheet {
  Row: Record<string, Cell>
  Insert: Record<string, Cell>
  Update: Record<string, Cell>
  Key: string
}

/** `_row` is the number of the row in the sheet. It changes when people sort, insert or delete. */
export type Numbered<Row> = Row & { _row: number }

type Filled<Value> = Exclude<Value, null>
/** `{ price: 5 }`, `{ price: { gte: 5, lt: 10 } }`, `{ city: ['Berlin', 'Bonn'] }`; null finds empty cells. All must hold. */
export type Where<Row> = {
  [Column in keyof Row]?: Row[Column] | Filled<Row[Column]>[] | Comparisons<Filled<Row[Column]>>
}

export interface Comparisons<Value> {
  eq?: Value
  ne?: Value
  gt?: Value
  gte?: Value
  lt?: Value
  lte?: Value
  in?: readonly Value[]
  nin?: readonly Value[]
  contains?: string
  starts?: string
  ends?: string
  empty?: boolean
}

type Column<Row> = Extract<keyof Row, string>

export interface Query<Row> {
  where?: Where<Row>
  /** Text in any column. */
  search?: string
  /** `'price'`, `'-price'`, or several of them. */
  sort?: Sorting<Row> | readonly Sorting<Row>[]
  limit?: number
  offset?: number
}

export type Sorting<Row> = Column<Row> | `-${Column<Row>}`

/** A row by its number, or by what it holds: `{ sku: 'A-1' }`. */
export type RowName<Row> = number | { [Column in keyof Row]?: Filled<Row[Column]> }

export interface WriteOptions {
  /** Gives the answer that it would get, and writes nothing. */
  dryRun?: boolean
  /** The `etag` of the row: nothing is written if it is another one by now. */
  ifMatch?: string
  /** One of your own, for a write that another process may repeat; else there is a new one for each call. */
  idempotencyKey?: string
}

export interface Written<Row> {
  rows: Numbered<Row>[]
  rowsAdded: number
  rowsUpdated: number
  rowsDeleted: number
  rowsUnchanged: number
  /** For `undo`; null where nothing was written. */
  operation: string | null
  warnings: string[]
}

export interface Change<Row> {
  cursor: string
  at: string
  kind: 'added' | 'updated' | 'deleted' | 'columns_changed' | 'reset'
  row: number | null
  key: Cell
  before: Row | null
  after: Row | null
  changed: string[]
  source: 'api' | 'outside'
  operation: string | null
  by: string | null
}
