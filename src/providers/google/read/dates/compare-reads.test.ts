import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ProviderFailure } from '../../../../sheets/provider-failure.ts'
import { decodeGoogleValues } from '../google-decode.ts'
import { compareReads } from './compare-reads.ts'

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

/** As Google answers who asks for some columns: what is empty at the end of a row, or at the end of all, is left out of each range. */
function answerOf(values: unknown[][], ranges: [from: number, to: number][], space = ''): Buffer {
  const withoutEnd = <T>(list: T[], isEmpty: (one: T) => boolean) =>
    list.slice(0, list.findLastIndex((one) => !isEmpty(one)) + 1)
  const valueRanges = ranges.map(([from, to]) => {
    const rows = values.map((row) => withoutEnd(row.slice(from, to), (cell) => cell === ''))
    const range = `'A!B1'!${String.fromCharCode(65 + from)}1:${String.fromCharCode(64 + to)}9`
    return {
      valueRange: { range, majorDimension: 'ROWS', values: withoutEnd(rows, (row) => row.length === 0) },
    }
  })
  return Buffer.from(JSON.stringify({ valueRanges }, null, space))
}

for (const space of ['', ' ']) {
  test(`dates are told by the columns with numbers alone${space && ', however the answer is written'}`, () => {
    const serials = [
      ['name', 'when', 'note', 'at', 'count', 'end'],
      ['tea', day, 'x', '', 5, 'x'],
      ['rum', '', 'x', '', '', 'x'],
      [],
      ['gin', 46_341, 'x', 0.25],
      ['ale', '', 'x', '', '', 'x'],
    ]
    const texts = serials.map((row) =>
      row.map((cell) => (cell === day ? '15/11/2026' : cell === 0.25 ? '6:00:00' : cell)),
    )
    const whole = compareReads(answer(serials), answer(texts))
    const ranges: [number, number][] = [
      [1, 2],
      [3, 5],
    ]
    assert.deepEqual(compareReads(answer(serials), answerOf(texts, ranges, space)), whole)
    assert.equal(whole.fit, 'exact')
    assert.deepEqual(compareReads(answer(serials), answerOf(texts, ranges.toReversed(), space)), whole)

    // Nobody asked for the texts of these.
    const { uncovered } = compareReads(answer(serials), answerOf(texts, [[1, 2]], space))
    assert.deepEqual(new Set(uncovered), new Set([3, 4]))
    assert.deepEqual(compareReads(answer(serials), answerOf(texts, [[0, 6]], space)).uncovered, [])

    // Between the two reads somebody changed something in the columns that both have.
    const fit = (other: unknown[][]) => compareReads(answer(serials), answerOf(other, ranges, space)).fit
    assert.equal(fit(texts.with(1, ['tea', '15/11/2026', 'x', '', 6, 'x'])), 'doubtful')
    assert.equal(fit(texts.with(1, ['tea', '14/11/2026', 'x', '', 5, 'x'])), 'doubtful')
    assert.equal(fit(texts.with(2, ['rum', 'soon', 'x', '', '', 'x'])), 'torn')
    assert.equal(fit([...texts, ['new', 'soon']]), 'torn')
    assert.equal(fit(texts.toSpliced(1, 1)), 'torn')
  })
}

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
