import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { sheets_v4 } from '@googleapis/sheets'
import { type Request, row, startBatchBench, text } from './batch-bench.ts'

const marker = (metadataId: number, location: object = { spreadsheet: true }): Request => ({
  createDeveloperMetadata: {
    developerMetadata: { metadataId, metadataKey: 'rowport', visibility: 'PROJECT', location },
  },
})

test('a marker that exists already fails its whole batch, also within the batch itself', async (t) => {
  const bench = await startBatchBench(t, [['name'], ['tea']])
  const append: Request = {
    appendCells: { sheetId: 0, fields: 'userEnteredValue', rows: [{ values: [text('coffee')] }] },
  }
  await bench.batch([marker(77), append])
  assert.deepEqual(await bench.values(), [['name'], ['tea'], ['coffee']])
  await bench.refuses([append, marker(77)], /^Invalid requests\[1\]\.createDeveloperMetadata: /)
  await bench.refuses([marker(78), append, marker(78)], /^Invalid requests\[2\]\.createDeveloperMetadata: /)
  await bench.batch([
    { deleteDeveloperMetadata: { dataFilter: { developerMetadataLookup: { metadataId: 77 } } } },
    marker(77),
  ])
  for (const id of [0, -1, 2 ** 31, 1.5]) await bench.refuses([marker(id)], /createDeveloperMetadata/)
})

test('developer metadata is found and deleted by id, by key and by place', async (t) => {
  const bench = await startBatchBench(t, [['name'], ['tea'], ['coffee']])
  const { spreadsheetId, batch } = bench
  const { developerMetadata } = bench.sheetsApi.spreadsheets
  await batch([
    marker(1),
    marker(2, { sheetId: 0 }),
    marker(3, { dimensionRange: row(1) }),
    marker(4, { dimensionRange: row(2) }),
    {
      createDeveloperMetadata: {
        developerMetadata: {
          metadataId: 5,
          metadataKey: 'other',
          visibility: 'DOCUMENT',
          location: { sheetId: 0 },
        },
      },
    },
  ])
  const found = async (developerMetadataLookup: sheets_v4.Schema$DeveloperMetadataLookup) => {
    const requestBody = { dataFilters: [{ developerMetadataLookup }] }
    const { data } = await developerMetadata.search({ spreadsheetId, requestBody })
    return data.matchedDeveloperMetadata?.map((match) => match.developerMetadata?.metadataId) ?? []
  }
  assert.deepEqual(await found({ metadataKey: 'rowport' }), [1, 2, 3, 4])
  assert.deepEqual(await found({ metadataLocation: { spreadsheet: true } }), [1])
  assert.deepEqual(await found({ metadataLocation: { dimensionRange: row(1) } }), [2, 3, 5])
  const exact = { locationMatchingStrategy: 'EXACT_LOCATION' }
  assert.deepEqual(await found({ metadataLocation: { dimensionRange: row(1) }, ...exact }), [3])
  assert.deepEqual(await found({ metadataLocation: { sheetId: 0 }, ...exact }), [2, 5])
  assert.deepEqual(await found({ locationType: 'ROW' }), [3, 4])
  assert.deepEqual(await found({ metadataId: 6 }), [])

  assert.equal((await developerMetadata.get({ spreadsheetId, metadataId: 3 })).data.metadataKey, 'rowport')
  await assert.rejects(developerMetadata.get({ spreadsheetId, metadataId: 6 }), { status: 404 })

  const deleted = async (developerMetadataLookup: sheets_v4.Schema$DeveloperMetadataLookup) => {
    const { replies } = await batch([
      { deleteDeveloperMetadata: { dataFilter: { developerMetadataLookup } } },
    ])
    return (
      replies?.[0]?.deleteDeveloperMetadata?.deletedDeveloperMetadata?.map((entry) => entry.metadataId) ?? []
    )
  }
  assert.deepEqual(await deleted({ metadataId: 4 }), [4])
  assert.deepEqual(await deleted({ metadataId: 4 }), [])
  assert.deepEqual(await deleted({ metadataLocation: { dimensionRange: row(1) }, ...exact }), [3])
  assert.deepEqual(await deleted({ metadataKey: 'rowport' }), [1, 2])
  assert.deepEqual(await found({}), [5])
})

test('metadata of a row travels with it, through people and requests alike, and goes with it', async (t) => {
  const bench = await startBatchBench(t, [['name'], ['tea'], ['coffee']])
  const place = async () => {
    const [entry] = (await bench.dump()).developerMetadata
    return entry?.location?.dimensionRange?.startIndex
  }
  const edit = { spreadsheetId: bench.spreadsheetId, tab: 'Items' }
  await bench.batch([marker(9, { dimensionRange: row(2) })])
  await bench.control('POST', 'edit', { ...edit, op: 'insertRow', row: 2, values: ['milk'] })
  assert.equal(await place(), 3)
  await bench.control('POST', 'edit', { ...edit, op: 'deleteRow', row: 2 })
  assert.equal(await place(), 2)
  await bench.control('POST', 'edit', { ...edit, op: 'insertRow', row: 4 })
  assert.equal(await place(), 2)
  await bench.batch([{ moveDimension: { source: row(2), destinationIndex: 1 } }])
  assert.equal(await place(), 1)
  assert.deepEqual(await bench.values(), [['name'], ['coffee'], ['tea']])
  await bench.batch([{ moveDimension: { source: row(1), destinationIndex: 5 } }])
  assert.equal(await place(), 4)

  const grid = await bench.batch(
    [{ insertDimension: { range: row(1) } }],
    { includeSpreadsheetInResponse: true, responseRanges: ['Items!A6'] },
    'updatedSpreadsheet.sheets.data.rowMetadata.developerMetadata.metadataId',
  )
  assert.deepEqual(grid.updatedSpreadsheet?.sheets?.[0]?.data?.[0]?.rowMetadata, [
    { developerMetadata: [{ metadataId: 9 }] },
  ])
  await bench.batch([{ deleteDimension: { range: row(5) } }])
  assert.deepEqual((await bench.dump()).developerMetadata, [])
  await bench.batch([marker(9, { dimensionRange: row(999) })])
  await bench.batch([
    {
      updateSheetProperties: {
        properties: { sheetId: 0, gridProperties: { rowCount: 500 } },
        fields: 'gridProperties.rowCount',
      },
    },
  ])
  assert.deepEqual((await bench.dump()).developerMetadata, [])
})

test('metadata has a budget of 30,000 characters', async (t) => {
  const bench = await startBatchBench(t, [['name']])
  const long = (metadataId: number, length: number): Request => ({
    createDeveloperMetadata: {
      developerMetadata: {
        metadataId,
        metadataKey: 'k',
        metadataValue: 'v'.repeat(length),
        visibility: 'PROJECT',
        location: { spreadsheet: true },
      },
    },
  })
  await bench.batch([long(1, 20_000)])
  await bench.refuses([long(2, 10_000)], /limit of 30000 characters/)
  await bench.batch([long(2, 9_998)])
})
