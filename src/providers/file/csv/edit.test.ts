import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Change, Edited, Unfit } from '../../../sheets/change.ts'
import type { Cell } from '../../../sheets/rows/grid.ts'
import { decodeCsv } from './csv.ts'
import { editCsv } from './edit.ts'

const utf8 = (text: string) => new TextEncoder().encode(text)
const edit = (text: string, ...changes: Change[]): Edited | Unfit => editCsv(utf8(text), changes)
const update = (rowNumber: number, ...cells: [column: number, value: Cell][]): Change => ({
  kind: 'update',
  rowNumber,
  cells: cells.map(([columnIndex, value]) => ({ columnIndex, value })),
})
const remove = (rowNumber: number): Change => ({ kind: 'delete', rowNumber })
const add = (...rows: Cell[][]): Change => ({ kind: 'add', rows })

function edited(text: string, ...changes: Change[]): Edited {
  const outcome = edit(text, ...changes)
  assert.ok('bytes' in outcome, JSON.stringify(outcome))
  return outcome
}

function textAfter(text: string, ...changes: Change[]): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(edited(text, ...changes).bytes)
}

describe('an update writes its fields and nothing else', () => {
  const cases: [what: string, before: string, change: Change, after: string][] = [
    ['a number', 'a,b\n1,2\n', update(2, [1, 3]), 'a,b\n1,3\n'],
    ['odd spellings around it', 'a,b,c\n "x" , 01,"q""r"\n', update(2, [1, 5]), 'a,b,c\n "x" ,5,"q""r"\n'],
    ['text that looks like a number', 'a\n1\n', update(2, [0, '1.5']), 'a\n"1.5"\n'],
    ['text with everything', 'a;b\n1;2\n', update(2, [0, 'x;"y"\n']), 'a;b\n"x;""y""\n";2\n'],
    ['a boolean', 'a,b\n1,2\n', update(2, [0, true], [1, false]), 'a,b\nTRUE,FALSE\n'],
    ['an empty cell', 'a,b\n1,2\n', update(2, [0, null]), 'a,b\n,2\n'],
    ['an empty text', 'a,b\n1,2\n', update(2, [0, '']), 'a,b\n,2\n'],
    ['the only cell emptied, with a row below', 'a\n1\n2\n', update(2, [0, null]), 'a\n""\n2\n'],
    ['all cells emptied', 'a,b\n1,2\n3,4\n', update(2, [0, null], [1, null]), 'a,b\n,\n3,4\n'],
    ['past the end of a short row', 'a,b,c\n1\n', update(2, [1, 'x']), 'a,b,c\n1,x\n'],
    ['past the end with a gap', 'a,b,c,d\n1\n2\n', update(2, [2, 'x']), 'a,b,c,d\n1,,x\n2\n'],
    ['nothing past the end of a short row', 'a,b,c\n1\n', update(2, [2, null]), 'a,b,c\n1\n'],
    ['in a row longer than the header', 'a,b\n1,2,3\n', update(2, [2, 4]), 'a,b\n1,2,4\n'],
    ['a blank line', 'a,b,c\n\n1,2,3\n', update(2, [1, 'x']), 'a,b,c\n,x,\n1,2,3\n'],
    ['a blank record', 'a,b\n"",\n1,2\n', update(2, [1, 'x']), 'a,b\n"",x\n1,2\n'],
    ['a row with line breaks in it', 'a,b\n"x\r\ny",1\r\n2,3', update(2, [1, 9]), 'a,b\n"x\r\ny",9\r\n2,3'],
    ['a row below one with line breaks', 'a\n"x\n\ny"\n2\n', update(3, [0, 9]), 'a\n"x\n\ny"\n9\n'],
    ['the last row without line end', 'a,b\r\n1,2', update(2, [1, 3]), 'a,b\r\n1,3'],
    ['behind a byte order mark', '\uFEFFa\n1\n', update(2, [0, 'é']), '\uFEFFa\né\n'],
    ['with tabs', 'a\tb\n1\t2\n', update(2, [0, 'x\ty']), 'a\tb\n"x\ty"\t2\n'],
  ]
  for (const [what, before, change, after] of cases) {
    test(what, () => assert.equal(textAfter(before, change), after))
  }

  test('a value that is there already keeps its spelling', () => {
    const text = 'a,b,c,d\n1.50,"x",TRUE,"7"\n'
    assert.equal(textAfter(text, update(2, [0, 1.5], [1, 'x'], [2, true], [3, '7'])), text)
    assert.equal(textAfter(text, update(2, [3, 7])), 'a,b,c,d\n1.50,"x",TRUE,7\n')
  })
})

describe('a deletion takes the row and its line end', () => {
  const cases: [what: string, before: string, row: number, after: string][] = [
    ['the first', 'a\n1\n2\n3\n', 2, 'a\n2\n3\n'],
    ['one in between', 'a\n1\n2\n3\n', 3, 'a\n1\n3\n'],
    ['the last', 'a\n1\n2\n', 3, 'a\n1\n'],
    ['the last without line end', 'a\n1\n2', 3, 'a\n1'],
    ['the only', 'a\n1\n', 2, 'a\n'],
    ['the only without line end', 'a,b\r\n1,2', 2, 'a,b'],
    ['a blank line', 'a\n1\n\n2\n', 3, 'a\n1\n2\n'],
    ['a row with line breaks in it', 'a,b\n"x\n\ny",1\n2,3\n', 2, 'a,b\n2,3\n'],
    ['among mixed line ends', 'a\r\n1\n2\r3', 3, 'a\r\n1\n3'],
    ['the last above blank rows', 'a\n1\n2\n\n,\n', 3, 'a\n1\n\n,\n'],
    // "\r" and "\n" would be one line end, and the blank row 2 would be gone.
    ['between a carriage return and a blank line', 'a\r1\n\n2\n', 2, 'a\r\n\n2\n'],
  ]
  for (const [what, before, row, after] of cases) {
    test(what, () => {
      assert.equal(textAfter(before, remove(row)), after)
      const { rows } = decodeCsv(utf8(before))
      const left = rows.toSpliced(row - 1, 1)
      while (left.at(-1)?.every((cell) => cell === null)) left.pop()
      assert.deepEqual(decodeCsv(utf8(after)).rows, left)
    })
  }
})

