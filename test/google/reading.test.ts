import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sheets, type sheets_v4 } from '@googleapis/sheets'
import { OAuth2Client } from 'google-auth-library'
import { parseGoogleLocation } from '../../src/providers/google/google-location.ts'
import type { AccountPlace } from '../../src/sheets/provider.ts'
import { ProviderFailure } from '../../src/sheets/provider-failure.ts'
import { type ReadingGround, startReadingGround } from './reading-ground.ts'

/** Google's own client, in the owner's name. */
async function ownersClient({ local }: ReadingGround): Promise<sheets_v4.Sheets> {
  const auth = new OAuth2Client({ clientId: 'shop', clientSecret: 'any' })
  const { access_token } = await local.tokens('ada@example.com')
  auth.setCredentials({ access_token, expiry_date: Date.now() + 3_600_000 })
  return sheets({ version: 'v4', auth, rootUrl: `${local.url}/`, retry: false })
}

async function change(ground: ReadingGround, place: AccountPlace, ...requests: sheets_v4.Schema$Request[]) {
  const { spreadsheetId } = parseGoogleLocation(place.location)
  const client = await ownersClient(ground)
  await client.spreadsheets.batchUpdate({ spreadsheetId, requestBody: { requests } })
}

/** Too large to be read with its formats; most of it is empty. */
async function newLargeTab(ground: ReadingGround, values: unknown[][]) {
  const made = await ground.newSpreadsheet(values)
  const { tabId } = parseGoogleLocation(made.place.location)
  await change(ground, made.place, {
    appendDimension: { sheetId: tabId, dimension: 'ROWS', length: 10_000 },
  })
  return made
}

const day = 46_341 // 2026-11-15
const halfPastNine = 34_200 / 86_400

interface Written {
  value: number
  type: 'DATE' | 'TIME' | 'DATE_TIME' | 'NUMBER' | 'CURRENCY' | 'PERCENT'
  pattern?: string
}

/** One row under the header `a`, `b`, …: values and formats as Google's own client sets them. */
function formattedRow(tabId: number, row: number, cells: readonly Written[]): sheets_v4.Schema$Request {
  return {
    updateCells: {
      start: { sheetId: tabId, rowIndex: row, columnIndex: 0 },
      fields: 'userEnteredValue,userEnteredFormat.numberFormat',
      rows: [
        {
          values: cells.map(({ value, type, pattern }) => ({
            userEnteredValue: { numberValue: value },
            userEnteredFormat: { numberFormat: { type, ...(pattern ? { pattern } : {}) } },
          })),
        },
      ],
    },
  }
}

test("what Google's own client writes comes back: numbers, dates, times and what is elapsed", async (t) => {
  const ground = await startReadingGround(t)
  const { place } = await ground.newSpreadsheet([['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j']])
  const { tabId } = parseGoogleLocation(place.location)
  const cells: Written[] = [
    { value: day, type: 'DATE', pattern: 'd. mmmm yyyy' },
    { value: day + halfPastNine, type: 'DATE_TIME', pattern: 'dd/mm/yyyy hh:mm' },
    { value: halfPastNine, type: 'TIME', pattern: 'h:mm am/pm' },
    { value: 1.0625, type: 'TIME', pattern: '[h]:mm:ss' },
    { value: day, type: 'NUMBER', pattern: '#,##0.00' },
    { value: 12.5, type: 'CURRENCY' },
    { value: 0.5, type: 'PERCENT' },
    { value: 60, type: 'DATE' },
    { value: -1, type: 'DATE', pattern: 'yyyy-mm-dd' },
    { value: day, type: 'DATE', pattern: 'dddd' },
  ]
  await change(ground, place, formattedRow(tabId, 1, cells))
  assert.deepEqual(await ground.rows(place), [
    {
      a: '2026-11-15',
      b: '2026-11-15T09:30:00',
      c: '09:30:00',
      d: '25:30:00',
      e: day,
      f: 12.5,
      g: 0.5,
      h: '1900-02-28',
      i: '1899-12-29',
      j: '2026-11-15',
    },
  ])
})

