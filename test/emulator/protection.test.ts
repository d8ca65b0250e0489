import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { sheets_v4 } from '@googleapis/sheets'
import { clientsOf, createSpreadsheet, type GoogleClients, startClients } from './google-clients.ts'

const refusal =
  'You are trying to edit a protected cell or object. Please contact the spreadsheet owner to remove protection if you need to edit.'

interface Bench extends GoogleClients {
  spreadsheetId: string
  /** Writes with grace's hands: a writer of ada's spreadsheet, as any collaborator. */
  grace: sheets_v4.Sheets
  batch(...requests: sheets_v4.Schema$Request[]): Promise<string>
  protect(protection: Record<string, unknown>): Promise<unknown>
  put(range: string, values: unknown[][]): Promise<string>
}

async function outcomeOf(call: Promise<unknown>): Promise<string> {
  return call.then(
    () => 'done',
    (error: { status?: number; response?: { data: { error: { status: string; message: string } } } }) => {
      assert.equal(error.status, 400)
      assert.equal(error.response?.data.error.status, 'INVALID_ARGUMENT')
      return error.response?.data.error.message ?? ''
    },
  )
}

async function startBench(t: TestContext): Promise<Bench> {
  const google = await startClients(t)
  const spreadsheetId = await createSpreadsheet(google, [
    ['name', 'price', 'note'],
    ['tea', 3, ''],
    ['coffee', 4, ''],
  ])
  await google.driveApi.permissions.create({
    fileId: spreadsheetId,
    requestBody: { type: 'user', role: 'writer', emailAddress: 'grace@example.com' },
  })
  const { sheetsApi: grace } = await clientsOf(google, 'grace@example.com')
  return {
    ...google,
    spreadsheetId,
    grace,
    batch: (...requests) =>
      outcomeOf(grace.spreadsheets.batchUpdate({ spreadsheetId, requestBody: { requests } })),
    protect: (protection) =>
      google.control('POST', 'protect', { spreadsheetId, tab: 'Items', ...protection }),
    put: (range, values) =>
      outcomeOf(
        grace.spreadsheets.values.update({
          spreadsheetId,
          range,
          valueInputOption: 'RAW',
          requestBody: { values },
        }),
      ),
  }
}

const rows = (startIndex: number, endIndex = startIndex + 1) => ({
  sheetId: 0,
  dimension: 'ROWS',
  startIndex,
  endIndex,
})
const cell = (stringValue: string) => ({ values: [{ userEnteredValue: { stringValue } }] })
const append: sheets_v4.Schema$Request = {
  appendCells: { sheetId: 0, fields: 'userEnteredValue', rows: [cell('milk')] },
}
const update = (rowIndex: number, columnIndex: number): sheets_v4.Schema$Request => ({
  updateCells: {
    start: { sheetId: 0, rowIndex, columnIndex },
    fields: 'userEnteredValue',
    rows: [cell('changed')],
  },
})

