import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { buildRows } from '../../../sheets/rows/build-snapshot.ts'
import { numbersPerDate } from './dates/compare-reads.ts'
import { decodeGoogleValues, type GoogleDecodeOptions } from './google-decode.ts'
import { listGoogleValues } from './list-values.ts'

type Values = GoogleDecodeOptions['values']

function answer(rows: string): Buffer {
  const frame = JSON.stringify({
    spreadsheetId: 'S',
    valueRanges: [
      { valueRange: { range: 'A!A1:Z9', majorDimension: 'ROWS', values: [] }, dataFilters: [{ a: [1] }] },
    ],
  })
  return Buffer.from(frame.replace('"values":[]', () => `"values":[${rows}]`))
}

/** Both ways to the rows of an answer. */
function bothWays(body: Buffer, values: Values = 'typed', dates: number[] = []) {
  const options = { values, dates: Uint32Array.from(dates) }
  const listed = listGoogleValues(body, options, values === 'formatted' ? '' : null)
  const { columns, listJson, rowStarts, rowNumbers, lastRowNumber } = buildRows(
    decodeGoogleValues(body, options),
    values,
  ).snapshot
  const text = (bytes: Uint8Array) => Buffer.from(bytes).toString('latin1')
  return {
    listed: listed && { ...listed, listJson: text(listed.listJson) },
    taken: { columns, listJson: text(listJson), rowStarts, rowNumbers, lastRowNumber },
  }
}

/** Cells as Google may write them, and as others would. */
const cellText = fc.oneof(
  fc.string({ unit: 'grapheme' }).map((text) => JSON.stringify(text)),
  fc.string({ unit: 'binary' }).map((text) => JSON.stringify(text)),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
  fc.integer({ min: -2_000, max: 2_000 }).map(String),
  fc.integer({ min: -2_000_000, max: 2_000_000 }).map((number) => String(number / 1_000)),
  fc.constantFrom(
    '""',
    'true',
    'false',
    ...[
      '0',
      '-0',
      '0.0',
      '0.5',
      '-0.5',
      '0.000001',
      '0.0000001',
      '0.00000012',
      '-0.00000012',
      '10',
      '1.50',
      '1.0',
    ],
    ...[
      '1E3',
      '1e-7',
      '-1.5E+21',
      '123456789012345',
      '1234567890123456',
      '0.1234567890123456',
      '9007199254740993',
    ],
    ...['100000000000000000000', '46336.395833333336', '-12.25', '1e400', '0.10', '00.5'.slice(1)],
    ...['"#DIV/0! (Function DIVIDE parameter 2 cannot be zero.)"', '"#N/A"', '"#hash (tag)"', '"#"'],
    ...[
      '"\\u003cb\\u003e"',
      '"\\ud83d\\ude00"',
      '"\\ud800"',
      '"\\/"',
      '"a\\"],[\\"b"',
      '"\\\\"',
      '"ä€😀"',
      '"\u007f"',
      '"\\t"',
    ],
  ),
)

for (const values of ['typed', 'formatted'] as const) {
  test(`${values}: the list made of the bytes is the one made of the cells, to the byte`, () => {
    let count = 0
    const header = fc.array(
      fc.oneof(
        { weight: 5, arbitrary: fc.constantFrom('"a"', '"b"', '" b "', '""', '"1"', '"é\\"x"', '7') },
        {
          weight: 1,
          arbitrary: cellText,
        },
      ),
      { maxLength: 5 },
    )
    const row = fc.array(
      fc.oneof({ weight: 2, arbitrary: fc.constant('""') }, { weight: 5, arbitrary: cellText }),
      {
        maxLength: 6,
      },
    )
    fc.assert(
      fc.property(header, fc.array(row, { maxLength: 8 }), (names, rows) => {
        const body = answer([names, ...rows].map((cells) => `[${cells.join()}]`).join())
        const { listed, taken } = bothWays(body, values)
        if (taken.columns.length === 0) return assert.equal(listed, null)
        count++
        assert.deepEqual(listed, taken)
      }),
      { seed: 20_261_118, numRuns: 2_000 },
    )
    assert.ok(count > 1_000)
  })
}

