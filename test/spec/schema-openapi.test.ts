import assert from 'node:assert/strict'
import { request } from 'node:http'
import { type TestContext, test } from 'node:test'
import { parametersOf } from '../../src/api/request/read-wish.ts'
import { parametersOfWrites } from '../../src/api/request/write-parameters.ts'
import { errorTable } from '../../src/errors.ts'
import { bearer, done, startRowport } from '../harness.ts'
import { holdsOfFive } from '../measured-twice.ts'
import { type Json, lookedUp, problemsWith } from './schema-validator.ts'

/*
 * The descriptions are held against the server that gives them: every path and method in them exists, nothing exists
 * that they do not have, and what comes back fits what they say.
 */

type Content = { schema: Json; example?: Json; examples?: { [code: string]: { value: Json } } }
type Answer = { description?: string; content?: { [type: string]: Content } }
type Operation = {
  operationId?: string
  description?: string
  parameters?: { name: string; in: string; required?: boolean; schema: Json; example?: Json }[]
  responses: { [status: string]: Answer | { $ref: string } }
  requestBody?: { content: { 'application/json': { schema: Json; example?: Json } } }
}
type Document = {
  openapi: string
  servers: { url: string }[]
  security: Json
  paths: { [path: string]: { [method: string]: Operation } }
  components: { schemas: { [name: string]: Json }; securitySchemes: { [name: string]: Json } }
}

const products = 'name,City,price,limit\nOak table,Berlin,420,1\nLamp,,59.9,2\n'
const methods = ['get', 'post', 'put', 'patch', 'delete']
/** They answer wherever GET does, and are not described: clients that are made of a description have no use for them. */
const undescribed = ['head', 'options']
/** Where there is nothing to be read. */
const undescribedWithoutGet = ['options']

for (const [what, columns, mostMs] of [
  ['the server', 0, 6],
  ['the widest sheet', 2_000, 5.5],
] as const) {
  test(`whoever asks under one name after the other does not have the description of ${what} made anew each time`, async (t) => {
    const rowport = await startRowport(t)
    const key = await rowport.createKey()
    const names = Array.from({ length: columns }, (_, n) => `column ${n}`).join(',')
    const path = columns === 0 ? '' : (await rowport.connectFile('wide', 'wide.csv', `${names}\n1\n`)).formA
    const texts = new Set<string>()
    const ask = (host: string) => {
      const { promise, resolve, reject } = Promise.withResolvers<Buffer>()
      const headers = { Host: host, ...bearer(key) }
      const asked = request(`${rowport.url}${path}/openapi.json`, { headers }, async (answer) => {
        resolve(Buffer.concat(await Array.fromAsync(answer as AsyncIterable<Buffer>)))
      })
      asked.once('error', reject).end()
      return promise
    }
    await ask('first.example')
    let asked = 0
    const ofMany = async () => {
      const answers: Buffer[] = []
      const before = process.threadCpuUsage()
      for (let n = 0; n < 50; n++) answers.push(await ask(`name-${asked++}.example`))
      const { user, system } = process.threadCpuUsage(before)
      for (const answer of answers) texts.add(answer.toString())
      return (user + system) / 50_000
    }
    const eachMs = await holdsOfFive(ofMany, (ms) => (ms < mostMs ? null : `${ms.toFixed(1)} ms each`))
    assert.equal(texts.size, asked)
    for (const text of texts) assert.match(JSON.parse(text).servers[0].url, /^http:\/\/name-\d+\.example$/)
    t.diagnostic(`${eachMs.toFixed(1)} ms of this thread for each, the client's part included`)
  })
}

test('what a sheet has in its cells is never taken for the address of the server', async (t) => {
  const rowport = await startRowport(t)
  const key = await rowport.createKey()
  const url = 'http://address.invalid'
  const { formA } = await rowport.connectFile('links', 'links.csv', `url\n${url}\n`)
  const text = await (await rowport.get(`${formA}/openapi.json`, bearer(key))).text()
  assert.ok(text.includes(`{"url":"${url}"}`))
  assert.deepEqual(JSON.parse(text).servers, [{ url: rowport.url }])
})

