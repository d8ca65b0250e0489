import { type Answer, createSend, type Options, type Sent } from './sending.ts'
import type {
  AnySheet,
  Cell,
  Change,
  Numbered,
  Query,
  RowName,
  SheetTypes,
  Where,
  WriteOptions,
  Written,
} from './sheet-types.ts'

export { type Options, RowportError } from './sending.ts'
export type * from './sheet-types.ts'
export { verifyWebhook, WebhookError } from './webhook.ts'

export interface Sheet<T extends SheetTypes> {
  /** All rows that match; without a `limit` all of the sheet. */
  rows(query?: Query<T['Row']>): Promise<Numbered<T['Row']>[]>
  /** Reads them page by page: no more than `pageSize` rows (1,000) are in memory. */
  each(query?: Query<T['Row']> & { pageSize?: number }): AsyncIterable<Numbered<T['Row']>>
  count(query?: Query<T['Row']>): Promise<number>
  /** null where there is none. `etag` goes into `ifMatch`. */
  row(name: RowName<T['Row']>): Promise<{ row: T['Row']; etag: string } | null>
  /** `sums('count(),sum(price)', 'category')`: figures, one row for each group. */
  sums(aggregate: string, groupBy?: string, query?: Query<T['Row']>): Promise<Record<string, Cell>[]>
  add(rows: T['Insert'] | readonly T['Insert'][], options?: WriteOptions): Promise<Written<T['Row']>>
  /** Changes rows whose value in `column` is there (or skips them), adds the others. */
  upsert(
    column: Extract<keyof T['Row'], string>,
    rows: T['Insert'] | readonly T['Insert'][],
    options?: WriteOptions & { onMatch?: 'update' | 'skip' },
  ): Promise<Written<T['Row']>>
  update(name: RowName<T['Row']>, change: T['Update'], options?: WriteOptions): Promise<Written<T['Row']>>
  remove(name: RowName<T['Row']>, options?: WriteOptions): Promise<Written<T['Row']>>
  /** All rows that match, or none where they are more than `maxRows` (100). */
  updateWhere(where: Where<T['Row']>, change: T['Update'], options?: Bulk): Promise<Written<T['Row']>>
  removeWhere(where: Where<T['Row']>, options?: Bulk): Promise<Written<T['Row']>>
  /** Takes a write back. */
  undo(operation: string, options?: WriteOptions): Promise<void>
  /** What becomes of rows, as it happens: from now on, or after the cursor `since`. Ends with `signal`. */
  changes(options?: { since?: string; signal?: AbortSignal }): AsyncIterable<Change<T['Row']>>
}

export type Bulk = WriteOptions & { maxRows?: number }

type Parameters = [name: string, value: string][]
type Body = Record<string, unknown> & { meta?: Record<string, unknown> }

/** Answers that are kept to be asked for by their ETag. */
const mostKept = 20

