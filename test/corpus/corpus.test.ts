import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { runCorpus } from '../../scripts/corpus/corpus.ts'
import { examplesOf, findingsTable } from '../../scripts/corpus/findings.ts'
import { writeOwnFiles } from './own-files.ts'

/** Of each kind of number format, so much must be as Excel displays it. */
const leastAgreement = 0.98

test('the files of the real world, as far as we can make them: read, displayed and edited without damage', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'corpus-'))
  t.after(() => rm(folder, { recursive: true }))
  writeOwnFiles(folder)
  // Without Python: whoever has it compares with `npm run corpus`.
  const findings = await runCorpus(folder, null)
  const table = findingsTable(findings)
  t.diagnostic(`\n${table}`)
  assert.deepEqual(findings.crashes, [])
  assert.deepEqual(findings.damaged, [])
  assert.deepEqual([...findings.disagreements], [], table)
  assert.ok(findings.cellsCompared > 70, table)
  assert.deepEqual(
    [...findings.refused.keys()],
    ['the workbook is protected with a password; save it without one'],
  )
  const kinds = [
    'General',
    'date',
    'date-time',
    'date in a language',
    'time',
    'elapsed',
    'fraction',
    'number',
    'percent',
    'currency',
    'scientific',
    'thousands',
  ]
  const displayed =
    findings.displayed.get('exports') ?? new Map<string, { agree: number; compared: number }>()
  for (const kind of kinds) assert.ok(displayed.has(kind), `${kind} is among them`)
  for (const [kind, { agree, compared }] of displayed) {
    assert.ok(agree / compared >= leastAgreement, `${kind}: ${examplesOf(findings, `exports, ${kind}`)}`)
  }
  assert.equal(findings.displayedOtherwise.size, 0)
  assert.deepEqual(
    [...findings.editsRefused.keys()],
    ['Row cannot be deleted: the formula in a cell refers to it.'],
  )
})
