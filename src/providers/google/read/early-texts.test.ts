import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createMovableClock } from '../../../clock.ts'
import type { GoogleCall, GoogleCalls } from '../client/google-call.ts'
import { RefusedByGoogle } from '../client/google-errors.ts'
import { locateGoogleTab } from '../google-location.ts'
import { createGoogleProvider } from '../google-provider.ts'
import { compareReads } from './dates/compare-reads.ts'
import { googleComparing } from './google-comparing.ts'
import { decodeGoogleValues } from './google-decode.ts'

const { location } = locateGoogleTab({ spreadsheetId: 'x'.repeat(20), tabId: 0 })
const day = 46_000

/** Google as these answers, in the order of the calls; each may break off and begin again. */
function start(answer: (render: 'serial' | 'texts', call: GoogleCall) => Promise<Buffer<ArrayBuffer>>) {
  const clock = createMovableClock(0)
  const calls = {
    async callRead(call: GoogleCall) {
      if (call.url.includes(':getByDataFilter')) return largeTab()
      return answer(isSerial(call) ? 'serial' : 'texts', call)
    },
  } as GoogleCalls
  return createGoogleProvider({
    calls,
    endpoints: { sheets: '' } as never,
    comparing: {
      ...googleComparing,
      compare: async ({ serialBody, shownBody }) => ({
        ...compareReads(serialBody, shownBody),
        serialBody,
        shownBody,
      }),
    },
    tokens: { subjectOf: () => null },
    budget: { isTight: () => false },
    fetches: { roomOf: () => ({ async begin() {}, beginLong: () => undefined, end() {} }) },
    clock,
    timers: { after: () => () => {} },
  })
}

/** So that its values are read alone. */
function largeTab(): Buffer<ArrayBuffer> {
  const text = '{"sheets":[{"properties":{"gridProperties":{"rowCount":100000,"columnCount":26}}}]}'
  return Buffer.from(new TextEncoder().encode(text).buffer)
}

function isSerial({ body }: GoogleCall): boolean {
  return Object(body).dateTimeRenderOption === 'SERIAL_NUMBER'
}

function tab(rows: unknown[][]): Buffer<ArrayBuffer> {
  const valueRange = { range: 'A!A1:B9', majorDimension: 'ROWS', values: rows }
  const text = JSON.stringify({ valueRanges: [{ valueRange }] })
  const body = Buffer.allocUnsafeSlow(Buffer.byteLength(text))
  body.write(text)
  return body
}

test('both reads are under way together, and a tab without numbers is read once', async () => {
  const seen: string[] = []
  const provider = start(async (render, { onBody }) => {
    seen.push(`${render} begins`)
    const body = tab([['n'], [render === 'serial' ? day : '2025-12-09']])
    onBody?.()(body.subarray(0, body.length - 5))
    await new Promise(setImmediate)
    seen.push(`${render} ends`)
    return body
  })
  await provider.fetch(
    { accountId: 'acc', location, credentialId: 'c' },
    { values: 'typed', knownVersion: null },
  )
  assert.deepEqual(seen.slice(0, 2), ['serial begins', 'texts begins'])
  assert.equal(seen.length, 4)

  const plain: string[] = []
  const ofTexts = start(async (render, { onBody }) => {
    plain.push(render)
    const body = tab([['n'], ['no number']])
    onBody?.()(body)
    return body
  })
  await ofTexts.fetch(
    { accountId: 'acc', location, credentialId: 'c' },
    { values: 'typed', knownVersion: null },
  )
  assert.deepEqual(plain, ['serial'])
})

test('a first read that begins again takes nothing from a second one that came before it', async () => {
  let serials = 0
  let isSorted = false
  const provider = start(async (render, { onBody }) => {
    const rows = isSorted ? [['n'], [5], [day]] : [['n'], [day], [5]]
    const shown = rows.map((row) => row.map((cell) => (cell === day ? '2025-12-09' : cell)))
    if (render === 'texts') return tab(shown)
    if (serials++ === 0) {
      onBody?.()(tab(rows).subarray(0, -5))
      await new Promise(setImmediate)
      isSorted = true
    }
    const body = tab([['n'], [5], [day]])
    onBody?.()(body)
    return body
  })
  const place = { accountId: 'acc', location, credentialId: 'c' }
  const fetched = await provider.fetch(place, { values: 'typed', knownVersion: null })
  assert.ok(fetched !== 'unchanged')
  const { rows } = decodeGoogleValues(fetched.bytes, fetched.decoder.options)
  assert.deepEqual(rows, [['n'], [5], ['2025-12-09']])
})