/** A sheet at either of its addresses: `https://…/api/sheets/demo/products` or `https://…/v1/sheets/sh_…`. */
export function sheet<T extends SheetTypes = AnySheet>(address: string, options: Options = {}): Sheet<T> {
  type Row = T['Row']
  const base = address.replace(/\/+$/, '')
  const send = createSend(options)
  const kept = new Map<string, { etag: string; answer: Answer }>()

  return {
    async rows(query) {
      const first = await read('', listParameters(query))
      const rows: Numbered<Row>[] = rowsOf(first)
      // A publishable key gets so many at once, whatever was asked for.
      const { limit = Infinity, offset = 0 } = query ?? {}
      if (rows.length > 0 && rows.length < Math.min(limit, totalOf(first) - offset))
        for await (const row of pages({ ...query, limit: limit - rows.length, offset: offset + rows.length }))
          rows.push(row)
      return rows
    },
    async *each({ pageSize = 1_000, ...query } = {}) {
      if (!(pageSize >= 1) || !((query.limit ?? 0) >= 0))
        throw new RangeError('pageSize and limit are numbers of rows.')
      yield* pages(query, pageSize)
    },
    async count(query) {
      const { headers } = await read('', parametersOfQuery({ ...query, limit: 0 }))
      return Number(headers.get('x-total-count'))
    },
    async row(name) {
      const [path] = pathOfRow(name)
      try {
        const { headers, text } = await read(path, [])
        const body = JSON.parse(text)
        return { row: isNested(body) ? body.data : body, etag: headers.get('etag') ?? '' }
      } catch (error) {
        if ((error as { code?: string }).code === 'row_not_found') return null
        throw error
      }
    },
    sums: async (aggregate, groupBy, query) =>
      rowsOf(
        await read('', [
          ['aggregate', aggregate],
          ...parameterOf('group_by', groupBy),
          ...parametersOfQuery(query),
        ]),
      ),
    add: (rows, more) => write('POST', '', [], rows, more),
    upsert: (column, rows, { onMatch, ...more } = {}) =>
      write('POST', '', [['upsert', column], ...parameterOf('on_match', onMatch)], rows, more),
    update: async (name, change, more) => write('PATCH', ...pathOfRow(name), change, more),
    remove: async (name, more) => write('DELETE', ...pathOfRow(name), undefined, more),
    updateWhere: async (where, change, { maxRows, ...more } = {}) =>
      write('PATCH', '', [...wholeFilters(where), ...parameterOf('max_rows', maxRows)], change, more),
    removeWhere: async (where, { maxRows, ...more } = {}) =>
      write('DELETE', '', [...wholeFilters(where), ...parameterOf('max_rows', maxRows)], undefined, more),
    undo: async (operation, more) => {
      await sendWrite('POST', `/operations/${encodeURIComponent(operation)}/undo`, [], undefined, more)
    },
    async *changes({ since, signal } = {}) {
      const ask = (parameters: Parameters) =>
        send({ method: 'GET', url: urlOf('/changes', parameters), signal, isEndless: true })
      try {
        let cursor = since ?? (await ask([])).headers.get('x-change-cursor') ?? ''
        while (!signal?.aborted) {
          const answer = await ask([
            ['since', cursor],
            ['wait', '25'],
          ])
          yield* rowsOf(answer) as unknown as Change<Row>[]
          cursor = answer.headers.get('x-change-cursor') ?? cursor
        }
      } catch (error) {
        if (!signal?.aborted) throw error
      }
    },
  }

  async function* pages(query: AnyQuery, pageSize = 1_000): AsyncGenerator<Numbered<Row>> {
    const { limit = Infinity, offset = 0 } = query
    for (let taken = 0; taken < limit; ) {
      const page = { ...query, limit: Math.min(pageSize, limit - taken), offset: offset + taken }
      const answer = await send({ method: 'GET', url: urlOf('', listParameters(page)) })
      const rows: Numbered<Row>[] = rowsOf(answer)
      yield* rows
      taken += rows.length
      if (rows.length === 0 || offset + taken >= totalOf(answer)) return
    }
  }

  /** What was read before is not sent again while it holds, and costs nothing of the month. */
  async function read(path: string, parameters: Parameters): Promise<Answer> {
    const url = urlOf(path, parameters)
    const known = kept.get(url)
    const asked: Sent = { method: 'GET', url }
    const answer = await send(known ? { ...asked, headers: { 'If-None-Match': known.etag } } : asked)
    if (answer.status === 304 && known) return known.answer
    const etag = answer.headers.get('etag')
    kept.delete(url)
    if (etag) kept.set(url, { etag, answer })
    for (const oldest of kept.keys()) if (kept.size > mostKept) kept.delete(oldest)
    return answer
  }

  async function sendWrite(
    method: string,
    path: string,
    parameters: Parameters,
    body: unknown,
    more: WriteOptions = {},
  ) {
    const { dryRun, ifMatch, idempotencyKey = newKey() } = more
    if (ifMatch === '') throw new TypeError('ifMatch is empty: nothing would be protected.')
    const headers = { 'Idempotency-Key': idempotencyKey, ...(ifMatch && { 'If-Match': ifMatch }) }
    return send({
      method,
      url: urlOf(path, [...parameters, ...parameterOf('dry_run', dryRun || undefined)]),
      headers,
      body,
    })
  }

  async function write(...asked: globalThis.Parameters<typeof sendWrite>): Promise<Written<Row>> {
    const { headers, text } = await sendWrite(...asked)
    const body = JSON.parse(text) as Body
    const facts = body.meta ?? body
    const rows = [body.rows ?? body.data].flat() as Numbered<Row>[]
    const numbers = [body.meta ? (body.meta.rows ?? body.meta.row) : (body.row ?? [])].flat() as number[]
    const single = (method: string) => (asked[0] === method && facts.row !== undefined ? 1 : 0)
    return {
      rows: rows.map((row, at) => (numbers[at] === undefined ? row : { ...row, _row: numbers[at] })),
      rowsAdded: Number(facts.rows_added ?? 0),
      rowsUpdated: Number(facts.rows_updated ?? single('PATCH')),
      rowsDeleted: Number(facts.rows_deleted ?? single('DELETE')),
      rowsUnchanged: Number(facts.rows_unchanged ?? 0),
      operation: headers.get('operation-id'),
      warnings: (facts.warnings ?? []) as string[],
    }
  }

  function urlOf(path: string, parameters: Parameters): string {
    const query = new URLSearchParams(parameters).toString()
    return `${base}${path}${query && `?${query}`}`
  }
}

