import assert from 'node:assert/strict'
import { test } from 'node:test'
import { holdsOfFive } from '../../test/measured-twice.ts'
import { processorMs } from '../../test/processor-time.ts'
import type { FormField, FormSettings } from '../management/forms/forms.ts'
import { checkEntry } from './entry.ts'

const kinds = ['text', 'long', 'email', 'number', 'date', 'choice', 'checkbox'] as const
const mostMs = 25

test('whatever is typed into as many fields as there may be, it is judged in a moment', async () => {
  const texts = {
    dots: `a@${'.'.repeat(9_990)}@`,
    'short names': `a@${'a.'.repeat(4_990)} @`,
    digits: '1'.repeat(10_000),
    separators: `1${',000'.repeat(2_490)}x`,
    spaces: `1${' '.repeat(9_990)}1`,
  }
  for (const kind of kinds)
    for (const [name, text] of Object.entries(texts)) {
      const fields = Array.from({ length: 50 }, (_, n) => fieldOf(kind, `c${n}`))
      const sent = new Map(fields.map(({ column }) => [column, text]))
      await holdsOfFive(
        () => processorMs(() => checkEntry(sent, settingsOf(fields))),
        (workMs) => (workMs < mostMs ? null : `${kind}, ${name}: ${workMs.toFixed(0)} ms`),
      )
    }
})

test('an email address is as long as those that mail can be sent to', () => {
  const mistakesOf = (text: string) =>
    [...checkEntry(new Map([['email', text]]), settingsOf([fieldOf('email', 'email')])).mistakes].length
  assert.equal(mistakesOf(`${'a'.repeat(242)}@b.example.c`), 0)
  assert.equal(mistakesOf(`${'a'.repeat(243)}@b.example.c`), 1)
})

test('all fields together have a bound too, which is told when nothing else is wrong', () => {
  const fields = Array.from({ length: 11 }, (_, n) => fieldOf('long', `c${n}`))
  const mistakesOf = (count: number) => {
    const sent = new Map(fields.slice(0, count).map(({ column }) => [column, 'x'.repeat(10_000)]))
    return [...checkEntry(sent, settingsOf(fields)).mistakes]
  }
  assert.deepEqual(mistakesOf(10), [])
  assert.deepEqual(mistakesOf(11), [['', 'At most 100,000 characters in all fields together.']])
})

function fieldOf(kind: FormField['kind'], column: string): FormField {
  return { column, label: column, help: '', kind, isRequired: false, choices: ['one'] }
}

function settingsOf(fields: FormField[]): FormSettings {
  return { fields, honeypot: 'trap' } as unknown as FormSettings
}
