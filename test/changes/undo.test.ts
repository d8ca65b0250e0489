import assert from 'node:assert/strict'
import { readFile, utimes, writeFile } from 'node:fs/promises'
import { type TestContext, test } from 'node:test'
import { bearer, startRowport } from '../harness.ts'
import { createClient } from './following-client.ts'

const csv = 'sku,name,price\nA-1,Lamp,59.00\nB-2,"Table",420\nC-3,Stool,\nD-4,Desk,310\n'

test('additions, changes, deletions, upserts and bulk writes are taken back to the letter', async (t) => {
  const { write, undo, file } = await start(t)
  const writes: [method: string, path: string, body?: unknown][] = [
    ['POST', '', [{ sku: 'E-5' }, { sku: 'F-6', price: 1 }]],
    ['PATCH', '/2', { price: 60, name: null }],
    ['PUT', '/by/sku/B-2', { name: 'Bench' }],
    ['DELETE', '/2'],
    ['DELETE', '/by/sku/D-4'],
    [
      'POST',
      '?upsert=sku',
      [
        { sku: 'A-1', price: 1 },
        { sku: 'Z-9', name: 'New' },
      ],
    ],
    ['PATCH', '?all=true', { price: 7 }],
    ['DELETE', '?price[gte]=300'],
    ['DELETE', '?all=true'],
    ['PATCH', '/5', { sku: null, name: null, price: null }],
  ]
  for (const [method, path, body] of writes) {
    const written = await write(method, path, body)
    assert.ok(written.operation, JSON.stringify(written))
    const between = await file()
    assert.notEqual(between, csv)
    const preview = await undo(written.operation, '?dry_run=true')
    assert.deepEqual([preview.status, preview.body.dry_run, preview.operation], [200, true, null])
    assert.equal(await file(), between, 'a preview changes nothing')
    const undone = await undo(written.operation)
    assert.equal(undone.status, 200, JSON.stringify(undone))
    assert.equal(await file(), csv, `${method} ${path}`)
    assert.deepEqual({ ...undone.body, dry_run: true }, preview.body)
    const redone = await undo(undone.operation ?? '')
    assert.equal(redone.status, 200, JSON.stringify(redone))
    assert.equal(await file(), between, 'and the undo is undone')
    assert.equal((await undo(redone.operation ?? '')).status, 200)
    assert.equal(await file(), csv)
  }
})

test('cells under columns without a name come back as well, and what people wrote there since is never taken', async (t) => {
  const text = 'a,,c\n1,hid,2\n3,"hid2",4,over\n5,,6\n'
  const { write, undo, file, edit } = await start(t, text)
  for (const [method, path] of [
    ['DELETE', '/2'],
    ['DELETE', '/3'],
    ['DELETE', '?all=true'],
  ] as const) {
    const written = await write(method, path)
    const between = await file()
    const undone = await undo(written.operation ?? '')
    assert.equal(undone.status, 200, JSON.stringify(undone))
    assert.equal(await file(), text, path)
    const redone = await undo(undone.operation ?? '')
    assert.equal(redone.status, 200, JSON.stringify(redone))
    assert.equal(await file(), between)
    assert.equal((await undo(redone.operation ?? '')).status, 200)
    assert.equal(await file(), text)
  }
  const added = await write('POST', '', { a: 9, c: 9 })
  const noted = (await file()).replace('9,,9', '9,a note,9')
  await edit(noted)
  for (const query of ['?dry_run=true', '']) {
    const refused = await undo(added.operation ?? '', query)
    assert.equal(refused.status, 409, query)
    assert.match(JSON.stringify(refused.body), /Row 5 has other values under columns without a name by now/)
    assert.equal(await file(), noted)
  }
  await edit(noted.replace('a note', ''))
  assert.equal((await undo(added.operation ?? '')).status, 200)
  assert.equal(await file(), text)
})

test('what an undo did is told, in both forms', async (t) => {
  const { rowport, write, undo, formB, key } = await start(t)
  const { operation } = await write('POST', '?upsert=sku', [{ sku: 'A-1', price: 1 }, { sku: 'Z-9' }])
  const preview = await undo(operation ?? '', '?dry_run=true')
  assert.deepEqual(preview.body, {
    success: true,
    message: 'Write undone: 0 row(s) put back, 1 changed back, 1 removed',
    undone: operation,
    rows_added: 0,
    rows_updated: 1,
    rows_deleted: 1,
    changes: [
      {
        kind: 'updated',
        row: 2,
        before: { sku: 'A-1', name: 'Lamp', price: 1 },
        after: { sku: 'A-1', name: 'Lamp', price: 59 },
      },
      { kind: 'deleted', row: 6, before: { sku: 'Z-9', name: null, price: null }, after: null },
    ],
    dry_run: true,
  })
  const response = await fetch(`${rowport.url}${formB}/operations/${operation}/undo`, {
    method: 'POST',
    headers: bearer(key),
  })
  const { changes, success: _, message: _said, dry_run: _dry, ...meta } = preview.body
  assert.deepEqual(await response.json(), { data: changes, meta })
})