test('dates stand where they were told to be, also in columns without a name and beside what is no date', () => {
  const body = answer('["when","","n"],[46341,46341,46341],[],["",0.25],[46341.5,1,-5000000]')
  const dates = [1, 0, 0, 1, 1, 0, 3, 1, 2, 4, 0, 1, 4, 2, 0]
  assert.equal(dates.length % numbersPerDate, 0)
  const { listed, taken } = bothWays(body, 'typed', dates)
  assert.deepEqual(listed, taken)
  assert.match(taken.listJson, /"2026-11-15T12:00:00","n":-5000000/)
})

test('rows that are longer than expected are all there', () => {
  const long = 'x'.repeat(200_000)
  const keys = Array.from({ length: 10 }, (_, n) => `"${'key'.repeat(10)}${n}"`)
  const row = `,["words",${Array(9).fill('123456').join()}]`
  for (const rows of [`["a"],["${long}"],["${long}"],["b"]`, `[${keys.join()}]${row.repeat(1_000)}`]) {
    const { listed, taken } = bothWays(answer(rows))
    assert.deepEqual(listed, taken)
  }
  // Far longer than what came: whoever takes it apart sees first whether that is too much.
  assert.equal(bothWays(answer(`[${keys.join()}]${',[1]'.repeat(1_000)}`)).listed, null)
})

test('hardly more memory than the rows need goes with them, whatever their first ones are like', () => {
  const short = ',["a",1]'.repeat(20_000)
  const long = `,["${'words '.repeat(20)}",123456]`.repeat(5_000)
  const wordy = `,["${'x'.repeat(300_000)}",1]`
  for (const rows of [short, long, short + long, long + short, short + wordy, wordy + short]) {
    const body = answer(`["name","count"]${rows}`)
    const { listed, taken } = bothWays(body)
    assert.equal(listed?.listJson === taken.listJson, true)
    const { listJson } = listGoogleValues(body, { values: 'typed', dates: new Uint32Array() }, null) ?? {}
    const [held = 0, needed = 0] = [listJson?.buffer.byteLength, listJson?.byteLength]
    assert.ok(held <= needed * 1.125, `${held} bytes for ${needed}`)
  }
})

test('what is not written as Google writes, or is no answer, is left to those who take it apart', () => {
  const good = answer('["a","b"],["x",1],["y",2]').toString()
  const odd = [
    '',
    'null',
    good.replaceAll(',', ', '),
    good.replace('"x"', 'null'),
    good.replace('"x"', '{"x":1}'),
    good.replace('"x"', '["x"]'),
    good.replace('"x"', '"\n"'),
    good.replace('"x"', 'tru'),
    good.replace('1]', '01]'),
    good.replace('1]', '1.]'),
    good.replace('1]', '-]'),
    good.replace('1]', '1.2.3]'),
    good.replace('"range":"A!A1:Z9"', '"range":5'),
    good.replace('"a","b"', '"",""'),
    `${good}x`,
  ]
  assert.ok(listGoogleValues(Buffer.from(good), { values: 'typed', dates: new Uint32Array() }, null))
  for (const text of odd)
    assert.equal(
      listGoogleValues(Buffer.from(text), { values: 'typed', dates: new Uint32Array() }, null),
      null,
      text,
    )
  for (let end = 0; end < good.length; end++) {
    const cut = Buffer.from(good.slice(0, end))
    assert.equal(
      listGoogleValues(cut, { values: 'typed', dates: new Uint32Array() }, null),
      null,
      good.slice(0, end),
    )
  }
  const notUtf8 = Buffer.from(good.replace('"x"', '"é"'), 'latin1')
  assert.equal(listGoogleValues(notUtf8, { values: 'typed', dates: new Uint32Array() }, null), null)
  const dateInHeader = { values: 'typed', dates: Uint32Array.of(0, 0, 0) }
  assert.equal(listGoogleValues(answer('[46341],[1]'), dateInHeader, null), null)
})
