import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { encodeJson } from './encode-json.ts'

const row = (index: number) => (index % 7 === 0 ? [] : [index, `line\n"${index}"`, true, ''])
const rows = (length: number) => Array.from({ length }, (_, index) => row(index))

test('a large answer is encoded as JSON.stringify would, in either style', async () => {
  const bodies = [
    { range: 'Items!A1:D', majorDimension: 'ROWS', values: rows(12_001) },
    {
      spreadsheetId: 'S',
      valueRanges: [{ values: rows(3) }, { values: rows(5001) }, { values: rows(10_000) }],
    },
    {
      valueRanges: [
        { valueRange: { range: 'Items!A1:D', values: rows(5001) }, dataFilters: [{ a1Range: 'A:D' }] },
      ],
    },
    { values: rows(2) },
  ]
  for (const body of bodies) {
    for (const pretty of [true, false]) {
      const text = String(await encodeJson(body, pretty))
      assert.ok(text === `${JSON.stringify(body, null, pretty ? 2 : undefined)}\n`)
    }
  }
  assert.equal(await encodeJson(undefined, true), '')
})

test('others have their turn while a large answer is encoded, and it is encoded once', async () => {
  for (const body of [{ values: rows(30_000) }, { valueRanges: [{ valueRange: { values: rows(30_000) } }] }])
    await isEncodedInTurns(body)
})

async function isEncodedInTurns(body: object): Promise<void> {
  let turns = 0
  let done = false
  const encoding = encodeJson(body, false).then((text) => {
    done = true
    return text
  })
  while (!done) {
    await nextTurn()
    turns += 1
  }
  assert.ok(turns >= 5, `${turns} turns`)
  assert.equal(await encodeJson(body, false), await encoding)
}
