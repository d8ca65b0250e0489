import { execFile } from 'node:child_process'
import { copyFile, mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { tool } from './install-tools.ts'
import type { SheetOfKind } from './sheet-kinds.ts'

const run = promisify(execFile)
const modules = join(import.meta.dirname, 'node_modules')

export const typedClients = ['openapi-typescript + openapi-fetch', 'hey-api', 'orval'] as const
export type TypedClient = (typeof typedClients)[number]

/** Generated from each description, and compiled as strictly as TypeScript can; throws with what the compiler said. */
export async function makeClients(folder: string, sheets: readonly SheetOfKind[]): Promise<void> {
  await mkdir(join(folder, 'clients'))
  await symlink(modules, join(folder, 'node_modules'))
  await writeFile(join(folder, 'package.json'), '{"type":"module"}')
  for (const sheet of sheets)
    await writeFile(join(folder, `${nameOf(sheet)}.openapi.json`), sheet.documentText)
  await run(process.execPath, [join(import.meta.dirname, 'generate-clients.ts'), folder])
  await copyFile(join(import.meta.dirname, 'natural-code.txt'), join(folder, 'clients', 'natural-code.ts'))
  const compilerOptions = {
    target: 'es2023',
    lib: ['es2023', 'dom', 'dom.iterable'],
    module: 'nodenext',
    moduleResolution: 'nodenext',
    strict: true,
    skipLibCheck: true,
    types: [],
    rootDir: 'clients',
    outDir: 'compiled',
  }
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['clients'] }))
  await run(process.execPath, [join(modules, 'typescript', 'bin', 'tsc'), '-p', folder]).catch(
    (error: { stdout: string }) => {
      throw new Error(error.stdout.slice(0, 4_000))
    },
  )
}

function nameOf({ formA }: SheetOfKind): string {
  return formA.split('/').at(-1) ?? ''
}

/** What programs do with a sheet, in the words of the client that was generated for it. */
interface Client {
  list(query: object): Promise<Told>
  read(row: number): Promise<Told>
  add(row: object): Promise<Told>
  update(row: number, change: object): Promise<Told>
  remove(row: number): Promise<Told>
}

interface Told {
  status: number
  // biome-ignore lint/suspicious/noExplicitAny: The types are the generated code's own, and were compiled.
  data: any
}

/** List, filter, add, update, read, delete and an error, by each client on each sheet; the key is in no address. */
export async function useClients(folder: string, key: { value: string }, sheets: readonly SheetOfKind[]) {
  const told = { calls: new Map<TypedClient, number>(), problems: [] as string[], addresses: 0 }
  const plainFetch = globalThis.fetch
  let client: TypedClient = 'orval'
  globalThis.fetch = (input, init) => {
    const url = input instanceof Request ? input.url : String(input)
    told.addresses++
    told.calls.set(client, (told.calls.get(client) ?? 0) + 1)
    if (url.includes('sk_') || url.includes(encodeURIComponent(key.value)))
      told.problems.push(`${client}: the key is in ${url}`)
    return plainFetch(input, init)
  }
  try {
    for (const sheet of sheets)
      for (client of typedClients) {
        const problem = await useOne(await openClient(client, folder, key, sheet), sheet).catch(
          (error: Error) => error.message,
        )
        if (problem !== null) told.problems.push(`${client}, ${sheet.kind}: ${problem}`)
      }
    const natural = await import(pathToFileURL(join(folder, 'compiled', 'natural-code.js')).href)
    for (const [name, code] of Object.entries(
      natural as Record<string, (url: string, key: string) => Promise<object>>,
    )) {
      const outcome = JSON.stringify(await code(new URL(sheets[0]?.url ?? '').origin, key.value))
      if (outcome !== '{"isNumber":true,"dearest":293,"code":"row_not_found"}')
        told.problems.push(`${name}: ${outcome}`)
    }
  } finally {
    globalThis.fetch = plainFetch
  }
  return told
}

