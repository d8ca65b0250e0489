import assert from 'node:assert/strict'
import { test } from 'node:test'
import { holdsOfFive } from '../../../../test/measured-twice.ts'
import { parseGridAnswer } from './grid-answer.ts'

const tricky = ['"rowData":[', '\\', '"', ']}],[{', 'ä€😀', '\u0000\n', 'a\\"rowData":[{"b', '']
const cell = (n: number) => ({
  userEnteredValue: { stringValue: `${tricky[n % tricky.length]} ${n}` },
  formattedValue: tricky[(n + 3) % tricky.length],
})
const range = (rows: number, columns: number, startRow?: number) => ({
  ...(startRow === undefined ? {} : { startRow }),
  rowData: Array.from({ length: rows }, (_, r) =>
    r % 7 === 3 ? {} : { values: Array.from({ length: columns }, (_, c) => cell(r * columns + c)) },
  ),
})
const answerWith = (data: unknown[]) => ({
  spreadsheetId: 's',
  replies: [{}, { createDeveloperMetadata: { developerMetadata: { metadataId: 7 } } }],
  updatedSpreadsheet: { sheets: [{ properties: { sheetId: 0, title: '"rowData":[' }, data }] },
})

const answers: Record<string, unknown> = {
  'many rows': answerWith([range(4_000, 10)]),
  'many ranges, blank ones among them': answerWith([
    range(1, 3),
    { startRow: 5 },
    { rowData: [] },
    range(900, 9, 20),
    ...Array.from({ length: 300 }, (_, n) => range(1, 20, n * 3)),
  ]),
  'rows longer than a piece': answerWith([range(12, 3_000)]),
  'one very long text': answerWith([{ rowData: [{ values: [{ formattedValue: 'x"\\'.repeat(100_000) }] }] }]),
  'no rows at all': { spreadsheetId: 'x'.repeat(200_000) },
  'a list': Array.from({ length: 40_000 }, (_, n) => ({ n })),
}

for (const [name, answer] of Object.entries(answers)) {
  test(`an answer with cells is read as JSON.parse would read it: ${name}`, async () => {
    const text = JSON.stringify(answer)
    assert.ok(text.length > 128 * 1024)
    assert.deepEqual(await parseGridAnswer(Buffer.from(text)), answer)
  })

  test(`what was cut off is nothing: ${name}`, async () => {
    const text = JSON.stringify(answer)
    for (const part of [0.2, 0.5, 0.9, 1]) {
      const end = Math.min(text.length - 1, Math.floor(text.length * part))
      assert.equal(await parseGridAnswer(Buffer.from(text.slice(0, end))), undefined)
    }
  })
}

test('an answer that is written with spaces is read as well', async () => {
  const answer = answerWith([range(2_000, 5)])
  assert.deepEqual(await parseGridAnswer(Buffer.from(JSON.stringify(answer, null, 1))), answer)
})

test('a long answer is read in short turns', async () => {
  const body = Buffer.from(JSON.stringify(answerWith([range(20_000, 10)])))
  await parseGridAnswer(Buffer.from(body))
  await holdsOfFive(
    () => turnsOfParsing(body),
    ({ longestMs, allMs }) =>
      longestMs < allMs / 5 ? null : `${longestMs.toFixed(1)} of ${allMs.toFixed(1)} ms in one turn`,
  )
})

async function turnsOfParsing(body: Buffer<ArrayBuffer>): Promise<{ longestMs: number; allMs: number }> {
  let longestMs = 0
  let isDone = false
  const watched = (async () => {
    for (let before = performance.now(); !isDone; ) {
      await new Promise(setImmediate)
      longestMs = Math.max(longestMs, performance.now() - before)
      before = performance.now()
    }
  })()
  const begunMs = performance.now()
  await parseGridAnswer(body)
  const allMs = performance.now() - begunMs
  isDone = true
  await watched
  return { longestMs, allMs }
}
