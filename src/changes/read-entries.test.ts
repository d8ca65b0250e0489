import assert from 'node:assert/strict'
import { test } from 'node:test'
import { GoneMeanwhile } from '../errors.ts'
import type { LoggedChange } from '../sheets/logged-change.ts'
import type { LongEntries } from '../store/changes/change-log.ts'
import { changeJson, changeParts } from './change-json.ts'
import { createOutline } from './entries-outline.ts'
import { piecesOf, textOf } from './long-text.ts'
import { bytesOf, readLong, readWhole } from './read-entries.ts'

const alphabet = [
  'a',
  '"',
  '\\',
  '\\\\"',
  'Ж',
  '😀',
  '漢',
  '\u0001',
  '\ud800',
  '{',
  '}',
  '[',
  ']',
  ',',
  ':',
  '\n',
  'é',
]
const longer = 300_000

test('changes are read from slices of any length as they are from one text', async () => {
  const changes = [
    change('updated', { before: row(20), after: row(longer) }),
    change('updated', { before: row(longer), after: row(longer), changed: ['a"', 'Ж\\', '}'] }),
    change('added', { after: row(3), lost: { formulas: ['"before":"', '{['], spelling: text(longer) } }),
    change('deleted', { key: JSON.stringify(text(longer)), before: row(longer), operation: 'op_"1' }),
    change('columns_changed', { before: '["a","b"]', after: '["a"]', renamed: [['b', 'before']] }),
    { kind: 'reset' } as LoggedChange,
  ]
  const json = JSON.stringify(changes)
  for (const most of [61, 20_011, Number.POSITIVE_INFINITY]) {
    const { changes: read, characters } = await readLong(entriesOf(json, most), () => {})
    assert.equal(characters, json.length)
    for (const [nth, { lost: _, ...meant }] of changes.entries()) {
      const { change = meant, long = {} } = read[nth] ?? {}
      const { lost: __, ...told }: LoggedChange = change
      for (const name of ['key', 'before', 'after'] as const) {
        const isLong = (meant[name]?.length ?? 0) > 256 * 1_024
        assert.equal(long[name]?.characters, isLong ? meant[name]?.length : undefined)
        if (most > 4_000 && long[name]) told[name] = await textOf(long[name], () => {})
        else if (long[name]) delete meant[name]
      }
      assert.deepEqual(told, meant)
    }
    if (most < 4_000) continue
    assert.deepEqual((await readWhole(entriesOf(json, most), () => {})).changes, changes)
    assert.equal(Buffer.from(await bytesOf(entriesOf(json, most), () => {})).toString(), json)
  }
})

test('a long change is told as one that is not', async () => {
  for (let nth = 0; nth < 4; nth++) {
    const all = change('updated', { before: 'x'.repeat(nth) + text(longer), after: text(longer) })
    const [read] = (await readLong(entriesOf(JSON.stringify([all]), 9_000 + nth), () => {})).changes
    assert.ok(read?.long?.before && read.long.after)
    const told = { cursor: 'e-1', atMs: 0 }
    let bytes = Buffer.alloc(0)
    for await (const piece of piecesOf(changeParts({ ...told, ...read }), () => {}))
      bytes = Buffer.concat([bytes, piece])
    assert.ok(bytes.equals(Buffer.from(changeJson({ ...told, change: all }))))
  }
})

test('who tells the same text at the same time shares what is read, and nobody a failure that is over', async () => {
  const all = change('added', { after: 'x'.repeat(1_200_000) })
  let isGone = false
  const entries = entriesOf(JSON.stringify([all]))
  let slices = 0
  const counted: LongEntries = {
    bytes: entries.bytes,
    async slice(from, bytes) {
      slices++
      if (isGone) throw new GoneMeanwhile()
      return entries.slice(from, bytes)
    },
  }
  const [read] = (await readLong(counted, () => {})).changes
  const after = read?.long?.after
  assert.ok(after)
  slices = 0
  await Promise.all(Array.from({ length: 10 }, () => textOf(after, () => {})))
  assert.equal(slices, 19)
  isGone = true
  await assert.rejects(
    textOf(after, () => {}),
    GoneMeanwhile,
  )
  isGone = false
  assert.equal(await textOf(after, () => {}), all.after)
})

test('whoever leaves a long text in the middle leaves none of it in memory, and has held little', async () => {
  const entries = entriesOf(JSON.stringify([change('added', { after: 'x'.repeat(1_200_000) })]))
  const asked: number[] = []
  const counted: LongEntries = {
    bytes: entries.bytes,
    async slice(from, bytes) {
      asked.push(bytes)
      return entries.slice(from, bytes)
    },
  }
  const [read] = (await readLong(counted, () => {})).changes
  asked.length = 0
  for (let reader = 0; reader < 2; reader++) {
    for await (const piece of read?.long?.after?.pieces(() => {}) ?? []) {
      assert.ok(piece.byteLength <= 64 * 1024, `${piece.byteLength} bytes`)
      break
    }
  }
  assert.deepEqual(asked, [64 * 1024, 64 * 1024], 'the second is told what is read anew')
})

test('a long text is passed over in steps, and takes no memory', () => {
  const outline = createOutline(false)
  const slice = Buffer.from(JSON.stringify([change('added', { after: 'x'.repeat(4_000_000) })]))
  const steps = [...outline.take(slice)].length
  assert.ok(steps >= 7, `${steps} steps`)
  assert.ok(outline.parsedBytes() < 100, `${outline.parsedBytes()} bytes`)
})

function change(kind: LoggedChange['kind'], more: Partial<LoggedChange>): LoggedChange {
  return { kind, row: 2, ...more }
}

/** The JSON text of a row, as the log has it. */
function row(characters: number): string {
  return JSON.stringify({ a: text(characters), 'b"': null })
}

function text(characters: number): string {
  let made = ''
  while (made.length < characters) made += alphabet[Math.floor(Math.random() * alphabet.length)]
  // Half of a letter and the other half would be one.
  return made.replaceAll(/\ud800(?=[\udc00-\udfff])/g, '').toWellFormed()
}

/** Slices are shorter than was asked for, where `most` is. */
function entriesOf(json: string, most = Number.POSITIVE_INFINITY): LongEntries {
  const bytes = Buffer.from(json)
  return {
    bytes: bytes.byteLength,
    slice: async (from, count) => bytes.subarray(from, from + Math.min(count, most)),
  }
}