async function useOne(client: Client, { rows, columns }: SheetOfKind): Promise<string | null> {
  const [first = Object.fromEntries(columns.map((name) => [name, 'text']))] = rows
  const whole = Object.fromEntries(Object.entries(first).filter(([name]) => name !== '__proto__'))
  const list = await client.list({ limit: 2, row_numbers: true })
  if (list.status !== 200 || list.data.length !== Math.min(2, rows.length))
    return `list ${JSON.stringify(list)}`
  const [column = '', value] = Object.entries(whole)[0] ?? []
  const filtered = await client.list({ [column]: { eq: value }, sort: [column] })
  if (
    filtered.status !== 200 ||
    (rows.length > 0 && !(filtered.data.length > 0 && filtered.data.length < rows.length))
  )
    return `filter by ${column} ${JSON.stringify(filtered).slice(0, 300)}`
  const added = await client.add(whole)
  const number = added.data?.rows?.[0]?._row
  if (added.status !== 201 || typeof number !== 'number') return `add ${JSON.stringify(added)}`
  const updated = await client.update(number, { [column]: value })
  if (updated.status !== 200 || updated.data.row !== number) return `update ${JSON.stringify(updated)}`
  const read = await client.read(number)
  if (read.status !== 200 || JSON.stringify(read.data[column]) !== JSON.stringify(value))
    return `read ${JSON.stringify(read)}`
  const removed = await client.remove(number)
  if (removed.status !== 200) return `delete ${JSON.stringify(removed)}`
  const missing = await client.read(1_000_000)
  return missing.status === 404 && missing.data.code === 'row_not_found'
    ? null
    : `error ${JSON.stringify(missing)}`
}

async function openClient(
  client: TypedClient,
  folder: string,
  key: { value: string },
  sheet: SheetOfKind,
): Promise<Client> {
  const path = sheet.formA
  const baseUrl = sheet.url.slice(0, -path.length)
  const made = (file: string) => import(pathToFileURL(join(folder, 'compiled', nameOf(sheet), file)).href)
  const headers = { Authorization: `Bearer ${key.value}` }
  if (client === 'orval') {
    const orval = await made('orval.js')
    return {
      list: (query) => orval.listRows(query, { headers }),
      read: (row) => orval.readRow(row, {}, { headers }),
      add: (row) => orval.addRows(row, { headers }),
      update: (row, change) => orval.updateRow(row, change, { headers }),
      remove: (row) => orval.deleteRow(row, { headers }),
    }
  }
  const told = ({ data, error, response }: { data: unknown; error: unknown; response: Response }): Told => ({
    status: response.status,
    data: data ?? error,
  })
  if (client === 'hey-api') {
    const sdk = await made('hey-api/sdk.gen.js')
    const { client: configured } = await made('hey-api/client.gen.js')
    configured.setConfig({ baseUrl, auth: () => key.value })
    return {
      list: async (query) => told(await sdk.listRows({ query })),
      read: async (row) => told(await sdk.readRow({ path: { row } })),
      add: async (body) => told(await sdk.addRows({ body })),
      update: async (row, body) => told(await sdk.patchRow({ path: { row }, body })),
      remove: async (row) => told(await sdk.deleteRow({ path: { row } })),
    }
  }
  const openapiFetch = (await tool('openapi-fetch')).default({ baseUrl, headers })
  const one = (row: number) => ({ params: { path: { row } } })
  return {
    list: async (query) => told(await openapiFetch.GET(path, { params: { query } })),
    read: async (row) => told(await openapiFetch.GET(`${path}/{row}`, one(row))),
    add: async (body) => told(await openapiFetch.POST(path, { body })),
    update: async (row, body) => told(await openapiFetch.PUT(`${path}/{row}`, { ...one(row), body })),
    remove: async (row) => told(await openapiFetch.DELETE(`${path}/{row}`, one(row))),
  }
}