test('/openapi.json is public and has every path and method that there is, and no other', async (t) => {
  const { rowport, document, sheet } = await start(t)
  assert.equal(document.openapi, '3.1.0')
  for (const [path, operations] of Object.entries(document.paths)) {
    const documented = methods.filter((method) => operations[method])
    const url = rowport.url + filledPath(path, sheet.id)
    const others = operations.get ? undescribed : undescribedWithoutGet
    const isOfRows = operations.get !== undefined && operations.post !== undefined
    for (const method of [...methods, ...undescribed, 'propfind']) {
      const answer = await fetch(url, { method: method.toUpperCase() })
      const exists = answer.status !== 405 && answer.status !== 404
      // A row can be named by `?row=` too.
      const isNamedElsewhere = ['put', 'patch', 'delete'].includes(method) && isOfRows
      const isExpected = documented.includes(method) || others.includes(method) || isNamedElsewhere
      assert.equal(exists, isExpected, `${method} ${path}: ${answer.status}`)
      if (exists) continue
      const allowed = (answer.headers.get('allow') ?? '').toLowerCase().split(', ').sort()
      const more = isOfRows ? ['put', 'patch', 'delete'] : []
      const expected = new Set([...documented, ...others, ...more])
      assert.deepEqual(allowed, [...expected].toSorted(), `Allow of ${path}`)
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
  const flat = document.components.schemas.Error as { properties: { code: { enum: string[] } } }
  const ofOtherDoors = [
    'form_closed',
    'invalid_entry',
    'captcha_failed',
    'captcha_unavailable',
    'invalid_arguments',
  ]
  const codes = Object.keys(errorTable).filter((code) => !ofOtherDoors.includes(code))
  assert.deepEqual(flat.properties.code.enum, codes)
  for (const code of codes) assert.ok(text.includes(`"${code}":{"value":`), `${code} has an example`)
  for (const operations of Object.values(document.paths))
    for (const operation of Object.values(operations))
      for (const status of Object.keys(operation.responses ?? {})) {
        const content = answerOf(document, operation, status)?.content?.['application/json']
        for (const [code, { value }] of Object.entries(content?.examples ?? {})) {
          assert.equal(String(errorTable[code as keyof typeof errorTable].status), status)
          assert.deepEqual(problemsWith(value, content?.schema ?? {}, document), [], code)
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
    assert.ok(ids.length >= 6)
    assert.equal(new Set(ids).size, ids.length)
    for (const [path, operations] of Object.entries(each.paths)) {
      for (const operation of methods.flatMap((method) => operations[method] ?? [])) {
        const names = (operation.parameters ?? []).map(({ name, in: place }) => `${place} ${name}`)
        assert.equal(new Set(names).size, names.length, `${path} ${names}`)
        const contents = Object.keys(operation.responses).flatMap(
          (status) => answerOf(each, operation, status)?.content?.['application/json'] ?? [],
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
      for (const query of ['', '?row_numbers=true', '?limit=x', '?nothing=1', '?row=99']) {
        for (const headers of [bearer(key), {}, { 'X-API-Key': 'nonsense' }]) {
          const operation = operations.get ?? operations.post
          const method = operations.get ? 'GET' : 'POST'
          const url = rowport.url + filledPath(path, sheet.id) + query
          const answer = await fetch(url, { method, headers: { ...headers } })
          const documented = answerOf(each, operation, answer.status)
          assert.ok(documented, `${path}${query}: ${answer.status} is not documented`)
          const type = answer.headers.get('content-type')?.split(';')[0] ?? ''
          const content = documented.content?.[type]
          assert.ok(content, `${path}: ${type}`)
          const text = await answer.text()
          const body = type === 'text/plain' ? text : (JSON.parse(text) as Json)
          assert.deepEqual(problemsWith(body, content.schema, each), [], `${path}${query}`)
          if (!answer.ok) assertDocumented(body, documented, `${path}${query}`)
          checked++
        }
      }
  t.diagnostic(`${checked} answers`)
})

/** The operation itself has the code that it was refused with, and not only another one of the same status. */
function assertDocumented(body: Json, { description = '', content = {} }: Answer, where: string): void {
  const { examples, example } = content['application/json'] ?? {}
  const named = [...description.matchAll(/`(\w+)`/g)].map(([, code]) => code)
  // A sheet's own description has an example of the first code, and names the others.
  const codes = examples ? Object.values(examples).map(({ value }) => codeIn(value)) : named
  if (!examples) assert.equal(codeIn(example ?? {}), named[0], where)
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
      const documented = answerOf(each, operation, answer.status)
      const content = documented?.content?.['application/json']
      const told = (await answer.json()) as Json
      assert.ok(documented && content, `${method} ${path}: ${answer.status} ${JSON.stringify(told)}`)
      assert.deepEqual(problemsWith(told, content.schema, each), [], `${method} ${path}`)
      if (!answer.ok) assertDocumented(told, documented, `${method} ${path}`)
      if (body && answer.ok && !Array.isArray(body)) {
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
    assert.equal(await write('delete', `${base}/3`, row), 200)
    assert.equal(await write('post', base, base, {}), 400)
    assert.equal(await write('put', `${base}/99`, row, { price: 5 }), 404)
  }
})

test('a sheet describes itself with its own columns, rows and filters', async (t) => {
  const { rowport, sheetDocuments, sheet, key } = await start(t)
  for (const [at, base] of [sheet.formA, sheet.formB].entries()) {
    const each = sheetDocuments[at]
    assert.ok(each)
    assert.deepEqual(Object.keys(each.paths), [base, `${base}/{row}`, `${base}/changes`])
    const list = each.paths[base]?.get
    const { example } = answerOf(each, list, 200)?.content?.['application/json'] ?? {}
    const rows = await (await rowport.get(`${base}?limit=2`, bearer(key))).json()
    const withoutTime = (value: unknown) =>
      JSON.stringify(value).replace(/"as_of":"[^"]+"(?:,"cursor":"[^"]+")?/, '')
    assert.equal(withoutTime(example), withoutTime(rows), 'the example is what a client gets')
    const names = (list?.parameters ?? []).map(({ name }) => name)
    const own = ['q', 'sort', 'limit', 'offset', 'fields', 'row_numbers']
    assert.deepEqual(names, [...own, 'name', 'City', 'price', 'limit[eq]'])
    assert.deepEqual(each.servers, [{ url: rowport.url }], 'a saved description knows its host')
    assert.deepEqual(each.security, [{ bearer: [] }], 'a key has one place, and never the address')
    assert.deepEqual(Object.keys(each.components.securitySchemes), ['bearer'])
  }
})

test('rows have required columns, and an added one its number', async (t) => {
  const { sheetDocuments } = await start(t)
  for (const { components } of sheetDocuments) {
    const { Row, RowToWrite, AddedRow, WrittenRow } = components.schemas as {
      [name: string]: {
        required?: string[]
        properties: { [name: string]: Json }
        allOf: { required: string[] }[]
      }
    }
    assert.deepEqual(Row?.required, ['name', 'City', 'price', 'limit'])
    assert.deepEqual(WrittenRow?.required, Row?.required)
    assert.deepEqual(AddedRow?.allOf[1]?.required, ['_row'])
    assert.equal(RowToWrite?.required, undefined, 'what is left out is empty, or stays')
    assert.deepEqual(RowToWrite?.properties.price, { type: ['number', 'null'] }, 'the types of the column')
  }
})

test('a description stays small, however many columns there are', async (t) => {
  const rowport = await startRowport(t)
  const key = await rowport.createKey()
  let keys = 0
  for (const [columns, maxBytes] of [
    [10, 40_000],
    [60, 60_000],
  ] as const) {
    const names = Array.from({ length: columns }, (_, n) => `column ${n}`)
    const cells = names.map((name, n) => (n % 2 ? n : `a text of ${name}`))
    const csv = `${names.join(',')}\n${`${cells.join(',')}\n`.repeat(20)}`
    const keyed = csv.replaceAll(/^a text of column 0/gm, () => `key ${keys++}`)
    const sheet = await rowport.connectFile(`wide-${columns}`, `wide-${columns}.csv`, keyed)
    for (const keyColumn of [null, 'column 0']) {
      done(await rowport.workshop.sheets.change('acme', `wide-${columns}`, { keyColumn }))
      for (const form of [sheet.formA, sheet.formB]) {
        const text = await (await rowport.get(`${form}/openapi.json`, bearer(key))).text()
        t.diagnostic(`${columns} columns, key column ${keyColumn}: ${text.length} bytes`)
        assert.ok(text.length <= maxBytes, `${form}: ${text.length} bytes`)
      }
    }
  }
})

test('a sheet describes how its changes are read, as they are answered', async (t) => {
  const { rowport, sheet, sheetDocuments, key } = await start(t)
  const list = await rowport.get(sheet.formA, bearer(key))
  for (const [at, base] of [sheet.formA, sheet.formB].entries()) {
    const each = sheetDocuments[at]
    const operation = each?.paths[`${base}/changes`]?.get
    assert.ok(each && operation, base)
    const added = await fetch(`${rowport.url}${base}`, {
      method: 'POST',
      headers: bearer(key),
      body: JSON.stringify({ name: `Chair ${at}` }),
    })
    assert.equal(added.status, 201)
    const since = list.headers.get('X-Change-Cursor')
    const answer = await rowport.get(`${base}/changes?since=${since}`, bearer(key))
    const body = (await answer.json()) as Json
    const schema = answerOf(each, operation, 200)?.content?.['application/json']?.schema ?? {}
    assert.match(JSON.stringify(schema), /schemas\/Change"/)
    assert.deepEqual(problemsWith(body, schema, each), [])
    const changes = (Array.isArray(body) ? body : (body as { data: Json[] }).data) as { kind: string }[]
    assert.deepEqual(
      changes.map(({ kind }) => kind),
      Array.from({ length: at + 1 }, () => 'added'),
    )
    for (const { name, example } of operation.parameters ?? []) assert.ok(example !== undefined, name)
    for (const name of ['kind', 'source', 'key', 'row']) {
      assert.match(operation.description ?? '', new RegExp(`\`${name}=`), 'in its words')
    }
  }
})

test('every parameter that the server takes is described, or named where a description is for generators', async (t) => {
  const { rowport, document, sheet, key } = await start(t)
  done(await rowport.workshop.sheets.change('acme', 'products', { keyColumn: 'name' }))
  const { list, row, description } = parametersOf
  const { add, one, many } = parametersOfWrites
  const ofWrites = ['Idempotency-Key', 'If-Match']
  const taken: [path: RegExp, method: string, parameters: readonly string[]][] = [
    [/\/products$|\/\{sheet(_id)?\}$/, 'get', [...list, 'If-None-Match', 'Cache-Control']],
    [/\/products$|\/\{sheet(_id)?\}$/, 'post', [...add, ...ofWrites]],
    [/\/\{sheet(_id)?\}$/, 'patch', [...many, ...ofWrites]],
    [/\/\{sheet(_id)?\}$/, 'delete', [...many, ...ofWrites]],
    [/\{(row|value)\}$/, 'get', [...row, 'If-None-Match', 'Cache-Control']],
    [/\{(row|value)\}$/, 'put', [...one, ...ofWrites]],
    [/\{(row|value)\}$/, 'patch', [...one, ...ofWrites]],
    [/\{(row|value)\}$/, 'delete', [...one, ...ofWrites]],
    [/schema$|\}\/openapi\.json$/, 'get', [...description, 'If-None-Match', 'Cache-Control']],
  ]
  const own = (await (await rowport.get(`${sheet.formA}/openapi.json`, bearer(key))).json()) as Document
  /** Other formats are no JSON, which is all that a description tells (docs/decisions/027). */
  const onlyInProse = ['format', 'escape_formulas', 'bom']
  for (const [isOwn, each] of [
    [false, document],
    [true, own],
  ] as const)
    for (const [path, method, parameters] of taken) {
      const paths = Object.keys(each.paths).filter((one) => path.test(one))
      if (!isOwn) assert.ok(paths.length >= 2, `${method} ${path} of both forms`)
      for (const { operations, at } of paths.map((at) => ({ operations: each.paths[at], at }))) {
        const operation = operations?.[method]
        assert.ok(operation, `${method} ${at}`)
        const described = (operation.parameters ?? []).map(({ name }) => name)
        const isAsPut = /^The same as PUT\./.test(operation.description ?? '')
        const prose = `${operation.description} ${isAsPut ? operations?.put?.description : ''}`
        for (const name of parameters) {
          const isNamed = new RegExp(`\`${name}\\b`).test(prose)
          const mayBeNamed = isOwn || onlyInProse.includes(name)
          assert.ok(described.includes(name) || (mayBeNamed && isNamed), `${method} ${at} lacks ${name}`)
        }
      }
    }
  const rows = document.paths['/api/sheets/{account}/{sheet}']
  assert.ok(rows?.delete?.responses[413], 'rows of more than 16 MiB together')
  assert.ok(rows?.post?.responses[412], 'with upsert')
})

test('all examples together, sent as they are, give rows and change them', async (t) => {
  const { rowport, sheetDocuments, key } = await start(t)
  const empty = await rowport.connectFile('empty', 'empty.csv', 'a,b\n')
  const proto = await rowport.connectFile('proto', 'proto.csv', '__proto__,constructor,sort\n1,2,3\n')
  const others = [empty.formA, proto.formA].map(async (base) => {
    const answer = await rowport.get(`${base}/openapi.json`, bearer(key))
    return (await answer.json()) as Document
  })
  for (const each of [...sheetDocuments, ...(await Promise.all(others))]) {
    assert.doesNotMatch(JSON.stringify(each), /__proto__/, 'what breaks half of all tools')
    for (const [path, operations] of Object.entries(each.paths))
      for (const method of ['get', 'post', 'get', 'put', 'patch', 'delete']) {
        const operation = operations[method]
        if (!operation) continue
        const query = new URLSearchParams(
          (operation.parameters ?? []).flatMap(({ name, example }) => {
            if (Array.isArray(example)) return example.map((one) => [name, String(one)])
            return typeof example === 'object' || example === undefined ? [] : [[name, String(example)]]
          }),
        )
        const [{ example: row = 2 } = {}] = (operations.parameters ?? []) as unknown as { example?: number }[]
        const body = operation.requestBody?.content['application/json'].example
        const answer = await fetch(`${each.servers[0]?.url}${path.replace('{row}', String(row))}?${query}`, {
          method: method.toUpperCase(),
          headers: bearer(key),
          ...(body !== undefined && { body: JSON.stringify(body) }),
        })
        assert.ok(answer.ok, `${method} ${path}: ${await answer.text()}`)
      }
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

/** Shared answers stand among the components. */
function answerOf(
  document: Document,
  operation: Operation | undefined,
  status: string | number,
): Answer | undefined {
  const answer = operation?.responses[status]
  return answer && '$ref' in answer ? (lookedUp(answer.$ref, document as unknown as Json) as Answer) : answer
}

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
