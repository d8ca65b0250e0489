import assert from 'node:assert/strict'
import { test } from 'node:test'
import { auditedVerbs, detailsOf } from './audited.ts'

test('what was changed is noted as far as one has to know, however much it was', () => {
  const audited = auditedVerbs['PATCH /keys/{id}/policy']
  assert.ok(audited)
  const readColumns = Array.from({ length: 1_900 }, (_, n) => `column ${n}`)
  const origins = ['https://a.example', 'https://b.example']
  const noted = detailsOf(audited, { readColumns, origins, where: 'x'.repeat(2_000), secret: 'none' }) ?? ''
  assert.deepEqual(JSON.parse(noted), {
    readColumns: [...readColumns.slice(0, 20), 'and 1880 more'],
    origins,
    where: `${'x'.repeat(300)}…`,
  })
  const long = detailsOf(audited, { readColumns: ['y'.repeat(1_000), 'z'] }) ?? ''
  assert.deepEqual(JSON.parse(long), { readColumns: ['and 2 more'] })
})
