import assert from 'node:assert/strict'
import { test } from 'node:test'
import { holdsOfFive } from '../../../test/measured-twice.ts'
import { processorMs } from '../../../test/processor-time.ts'
import { guessForm } from './guess-fields.ts'

function guessed(columns: string[], rows: Record<string, string | number | boolean | null>[]) {
  const { fields, set } = guessForm({ columns, rows, madeColumn: 'code' })
  return { kinds: Object.fromEntries(fields.map(({ column, kind }) => [column, kind])), fields, set }
}

test('kinds and choices are told by the cells', () => {
  const meals = ['Soup', 'Salad', 'Soup', 'Soup', 'Salad', null]
  const rows = meals.map((meal, n) => ({
    id: n,
    code: n,
    first_name: `Guest ${n}`,
    contact: `g${n}@example.com`,
    guests: n,
    arrives: `2026-11-1${n}`,
    meal,
    news: n % 2 === 0,
    story: n === 1 ? 'two\nlines' : 'one',
    at: `2026-11-1${n}T10:00:00`,
    mixed: n === 0 ? 1 : 'one',
  }))
  const { kinds, fields, set } = guessed(Object.keys(rows[0] ?? {}), rows)
  assert.deepEqual(kinds, {
    first_name: 'text',
    contact: 'email',
    guests: 'number',
    arrives: 'date',
    meal: 'choice',
    news: 'checkbox',
    story: 'long',
    mixed: 'text',
  })
  assert.deepEqual(set, [['at', 'now()']])
  const meal = fields.find(({ column }) => column === 'meal')
  assert.deepEqual(meal, {
    column: 'meal',
    label: 'Meal',
    help: '',
    kind: 'choice',
    isRequired: false,
    choices: ['Soup', 'Salad'],
  })
  assert.deepEqual([fields[0]?.label, fields[0]?.isRequired], ['First name', true])
})

test('without cells, names tell', () => {
  const columns = ['name', 'E-mail', 'Your message', 'birthDate', 'received', '_row', 'phone']
  const { kinds, fields, set } = guessed(columns, [])
  assert.deepEqual(kinds, {
    name: 'text',
    'E-mail': 'email',
    'Your message': 'long',
    birthDate: 'date',
    phone: 'text',
  })
  assert.deepEqual(set, [['received', 'now()']])
  assert.ok(fields.every(({ isRequired }) => !isRequired))
  assert.deepEqual(
    fields.map(({ label }) => label),
    ['Name', 'E-mail', 'Your message', 'Birth date', 'Phone'],
  )
})

test('texts that differ, that are few or that are long are no choices', () => {
  const of = (texts: string[]) =>
    guessed(
      ['a'],
      texts.map((a) => ({ a })),
    ).kinds.a
  assert.equal(of(['x', 'y', 'x', 'y']), 'choice')
  assert.equal(of(['x', 'y', 'x']), 'text')
  assert.equal(of(['x', 'x', 'x', 'x']), 'text')
  assert.equal(of(Array.from({ length: 40 }, (_, n) => `t${n % 13}`)), 'text')
  assert.equal(of(['x', 'y', 'x', 'y'].map((text) => text.repeat(61))), 'text')
})

test('cells as long as may be that nearly are email addresses are judged in a moment', async () => {
  const text = `a@${'.'.repeat(49_990)}@`
  await holdsOfFive(
    () => processorMs(() => assert.equal(guessed(['contact'], [{ contact: text }]).kinds.contact, 'long')),
    (workMs) => (workMs < 100 ? null : `${workMs.toFixed(0)} ms`),
  )
})