test('a protected tab refuses every change of those who are no editors, and the whole batch with it', async (t) => {
  const bench = await startBench(t)
  const before = await bench.control('GET', `spreadsheets/${bench.spreadsheetId}`)
  await bench.protect({ editors: [] })
  const marker: sheets_v4.Schema$Request = {
    createDeveloperMetadata: {
      developerMetadata: {
        metadataId: 5,
        metadataKey: 'k',
        visibility: 'PROJECT',
        location: { spreadsheet: true },
      },
    },
  }
  assert.equal(await bench.batch(marker, append), `Invalid requests[1].appendCells: ${refusal}`)
  assert.equal(await bench.batch(update(1, 0)), `Invalid requests[0].updateCells: ${refusal}`)
  for (const request of [
    { deleteDimension: { range: rows(1) } },
    { insertDimension: { range: rows(0) } },
    { insertDimension: { range: rows(2) } },
    { appendDimension: { sheetId: 0, dimension: 'ROWS', length: 1 } },
    { deleteRange: { range: { sheetId: 0, startRowIndex: 1, endRowIndex: 2 }, shiftDimension: 'ROWS' } },
    { sortRange: { range: { sheetId: 0 }, sortSpecs: [{ dimensionIndex: 0 }] } },
    { repeatCell: { range: { sheetId: 0 }, cell: {}, fields: 'userEnteredValue' } },
  ]) {
    assert.match(
      await bench.batch(request),
      /^Invalid requests\[0\]\.\w+: You are trying to edit a protected/,
    )
  }
  assert.equal(await bench.put('Items!A2', [['x']]), refusal)
  const { spreadsheetId } = bench
  const { values } = bench.grace.spreadsheets
  assert.equal(await outcomeOf(values.clear({ spreadsheetId, range: 'Items!A2' })), refusal)
  for (const insertDataOption of ['OVERWRITE', 'INSERT_ROWS']) {
    const appended = values.append({
      spreadsheetId,
      range: 'Items!A1',
      valueInputOption: 'RAW',
      insertDataOption,
      requestBody: { values: [['x']] },
    })
    assert.equal(await outcomeOf(appended), refusal)
  }
  const data = [{ range: 'Items!A2', values: [['x']] }]
  const several = values.batchUpdate({ spreadsheetId, requestBody: { valueInputOption: 'RAW', data } })
  assert.equal(await outcomeOf(several), `Invalid data[0]: ${refusal}`)
  assert.deepEqual(await bench.control('GET', `spreadsheets/${spreadsheetId}`), before)
  assert.equal((await values.get({ spreadsheetId, range: 'Items' })).status, 200)
})

test('a protected range closes its cells and no others, and moves with them', async (t) => {
  const bench = await startBench(t)
  await bench.protect({ range: 'B2:B3', editors: ['lin@example.com'] })
  assert.equal(await bench.put('Items!A2', [['tea!', null, 'free']]), 'done')
  assert.equal(await bench.put('Items!A2', [['tea', 5]]), refusal)
  assert.equal(await bench.batch(update(1, 0), append), 'done')
  assert.equal(
    await bench.batch({ deleteDimension: { range: rows(2) } }).then((text) => text.slice(-6)),
    ' edit.',
  )
  assert.equal(await bench.batch({ insertDimension: { range: rows(1) } }), 'done')
  assert.match(await bench.batch({ insertDimension: { range: rows(3) } }), /protected/)
  assert.equal(await bench.put('Items!B2', [['free now']]), 'done')
  assert.equal(await bench.put('Items!B3', [[1]]), refusal)

  const { sheetsApi: lin } = await clientsOf(bench, 'lin@example.com')
  await bench.driveApi.permissions.create({
    fileId: bench.spreadsheetId,
    requestBody: { type: 'user', role: 'writer', emailAddress: 'lin@example.com' },
  })
  const body = { valueInputOption: 'RAW', requestBody: { values: [[9]] } }
  const target = { spreadsheetId: bench.spreadsheetId, range: 'Items!B3', ...body }
  assert.equal(await outcomeOf(lin.spreadsheets.values.update(target)), 'done')
  assert.equal(await outcomeOf(bench.sheetsApi.spreadsheets.values.update(target)), 'done')
})

test('an appended row that is put in between tears no protected range apart', async (t) => {
  const bench = await startBench(t)
  await bench.protect({ range: 'E1:E9' })
  const append = (insertDataOption: string) =>
    outcomeOf(
      bench.grace.spreadsheets.values.append({
        spreadsheetId: bench.spreadsheetId,
        range: 'Items!A1',
        valueInputOption: 'RAW',
        insertDataOption,
        requestBody: { values: [['milk']] },
      }),
    )
  assert.equal(await append('INSERT_ROWS'), refusal)
  assert.equal(await append('OVERWRITE'), 'done')
})

test('a protection that only warns stops nobody; open columns close what is added later, too', async (t) => {
  const bench = await startBench(t)
  await bench.protect({ warningOnly: true })
  assert.equal(await bench.batch(append, update(1, 1)), 'done')
  await bench.protect({ range: 'A:A' })
  assert.match(await bench.batch(append), /protected/)
  assert.equal(await bench.put('Items!B1000', [['x']]), 'done')
})