test('dates are dates in every locale, and text that only looks like one stays text', async (t) => {
  const ground = await startReadingGround(t)
  for (const locale of ['en_US', 'en_GB', 'de_DE', 'fr_FR', 'it_IT', 'pl_PL', 'ru_RU', 'ja_JP']) {
    const { place } = await ground.newSpreadsheet([['d', 't', 'dt', 'text', 'number']])
    const { tabId } = parseGoogleLocation(place.location)
    await change(
      ground,
      place,
      { updateSpreadsheetProperties: { properties: { locale }, fields: 'locale' } },
      formattedRow(tabId, 1, [
        { value: day, type: 'DATE' },
        { value: halfPastNine, type: 'TIME' },
        { value: day + halfPastNine, type: 'DATE_TIME' },
      ]),
      {
        updateCells: {
          start: { sheetId: tabId, rowIndex: 1, columnIndex: 3 },
          fields: 'userEnteredValue',
          rows: [
            {
              values: [
                { userEnteredValue: { stringValue: '2026-11-15' } },
                { userEnteredValue: { numberValue: day } },
              ],
            },
          ],
        },
      },
    )
    assert.deepEqual(
      await ground.rows(place),
      [{ d: '2026-11-15', t: '09:30:00', dt: '2026-11-15T09:30:00', text: '2026-11-15', number: day }],
      locale,
    )
  }
})

test('errors are short, booleans are booleans, and cells can be had as they are shown', async (t) => {
  const ground = await startReadingGround(t)
  const { place } = await ground.newSpreadsheet([
    ['error', 'none', 'yes', 'text', 'gap', 'price'],
    ['=1/0', '=NA()', true, "'0050", '', 12.5],
  ])
  assert.deepEqual(await ground.rows(place), [
    { error: '#DIV/0!', none: '#N/A', yes: true, text: '0050', gap: null, price: 12.5 },
  ])
  await ground.countCalls()
  assert.deepEqual(await ground.rows(place, 'formatted'), [
    { error: '#DIV/0!', none: '#N/A', yes: 'TRUE', text: '0050', gap: null, price: '12.5' },
  ])
  assert.equal(await ground.countCalls(), 1)
})

test('a small tab is one read, with true dates, whatever changed', async (t) => {
  const ground = await startReadingGround(t)
  const { provider } = ground.google
  const { place, spreadsheetId } = await ground.newSpreadsheet([
    ['name', 'price', 'when'],
    ['tea', 3, '11/15/2026'],
  ])
  await ground.countCalls()
  assert.deepEqual(await ground.rows(place), [{ name: 'tea', price: 3, when: '2026-11-15' }])
  assert.equal(await ground.countCalls(), 1)
  const first = await provider.fetch(place, { values: 'typed', knownVersion: null })
  assert.ok(first !== 'unchanged')
  await ground.countCalls()
  const again = () => provider.fetch(place, { values: 'typed', knownVersion: first.version })
  assert.equal(await again(), 'unchanged')
  assert.equal(await ground.countCalls(), 1)
  await ground.local.control('POST', 'edit', {
    spreadsheetId,
    tab: 'Items',
    op: 'set',
    row: 2,
    column: 2,
    value: 4,
  })
  assert.ok((await again()) !== 'unchanged')
  assert.equal(await ground.countCalls(), 1)
  const { tabId } = parseGoogleLocation(place.location)
  await change(ground, place, formattedRow(tabId, 1, [{ value: day, type: 'DATE' }]))
  await ground.countCalls()
  assert.ok((await again()) !== 'unchanged', 'a format that changes alone is seen at once')
  assert.equal(await ground.countCalls(), 1)
})

