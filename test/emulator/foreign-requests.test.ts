import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createSpreadsheet, startClients } from './google-clients.ts'

/* What google-spreadsheet (npm), gspread and Google's samples send, and Rowport itself does not. */

type Request = Record<string, unknown>

test('a slash at the end, or before the colon of a verb, is passed over', async (t) => {
  const { google, spreadsheetId, token } = await start(t, [['a']])
  const get = await google.api(token, 'GET', `/v4/spreadsheets/${spreadsheetId}/?fields=spreadsheetId`)
  assert.deepEqual(await get.json(), { spreadsheetId })
  const requests = [null, { updateCells: { range: at(0, 0), rows: [], fields: '*' } }, null]
  const batch = await google.api(token, 'POST', `/v4/spreadsheets/${spreadsheetId}/:batchUpdate`, {
    requests,
  })
  assert.equal(batch.status, 200)
  assert.deepEqual(((await batch.json()) as { replies: object[] }).replies, [{}], 'holes in a batch too')
  assert.equal((await google.api(token, 'DELETE', `/drive/v3/files/${spreadsheetId}/`)).status, 204)
})

test('find and replace, trim, duplicates, columns out of text, a series and a paste', async (t) => {
  const { batch, values } = await start(t, [
    ['name', 'n'],
    [' lamp  red ', 1],
    ['Lamp', 2],
    ['lamp', 2],
    ['a;b', 3],
  ])
  const [found, trimmed, removed] = await batch([
    { findReplace: { find: 'lamp', replacement: '$1', matchCase: true, sheetId: 0 } },
    { trimWhitespace: { range: at(1, 0, 5, 2) } },
    {
      deleteDuplicates: {
        range: at(1, 0, 5, 2),
        comparisonColumns: [{ dimension: 'COLUMNS', startIndex: 1, endIndex: 2 }],
      },
    },
    { textToColumns: { source: at(3, 0, 4, 1), delimiterType: 'SEMICOLON' } },
    {
      pasteData: {
        coordinate: { sheetId: 0, rowIndex: 5, columnIndex: 0 },
        data: '10\tx\n20\ty',
        type: 'PASTE_NORMAL',
      },
    },
    {
      autoFill: {
        sourceAndDestination: { source: at(5, 0, 7, 1), dimension: 'ROWS', fillLength: 2 },
      },
    },
  ])
  assert.deepEqual(found, {
    findReplace: { valuesChanged: 2, rowsChanged: 2, sheetsChanged: 1, occurrencesChanged: 2 },
  })
  assert.deepEqual(trimmed, { trimWhitespace: { cellsChangedCount: 1 } })
  assert.deepEqual(removed, { deleteDuplicates: { duplicatesRemovedCount: 1 } })
  assert.deepEqual(await values('A1:B9'), [
    ['name', 'n'],
    ['$1 red', '1'],
    ['Lamp', '2'],
    ['a', 'b'],
    [],
    ['10', 'x'],
    ['20', 'y'],
    ['30'],
    ['40'],
  ])
  await batch([{ randomizeRange: { range: at(1, 0, 4, 1) } }])
  const shuffled = await values('A2:A4')
  assert.deepEqual(shuffled.flat().toSorted(), ['$1 red', 'Lamp', 'a'])
})

