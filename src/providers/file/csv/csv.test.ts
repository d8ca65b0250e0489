import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Cell } from '../../../sheets/rows/grid.ts'
import { appendCsvRows } from './csv.fixture.ts'
import { decodeCsv } from './csv.ts'

const utf8 = (text: string) => new TextEncoder().encode(text)
const rowsOf = (text: string) => decodeCsv(utf8(text)).rows
const append = (text: string, rows: Cell[][]) =>
  new TextDecoder('utf-8', { ignoreBOM: true }).decode(appendCsvRows(utf8(text), rows))

describe('reading', () => {
  test('an empty file has no rows, nor has a lone byte order mark or blank lines', () => {
    for (const text of ['', '\uFEFF', '\n', '\r\n\r\n', ',,\n""\n']) assert.deepEqual(rowsOf(text), [])
  })

  test('cells are typed unless quoted', () => {
    assert.deepEqual(rowsOf('h,i\n5,"5",-0.5,0050,TRUE,"TRUE",true,FALSE,1e5, 5,.5,1.0E+02,,"",x'), [
      ['h', 'i'],
      [5, '5', -0.5, '0050', true, 'TRUE', 'true', false, '1e5', 5, 0.5, 100, null, null, 'x'],
    ])
  })

  test('the byte order mark is not part of the first header', () => {
    assert.deepEqual(rowsOf('\uFEFFname,Größe\nAnna,😀\n'), [
      ['name', 'Größe'],
      ['Anna', '😀'],
    ])
    assert.deepEqual(rowsOf('\uFEFF"name",a'), [['name', 'a']])
  })

  test('a part of a larger buffer is read, not the whole', () => {
    assert.deepEqual(decodeCsv(utf8('xxa,b\nyy').subarray(2, 6)).rows, [['a', 'b']])
  })

  test('any line end ends a row, the last one need not', () => {
    for (const newline of ['\n', '\r\n', '\r']) {
      for (const last of ['', newline]) {
        assert.deepEqual(rowsOf(`a,b${newline}1,2${newline}3,${last}`), [
          ['a', 'b'],
          [1, 2],
          [3, null],
        ])
      }
    }
  })

  test('quotes hold delimiters, line breaks and quotes', () => {
    assert.deepEqual(rowsOf('a,b\n"x,y","line 1\r\nline 2"\n"say ""hi""",""""\n'), [
      ['a', 'b'],
      ['x,y', 'line 1\r\nline 2'],
      ['say "hi"', '"'],
    ])
  })

  test('a quote inside an unquoted field is text, and text after a closing quote belongs to the field', () => {
    assert.deepEqual(rowsOf('a,b\n5" pipe,x"y"z\n"a"b,"1" \n"a"b"c","" \n'), [
      ['a', 'b'],
      ['5" pipe', 'x"y"z'],
      ['ab', '1 '],
      ['ab"c"', ' '],
    ])
  })

  test('a blank line keeps its number; blank rows at the end do not count', () => {
    assert.deepEqual(rowsOf('a,b\n\n,\n1\n\n,\n""\n'), [['a', 'b'], [], [], [1]])
  })

  test('rows may be shorter or longer than the header', () => {
    assert.deepEqual(rowsOf('a,b\n1\n1,2,3\n'), [['a', 'b'], [1], [1, 2, 3]])
  })

  test('the only column is not cut at a comma', () => {
    assert.deepEqual(rowsOf('Note\nhello, world\n'), [['Note'], ['hello, world']])
  })

  const unreadable: [what: string, bytes: Uint8Array][] = [
    ['UTF-16 without a mark', Buffer.from('name\n', 'utf16le')],
    ['a zero byte', utf8('a\0b')],
    ['a character cut in half', utf8('a,é').subarray(0, 3)],
  ]
  for (const [what, bytes] of unreadable) {
    test(`${what} is refused with the way out`, () => {
      const refusal = { name: 'ProviderFailure', message: /save it as "CSV UTF-8"/ }
      assert.throws(() => decodeCsv(bytes), refusal)
      assert.throws(() => appendCsvRows(bytes, [['x']]), refusal)
    })
  }

  test('a quote that never closes is refused, naming its row', () => {
    const bytes = utf8('a,b\n"x\ny",1\n\n2,"cut of')
    const refusal = { name: 'ProviderFailure', message: /opens in row 4 / }
    assert.throws(() => decodeCsv(bytes), refusal)
    assert.throws(() => appendCsvRows(bytes, [['x']]), refusal)
  })
})

