import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startGoogleGround } from '../writing/google-ground.ts'
import type { Change } from './follower.ts'

/*
 * A person's edit between our last look and our write at Google hits other rows than were meant. The answer shows which: those are told as
 * the write, and what the person did as theirs.
 */

test('a write at Google that hit another row than was meant is told as the write, and never as an outside change', async (t) => {
  const { rowport, local, newSheet } = await startGoogleGround(t)
  const { ask, spreadsheetId } = await newSheet('items', [
    ['sku', 'name', 'price'],
    ...Array.from({ length: 8 }, (_, n) => [`K-${n}`, `name ${n}`, n]),
  ])
  const cases = [
    { edit: { op: 'insertRow', row: 3, values: ['P-1', 'person', 50] }, method: 'PATCH', path: '/5' },
    { edit: { op: 'deleteRow', row: 3 }, method: 'PATCH', path: '/6' },
    { edit: { op: 'insertRow', row: 2, values: ['P-2', 'person', 60] }, method: 'DELETE', path: '/4' },
  ]
  for (const [nth, { edit, method, path }] of cases.entries()) {
    const { headers } = await ask('GET')
    const since = headers.get('X-Change-Cursor')
    await local.control('POST', 'edit', {
      ...{ spreadsheetId, tab: 'Items', ...edit },
      ...{ beforeCall: 1, match: ':batchUpdate' },
    })
    const body = method === 'PATCH' ? { price: 1_000 + nth } : undefined
    const written = await ask(method, path, body && { body })
    assert.equal(written.status, 200, JSON.stringify(written.body))
    rowport.clock.advanceMs(60_000)
    await ask('GET')
    const { body: changes } = (await ask('GET', `/changes?since=${since}`)) as { body: Change[] }
    const ours = changes.filter(({ source }) => source === 'api')
    const theirs = changes.filter(({ source }) => source === 'outside')
    assert.ok(ours.length > 0, `${method} ${path}: ${JSON.stringify(changes)}`)
    for (const { operation } of ours) assert.equal(operation, written.headers.get('Operation-Id'))
    const isOurs = ({ before, after }: Change) =>
      after?.price === 1_000 + nth && before?.price !== after.price
    assert.deepEqual(theirs.filter(isOurs), [], JSON.stringify(changes))
  }
})
