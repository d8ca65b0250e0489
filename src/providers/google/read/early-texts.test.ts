import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createMovableClock } from '../../../clock.ts'
import type { GoogleCall, GoogleCalls } from '../client/google-call.ts'
import { locateGoogleTab } from '../google-location.ts'
import { createGoogleProvider } from '../google-provider.ts'
import { compareReads } from './compare-reads.ts'
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
    fetches: { turnOf: () => ({ async begin() {}, end() {} }) },
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
