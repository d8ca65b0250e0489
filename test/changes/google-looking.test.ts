import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bearer, done } from '../harness.ts'
import { startGoogleGround } from '../writing/google-ground.ts'
import { EventStream } from './event-stream-client.ts'

test('what a person edits at Google comes to all who follow, and one instance looks for all of them', async (t) => {
  const speed = 10
  const { rowport, instances, newSheet } = await startGoogleGround(t, { speed, instances: 2 })
  const { batchUpdate } = await newSheet('stock', [
    ['sku', 'price'],
    ['A-1', 59],
  ])
  const sheet = done(await rowport.workshop.sheets.find('acme', 'stock'))
  const headers = bearer(await rowport.createKey())
  const streams = await Promise.all(
    instances.map(({ url }) => EventStream.open(`${url}/v1/sheets/${sheet.id}/changes`, headers)),
  )
  t.after(() => {
    for (const stream of streams) stream.close()
  })
  const fetches = () =>
    instances.flatMap(({ seen }) => seen).filter(({ event }) => event === 'sheet_fetched').length
  const before = fetches()
  const begunMs = rowport.clock.elapsedMs()
  const { tabId } = JSON.parse(sheet.location)
  for (const price of [60, 61, 62]) {
    await batchUpdate({
      updateCells: {
        rows: [{ values: [{ userEnteredValue: { numberValue: price } }] }],
        fields: 'userEnteredValue',
        start: { sheetId: tabId, rowIndex: 1, columnIndex: 1 },
      },
    })
    for (const stream of streams)
      await stream.until(({ changes }) => changes.at(-1)?.after.price === price, 30_000)
  }
  for (const stream of streams) {
    assert.deepEqual(
      stream.changes.map(({ source, changed }) => [source, changed]),
      [1, 2, 3].map(() => ['outside', ['price']]),
    )
  }
  const seconds = (rowport.clock.elapsedMs() - begunMs) / 1_000
  const looks = fetches() - before
  t.diagnostic(`${looks} looks in ${Math.round(seconds)} s`)
  assert.ok(looks <= seconds / 15 + 2, `${looks} looks in ${seconds} s`)
})
