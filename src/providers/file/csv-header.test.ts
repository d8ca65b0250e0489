import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { columnsOf } from '../../sheets/rows/table.ts'
import { decodeCsv } from './csv/csv.ts'
import { decodeCsvHeader } from './csv-header.ts'

const field = fc.oneof(
  fc.string({ maxLength: 5 }),
  fc.constantFrom('', 'name', '1', '007', 'TRUE', '"a,b"', '"two\nlines"', ' x ', '"say ""hi"""', 'a;b'),
)
const file = fc
  .record({
    delimiter: fc.constantFrom(',', ';', '\t'),
    newline: fc.constantFrom('\n', '\r\n', '\r'),
    records: fc.array(fc.array(field, { minLength: 1, maxLength: 4 }), { maxLength: 5 }),
    bom: fc.constantFrom('', '\ufeff'),
  })
  .map(({ delimiter, newline, records, bom }) => bom + records.map((of) => of.join(delimiter)).join(newline))

test('the columns are those that the whole file shows', () => {
  fc.assert(
    fc.property(file, (text) => {
      const bytes = Buffer.from(text)
      let whole: ReturnType<typeof decodeCsv>
      try {
        whole = decodeCsv(bytes)
      } catch {
        // What cannot be read as a whole is refused when it is edited.
        return
      }
      assert.deepEqual(columnsOf(decodeCsvHeader(bytes)), columnsOf(whole))
    }),
    { numRuns: 2_000, seed: 20_261_115 },
  )
})