describe('appending', () => {
  const appended: [what: string, before: string, rows: Cell[][], after: string][] = [
    ['as the file is written', 'a;b\r\n1;2\r\n', [['x;y', 3]], 'a;b\r\n1;2\r\n"x;y";3\r\n'],
    ['to a last line without end', 'a,b\n1,2', [['x'], [3, 4]], 'a,b\n1,2\nx,\n3,4'],
    ['to a header alone', 'a\tb', [[1, 2]], 'a\tb\n1\t2'],
    ['with lone carriage returns', 'a,b\r1,2\r', [[3, 4]], 'a,b\r1,2\r3,4\r'],
    ['behind a byte order mark', '\uFEFFa,b\n', [['é', 1]], '\uFEFFa,b\né,1\n'],
    ['to an empty file', '', [['a', 'b'], [1]], 'a,b\n1,\n'],
    ['to a byte order mark', '\uFEFF', [['\uFEFFa']], '\uFEFF"\uFEFFa"\n'],
    ['before blank lines', 'a\n1\n\n\n', [[2]], 'a\n1\n2\n\n\n'],
    ['before blank records', 'a,b\n1,2\n,\n"",', [[3, 4]], 'a,b\n1,2\n3,4\n,\n"",'],
    ['before nothing but blank records', ';;\n', [[1]], '1;;\n;;\n'],
    ['after blank lines with data below', 'a\n\n1\n', [[2]], 'a\n\n1\n2\n'],
    ['an empty cell to the only column', 'a\n', [[null], [1]], 'a\n""\n1\n'],
    ['nothing', 'a\n\n\n', [], 'a\n\n\n'],
    ['as wide as the header, whatever rows there are', 'a,b\n1\n', [[2]], 'a,b\n1\n2,\n'],
    ['as wide as the header below a blank line', '\na,b\n', [[2]], '\na,b\n2,\n'],
    ['odd spellings kept', '"a" ,b\n 01,"x""y"\n', [[1, 2]], '"a" ,b\n 01,"x""y"\n1,2\n'],
    ['line ends kept as mixed as they were', 'a\r\n1\n2\r', [[3]], 'a\r\n1\n2\r3\r\n'],
  ]
  for (const [what, before, rows, after] of appended) {
    test(what, () => assert.equal(append(before, rows), after))
  }

  test('the new rows are numbered on from the last row with data', () => {
    const texts = ['', 'a', 'a,b\n1\n\n,\n', 'a\n\n"x\ny"\n', '\n\n']
    const counts = texts.map((text) => rowsOf(append(text, [['x']])).length)
    assert.deepEqual(counts, [1, 2, 3, 4, 1])
  })

  test('text that looks like a formula, number or boolean comes back as sent', () => {
    const row = ['=1+1', '007', '7', 'TRUE', ' x ', '+1', '@a', '-']
    const after = append('a,b,c,d,e,f,g,h\n', [row])
    assert.deepEqual(rowsOf(after)[1], row)
  })

  test('a cell without a column, or one that would not read back, is a programming error', () => {
    assert.throws(() => append('a,b\n', [[1, 2, 3]]), { name: 'Error' })
    assert.throws(() => append('a\n', [[0.1 + 0.2]]), { name: 'Error' })
    assert.equal(append('a,b\n', [[1, 2, null]]), 'a,b\n1,2\n')
  })

  test('a file whose delimiter a new row would make look different is left alone', () => {
    assert.throws(() => append('a\nx;"y\n', [['p,q']]), { name: 'ProviderFailure', message: /separates/ })
  })
})

test('hostile files take no more than linear time', () => {
  const units = ['"', ',', '\n', '\r', '",', 'a"', '""\n', '"a"b', ' ', '1', '0.', 'a,b;c\n', '\n"']
  const before = process.cpuUsage()
  for (const unit of units) {
    const bytes = utf8(`a\n${unit.repeat(100_000)}`)
    for (const read of [decodeCsv, (file: Uint8Array) => appendCsvRows(file, [['x']])]) {
      try {
        read(bytes)
      } catch (failure) {
        assert.equal((failure as Error).name, 'ProviderFailure')
      }
    }
  }
  // Quadratic time would be minutes.
  assert.ok(process.cpuUsage(before).user < 10_000_000)
})
