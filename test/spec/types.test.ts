import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { cli } from '../../src/cli.ts'
import { bearer, done, startRowport } from '../harness.ts'

const orders = [
  'id,name,unit price,paid,day,at,opens,mixed,2024,__proto__,empty',
  'A-1,Oak table,420.5,TRUE,2026-11-15,2026-11-15T09:30:00,09:30:00,1,a,b,',
  'A-2,Lamp,59,FALSE,2026-11-16,,23:00:00,"x",c,d,',
  'A-3,,1,TRUE,,,,2026-11-15,e,f,',
].join('\n')

const interfaceOf = (text: string) => text.slice(text.indexOf('/** The rows of'))

test('the types of a sheet are those of its cells, with what can be written and the key', async (t) => {
  const { get, rowport, sheet } = await start(t)
  const answer = await get(`${sheet.formA}/types.ts`)
  assert.equal(answer.status, 200)
  assert.equal(answer.headers.get('content-type'), 'text/plain; charset=utf-8')
  const text = await answer.text()
  assert.match(text, /^\/\/ Made by Rowport .*\n\/\/ .*--check/)
  assert.equal(
    interfaceOf(text),
    `/** The rows of /api/sheets/acme/lamp-orders. */
export interface LampOrdersSheet {
  Row: {
    id: string
    name: string | null
    "unit price": number
    paid: boolean
    day: DateText | null
    at: DateTimeText | null
    opens: TimeText | null
    mixed: string | number
    "2024": string
    __proto__: string
    empty: Cell
  }
  Insert: {
    id?: string | null
    name?: string | null
    "unit price"?: number | null
    paid?: boolean | null
    day?: DateText | null
    at?: DateTimeText | null
    opens?: TimeText | null
    mixed?: string | number | null
    "2024"?: string | null
    __proto__?: string | null
    empty?: Cell
  }
  Update: {
    id?: string | null
    name?: string | null
    "unit price"?: number | null
    paid?: boolean | null
    day?: DateText | null
    at?: DateTimeText | null
    opens?: TimeText | null
    mixed?: string | number | null
    "2024"?: string | null
    __proto__?: string | null
    empty?: Cell
  }
  Key: never
}
`,
  )

  const set = (change: Parameters<typeof rowport.workshop.sheets.change>[2]) =>
    rowport.workshop.sheets.change('acme', 'lamp-orders', change)
  done(await set({ keyColumn: 'id' }))
  const keyed = await (await get(`${sheet.formB}/types.ts?row_numbers=true`)).text()
  assert.match(keyed, /export interface Sheet \{\n {2}Row: \{\n {4}_row: number\n {4}id: string\n/)
  assert.match(keyed, /Insert: \{\n {4}id: string\n/, 'a row needs its key')
  assert.match(keyed, /Update: \{\n {4}id\?: string\n/, 'which cannot be emptied')
  assert.match(keyed, /Key: "id"\n/)
  done(await set({ autoKey: 'uuid' }))
  const made = await (await get(`${sheet.formA}/types.ts`)).text()
  assert.match(made, /Insert: \{\n {4}id\?: string \| null\n/, 'or gets one')
})

test('types stay as they are, to the byte, while no program would notice a difference', async (t) => {
  const { get, sheet, rowport } = await start(t)
  const first = await get(`${sheet.formA}/types.ts`)
  const etag = first.headers.get('etag') ?? ''
  const text = await first.text()
  assert.equal((await get(`${sheet.formA}/types.ts`, { 'If-None-Match': etag })).status, 304)
  const changed = `${orders}\nA-4,Shelf,12.25,TRUE,2026-01-01,2026-01-01T00:00:00,00:00:00,7,z,z,`
  await writeFile(sheet.path, changed.split('\n').toSpliced(1, 1).join('\n'))
  rowport.clock.advanceMs(11_000)
  assert.equal(await (await get(`${sheet.formA}/types.ts`, { 'Cache-Control': 'no-cache' })).text(), text)
})

test('types are a read like any other', async (t) => {
  const { get, rowport, sheet } = await start(t)
  assert.equal((await rowport.get(`${sheet.formA}/types.ts`)).status, 401)
  assert.equal((await get(`${sheet.formA}/types.ts?values=formatted`)).status, 400)
  assert.equal((await get(`${sheet.formA}/types.ts?limit=1`)).status, 400)
  const posted = await fetch(`${rowport.url}${sheet.formA}/types.ts`, { method: 'POST' })
  assert.equal(posted.status, 405)
  const blank = await rowport.connectFile('blank', 'blank.csv', '\n')
  assert.equal((await get(`${blank.formA}/types.ts`)).status, 400)
})

test('rowport types writes the file, and --check says what no longer fits', async (t) => {
  const { rowport, sheet, key } = await start(t)
  const address = rowport.url + sheet.formA
  const made = await typed(rowport.folder, 'types', address, '--key', key.value)
  assert.equal(made.exitCode, 0, made.stderr)
  const file = join(rowport.folder, 'orders.ts')
  await writeFile(file, made.stdout)
  const check = () => typed(rowport.folder, 'types', address, '--key', key.value, '--check', 'orders.ts')
  const sheetIs = async (content: string) => {
    await writeFile(sheet.path, content)
    rowport.clock.advanceMs(11_000)
  }
  assert.deepEqual(await check(), { exitCode: 0, stdout: `${file} fits.\n`, stderr: '' })

  await sheetIs(
    orders.replace('A-3,,1', 'A-3,Shelf,1').replace('id,name', 'sku,id,name').replaceAll('A-', '7,A-'),
  )
  assert.equal((await check()).exitCode, 0, 'one empty cell less and one column more still fit')
  await writeFile(file, made.stdout.replaceAll('"', "'").replaceAll(/$/gm, ';').replaceAll('{;', '{'))
  assert.equal((await check()).exitCode, 0, 'also as a formatter would have it')

  await sheetIs(orders.replace('420.5', 'on request').replace(',mixed', ',mixt').replace('A-2', ''))
  const { exitCode, stdout } = await check()
  assert.equal(exitCode, 1)
  assert.deepEqual(stdout.trim().split('\n'), [
    'LampOrdersSheet: Column "id" is string | null now, and the file says string.',
    'LampOrdersSheet: Column "unit price" is string | number now, and the file says number.',
    'LampOrdersSheet: Column "mixed" no longer exists.',
    `${file} no longer fits. Create it again.`,
  ])
})

test('rowport types takes a server for all sheets that the key may read, and says what is wrong', async (t) => {
  const { rowport, sheet, key } = await start(t)
  await rowport.connectFile('stock', 'stock.csv', 'item,count\nLamp,4')
  const all = await typed(rowport.folder, 'types', `${rowport.url}/`, '--key', key.value)
  assert.equal(all.exitCode, 0, all.stderr)
  assert.equal(all.stdout.match(/export type DateText/g)?.length, 1)
  assert.match(all.stdout, /export interface StockSheet \{\n {2}Row: \{\n {4}item: string\n {4}count: number/)
  assert.match(
    all.stdout,
    /interface Sheets \{\n {2}"lamp-orders": LampOrdersSheet\n {2}"stock": StockSheet\n\}/,
  )
  await writeFile(join(rowport.folder, 'all.ts'), all.stdout)
  const again = await typed(rowport.folder, 'types', rowport.url, '--key', key.value, '--check', 'all.ts')
  assert.equal(again.exitCode, 0, again.stdout)
  assert.equal(await readFile(join(rowport.folder, 'all.ts'), 'utf8'), all.stdout)

  const without = await typed(rowport.folder, 'types', rowport.url + sheet.formA)
  assert.match(without.stderr, /returned 401: .* Give one with --key, or as ROWPORT_KEY\.\n$/)
  assert.match((await typed(rowport.folder, 'types', 'demo/products')).stderr, /is not the URL of a sheet/)
  const nobody = await typed(rowport.folder, 'types', 'http://127.0.0.1:1/api/sheets/demo/products')
  assert.match(nobody.stderr, /cannot be reached/)
  for (const { exitCode } of [without, nobody]) assert.equal(exitCode, 1)
})

/** As it would be typed in a folder, with nothing set. */
async function typed(folder: string, ...args: string[]) {
  const written = { stdout: '', stderr: '' }
  const exitCode = await cli(args, {
    env: { INIT_CWD: folder },
    stdout: terminalInto('stdout'),
    stderr: terminalInto('stderr'),
  })
  return { exitCode, ...written }

  function terminalInto(name: keyof typeof written) {
    return {
      write(text: string) {
        written[name] += text
      },
    }
  }
}

async function start(t: TestContext) {
  const rowport = await startRowport(t)
  const sheet = await rowport.connectFile('lamp-orders', 'orders.csv', orders)
  const key = await rowport.createKey({ scope: 'read' })
  const get = (path: string, headers: Record<string, string> = {}) =>
    rowport.get(path, { ...bearer(key), ...headers })
  return { rowport, sheet, key, get }
}
