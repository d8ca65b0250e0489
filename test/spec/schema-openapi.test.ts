import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { errorTable } from '../../src/errors.ts'
import { bearer, done, startRowport } from '../harness.ts'
import { type Json, lookedUp, problemsWith } from './schema-validator.ts'

/*
 * The descriptions are held against the server that gives them: every path and method in them exists, nothing exists
 * that they do not have, and what comes back fits what they say.
 */

type Content = { schema: Json; example?: Json; examples?: { [code: string]: { value: Json } } }
type Operation = {
  operationId?: string
  parameters?: { name: string; in: string; required?: boolean; schema: Json }[]
  responses: { [status: string]: { content?: { [type: string]: Content } } }
  requestBody?: { content: { 'application/json': { schema: Json; example?: Json } } }
}
type Document = {
  openapi: string
  paths: { [path: string]: { [method: string]: Operation } }
  components: { schemas: { [name: string]: Json } }
}

const products = 'name,City,price,limit\nOak table,Berlin,420,1\nLamp,,59.9,2\n'
const methods = ['get', 'head', 'post', 'put', 'patch', 'delete', 'options']

test('/openapi.json is public and has every path and method that there is, and no other', async (t) => {
  const { rowport, document, sheet } = await start(t)
  assert.equal(document.openapi, '3.1.0')
  for (const [path, operations] of Object.entries(document.paths)) {
    const documented = methods.filter((method) => operations[method])
    const url = rowport.url + filledPath(path, sheet.id)
    for (const method of [...methods, 'propfind']) {
      const answer = await fetch(url, { method: method.toUpperCase() })
      const exists = answer.status !== 405 && answer.status !== 404
      assert.equal(exists, documented.includes(method), `${method} ${path}: ${answer.status}`)
      if (exists) continue
      const allowed = (answer.headers.get('allow') ?? '').toLowerCase().split(', ').sort()
      assert.deepEqual(allowed, documented.toSorted(), `Allow of ${path}`)
    }
  }
  const known = Object.keys(document.paths).map(
    (path) => new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
  )
  const doors = ['api', 'v1', 'openapi.json']
  const words = ['sheets', 'acme', 'products', sheet.id, '2', 'schema', 'openapi.json', 'rows', 'v1']
  for (let length = 0; length <= 4; length++) {
    for (let n = 0; n < 60; n++) {
      const below = Array.from({ length }, (_, at) => words[(n * 7 + at * (n % 5) + at * at) % words.length])
      const path = `/${[doors[n % doors.length], ...below].join('/')}`
      const answer = await fetch(rowport.url + path, { method: 'DELETE' })
      const body = (await answer.json()) as { code?: string; error: { code?: string } }
      const isRoute = (body.code ?? body.error.code) !== 'not_found'
      const isKnown = known.some((each) => each.test(path))
      assert.equal(isRoute, isKnown, path)
    }
  }
})

test('every error code is documented, with the body that the server sends', async (t) => {
  const { document } = await start(t)
  const text = JSON.stringify(document)
  const { oneOf } = document.components.schemas.Error as { oneOf: Json[] }
  const [flat] = oneOf as [{ properties: { code: { enum: string[] } } }]
  assert.deepEqual(flat.properties.code.enum, Object.keys(errorTable))
  for (const code of Object.keys(errorTable))
    assert.ok(text.includes(`"${code}":{"summary":`), `${code} has an example`)
  for (const operations of Object.values(document.paths))
    for (const operation of Object.values(operations))
      for (const [status, response] of Object.entries(operation.responses ?? {})) {
        const content = response.content?.['application/json'] as
          | { examples?: { [code: string]: { value: Json } } }
          | undefined
        for (const [code, { value }] of Object.entries(content?.examples ?? {})) {
          assert.equal(String(errorTable[code as keyof typeof errorTable].status), status)
          assert.deepEqual(problemsWith(value, { $ref: '#/components/schemas/Error' }, document), [], code)
        }
      }
})

test('every reference leads somewhere, ids are unique, and examples fit their schemas', async (t) => {
  const { document, sheetDocuments } = await start(t)
  for (const each of [document, ...sheetDocuments]) {
    for (const [, reference = ''] of JSON.stringify(each).matchAll(/"\$ref":"([^"]+)"/g))
      lookedUp(reference, each)
    const ids = Object.values(each.paths).flatMap((operations) =>
      Object.values(operations).flatMap(({ operationId }) => operationId ?? []),
    )
    assert.ok(ids.length > 10)
    assert.equal(new Set(ids).size, ids.length)
    for (const [path, operations] of Object.entries(each.paths)) {
      for (const operation of methods.flatMap((method) => operations[method] ?? [])) {
        const names = (operation.parameters ?? []).map(({ name, in: place }) => `${place} ${name}`)
        assert.equal(new Set(names).size, names.length, `${path} ${names}`)
        const contents = Object.values(operation.responses).flatMap(
          ({ content }) => content?.['application/json'] ?? [],
        )
        for (const { schema, example } of [
          ...contents,
          ...Object.values(operation.requestBody?.content ?? {}),
        ])
          if (example !== undefined) assert.deepEqual(problemsWith(example, schema, each), [], path)
      }
    }
  }
})