test('a key makes an undo happen once, and its refusals are kept as well', async (t) => {
  const { write, undo, file } = await start(t)
  const { operation = '' } = await write('DELETE', '/3')
  const first = await undo(operation, '', { 'Idempotency-Key': 'k' })
  const second = await undo(operation, '', { 'Idempotency-Key': 'k' })
  assert.deepEqual([first.status, second.status, second.replayed], [200, 200, 'true'])
  assert.deepEqual(second.body, first.body)
  assert.equal(second.operation, first.operation)
  assert.equal(await file(), csv)
  const again = await undo(operation)
  assert.equal(again.body.code, 'undo_conflict', 'without it, it is another undo, and the row is back')
  const { operation: other = '' } = await write('DELETE', '/4')
  const reused = await undo(other, '', { 'Idempotency-Key': 'k' })
  assert.deepEqual([reused.status, reused.body.code], [422, 'idempotency_key_reused'])
})

test('whatever was changed in between is refused, by row and column, and nothing is written', async (t) => {
  const { write, undo, edit, file } = await start(t)
  const { operation = '' } = await write('PATCH', '/3', { price: 1 })
  const written = await file()
  const refused = async (content: string, details: RegExp) => {
    await edit(content)
    const answer = await undo(operation)
    assert.deepEqual([answer.status, answer.body.code], [409, 'undo_conflict'], JSON.stringify(answer))
    assert.match(answer.body.details, details)
    const preview = await undo(operation, '?dry_run=true')
    assert.deepEqual([preview.status, preview.body], [409, answer.body])
    assert.equal(await file(), content)
    await edit(written)
    assert.equal((await undo(operation, '?dry_run=true')).status, 200, 'as it was left again')
  }
  await refused(
    written.replace('Table', 'Bench'),
    /^Row 3 has other values in "name" by now\. Nothing was written\.$/,
  )
  await refused(written.replace('B-2,"Table",1', 'B-2,Bank,2'), /^Row 3 has other values in "name", "price"/)
  await refused(written.replace('B-2,"Table",1\n', ''), /^Row 3 is no longer there/)
  await refused(written.replace(',price', ',cost,price').replaceAll('\n', ',\n'), /"price"/)
  assert.equal((await undo(operation)).status, 200, 'as it was left, it can be taken back')
  assert.equal(await file(), csv)
})

test('rows that moved meanwhile are found again, and their neighbours left alone', async (t) => {
  const { write, undo, edit, file } = await start(t)
  const { operation: added = '' } = await write('POST', '', { sku: 'E-5', name: 'Shelf' })
  const { operation: changed = '' } = await write('PATCH', '/3', { price: 1 })
  // Somebody sorts, puts a row in and takes one away.
  await edit('sku,name,price\nE-5,Shelf,\nX-0,Chair,5\nD-4,Desk,310\nB-2,"Table",1\nA-1,Lamp,59.00\n')
  assert.equal((await undo(changed)).status, 200)
  assert.equal(
    await file(),
    'sku,name,price\nE-5,Shelf,\nX-0,Chair,5\nD-4,Desk,310\nB-2,"Table",420\nA-1,Lamp,59.00\n',
  )
  assert.equal((await undo(added)).status, 200)
  assert.equal(await file(), 'sku,name,price\nX-0,Chair,5\nD-4,Desk,310\nB-2,"Table",420\nA-1,Lamp,59.00\n')
})

test('a row that looks like one that is gone is not taken for it', async (t) => {
  const { write, undo, edit, look } = await start(t)
  await edit('sku,name,price\nsame,,\nA-1,Lamp,59\n')
  await look()
  const { operation = '' } = await write('POST', '', { sku: 'same' })
  await edit('sku,name,price\nsame,,\nA-1,Lamp,59\n')
  const answer = await undo(operation)
  assert.deepEqual([answer.status, answer.body.code], [409, 'undo_conflict'])
  assert.match(answer.body.details, /^Row 4 is no longer there/)
})

