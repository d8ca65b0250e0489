import { randomUUID } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { DatabaseSync } from 'node:sqlite'

/** Texts and numbers alone: SQLite has no booleans, and nobody is to convert any. */
const columns = {
  id: 'TEXT PRIMARY KEY',
  name: 'TEXT',
  category: 'TEXT',
  price: 'REAL',
  stock: 'INTEGER',
  created: 'TEXT',
  city: 'TEXT',
  email: 'TEXT',
  note: 'TEXT',
  count: 'INTEGER',
}
const names = Object.keys(columns)

/** About 200 bytes of JSON each. No two prices are the same, so that there is one right order. */
export function productRows(count: number): (string | number)[][] {
  return Array.from({ length: count }, (_, n) => [
    `p${n}`,
    `Product number ${n}`,
    `Category ${n % 7}`,
    ((n * 7_919) % 100_000) / 100,
    n % 11,
    `2026-11-${10 + (n % 20)}T09:30:00`,
    `City ${n % 50}`,
    `user${n}@example.com`,
    `Some words about number ${n}`,
    n % 97,
  ])
}

/** With the header, as a spreadsheet holds it. */
export function productTable(count: number): (string | number)[][] {
  return [names, ...productRows(count)]
}

export function asCsv(rows: readonly (readonly (string | number)[])[]): string {
  return `${[names, ...rows].map((row) => row.join(',')).join('\n')}\n`
}

/** As json-server wants it. */
export async function writeJson(path: string, rows: readonly (readonly unknown[])[]): Promise<void> {
  await writeFile(path, JSON.stringify({ products: asObjects(rows) }))
}

/** As Mockoon wants it: a bucket of data, and a route that lists, filters and finds what is in it. */
export async function writeMockoon(path: string, rows: readonly (readonly unknown[])[]): Promise<void> {
  const bucket = { uuid: randomUUID(), id: 'rows', name: 'products', value: JSON.stringify(asObjects(rows)) }
  const response = {
    uuid: randomUUID(),
    default: true,
    statusCode: 200,
    bodyType: 'DATABUCKET',
    databucketID: bucket.id,
    crudKey: 'id',
    disableTemplating: true,
  }
  const route = { uuid: randomUUID(), type: 'crud', endpoint: 'products', responses: [response] }
  const environment = {
    uuid: randomUUID(),
    lastMigration: 33,
    name: 'bench',
    data: [bucket],
    routes: [route],
    rootChildren: [{ type: 'route', uuid: route.uuid }],
  }
  await writeFile(path, JSON.stringify(environment))
}

function asObjects(rows: readonly (readonly unknown[])[]) {
  return rows.map((row) => Object.fromEntries(names.map((name, at) => [name, row[at]])))
}

/** With an index for the column that is filtered by: whoever writes the handler knows which one that is. */
export function writeSqlite(path: string, rows: readonly (readonly (string | number)[])[]): void {
  using database = new DatabaseSync(path)
  const definitions = Object.entries(columns).map(([name, type]) => `${name} ${type}`)
  database.exec(`CREATE TABLE products (${definitions.join(', ')}); BEGIN`)
  const insert = database.prepare(`INSERT INTO products VALUES (${names.map(() => '?').join(', ')})`)
  for (const row of rows) insert.run(...row)
  database.exec('COMMIT; CREATE INDEX products_city ON products (city)')
}