describe('changes are made one after the other', () => {
  test('each in the numbering that holds when its turn comes', () => {
    const { bytes, results } = edited(
      'a,b\n1,x\n2,y\n',
      remove(2),
      add([3, 'z'], [4]),
      update(3, [1, 'new']),
      remove(2),
      update(3, [0, 5]),
    )
    assert.deepEqual(results, [
      { kind: 'delete', row: [1, 'x'] },
      {
        kind: 'add',
        rowNumbers: [3, 4],
        rows: [
          [3, 'z'],
          [4, null],
        ],
      },
      { kind: 'update', row: [3, 'new'] },
      { kind: 'delete', row: [2, 'y'] },
      { kind: 'update', row: [5, null] },
    ])
    assert.equal(new TextDecoder().decode(bytes), 'a,b\n3,new\n5,\n')
  })

  test('blank records at the end stay below the new ones, to the byte', () => {
    const emptied = update(4, [0, null], [1, null])
    assert.equal(textAfter('a,b\n1,2\n\n3,4\n', emptied, add([9])), 'a,b\n1,2\n9,\n\n,\n')
    assert.equal(textAfter('a\n1\n\n2\n', remove(4), add([9])), 'a\n1\n9\n\n')
    assert.equal(
      textAfter('a,b\r\n1,2\r\n,\r\n"",""\n,', add([3], [4])),
      'a,b\r\n1,2\r\n3,\r\n4,\r\n,\r\n"",""\n,',
    )
  })

  test('none is no change', () => {
    const bytes = utf8('a\n\n\n')
    assert.deepEqual(editCsv(bytes, []), { bytes, results: [], header: [] })
  })
})

describe('what cannot be done is said, and nothing is done', () => {
  test('a row that is not there', () => {
    for (const row of [0, 1, 4, -1, 1.5, Number.NaN]) {
      for (const change of [update(row, [0, 1]), remove(row)]) {
        const outcome = edit('a\n1\n2\n\n', update(2, [0, 5]), change)
        assert.deepEqual(outcome, { changeAt: 1, reason: 'row', details: `There is no row ${row}.` })
      }
    }
  })

  test('a row that an earlier change took away', () => {
    assert.deepEqual(edit('a\n1\n2\n', remove(3), update(3, [0, 1])), {
      changeAt: 1,
      reason: 'row',
      details: 'There is no row 3.',
    })
  })

  test('a value that would not read back', () => {
    for (const [value, says] of [
      [0.1 + 0.2, /15 digits/],
      ['a\0b', /U\+0000/],
      ['\uD800', /surrogate/],
    ] as const) {
      for (const change of [update(2, [0, value]), add([1], [value])]) {
        const outcome = edit('a\n1\n', remove(2), add([1]), change)
        assert.ok('reason' in outcome)
        assert.equal(outcome.changeAt, 2)
        assert.equal(outcome.reason, 'value')
        assert.match(outcome.details, says)
      }
    }
  })

  test('a change after which another character would separate the columns, named among many', () => {
    // The only row that says that the comma is it.
    const outcome = edit('a,b;c\n1,2\n', add(['x', 'y']), remove(3), remove(2))
    assert.ok('reason' in outcome)
    assert.deepEqual([outcome.changeAt, outcome.reason], [2, 'file'])
    assert.match(outcome.details, /separates the columns/)
    assert.ok('bytes' in edit('a,b;c\n1,2\n', remove(2), add(['p', 'q'])), 'what is clear in the end is fine')
  })

  test('a cell without a column is a programming error', () => {
    assert.throws(() => edit('a,b\n1,2\n', update(2, [2, 1])), { name: 'Error' })
  })
})

test('a blank line at the end stays one when the last row below it goes, though the file has no last line end', () => {
  assert.equal(textAfter('a,b\n1,2\n\n3,4', remove(4)), 'a,b\n1,2\n\n')
  assert.equal(textAfter('a,b\n\n\n3,4', remove(4)), 'a,b\n\n\n')
  assert.equal(textAfter('a,b\n1,2\n3,4', remove(3)), 'a,b\n1,2')
})

test('a thousand changes to a hundred thousand rows take no more than moments', () => {
  const bytes = utf8(`a,b\n${'1,2\n'.repeat(100_000)}`)
  const changes = Array.from({ length: 1000 }, (_, at): Change => {
    const row = 2 + ((at * 7919) % 90_000)
    return at % 3 === 0 ? remove(row) : at % 3 === 1 ? update(row, [0, 'x']) : add([at, at])
  })
  const startMs = performance.now()
  const outcome = editCsv(bytes, changes)
  assert.ok('bytes' in outcome)
  assert.equal(decodeCsv(outcome.bytes).rows.length, 100_001 - 334 + 333)
  assert.ok(performance.now() - startMs < 5000)
})

test('as displayed, fields keep their text and have no type', () => {
  const { rows } = decodeCsv(utf8('a,b\n1.50,"7"\nTRUE,"x""y"\n" ",\n'), { values: 'formatted' })
  assert.deepEqual(rows, [
    ['a', 'b'],
    ['1.50', '7'],
    ['TRUE', 'x"y'],
    [' ', null],
  ])
})
