import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { seededRandom } from '../../emulator/seeded-random.ts'
import { bearer } from '../harness.ts'
import { tool } from './install-tools.ts'
import type { SheetOfKind } from './sheet-kinds.ts'

/*
 * Prism stands between a driver and the server and holds every request and every answer against the description: what the driver
 * sends is what the description allows. It sends no `fields`, of which the description says that rows then have fewer columns; and it
 * writes what fits the columns, because a description tells the types of the cells that were there when it was made.
 */
export async function driveThroughPrism(
  folder: string,
  key: { value: string },
  sheets: readonly SheetOfKind[],
  eachSheet: number,
) {
  const { getHttpOperationsFromSpec } = await tool('@stoplight/prism-http')
  const { createServer } = await tool('@stoplight/prism-http-server')
  const told = { requests: 0, statuses: new Map<number, number>(), problems: [] as string[] }
  for (const sheet of sheets) {
    const path = join(folder, `prism-${sheet.formA.split('/').at(-1)}.json`)
    await writeFile(path, sheet.documentText)
    const operations = await getHttpOperationsFromSpec(path)
    const shared = { validateRequest: true, validateResponse: true, checkSecurity: true, errors: false }
    const upstream = new URL(new URL(sheet.url).origin)
    const config = { ...shared, isProxy: true, upstream, mock: { dynamic: false } }
    const server = createServer(operations, { config, components: { logger: silent }, cors: false })
    const address: string = await server.listen(0, '127.0.0.1')
    try {
      for (const ask of asksOf(sheet, eachSheet)) {
        const url = `${address}${sheet.formA}${ask.path}`
        const init = {
          method: ask.method,
          headers: { ...bearer(key), ...(ask.body && { 'Content-Type': 'application/json' }) },
        }
        const answer = await fetch(url, { ...init, ...(ask.body && { body: ask.body }) })
        await answer.arrayBuffer()
        told.requests++
        told.statuses.set(answer.status, (told.statuses.get(answer.status) ?? 0) + 1)
        const violations = answer.headers.get('sl-violations')
        const isExpected = answer.status < 300 || answer.status === 404
        if (violations !== null || !isExpected)
          told.problems.push(
            `${sheet.kind}: ${ask.method} ${ask.path} ${ask.body ?? ''}: ${answer.status} ${violations}`.slice(
              0,
              700,
            ),
          )
      }
    } finally {
      await server.close()
    }
  }
  return told
}

interface Ask {
  method: string
  path: string
  body: string | null
}

function* asksOf({ columns, rows, kind }: SheetOfKind, count: number): Generator<Ask> {
  const random = seededRandom(kind.length * 1_000 + count)
  const below = (n: number) => Math.floor(random() * n)
  const pick = <T>(all: readonly T[]): T => all[below(all.length)] as T
  const described = columns.filter((name) => name !== '__proto__')
  // In the description these are reached by another name.
  const filtered = described.filter((name) => !taken.has(name) && !(name in Object.prototype))
  let last = rows.length + 1
  for (let n = 0; n < count; n++) {
    const row = 2 + below(last + 1)
    const choice = below(20)
    if (choice < 10) yield { method: 'GET', path: `?${listQuery()}`, body: null }
    else if (choice < 13)
      yield { method: 'GET', path: `/${row}${below(2) ? '?row_numbers=true' : ''}`, body: null }
    else if (choice < 16) {
      last++
      yield { method: 'POST', path: '', body: JSON.stringify(newRow()) }
    } else if (choice < 19) {
      const [name, value] = pick(Object.entries(newRow()))
      yield { method: pick(['PUT', 'PATCH']), path: `/${row}`, body: JSON.stringify({ [name]: value }) }
    } else {
      if (row <= last) last--
      yield { method: 'DELETE', path: `/${row}`, body: null }
    }
  }

  function listQuery(): URLSearchParams {
    const query = new URLSearchParams()
    if (below(3) === 0) query.set('q', pick(['a', 'Lamp', '1', 'ö', '']))
    if (below(2) === 0) query.append('sort', `${pick(['', '-'])}${pick(described)}`)
    if (below(2) === 0) query.set('limit', String(below(12)))
    if (below(3) === 0) query.set('offset', String(below(8)))
    if (below(3) === 0) query.set('row_numbers', pick(['true', 'false']))
    if (below(2) === 0 && filtered.length > 0) {
      const operator = pick([
        'eq',
        'ne',
        'gt',
        'gte',
        'lt',
        'lte',
        'in',
        'nin',
        'contains',
        'starts',
        'ends',
        'empty',
      ])
      const value =
        operator === 'empty'
          ? pick(['true', 'false'])
          : String(pick(['a', '5', 'S001', 'red', '2026-11-15', 'true']))
      query.append(`${pick(filtered)}[${operator}]`, value)
    }
    return query
  }

  /** Of cells that the column has already: of their types, and whole where all of them are. */
  function newRow(): { [column: string]: unknown } {
    const from = rows.length > 0 ? pick(rows) : Object.fromEntries(described.map((name) => [name, 'text']))
    return Object.fromEntries(described.map((name) => [name, from[name]]))
  }
}

const taken = new Set([
  'limit',
  'sort',
  'api_key',
  'fields',
  'row',
  'format',
  'q',
  'offset',
  'values',
  'row_numbers',
  'bom',
  'escape_formulas',
])

const silent: Record<string, unknown> = { child: () => silent }
for (const level of ['trace', 'debug', 'info', 'success', 'warn', 'error', 'fatal', 'note', 'start'])
  silent[level] = () => {}