test('a tab that outgrows one read is read as a large one, and tall or wide ones are small as long as they have few cells', async (t) => {
  const ground = await startReadingGround(t)
  const { provider } = ground.google
  const { place } = await ground.newSpreadsheet([['n'], [1]])
  const { tabId } = parseGoogleLocation(place.location)
  const first = await provider.fetch(place, { values: 'typed', knownVersion: null })
  assert.ok(first !== 'unchanged')
  const grow = (dimension: string, length: number) =>
    change(ground, place, { appendDimension: { sheetId: tabId, dimension, length } })
  await grow('ROWS', 900)
  await ground.countCalls()
  const taller = await provider.fetch(place, { values: 'typed', knownVersion: first.version })
  assert.ok(taller !== 'unchanged')
  assert.equal(await ground.countCalls(), 2, 'one that tells, and one that is large enough')
  assert.equal(await provider.fetch(place, { values: 'typed', knownVersion: taller.version }), 'unchanged')
  assert.equal(await ground.countCalls(), 1)
  await change(ground, place, {
    appendCells: {
      sheetId: tabId,
      rows: [{ values: [{ userEnteredValue: { numberValue: 2 } }] }],
      fields: 'userEnteredValue',
    },
  })
  await grow('ROWS', 10_000)
  assert.deepEqual(await ground.rows(place), [{ n: 1 }, { n: 2 }])
  await ground.countCalls()
  assert.ok((await provider.fetch(place, { values: 'typed', knownVersion: taller.version })) !== 'unchanged')
  assert.equal(await ground.countCalls(), 3)
})

test('a large sheet that does not change costs one read, a changed one two, one without numbers always one', async (t) => {
  const ground = await startReadingGround(t)
  const { provider } = ground.google
  const { place, spreadsheetId } = await newLargeTab(ground, [
    ['name', 'price'],
    ['tea', 3],
  ])
  const fetch = (knownVersion: string | null) => provider.fetch(place, { values: 'typed', knownVersion })
  await ground.countCalls()
  const first = await fetch(null)
  assert.ok(first !== 'unchanged')
  assert.equal(await ground.countCalls(), 3, 'at first, one tells how large it is')
  assert.equal(await fetch(first.version), 'unchanged')
  assert.equal(await ground.countCalls(), 1)

  await ground.local.control('POST', 'edit', {
    spreadsheetId,
    tab: 'Items',
    op: 'set',
    row: 2,
    column: 2,
    value: 4,
  })
  const second = await fetch(first.version)
  assert.ok(second !== 'unchanged')
  assert.equal(await ground.countCalls(), 2)

  const { place: texts } = await newLargeTab(ground, [['name'], ['tea 5'], ['[1,2']])
  await ground.countCalls()
  const read = await provider.fetch(texts, { values: 'typed', knownVersion: null })
  assert.ok(read !== 'unchanged')
  assert.equal(await ground.countCalls(), 2)
  assert.equal(await provider.fetch(texts, { values: 'typed', knownVersion: read.version }), 'unchanged')
  assert.equal(await ground.countCalls(), 1)
})

test('a format that changes while the values stay is seen within a minute', async (t) => {
  const ground = await startReadingGround(t)
  const { provider } = ground.google
  const { place } = await newLargeTab(ground, [['when'], [day]])
  const { tabId } = parseGoogleLocation(place.location)
  const first = await provider.fetch(place, { values: 'typed', knownVersion: null })
  assert.ok(first !== 'unchanged')
  await change(ground, place, formattedRow(tabId, 1, [{ value: day, type: 'DATE' }]))
  const again = () => provider.fetch(place, { values: 'typed', knownVersion: first.version })
  assert.equal(await again(), 'unchanged')
  ground.local.clock.advanceMs(60_000)
  const second = await again()
  assert.ok(second !== 'unchanged')
  assert.notEqual(second.version, first.version)
  assert.deepEqual(await ground.rows(place), [{ when: '2026-11-15' }])
})

test('the texts are looked at once a minute, not with every read after the minute', async (t) => {
  const ground = await startReadingGround(t)
  const { place } = await newLargeTab(ground, [['n'], [1]])
  const first = await ground.google.provider.fetch(place, { values: 'typed', knownVersion: null })
  assert.ok(first !== 'unchanged')
  ground.local.clock.advanceMs(60_000)
  await ground.countCalls()
  for (const expected of [2, 1, 1]) {
    const again = await ground.google.provider.fetch(place, { values: 'typed', knownVersion: first.version })
    assert.equal(again, 'unchanged')
    assert.equal(await ground.countCalls(), expected)
  }
})

