import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Cell } from '../../../sheets/rows/grid.ts'
import { isRepresentableInCsv, writeCell } from './cell.ts'

test('text is quoted where syntax or typing asks for it', () => {
  const written: [cell: Cell, field: string][] = [
    ['Anna', 'Anna'],
    ['0050', '0050'],
    ['2026-11-15', '2026-11-15'],
    ['true', 'true'],
    ['', ''],
    ['5', '"5"'],
    ['-0.5', '"-0.5"'],
    ['TRUE', '"TRUE"'],
    ['FALSE', '"FALSE"'],
    ['5" pipe', '"5"" pipe"'],
    ['a,b', '"a,b"'],
    ['a;b', '"a;b"'],
    ['a|b', '"a|b"'],
    ['.5', '".5"'],
    ['1e+5', '"1e+5"'],
    ['12E5', '12E5'],
    ['a\tb', '"a\tb"'],
    ['a\nb', '"a\nb"'],
    ['a\rb', '"a\rb"'],
    [' a', '" a"'],
    ['a ', '"a "'],
    ['=1+1', '"=1+1"'],
    ['@x', '"@x"'],
    ['+1', '"+1"'],
    ['\uFEFFa', '"\uFEFFa"'],
    [null, ''],
    [true, 'TRUE'],
    [false, 'FALSE'],
    [0, '0'],
    [-1.5, '-1.5'],
    [1e-7, '0.0000001'],
  ]
  for (const [cell, field] of written) assert.equal(writeCell(cell), field)
})

test('what would not read back is known beforehand and never written', () => {
  for (const cell of [0.1 + 0.2, Number.NaN, 'a\0b', 'lone \uD800']) {
    assert.equal(isRepresentableInCsv(cell), false, String(cell))
    assert.throws(() => writeCell(cell), { name: 'Error' })
  }
  for (const cell of [0, -0, 1.1, 1e300, 999_999_999_999_999, '', 'é 😀', null, true]) {
    assert.equal(isRepresentableInCsv(cell), true, String(cell))
  }
})