test('filters, views, bands, borders and rules are kept as Google gives them back', async (t) => {
  const { batch, sheet } = await start(t, [
    ['a', 'b'],
    [1, 2],
  ])
  const [view, banding] = (await batch([
    { addFilterView: { filter: { title: 'Mine', range: { sheetId: 0 } } } },
    { addBanding: { bandedRange: { range: at(0, 0, 2, 2), rowProperties: {} } } },
    { setBasicFilter: { filter: { range: { sheetId: 0 } } } },
    { addConditionalFormatRule: { index: 0, rule: { ranges: [at(0, 0)], booleanRule: {} } } },
    { updateBorders: { range: at(0, 0, 2, 2), top: { style: 'SOLID' }, innerVertical: { style: 'DASHED' } } },
    {
      autoResizeDimensions: { dimensions: { sheetId: 0, dimension: 'COLUMNS', startIndex: 0, endIndex: 1 } },
    },
    {
      updateCells: {
        range: at(1, 1),
        rows: [
          { values: [{ userEnteredValue: { formulaValue: '=HYPERLINK("https://example.com", "x")' } }] },
        ],
        fields: 'userEnteredValue',
      },
    },
  ])) as [
    { addFilterView: { filter: { filterViewId: number } } },
    { addBanding: { bandedRange: { bandedRangeId: number } } },
  ]
  const { filterViewId } = view.addFilterView.filter
  const { bandedRangeId } = banding.addBanding.bandedRange
  const [, , , changed] = await batch([
    { updateFilterView: { filter: { filterViewId, title: 'Ours' }, fields: 'title' } },
    { duplicateFilterView: { filterId: filterViewId } },
    {
      updateBanding: {
        bandedRange: { bandedRangeId, rowProperties: { headerColor: {} } },
        fields: 'rowProperties',
      },
    },
    { updateConditionalFormatRule: { index: 0, sheetId: 0, rule: { ranges: [at(1, 1)], booleanRule: {} } } },
  ])
  const { updateConditionalFormatRule } = changed as { updateConditionalFormatRule: { newIndex: number } }
  assert.equal(updateConditionalFormatRule.newIndex, 0)
  const shown = await sheet()
  const titles = (shown.filterViews as { title: string }[]).map(({ title }) => title)
  assert.deepEqual(titles, ['Ours', 'Copy of Ours'])
  const filter = shown.basicFilter as { range: object }
  assert.deepEqual(filter.range, {
    startRowIndex: 0,
    endRowIndex: 1000,
    startColumnIndex: 0,
    endColumnIndex: 26,
  })
  const [data] = shown.data as {
    rowData: { values: Record<string, unknown>[] }[]
    columnMetadata: { pixelSize: number }[]
  }[]
  const [first] = data?.rowData[0]?.values ?? []
  const { borders } = (first?.userEnteredFormat ?? {}) as { borders?: object }
  assert.deepEqual(borders, {
    top: { style: 'SOLID' },
    right: { style: 'DASHED' },
  })
  assert.equal(data?.rowData[1]?.values[1]?.hyperlink, 'https://example.com')
  assert.notEqual(data?.columnMetadata[0]?.pixelSize, 100)
  await batch([{ deleteFilterView: { filterId: filterViewId } }, { deleteBanding: { bandedRangeId } }])
  assert.equal((await sheet()).bandedRanges, undefined)
})

test('an append that leaves its first cells alone tells of the row from its beginning', async (t) => {
  const { google, spreadsheetId } = await start(t, [
    ['a', 'b', 'c'],
    ['x', 'y'],
  ])
  const { data } = await google.sheetsApi.spreadsheets.values.append({
    spreadsheetId,
    range: 'Items!A1',
    valueInputOption: 'USER_ENTERED',
    includeValuesInResponse: true,
    requestBody: { values: [[null, null, 'true']] },
  })
  assert.equal(data.updates?.updatedRange, 'Items!A3:C3')
  assert.deepEqual(data.updates?.updatedData?.values, [['', '', 'TRUE']])
})

test('what is written to a cell that a merge covers is dropped, until the merge ends', async (t) => {
  const { google, spreadsheetId, batch, values } = await start(t, [['8', 'gone', 'c']])
  const write = async () => {
    const { data } = await google.sheetsApi.spreadsheets.values.update({
      spreadsheetId,
      range: 'Items!A1:C1',
      valueInputOption: 'USER_ENTERED',
      includeValuesInResponse: true,
      requestBody: { values: [['9', 'Z', 'd']] },
    })
    return data.updatedData?.values
  }
  await batch([{ mergeCells: { range: at(0, 0, 1, 2), mergeType: 'MERGE_ALL' } }])
  assert.deepEqual(await write(), [['9', '', 'd']])
  assert.deepEqual(await values('Items!A1:C1'), [['9', '', 'd']])
  await batch([{ unmergeCells: { range: at(0, 0, 1, 2) } }])
  assert.deepEqual(await write(), [['9', 'Z', 'd']])
})

function at(
  startRowIndex: number,
  startColumnIndex: number,
  endRowIndex = startRowIndex + 1,
  endColumnIndex = startColumnIndex + 1,
) {
  return { sheetId: 0, startRowIndex, endRowIndex, startColumnIndex, endColumnIndex }
}

async function start(t: TestContext, cells: (string | number)[][]) {
  const google = await startClients(t)
  const spreadsheetId = await createSpreadsheet(google, cells)
  const { access_token: token } = await google.tokens('ada@example.com')
  return {
    google,
    spreadsheetId,
    token,
    async batch(requests: Request[]) {
      const { data } = await google.sheetsApi.spreadsheets.batchUpdate({
        spreadsheetId,
        requestBody: { requests },
      })
      return data.replies ?? []
    },
    async values(range: string) {
      const { data } = await google.sheetsApi.spreadsheets.values.get({ spreadsheetId, range })
      return data.values ?? []
    },
    async sheet() {
      const { data } = await google.sheetsApi.spreadsheets.get({ spreadsheetId, includeGridData: true })
      return (data.sheets?.[0] ?? {}) as Record<string, unknown>
    },
  }
}