test('an edit between the two reads is noticed: the rows are of one moment', async (t) => {
  const ground = await startReadingGround(t)
  const { place, spreadsheetId } = await newLargeTab(ground, [
    ['name', 'when', 'count'],
    ['a', '11/15/2026', 1],
    ['b', '11/16/2026', 2],
  ])
  const edit = { spreadsheetId, tab: 'Items', beforeCall: 3, match: { kind: 'read' } }
  // A row pushed in would give each row its neighbour's kinds of cells.
  await ground.local.control('POST', 'edit', { ...edit, op: 'insertRow', row: 2, values: ['new', 5, 46_000] })
  assert.deepEqual(await ground.rows(place), [
    { name: 'new', when: 5, count: 46_000 },
    { name: 'a', when: '2026-11-15', count: 1 },
    { name: 'b', when: '2026-11-16', count: 2 },
  ])
  // A number that becomes a word between the reads must not be taken for a date.
  await ground.local.control('POST', 'edit', { ...edit, op: 'set', row: 3, column: 3, value: 'none' })
  const rows = (await ground.rows(place)) as { count: unknown }[]
  assert.equal(rows[1]?.count, 'none')
})

test('a sheet that changes with every read is a failure that passes, not a mixture', async (t) => {
  const ground = await startReadingGround(t)
  const { place, spreadsheetId } = await newLargeTab(ground, [
    ['name', 'count'],
    ['a', 1],
  ])
  for (let beforeCall = 2; beforeCall <= 5; beforeCall++) {
    const edit = { spreadsheetId, tab: 'Items', op: 'insertRow', row: 2, values: [`new ${beforeCall}`, 5] }
    await ground.local.control('POST', 'edit', { ...edit, beforeCall, match: { kind: 'read' } })
  }
  await assert.rejects(
    ground.rows(place),
    (error) =>
      error instanceof ProviderFailure &&
      error.facts.isPassing === true &&
      /changed while/.test(error.message),
  )
  assert.equal((await ground.rows(place)).length, 5)
})

test('a renamed tab goes on; a deleted one and a deleted spreadsheet say so', async (t) => {
  const ground = await startReadingGround(t)
  const { place, spreadsheetId } = await ground.newSpreadsheet([['a'], [1]])
  const { tabId } = parseGoogleLocation(place.location)
  await change(ground, place, {
    updateSheetProperties: { properties: { sheetId: tabId, title: "It's new" }, fields: 'title' },
  })
  assert.deepEqual(await ground.rows(place), [{ a: 1 }])
  await change(
    ground,
    place,
    { addSheet: { properties: { title: 'Other' } } },
    { deleteSheet: { sheetId: tabId } },
  )
  await assert.rejects(ground.rows(place), /the tab no longer exists/)
  const { access_token } = await ground.local.tokens('ada@example.com')
  await ground.local.api(access_token, 'DELETE', `/drive/v3/files/${spreadsheetId}`)
  await assert.rejects(ground.rows(place), /not found in Google/)
  assert.equal(ground.credentials.all.get(ground.credentialId)?.state, 'valid')
})

test('any columns and rows: blank rows keep their numbers, and wide and empty tabs are read', async (t) => {
  const ground = await startReadingGround(t)
  const { place: empty } = await ground.newSpreadsheet([])
  assert.deepEqual(await ground.rows(empty), [])
  const header = Array.from({ length: 26 }, (_, at) => `column ${at}`)
  const { place } = await ground.newSpreadsheet([header, [], ['', '', 'x'], [], [7]])
  const rows = (await ground.rows(place)) as Record<string, unknown>[]
  assert.equal(rows.length, 2)
  assert.equal(rows[0]?.['column 2'], 'x')
  assert.equal(rows[1]?.['column 0'], 7)
})
