import assert from 'node:assert/strict'
import { test } from 'node:test'
import { patienceMs } from '../soak.ts'
import { type GoogleGround, type GoogleSheet, startGoogleGround } from '../writing/google-ground.ts'

/*
 * Google has no conditional write: who sorts or inserts in the instant of a deletion by value makes it hit another row. The answer
 * says which one went, wherever that stood.
 */

const rows = Array.from({ length: 40 }, (_, n) => [`K${n}`, `tag ${n}`, (n * 17) % 40])
const sortByTag = { op: 'sort', column: 3 }
const insertAbove = { op: 'insertRow', row: 3, values: ['P', 'person', -1] }

for (const [name, path] of [
  ['a row', (key: string) => `/by/sku/${key}`],
  ['rows that filters leave', (key: string) => `?sku=${key}`],
] as const)
  test(`Google: a deletion of ${name} that hit another row shows the one that went`, {
    timeout: patienceMs,
  }, async (t) => {
    const { local, newSheet } = await startGoogleGround(t, { speed: 5 })
    const sheet = await newSheet('stock', [['sku', 'tag', 'val'], ...rows])
    let hits = 0
    for (const [n, edit] of [sortByTag, { op: 'sort', column: 1 }, insertAbove, sortByTag].entries()) {
      const key = `K${7 + n * 5}`
      // What memory has is older by then.
      assert.equal((await sheet.ask('DELETE', `/by/sku/K${n}`)).status, 200)
      const before = await keysIn(sheet)
      await editBeforeWrite(local, sheet, edit)
      const { status, body, headers } = await sheet.ask('DELETE', path(key))
      assert.equal(status, 200, JSON.stringify(body))
      const left = await keysIn(sheet)
      const gone = before.filter((one) => !left.includes(one))
      const shown = body.data ?? body.rows[0]
      assert.deepEqual(gone, [shown.sku], `${key}: ${JSON.stringify(body)}`)
      assert.equal(shown.tag, `tag ${shown.sku.slice(1)}`, 'with all that it held')
      const warning = headers.get('x-rowport-warning')
      if (shown.sku === key) assert.equal(warning, null, 'it was the right one')
      else
        assert.match(
          warning ?? '',
          /it deleted what is shown here\. What was meant in its place still stands/,
        )
      if (shown.sku !== key) hits++
    }
    assert.ok(hits >= 2, `${hits} hit another row`)
  })

test('Google: deletions that went together show each row that went once', {
  timeout: patienceMs,
}, async (t) => {
  const { local, newSheet } = await startGoogleGround(t, { speed: 5 })
  const sheet = await newSheet('stock', [['sku', 'tag', 'val'], ...rows])
  await sheet.ask('GET')
  const before = await keysIn(sheet)
  await editBeforeWrite(local, sheet, sortByTag)
  const keys = ['K3', 'K11', 'K20', 'K35']
  const answers = await Promise.all(keys.map((key) => sheet.ask('DELETE', `/by/sku/${key}`)))
  const left = await keysIn(sheet)
  const done = answers.filter(({ status }) => status === 200)
  const gone = before.filter((one) => !left.includes(one))
  assert.deepEqual(done.map(({ body }) => body.data.sku).sort(), gone.sort())
  for (const [at, { status, body, headers }] of answers.entries()) {
    const isStanding = left.includes(keys[at] ?? '')
    if (status === 200)
      assert.equal(headers.get('x-rowport-warning') !== null, isStanding, JSON.stringify(body))
  }
})

test('Google: where a row was altered as well, the answer says that another may have gone', {
  timeout: patienceMs,
}, async (t) => {
  const { local, newSheet } = await startGoogleGround(t, { speed: 5 })
  const sheet = await newSheet('stock', [['sku', 'tag', 'val'], ...rows])
  await editBeforeWrite(local, sheet, sortByTag)
  await editBeforeWrite(local, sheet, { op: 'deleteRow', row: 30 })
  const { status, headers } = await sheet.ask('DELETE', '/by/sku/K12')
  assert.equal(status, 200)
  assert.ok((await keysIn(sheet)).includes('K12'))
  assert.match(headers.get('x-rowport-warning') ?? '', /what was meant still stands.*Which one is not known/)
})

test('Google: where one of two took a row that was put there a moment before, the other row that went is shown', {
  timeout: patienceMs,
}, async (t) => {
  const { local, newSheet } = await startGoogleGround(t, { speed: 5 })
  const sheet = await newSheet('stock', [['sku', 'tag', 'val'], ...rows])
  const before = await keysIn(sheet)
  await editBeforeWrite(local, sheet, { op: 'insertRow', row: 10, values: ['P', 'person', -1] })
  // Row 10 and row 20, by the numbers of the last look.
  const { status, body, headers } = await sheet.ask('DELETE', '?sku[in]=K8,K18')
  assert.equal(status, 200)
  const left = await keysIn(sheet)
  const gone = before.filter((one) => !left.includes(one))
  assert.deepEqual(gone, ['K17'])
  assert.ok(
    body.rows.some(({ sku }: { sku: string }) => sku === 'K17'),
    JSON.stringify(body),
  )
  assert.match(headers.get('x-rowport-warning') ?? '', /still stands\. Not all that went is known/)
})

async function keysIn(sheet: GoogleSheet): Promise<string[]> {
  const [, ...cells] = await sheet.cells()
  return cells.map(([key]) => String(key)).filter((key) => key.startsWith('K'))
}

async function editBeforeWrite(
  local: GoogleGround['local'],
  { spreadsheetId }: GoogleSheet,
  edit: object,
): Promise<void> {
  await local.control('POST', 'edit', {
    spreadsheetId,
    tab: 'Items',
    match: ':batchUpdate',
    beforeCall: 1,
    ...edit,
  })
}