test('when the first read fails, the second is given up', async () => {
  const signals: AbortSignal[] = []
  const provider = start(async (render, { onBody, deadline }) => {
    if (render === 'texts') {
      if (deadline) signals.push(deadline.signal)
      return new Promise(() => {})
    }
    onBody?.()(tab([['n'], [day]]))
    throw new Error('broken off')
  })
  const place = { accountId: 'acc', location, credentialId: 'c' }
  await assert.rejects(provider.fetch(place, { values: 'typed', knownVersion: null }), /broken off/)
  assert.deepEqual(
    signals.map(({ aborted }) => aborted),
    [true],
  )
})

type Filters = { gridRange: { startColumnIndex?: number; endColumnIndex?: number } }[]

/** A tab that gives each only the columns that they ask for, and those that are there now. */
function tallTab() {
  const asked: string[] = []
  const rows = Array.from({ length: 5_000 }, (_, n) => ['words', n, 'more words', n < 4_990 ? '' : day])
  const tall = { columns: 4, asked, provider: start(answer) }
  return tall

  async function answer(render: 'serial' | 'texts', { body, onBody }: GoogleCall) {
    const ranges = (Object(body).dataFilters as Filters).map(({ gridRange }) => ({
      from: gridRange.startColumnIndex ?? 0,
      to: Math.min(gridRange.endColumnIndex ?? tall.columns, tall.columns),
    }))
    asked.push(`${render} ${ranges.map(({ from, to }) => `${from}-${to}`).join()}`)
    if (ranges.some(({ from }) => from >= tall.columns)) throw new RefusedByGoogle('no such column', true, {})
    const shown = (cell: unknown) => (render === 'texts' && cell === day ? '2025-12-09' : cell)
    const letter = (at: number) => String.fromCharCode(65 + at)
    const valueRanges = ranges.map(({ from, to }) => ({
      valueRange: {
        range: `A!${letter(from)}1:${letter(to - 1)}5000`,
        values: rows.map((row) => row.slice(from, to).map(shown)),
      },
    }))
    const text = JSON.stringify({ valueRanges })
    const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text))
    bytes.write(text)
    const inspect = onBody?.()
    for (let at = 0; at < bytes.length; at += 16_384) inspect?.(bytes.subarray(at, at + 16_384))
    return bytes
  }
}

test('columns without numbers come once, and one whose first number stands far down is asked for when it was found', async () => {
  const { provider, asked } = tallTab()
  const place = { accountId: 'acc', location, credentialId: 'c' }
  const fetched = await provider.fetch(place, { values: 'typed', knownVersion: null })
  assert.ok(fetched !== 'unchanged')
  assert.deepEqual(asked.splice(0), ['serial 0-4', 'texts 1-2', 'texts 1-2,3-4'])
  const { rows } = decodeGoogleValues(fetched.bytes, fetched.decoder.options)
  assert.deepEqual(rows.at(0), ['words', 0, 'more words', null])
  assert.deepEqual(rows.at(-1), ['words', 4_999, 'more words', '2025-12-09'])

  // Who has seen them is not asked to look at more again.
  assert.equal(await provider.fetch(place, { values: 'typed', knownVersion: fetched.version }), 'unchanged')
  assert.deepEqual(asked.splice(0), ['serial 0-4'])
  const other = fetched.version.replace(/^[^.]+/, 'other')
  const again = await provider.fetch(place, { values: 'typed', knownVersion: other })
  assert.ok(again !== 'unchanged')
  assert.equal(again.version, fetched.version)
  assert.deepEqual(asked, ['serial 0-4', 'texts 1-2,3-4'])
})

test('when columns are gone that were asked for before, all are asked for', async () => {
  const tall = tallTab()
  const place = { accountId: 'acc', location, credentialId: 'c' }
  const before = await tall.provider.fetch(place, { values: 'typed', knownVersion: null })
  assert.ok(before !== 'unchanged')
  tall.columns = 2
  tall.asked.length = 0
  const after = await tall.provider.fetch(place, { values: 'typed', knownVersion: before.version })
  assert.ok(after !== 'unchanged')
  assert.deepEqual(tall.asked, ['serial 0-2', 'texts 1-2,3-2', 'texts 0-2'])
  const { rows } = decodeGoogleValues(after.bytes, after.decoder.options)
  assert.deepEqual(rows.at(-1), ['words', 4_999])
})