test('an undo that is asked for again puts nothing back twice', async (t) => {
  const { write, undo, file } = await start(t)
  for (const path of ['/3', '?price[gte]=300', '?all=true']) {
    const { operation = '' } = await write('DELETE', path)
    const between = await file()
    const undone = await undo(operation ?? '')
    assert.equal(await file(), csv)
    for (const again of [await undo(operation ?? ''), await undo(operation ?? '')]) {
      assert.equal(again.body.code, 'undo_conflict', path)
      assert.match(again.body.details, /^A row that it deleted is back already, as row \d/)
    }
    assert.equal(await file(), csv)
    const redone = await undo(undone.operation ?? '')
    assert.equal(redone.status, 200, JSON.stringify(redone))
    assert.equal(await file(), between)
    assert.equal((await undo(operation ?? '')).status, 200, 'it is gone again, so it can come back')
    assert.equal(await file(), csv)
  }
})

test('writes are undone one after the other, the last first, also across deletions', async (t) => {
  const { write, undo, file } = await start(t)
  const ways: [method: string, path: string, body?: unknown][][] = [
    [
      ['DELETE', '/4'],
      ['DELETE', '/3'],
    ],
    [
      ['DELETE', '/3'],
      ['DELETE', '/3'],
    ],
    [
      ['DELETE', '/5'],
      ['DELETE', '/4'],
      ['DELETE', '/3'],
      ['DELETE', '/2'],
    ],
    [
      ['PATCH', '/3', { price: 1 }],
      ['DELETE', '/3'],
    ],
    [
      ['POST', '', { sku: 'E-5' }],
      ['DELETE', '/6'],
    ],
    [
      ['PATCH', '?all=true', { price: 1 }],
      ['DELETE', '/3'],
      ['PATCH', '/3', { price: 2 }],
      ['DELETE', '?all=true'],
    ],
  ]
  for (const writes of ways) {
    const states: string[] = []
    const operations: string[] = []
    for (const [method, path, body] of writes) {
      states.push(await file())
      operations.push((await write(method, path, body)).operation ?? '')
    }
    while (operations.length > 0) {
      const undone = await undo(operations.pop() ?? '')
      assert.equal(undone.status, 200, JSON.stringify([writes, undone]))
      assert.equal(await file(), states.pop(), JSON.stringify(writes))
    }
  }
})

test('a row that was added, taken away and brought back can be taken away by the first of them', async (t) => {
  const { write, undo, file } = await start(t)
  const { operation } = await write('POST', '', { sku: 'E-5' })
  const between = await file()
  const first = await undo(operation ?? '')
  assert.equal((await undo(first.operation ?? '')).status, 200)
  assert.equal(await file(), between)
  assert.equal((await undo(operation ?? '')).status, 200)
  assert.equal(await file(), csv)
})

test('a record with a line break in it comes back as it was spelt', async (t) => {
  const odd = 'sku,name,price\nA-1,"Lamp\nred",1.50\nB-2,"Table", 5 \n'
  const { write, undo, file } = await start(t, odd)
  for (const [method, path, body] of [
    ['DELETE', '/2'],
    ['PATCH', '/2', { price: 3, name: 'x' }],
    ['DELETE', '?all=true'],
  ] as const) {
    const { operation } = await write(method, path, body)
    assert.equal((await undo(operation ?? '')).status, 200)
    assert.equal(await file(), odd, path)
  }
})

test('with a key column rows are found by it, and a key that is there again is in the way', async (t) => {
  const { write, undo, edit, file, setKey } = await start(t)
  await setKey('sku')
  const { operation: removed = '' } = await write('DELETE', '/by/sku/B-2')
  const { operation: changed = '' } = await write('PATCH', '/by/sku/A-1', { price: 1 })
  await edit('sku,name,price\nD-4,Desk,310\nC-3,Stool,\nA-1,Lamp,1\nB-2,Other,5\n')
  assert.equal((await undo(changed)).status, 200)
  assert.match(await file(), /A-1,Lamp,59(?:\.00)?\n/)
  const refused = await undo(removed)
  assert.deepEqual(
    [refused.status, refused.body.details],
    [409, 'The key "B-2" is in row 5 by now. Nothing was written.'],
  )
  await edit('sku,name,price\nD-4,Desk,310\nC-3,Stool,\nA-1,Lamp,2\n')
  assert.equal((await undo(removed)).status, 200)
  const again = await undo(removed)
  assert.deepEqual([again.status, again.body.code], [409, 'undo_conflict'], 'it came back already')
  const conflicting = await undo(changed)
  assert.match(conflicting.body.details, /^The row with the key "A-1" has other values in "price"/)
})

