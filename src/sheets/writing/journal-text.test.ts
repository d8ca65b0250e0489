import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Refusal } from '../../errors.ts'
import { allAtOnce } from '../threads/packed-list.ts'
import { answerText, readAnswer } from './journal-text.ts'
import type { WriteAnswer } from './order.ts'

const texts = ['plain', 'line\nend', '', 'z', '"quoted"', '\ud83d\ude00 '.repeat(30_000)]
const json = (at: number) => JSON.stringify({ at, text: texts[at % texts.length] })
const numbers = Array.from({ length: 300 }, (_, at) => at + 2)
const answers: WriteAnswer[] = [
  { kind: 'added', rowNumbers: [2], rowsJson: [json(0)] },
  { kind: 'added', rowNumbers: [], rowsJson: numbers.map(json), operationId: 'op_1' },
  { kind: 'updated', rowNumber: 7, rowJson: json(5), warning: 'Look at it.' },
  { kind: 'many_deleted', rowNumbers: numbers, rowsJson: numbers.map(json) },
  { kind: 'many_updated', rowNumbers: [], rowsJson: [] },
  { kind: 'upserted', rows: numbers.map((at) => ({ was: 'added', rowNumber: null, rowJson: json(at) })) },
  {
    kind: 'undone',
    undoneId: 'op_2',
    changes: [{ kind: 'added', rowNumber: 4, beforeJson: null, afterJson: json(5) }],
    stale: [{ key: 'sum', rowNumbers: numbers }],
  },
]

test('an answer that was kept is the same again, however long it is', () => {
  for (const answer of answers) {
    const text = allAtOnce(answerText(answer))
    assert.deepEqual(allAtOnce(readAnswer(text)), { answer, isExact: true })
    const guess = { isExact: false, expectedLastRow: 9 }
    assert.deepEqual(allAtOnce(readAnswer(allAtOnce(answerText(answer, guess)))), { answer, ...guess })
    assert.equal(allAtOnce(answerText(structuredClone(answer))), text, 'the same text for the same answer')
  }
})

test('what was kept in one piece by the version before is still read', () => {
  for (const answer of answers)
    assert.deepEqual(allAtOnce(readAnswer(JSON.stringify({ answer, isExact: true }))), {
      answer,
      isExact: true,
    })
  const refusal = JSON.stringify({ kind: 'refused', code: 'row_not_found', facts: {} })
  assert.ok(allAtOnce(readAnswer(refusal)) instanceof Refusal)
})
