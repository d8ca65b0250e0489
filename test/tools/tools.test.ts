import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { type Rowport, startRowport } from '../harness.ts'
import { findChromium } from '../servers/chromium.ts'
import { patienceMs } from '../soak.ts'
import { driveGoogleSpreadsheet } from './google-spreadsheet.ts'
import { installTools } from './install-tools.ts'
import { lintWithRedocly, lintWithSpectral } from './linting.ts'
import { runPostmanCollections } from './postman.ts'
import { connectKinds, countOfKinds, type SheetOfKind } from './sheet-kinds.ts'
import { holdRowsAgainstSchemas } from './strict-schemas.ts'
import { executeUntouched } from './swagger-ui.ts'
import { makeClients, useClients } from './typed-clients.ts'
import { driveThroughPrism } from './validating-proxy.ts'

/*
 * Others' tools, as their users run them, on eleven kinds of sheets. They come in a folder of their own (package.json beside this), and
 * where the registry cannot be reached the tests are skipped.
 */

const missing = await installTools((line) => process.stdout.write(`${line}\n`))
const skip = missing ?? false
/** In CI; `npm run soak` drives more. */
const requestsOfEachSheet = 190

test('google-spreadsheet (npm) drives the local Google through its everyday methods', { skip }, async (t) => {
  const { methods, requests } = await driveGoogleSpreadsheet(t)
  process.stdout.write(
    `  google-spreadsheet on the emulator: ${methods} calls of its methods, ${requests} requests, 0 failed\n`,
  )
})

describe('eleven kinds of sheets, through the tools of others', { skip, timeout: 4 * patienceMs }, () => {
  const table: [tool: string, outcome: string][] = []
  let folder = ''
  let rowport: Rowport
  let key: { value: string }
  let sheets: SheetOfKind[]
  const closing: (() => unknown)[] = []

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'rowport-tools-'))
    const context = { after: (close: () => unknown) => closing.push(close) } as never
    rowport = await startRowport(context)
    key = await rowport.createKey()
    sheets = await connectKinds(rowport, key)
    assert.equal(sheets.length, 11)
    assert.equal(countOfKinds, 11)
  })

  after(async () => {
    for (const close of closing) await close()
    await rm(folder, { recursive: true, force: true })
    const width = Math.max(...table.map(([name]) => name.length))
    for (const [name, outcome] of table) process.stdout.write(`  ${name.padEnd(width)}  ${outcome}\n`)
  })

  test('linters at their strictest find nothing', { timeout: patienceMs }, async () => {
    const paths = sheets.map(({ formA }) => join(folder, `lint-${formA.split('/').at(-1)}.json`))
    for (const [at, path] of paths.entries()) await writeFile(path, sheets[at]?.documentText ?? '')
    const api = join(folder, 'lint-openapi.json')
    await writeFile(api, await (await rowport.get('/openapi.json')).text())
    const outcomes = await Promise.all([
      lintWithRedocly(folder, [...paths, api]),
      lintWithSpectral(folder, [...paths, api]),
    ])
    for (const [at, name] of ['redocly lint, recommended-strict', 'spectral, spectral:oas'].entries()) {
      const { errors = -1, warnings = -1, first = '' } = outcomes[at] ?? {}
      table.push([name, `${paths.length + 1} documents: ${errors} errors, ${warnings} warnings`])
      assert.deepEqual({ errors, warnings }, { errors: 0, warnings: 0 }, first)
    }
  })

  test('typed clients are generated, compile strictly, and do what they say', {
    timeout: patienceMs,
  }, async () => {
    await makeClients(folder, sheets)
    const { calls, problems, addresses } = await useClients(folder, key, sheets)
    for (const [client, count] of calls)
      table.push([
        client,
        `${sheets.length} generated and compiled, ${count} calls, ${problems.filter((each) => each.startsWith(client)).length} failed`,
      ])
    table.push(['keys in addresses', `0 in ${addresses}`])
    assert.deepEqual(problems.slice(0, 5), [])
  })

  test('Postman imports and runs them as they are', { timeout: patienceMs }, async () => {
    const { collections, requests, problems } = await runPostmanCollections(key, sheets)
    table.push([
      'openapi-to-postman + newman',
      `${collections} imported, ${requests} requests, ${problems.length} failed`,
    ])
    assert.equal(requests, sheets.length * 7)
    assert.deepEqual(problems.slice(0, 5), [])
  })

  test('the first click in Swagger UI shows rows', {
    timeout: patienceMs,
    skip: findChromium() ? false : 'Chromium is not on this machine',
  }, async () => {
    const { pages, rows, problems } = await executeUntouched(key, sheets)
    table.push([
      'Swagger UI, Execute untouched',
      `${pages} pages, ${rows} rows shown, ${problems.length} wrong`,
    ])
    assert.deepEqual(problems.slice(0, 5), [])
  })

  test('every row fits its schema by Ajv in strict mode', { timeout: patienceMs }, async () => {
    const { schemas, rows, problems } = await holdRowsAgainstSchemas(rowport, key, sheets)
    table.push(['ajv, strict', `${schemas} schemas compiled, ${rows} rows, ${problems.length} problems`])
    assert.deepEqual(problems.slice(0, 5), [])
    assert.equal(schemas, sheets.length * 4)
  })

  test('no request and no answer breaks the description, by Prism between them', {
    timeout: patienceMs,
  }, async () => {
    const { requests, statuses, problems } = await driveThroughPrism(folder, key, sheets, requestsOfEachSheet)
    const seen = [...statuses].sort().map(([status, times]) => `${status} ×${times}`)
    table.push([
      'Prism as a validating proxy',
      `${requests} requests (${seen.join(', ')}), ${problems.length} violations`,
    ])
    assert.deepEqual(problems.slice(0, 5), [])
    assert.ok(requests >= 2_000)
  })
})