/** Not `randomUUID`, which pages without https do not have. */
function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

function isNested(body: Body): boolean {
  return typeof body.meta === 'object' && 'data' in body && 'as_of' in (body.meta ?? {})
}

function rowsOf<Row>({ text }: Answer): Row[] {
  const body = JSON.parse(text)
  return Array.isArray(body) ? body : body.data
}

function totalOf({ headers }: Answer): number {
  return Number(headers.get('x-total-count') ?? 0)
}

function parameterOf(name: string, value: string | number | boolean | undefined): Parameters {
  return value === undefined ? [] : [[name, String(value)]]
}

/** A query of any sheet. */
interface AnyQuery {
  where?: object
  search?: string
  sort?: string | readonly string[]
  limit?: number
  offset?: number
}

function parametersOfQuery({ where, search, sort, limit, offset }: AnyQuery = {}): Parameters {
  return [
    ...filters(where),
    ...parameterOf('q', search),
    ...[sort ?? []].flat().map((column): [string, string] => ['sort', column]),
    ...parameterOf('limit', limit),
    ...parameterOf('offset', offset),
  ]
}

function listParameters(query?: AnyQuery): Parameters {
  return [...parametersOfQuery(query), ['row_numbers', 'true']]
}

/** A condition that says nothing would be left out, and the write would reach rows that nobody meant. */
function wholeFilters(where: object): Parameters {
  for (const [column, wish] of Object.entries(where)) {
    const values: unknown[] = isComparisons(wish) ? Object.values(wish) : [wish]
    if (values.length === 0 || values.includes(undefined))
      throw new TypeError(`The condition for ${column} is undefined.`)
  }
  return filters(where)
}

function isComparisons(wish: unknown): wish is object {
  return typeof wish === 'object' && wish !== null && !Array.isArray(wish)
}

/** In brackets, so that no column is taken for a parameter of its name. */
function filters(where: object = {}): Parameters {
  return Object.entries(where).flatMap(([column, wish]): Parameters => {
    if (wish === undefined) return []
    if (wish instanceof Date) throw new TypeError(`The value for ${column} is a Date: dates are texts.`)
    const comparisons: [string, unknown][] = isComparisons(wish)
      ? Object.entries(wish)
      : [[Array.isArray(wish) ? 'in' : 'eq', wish]]
    return comparisons.flatMap(([operator, value]): Parameters => {
      if (value === undefined) return []
      if (value === null) return [[`${column}[empty]`, String(operator !== 'ne')]]
      if (!Array.isArray(value)) return [[`${column}[${operator}]`, String(value)]]
      if (value.some((one) => typeof one === 'object'))
        throw new TypeError(`The list for ${column} holds more than texts, numbers and booleans.`)
      // Nothing is one of none: no cell is empty and holds something.
      if (value.length === 0)
        return operator === 'in'
          ? [
              [`${column}[empty]`, 'true'],
              [`${column}[contains]`, '.'],
            ]
          : []
      // A list of one is sent twice: alone, a comma in it would part it.
      const list = value.length === 1 ? [value[0], value[0]] : value
      return list.map((one) => [`${column}[${operator}]`, String(one)])
    })
  })
}

function pathOfRow(name: number | object): [path: string, parameters: Parameters] {
  if (typeof name === 'number') return [`/${name}`, []]
  const [[column, value] = [], ...others] = Object.entries(name)
  if (column === undefined || others.length > 0) throw new TypeError('Name a row by one column.')
  if ([column, value].some((part) => /^\.\.?$/.test(String(part))))
    throw new TypeError(
      'No address can hold "." or "..". Find the row by `where`, and name it by its number.',
    )
  return [`/by/${encodeURIComponent(column)}/${encodeURIComponent(String(value))}`, []]
}
