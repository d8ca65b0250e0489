import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type FormulaReference, replaceReferences } from './formula.ts'
import { moveFormula } from './formula-shift.ts'

function referencesIn(formula: string): string[] {
  const found: string[] = []
  replaceReferences(formula, ({ tab, reach, first, last }: FormulaReference) => {
    const point = ({ column, row }: FormulaReference['first']) => `${column},${row}`
    found.push(`${reach} ${tab ?? '-'} ${point(first)}${last ? ` ${point(last)}` : ''}`)
    return undefined
  })
  return found
}

test('references are told from all that looks like them', () => {
  const cases: [formula: string, found: string[]][] = [
    ['A1+$B$2', ['tab - 1,1', 'tab - 2,2']],
    ['SUM(A1:B$9)', ['tab - 1,1 2,9']],
    ['A:C+2:5', ['tab - 1,0 3,0', 'tab - 0,2 0,5']],
    ["Tab!A1+'My ''Tab'''!B2", ['tab Tab 1,1', "tab My 'Tab' 2,2"]],
    ["Jan:Dec!A1+'a b:c d'!A1", ['tabs Jan:Dec 1,1', 'tabs a b:c d 1,1']],
    ["[1]Tab!A1+'[Book 1.xlsx]Tab'!A1", ['workbook [1]Tab 1,1', 'workbook [Book 1.xlsx]Tab 1,1']],
    ['Tab!A1:Tab!A9', ['tab Tab 1,1', 'tab Tab 1,9']],
    ['XFD1048576+XFE1+A1048577+A0', ['tab - 16384,1048576']],
    ['LOG10(1)+DAYS360(A1,B1)+T_A1+A1_+A1.5', ['tab - 1,1', 'tab - 2,1']],
    ['"A1"&"a""A1"', []],
    ['Orders[[#This Row],[A1]]*Orders[A1:B2]*[@A1]', []],
    ['Tab!Name+Tab!#REF!+#REF!A1', ['tab - 1,1']],
    ['größe1+Größe!A1', ['tab Größe 1,1']],
    ['{1,2}*A1:B2 C1:C2', ['tab - 1,1 2,2', 'tab - 3,1 3,2']],
    ["'never closed A1", []],
    ['"never closed A1', []],
    ['[never closed A1', []],
  ]
  for (const [formula, found] of cases) assert.deepEqual(referencesIn(formula), found, formula)
})

test('a shared formula is moved to another cell', () => {
  const cases: [formula: string, rows: number, columns: number, moved: string][] = [
    ['A1*$A1*A$1*$A$1', 2, 1, 'B3*$A3*B$1*$A$1'],
    ['SUM(A1:B2)+SUM(A:A)+SUM(1:1)', 1, 1, 'SUM(B2:C3)+SUM(B:B)+SUM(2:2)'],
    ['Tab!A1&"A1"', 1, 0, 'Tab!A2&"A1"'],
    ['A1', -1, 0, 'A1048576'],
    ['A1', 0, -1, 'XFD1'],
  ]
  for (const [formula, rows, columns, moved] of cases) {
    assert.equal(moveFormula(formula, rows, columns), moved)
  }
})

test('there and back is where it was, for any formula', () => {
  const pieces = [
    'A1',
    '$B$20',
    'C3:D$4',
    "'x y'!E5",
    'Tab!F6',
    'A:B',
    '3:4',
    '"A1"',
    '+',
    '(',
    ')',
    ',',
    'SUM',
    ' ',
    'T[A1]',
    '#REF!',
    '1.5',
    "'",
    '"',
    '[',
  ]
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...pieces), { maxLength: 12 }), (parts) => {
      const formula = parts.join('')
      assert.equal(moveFormula(moveFormula(formula, 7, 3), -7, -3), formula)
    }),
    { seed: 18, numRuns: 1000 },
  )
})

test('hostile formulas take no more than linear time', () => {
  const startMs = performance.now()
  for (const unit of [
    "'",
    "''!",
    '"',
    '[',
    '[]',
    '][',
    'A',
    'A1:',
    '$',
    '!',
    '#',
    "'!",
    'A1!',
    '1:',
    '\\',
    '(A1',
  ]) {
    moveFormula(unit.repeat(100_000), 1, 1)
  }
  // Quadratic time would be minutes.
  assert.ok(performance.now() - startMs < 10_000)
})