test('renamed columns are followed, and a column that is gone is named', async (t) => {
  const { write, undo, edit, file } = await start(t)
  const { operation: changed = '' } = await write('PATCH', '/2', { price: 1 })
  const { operation: removed = '' } = await write('DELETE', '/5')
  await edit('sku,name,cost\nA-1,Lamp,1\nB-2,Table,420\nC-3,Stool,\n')
  assert.equal((await undo(changed)).status, 200)
  assert.match(await file(), /A-1,Lamp,59/)
  await edit('sku,name\nA-1,Lamp\nB-2,Table\nC-3,Stool\n')
  const refused = await undo(removed)
  assert.match(refused.body.details, /^The column "price" of a row that was deleted is no longer there/)
})

test('a write that nobody knows, that changed nothing, or that is not kept any more', async (t) => {
  const { rowport, write, undo, file, key, formA, id } = await start(t)
  const unknown = await undo('op_nobody')
  assert.deepEqual([unknown.status, unknown.body.code], [404, 'operation_not_found'])
  const { operation: nothing = '' } = await write('POST', '?upsert=sku', { sku: 'A-1', name: 'Lamp' })
  assert.equal((await undo(nothing)).status, 404)
  const { operation = '' } = await write('DELETE', '/2')
  await rowport.workshop.store.changeSheet(id, { historyDays: 0 })
  const over = await undo(operation)
  assert.deepEqual([over.status, over.body.code], [404, 'operation_not_found'])
  assert.notEqual(await file(), csv)
  const other = await fetch(`${rowport.url}${formA}/operations/${operation}/undo`, { headers: bearer(key) })
  assert.deepEqual([other.status, other.headers.get('Allow')], [405, 'POST, OPTIONS'])
  const reader = await rowport.createKey({ scope: 'read' })
  const forbidden = await fetch(`${rowport.url}${formA}/operations/${operation}/undo`, {
    method: 'POST',
    headers: bearer(reader),
  })
  assert.equal(forbidden.status, 403)
})

test('an undo with a body or If-Match is refused by name, and nothing is done', async (t) => {
  const { write, undo, file } = await start(t)
  const { operation = '' } = await write('PATCH', '/2', { price: 60 })
  const between = await file()
  const path = `/operations/${operation}/undo`
  for (const body of ['garbage', [1], { rows: [2] }]) {
    for (const more of [{}, { 'Idempotency-Key': `key ${JSON.stringify(body).length}`.replace(' ', '-') }]) {
      const refused = await write('POST', path, body, more)
      assert.deepEqual([refused.status, refused.body.code], [400, 'invalid_body'], JSON.stringify(body))
    }
  }
  for (const etag of ['*', '"any"']) {
    const refused = await undo(operation, '', { 'If-Match': etag })
    assert.deepEqual([refused.status, refused.body.code], [400, 'bad_request'])
    assert.match(refused.body.details, /If-Match/)
  }
  assert.equal(await file(), between)
  assert.equal((await write('POST', path, {})).status, 200, 'an empty object says nothing')
  assert.equal(await file(), csv)
})

async function start(t: TestContext, content = csv) {
  const rowport = await startRowport(t)
  const { id, path, formA, formB } = await rowport.connectFile('stock', 'stock.csv', content)
  const key = await rowport.createKey()
  const client = createClient(key, formA)
  const look = () => createClient(key, formB).list(rowport.url)
  await look()
  let edits = 0
  const asked = async (method: string, where: string, body?: unknown, headers?: Record<string, string>) => {
    const response = await client.write(rowport.url, method, where, body, headers)
    return {
      status: response.status,
      operation: response.headers.get('Operation-Id') ?? undefined,
      replayed: response.headers.get('Idempotent-Replayed'),
      // biome-ignore lint/suspicious/noExplicitAny: a test knows what it asked for.
      body: (await response.json()) as any,
    }
  }
  return {
    rowport,
    id,
    key,
    formA,
    formB,
    look,
    write: asked,
    async undo(operation: string, query = '', headers?: Record<string, string>) {
      const answer = await asked('POST', `/operations/${operation}/undo${query}`, undefined, headers)
      return { ...answer, operation: answer.operation ?? null }
    },
    file: () => readFile(path, 'utf8'),
    /** Somebody saves the file; each time it is a little later. */
    async edit(content: string) {
      await writeFile(path, content)
      const at = new Date(Date.now() + ++edits * 10_000 - 3_600_000)
      await utimes(path, at, at)
    },
    setKey: (keyColumn: string) => rowport.workshop.store.changeSheet(id, { keyColumn }),
  }
}
