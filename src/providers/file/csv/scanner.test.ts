import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { CsvScanner } from './scanner.ts'

/** Each field as it stands in the text, with its row number and what ended it. */
function spans(text: string, delimiters = ',') {
  const scanner = new CsvScanner(text, delimiters, 'stop')
  const seen: [row: number, written: string, terminator: string][] = []
  while (scanner.next()) {
    const written = text.slice(scanner.start, scanner.end)
    seen.push([scanner.rowNumber, written, text.slice(scanner.end, scanner.nextStart)])
  }
  return seen
}

test('spans keep quotes, and rows count records, not lines', () => {
  assert.deepEqual(spans('a,"b\n""c"\r\nd\re\n\n"",'), [
    [1, 'a', ','],
    [1, '"b\n""c"', '\r\n'],
    [2, 'd', '\r'],
    [3, 'e', '\n'],
    [4, '', '\n'],
    [5, '""', ','],
    [5, '', ''],
  ])
})

test('the start of a record is known from any of its fields', () => {
  const scanner = new CsvScanner('a\nb,c\n', ',')
  scanner.next()
  scanner.next()
  scanner.next()
  assert.deepEqual([scanner.recordStart, scanner.start, scanner.nextStart], [2, 4, 6])
})

test('doubled quotes are told from plain ones', () => {
  const scanner = new CsvScanner('"a""b","c",d', ',')
  const seen = []
  while (scanner.next()) seen.push([scanner.closingQuote, scanner.hasDoubledQuotes])
  assert.deepEqual(seen, [
    [5, true],
    [9, false],
    [-1, false],
  ])
})

test('several delimiters can be looked for at once', () => {
  assert.deepEqual(
    spans('a;"b,c"\td', ',;\t').map(([, written, terminator]) => written + terminator),
    ['a;', '"b,c"\t', 'd'],
  )
})

test('an open quote stops or is refused', () => {
  assert.deepEqual(spans('a,"b\nc'), [[1, 'a', ',']])
  const scanner = new CsvScanner('a\n"b', ',')
  scanner.next()
  assert.throws(() => scanner.next(), { name: 'ProviderFailure', message: /row 2/ })
})

test('fields and what ends them make up the whole text', () => {
  const texts = fc.string({ unit: fc.constantFrom('a', '"', ',', ';', '\n', '\r', 'ß') })
  fc.assert(
    fc.property(texts, (text) => {
      const covered = spans(text)
        .map(([, written, terminator]) => written + terminator)
        .join('')
      assert.ok(text.startsWith(covered))
      if (covered !== text)
        assert.throws(() => exhaust(new CsvScanner(text, ',')), { name: 'ProviderFailure' })
    }),
    { seed: 4180, numRuns: 2000 },
  )
})

function exhaust(scanner: CsvScanner): void {
  while (scanner.next());
}