test('what the server answers fits its description: of the whole API, and of the sheet itself', async (t) => {
  const { rowport, document, sheet, sheetDocuments, key } = await start(t)
  let checked = 0
  for (const each of [document, ...sheetDocuments])
    for (const [path, operations] of Object.entries(each.paths))
      for (const query of ['', '?fields=name', '?row_numbers=true', '?limit=x', '?nothing=1', '?row=99']) {
        for (const headers of [bearer(key), {}, { 'X-API-Key': 'nonsense' }]) {
          const answer = await rowport.get(filledPath(path, sheet.id) + query, headers)
          const documented = operations.get?.responses[answer.status]
          assert.ok(documented, `${path}${query}: ${answer.status} is not documented`)
          const type = answer.headers.get('content-type')?.split(';')[0] ?? ''
          const content = documented.content?.[type]
          assert.ok(content, `${path}: ${type}`)
          const body = (await answer.json()) as Json
          assert.deepEqual(problemsWith(body, content.schema, each), [], `${path}${query}`)
          if (!answer.ok) assertDocumented(body, content, `${path}${query}`)
          checked++
        }
      }
  t.diagnostic(`${checked} answers`)
})

/** The operation itself has the code that it was refused with, and not only another one of the same status. */
function assertDocumented(body: Json, { examples = {} }: Content, where: string): void {
  const codes = Object.values(examples).map(({ value }) => codeIn(value))
  assert.ok(codes.includes(codeIn(body)), `${where}: ${codeIn(body)} is none of ${codes}`)
}

function codeIn(body: Json): unknown {
  const { code, error } = body as { code?: string; error: { code?: string } }
  return code ?? error.code
}

test('writes are described as they are answered', async (t) => {
  const { rowport, sheet, sheetDocuments, key } = await start(t)
  for (const [at, base] of [sheet.formA, sheet.formB].entries()) {
    const each = sheetDocuments[at]
    assert.ok(each)
    const write = async (method: string, path: string, documentedPath: string, body?: object) => {
      const answer = await fetch(rowport.url + path, {
        method: method.toUpperCase(),
        headers: bearer(key),
        ...(body && { body: JSON.stringify(body) }),
      })
      const operation = each.paths[documentedPath]?.[method]
      const content = operation?.responses[answer.status]?.content?.['application/json']
      const told = (await answer.json()) as Json
      assert.ok(content, `${method} ${path}: ${answer.status} ${JSON.stringify(told)}`)
      assert.deepEqual(problemsWith(told, content.schema, each), [], `${method} ${path}`)
      if (!answer.ok) assertDocumented(told, content, `${method} ${path}`)
      if (body && answer.ok) {
        const sent = operation?.requestBody?.content['application/json'].schema ?? {}
        assert.deepEqual(problemsWith(body as Json, sent, each), [])
      }
      return answer.status
    }
    const row = `${base}/{row}`
    assert.equal(await write('post', base, base, { name: 'Shelf', price: 1 }), 201)
    assert.equal(await write('post', base, base, [{ name: 'a' }, { name: 'b', City: 'Bonn' }]), 201)
    assert.equal(await write('put', `${base}/2`, row, { price: 5 }), 200)
    assert.equal(await write('patch', `${base}/2`, row, { price: null }), 200)
    assert.equal(await write('put', `${base}?row=2`, base, { price: 6 }), 200)
    assert.equal(await write('delete', `${base}/3`, row), 200)
    assert.equal(await write('delete', `${base}?row=3`, base), 200)
    assert.equal(await write('post', base, base, {}), 400)
    assert.equal(await write('put', `${base}/99`, row, { price: 5 }), 404)
    assert.equal(await write('put', base, base, { price: 5 }), 400)
  }
})

test('a sheet describes itself with its own columns, rows and filters', async (t) => {
  const { rowport, sheetDocuments, sheet, key } = await start(t)
  for (const [at, base] of [sheet.formA, sheet.formB].entries()) {
    const each = sheetDocuments[at]
    assert.ok(each)
    assert.deepEqual(Object.keys(each.paths), [
      base,
      `${base}/{row}`,
      `${base}/schema`,
      `${base}/openapi.json`,
    ])
    const list = each.paths[base]?.get
    const { example } = list?.responses[200]?.content?.['application/json'] ?? {}
    const rows = await (await rowport.get(`${base}?limit=2`, bearer(key))).json()
    const withoutTime = (value: unknown) => JSON.stringify(value).replace(/"as_of":"[^"]+"/, '')
    assert.equal(withoutTime(example), withoutTime(rows), 'the example is what a client gets')
    const names = (list?.parameters ?? []).map(({ name }) => name)
    const own = ['q', 'sort', 'limit', 'offset', 'fields', 'row_numbers', 'values', 'format']
    own.push('escape_formulas', 'row')
    const headers = ['If-None-Match', 'Cache-Control']
    assert.deepEqual(names, [...own, 'name', 'City', 'price', 'limit[eq]', ...headers])
  }
})

test('a public sheet says that reading needs no key', async (t) => {
  const { rowport, sheet } = await start(t)
  done(await rowport.workshop.sheets.change('acme', 'products', { access: 'public-read' }))
  const described = (await (await rowport.get(`${sheet.formA}/openapi.json`)).json()) as Document
  const { get, post } = described.paths[sheet.formA] as { [method: string]: { security?: object[] } }
  assert.deepEqual(get?.security?.[0], {})
  assert.equal(post?.security, undefined)
})

function filledPath(path: string, sheetId: string): string {
  return path
    .replace('{account}', 'acme')
    .replace('{sheet}', 'products')
    .replace('{sheet_id}', sheetId)
    .replace('{row}', '2')
}

async function start(t: TestContext) {
  const rowport = await startRowport(t)
  const key = await rowport.createKey()
  const sheet = await rowport.connectFile('products', 'products.csv', products)
  const document = (await (await rowport.get('/openapi.json')).json()) as Document
  const sheetDocuments = await Promise.all(
    [sheet.formA, sheet.formB].map(
      async (base) => (await (await rowport.get(`${base}/openapi.json`, bearer(key))).json()) as Document,
    ),
  )
  return { rowport, key, sheet, document, sheetDocuments }
}