test('protections come and go through the API: whoever may not edit cannot lift them, nor see who may', async (t) => {
  const bench = await startBench(t)
  const { spreadsheetId } = bench
  const { data } = await bench.sheetsApi.spreadsheets.batchUpdate({
    spreadsheetId,
    requestBody: {
      requests: [
        {
          addProtectedRange: {
            protectedRange: {
              range: { sheetId: 0 },
              unprotectedRanges: [{ sheetId: 0, startColumnIndex: 2, endColumnIndex: 3 }],
              editors: { users: [] },
            },
          },
        },
      ],
    },
  })
  const made = data.replies?.[0]?.addProtectedRange?.protectedRange
  const protectedRangeId = made?.protectedRangeId ?? 0
  assert.equal(made?.requestingUserCanEdit, true)
  assert.deepEqual(made?.editors?.users, ['ada@example.com'])
  const seenBy = async (api: sheets_v4.Sheets) => {
    const { data: seen } = await api.spreadsheets.get({ spreadsheetId, fields: 'sheets.protectedRanges' })
    return seen.sheets?.[0]?.protectedRanges?.[0]
  }
  assert.equal((await seenBy(bench.sheetsApi))?.requestingUserCanEdit, true)
  const seen = await seenBy(bench.grace)
  assert.deepEqual([seen?.requestingUserCanEdit, seen?.editors], [undefined, undefined])

  assert.equal(await bench.put('Items!C2', [['open']]), 'done')
  assert.equal(await bench.put('Items!B2', [['closed']]), refusal)
  assert.match(await bench.batch({ deleteProtectedRange: { protectedRangeId } }), /protected/)
  await bench.sheetsApi.spreadsheets.batchUpdate({
    spreadsheetId,
    requestBody: {
      requests: [
        {
          updateProtectedRange: {
            protectedRange: { protectedRangeId, editors: { users: ['grace@example.com'] } },
            fields: 'editors',
          },
        },
      ],
    },
  })
  assert.equal(await bench.put('Items!B2', [['mine now']]), 'done')
  assert.equal(await bench.batch({ deleteProtectedRange: { protectedRangeId } }), 'done')
})

test('a wrong protection is refused with what is wrong', async (t) => {
  const { url, spreadsheetId } = await startBench(t)
  for (const [wrong, message] of [
    [{ spreadsheetId: 'no', tab: 'Items' }, /no spreadsheet no/],
    [{ spreadsheetId, tab: 'No' }, /no tab No/],
    [{ spreadsheetId, tab: 'Items', range: '?' }, /\? is no range/],
    [{ spreadsheetId }, /tab/],
  ] as const) {
    const response = await fetch(`${url}/_control/protect`, { method: 'POST', body: JSON.stringify(wrong) })
    assert.equal(response.status, 400)
    assert.match(((await response.json()) as { error: string }).error, message)
  }
})

test('strict validation is held against the API only where the control asks for it', async (t) => {
  const bench = await startBench(t)
  const { spreadsheetId, sheetsApi } = bench
  const rule = (startColumnIndex: number, condition: object): sheets_v4.Schema$Request => ({
    setDataValidation: {
      range: { sheetId: 0, startRowIndex: 1, startColumnIndex, endColumnIndex: startColumnIndex + 1 },
      rule: { strict: true, condition },
    },
  })
  const values = ['tea', 'coffee'].map((userEnteredValue) => ({ userEnteredValue }))
  const requests = [
    rule(0, { type: 'ONE_OF_LIST', values }),
    rule(1, { type: 'NUMBER_GREATER', values: [{ userEnteredValue: '0' }] }),
  ]
  await sheetsApi.spreadsheets.batchUpdate({ spreadsheetId, requestBody: { requests } })
  assert.equal(await bench.put('Items!A2:B2', [['milk', -1]]), 'done')
  await bench.control('POST', 'settings', { strictValidation: true })
  const violates = (place: string) =>
    `The data you entered in cell ${place} violates the data validation rules set on this cell.`
  assert.equal(await bench.put('Items!A3:B3', [['milk', 2]]), violates('Items!A3'))
  assert.equal(await bench.put('Items!A3:B3', [['tea', -2]]), violates('Items!B3'))
  assert.equal(await bench.batch(update(4, 0)), violates('Items!A5'))
  assert.equal(await bench.put('Items!A3:B3', [['tea', 2]]), 'done')
  assert.equal(await bench.batch({ insertDimension: { range: rows(1) } }), 'done')
})
