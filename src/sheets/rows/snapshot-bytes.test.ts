import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { buildSnapshot } from './build-snapshot.ts'
import { fromBytes, type SharedRead, snapshotForm, toBytes } from './snapshot-bytes.ts'

const cell = fc.oneof(
  fc.string(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.boolean(),
  fc.constant(null),
)

test('a snapshot arrives as it was sent, whatever is in the sheet', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.string(), { minLength: 1, maxLength: 5 }),
      fc.array(fc.array(cell, { maxLength: 5 }), { maxLength: 12 }),
      async (header, rows) => {
        const sent = readOf([header, ...rows])
        const bytes = await toBytes(sent)
        assert.ok(bytes)
        assert.deepEqual(plain(await fromBytes(bytes)), plain(sent))
      },
    ),
    { numRuns: 60, seed: 8 },
  )
})

test('every buffer begins at its own start, because the columns are looked up by offset', async () => {
  const bytes = await toBytes(
    readOf([['name', 'n'], ...Array.from({ length: 300 }, (_, n) => [`row ${n}`, n])]),
  )
  assert.ok(bytes)
  const { snapshot } = await fromBytes(bytes)
  for (const view of [
    snapshot.listJson,
    snapshot.rowStarts,
    snapshot.indexes.codes,
    snapshot.indexes.facts,
  ]) {
    assert.equal(view.byteOffset, 0)
  }
})

test('what is too large for its way is not sent', async () => {
  const large = readOf([['a'], ['b']])
  assert.equal(
    await toBytes({ ...large, snapshot: { ...large.snapshot, sizeInBytes: 65 * 1024 * 1024 } }),
    null,
  )
})

test('bytes that are no snapshot are refused', async () => {
  await assert.rejects(fromBytes(Buffer.from('something else')))
})

/** Instances of two versions may run side by side: what one puts there, the other must not misread. */
test('a snapshot of another make has another form', () => {
  const { snapshot } = readOf([['a'], ['b']])
  const fields = [...Object.keys(snapshot), ...Object.keys(snapshot.indexes)].sort()
  assert.deepEqual(
    { form: snapshotForm, fields },
    {
      form: 3,
      fields: [
        'blankRowJson',
        'codes',
        'columns',
        'contentHash',
        'description',
        'facts',
        'indexes',
        'lastRowNumber',
        'listJson',
        'rowNumbers',
        'rowStarts',
        'sizeInBytes',
        'stale',
      ],
    },
    'raise snapshotForm with every change of Snapshot, and record it here',
  )
})

function readOf(rows: (string | number | boolean | null)[][]): SharedRead {
  const snapshot = buildSnapshot({ rows } as never)
  return { snapshot, version: 'v', asOfMs: 1, location: '{}', credentialId: null }
}

function plain(read: SharedRead): unknown {
  return JSON.parse(
    JSON.stringify(read, function (this: Record<string, unknown>, key) {
      const value = this[key]
      return ArrayBuffer.isView(value)
        ? Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('hex')
        : value
    }),
  )
}
