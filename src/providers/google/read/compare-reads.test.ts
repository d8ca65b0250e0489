import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ProviderFailure } from '../../../sheets/provider-failure.ts'
import { compareReads } from './compare-reads.ts'
import { decodeGoogleValues } from './google-decode.ts'

const day = 46_341

function answer(values: unknown): Buffer {
  const valueRange = { range: 'A!A1:Z9', majorDimension: 'ROWS', ...(values === undefined ? {} : { values }) }
  return Buffer.from(JSON.stringify({ spreadsheetId: 'S', valueRanges: [{ valueRange, dataFilters: [] }] }))
}

function rowsOf(serials: unknown[][], texts: unknown[][]) {
  const { dates } = compareReads(answer(serials), answer(texts))
  return decodeGoogleValues(answer(serials), { values: 'typed', dates }).rows
}

test('a number here and a text there is a date; everything else stays what it is', () => {
  const serials = [
    ['name', 'when', 'at', 'count'],
    ['tea', day, 0.25, 46_341],
    [],
    ['', day + 0.5, 1.5, true],
  ]
  const texts = [
    ['name', 'when', 'at', 'count'],
    ['tea', '15/11/2026', '6:00:00', 46_341],
    [],
    ['', '15/11/2026 12:00', '36:00:00', true],
  ]
  assert.equal(compareReads(answer(serials), answer(texts)).fit, 'exact')
  assert.deepEqual(rowsOf(serials, texts), [
    ['name', 'when', 'at', 'count'],
    ['tea', '2026-11-15', '06:00:00', 46_341],
    [],
    [null, '2026-11-15T12:00:00', '36:00:00', true],
  ])
})

test('a row that moved, a text that changed and a row more are torn; a number that changed is doubtful', () => {
  const fit = (serials: unknown[][], texts: unknown[][]) => compareReads(answer(serials), answer(texts)).fit
  assert.equal(fit([['a'], ['b']], [['b'], ['a']]), 'torn')
  assert.equal(fit([['a', 1]], [['a', 1], ['b']]), 'torn')
  assert.equal(fit([['a', 1], ['b']], [['a', 1]]), 'torn')
  assert.equal(fit([['a', true]], [['a', false]]), 'torn')
  assert.equal(fit([['a', 5]], [['a', true]]), 'torn')
  assert.equal(fit([['a', 'x']], [['a', 5]]), 'torn')
  assert.equal(fit([['a', 5]], [['a', 6]]), 'doubtful')
  assert.equal(fit([['a', 5]], [['a', 'hello']]), 'doubtful')
  assert.equal(fit([['a', day]], [['a']]), 'doubtful')
  assert.equal(fit([['a', day]], [['a', '15/11/2026']]), 'exact')
})

test('an error is its short text, unless every cell is wanted as shown', () => {
  const none = new Uint32Array()
  const cells = [
    '#DIV/0! (Function DIVIDE parameter 2 cannot be zero.)',
    '#N/A',
    '#NAME? (Unknown range\nname)',
    '#hash (tag)',
    '#REF!',
  ]
  const typed = decodeGoogleValues(answer([cells]), { values: 'typed', dates: none })
  assert.deepEqual(typed.rows, [['#DIV/0!', '#N/A', '#NAME?', '#hash (tag)', '#REF!']])
  const formatted = decodeGoogleValues(answer([['#hash (tag)', '', '1']]), {
    values: 'formatted',
    dates: none,
  })
  assert.deepEqual(formatted.rows, [['#hash (tag)', null, '1']])
})

test('an empty tab has no rows', () => {
  assert.deepEqual(
    decodeGoogleValues(answer(undefined), { values: 'typed', dates: new Uint32Array() }).rows,
    [],
  )
})

test('whatever is not such an answer is a failure of the provider, never a bug of ours', () => {
  const odd = [
    '',
    '<html>',
    'null',
    '[]',
    '{}',
    '{"valueRanges":{}}',
    '{"valueRanges":[]}',
    '{"valueRanges":[{"valueRange":[]}]}',
    '{"valueRanges":[{"valueRange":{"range":5}}]}',
    answer({}).toString(),
    answer([1]).toString(),
    answer([[{}]]).toString(),
    answer([['a', [1]]]).toString(),
    answer([[null]])
      .toString()
      .slice(0, -3),
  ]
  const good = answer([['a']])
  for (const text of odd) {
    const bytes = Buffer.from(text)
    assert.throws(
      () => decodeGoogleValues(bytes, { values: 'typed', dates: new Uint32Array() }),
      ProviderFailure,
      text,
    )
    assert.throws(() => compareReads(good, bytes), ProviderFailure, text)
  }
})
