import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cellTextsAt, timeKeyOfCell, timeKeyOfValue, timeShape } from './time-key.ts'

test('cells are times in the shapes that the contract has, and when they are real', () => {
  const shapes: [text: string, shape: ReturnType<typeof timeShape>][] = [
    ['2026-11-15', 'date'],
    ['2024-02-29', 'date'],
    ['2023-02-29', null],
    ['1900-02-29', null],
    ['2000-02-29', 'date'],
    ['2026-04-31', null],
    ['2026-00-01', null],
    ['2026-11-15T09:30:00', 'date-time'],
    ['2026-11-15t09:30:00', 'date-time'],
    ['2026-11-15T24:00:00', null],
    ['2026-11-15T09:30', null],
    ['2026-11-15 09:30:00', null],
    ['2026-11-15T09:30:00Z', null],
    ['2026-11-15T09:30:00.250', 'date-time'],
    ['2026-11-15T09:30:00.000', null],
    ['2026-11-15T09:30:00.25', null],
    ['09:30:00.250', 'time'],
    ['100:00:00.250', 'duration'],
    ['09:30:00', 'time'],
    ['23:59:59', 'time'],
    ['24:00:00', 'duration'],
    ['100:00:00', 'duration'],
    ['010:00:00', null],
    ['9:30:00', null],
    ['09:60:00', null],
    ['09:30:60', null],
    ['20261115', null],
    ['', null],
  ]
  for (const [text, shape] of shapes) {
    assert.equal(timeShape(text), shape, text)
    assert.equal(timeKeyOfCell(text) !== null, shape !== null, text)
  }
})

test('a value may be shorter or longer than the cells at its time', () => {
  const cells: [value: string, cells: string[]][] = [
    ['2026-11-15', ['2026-11-15', '2026-11-15t00:00:00']],
    ['2026-11-15T00:00', ['2026-11-15', '2026-11-15t00:00:00']],
    ['2026-11-15T00:00:00.000', ['2026-11-15', '2026-11-15t00:00:00']],
    ['2026-11-15T09:30', ['2026-11-15t09:30:00']],
    ['2026-11-15T09:30:00.250', ['2026-11-15t09:30:00.250']],
    ['2026-11-15T09:30:00.25', ['2026-11-15t09:30:00.250']],
    ['09:30:00.007', ['09:30:00.007']],
    ['2026-11-15T09:30:00.2501', []],
    ['09:30', ['09:30:00']],
    ['00:00', ['00:00:00']],
    ['100:00', ['100:00:00']],
  ]
  for (const [value, texts] of cells) {
    const key = timeKeyOfValue(value)
    assert.ok(key, value)
    assert.deepEqual(cellTextsAt(key), texts, value)
    for (const text of texts) assert.equal(timeKeyOfCell(text), key)
  }
  for (const value of [
    '2026-11',
    '2026',
    '2026-11-15T09:30:00Z',
    '2026-11-15T9:30',
    '2026-11-15T09:30:00.0000000001',
  ])
    assert.equal(timeKeyOfValue(value), null, value)
})

test('keys sort by time', () => {
  const inOrder = [
    '00:00',
    '09:30:00',
    '09:30:00.25',
    '09:30:01',
    '23:59:59',
    '26:00',
    '100:00:00',
    '2000:00:00',
  ]
  const keys = inOrder.map(timeKeyOfValue)
  assert.deepEqual(keys.toSorted(), keys)
})
