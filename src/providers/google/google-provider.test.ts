import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createMovableClock } from '../../clock.ts'
import { TooManyAtOnce } from '../../errors.ts'
import { createTurnstile } from '../../shares/turnstile.ts'
import { noTurn } from '../../sheets/threads/no-turn.ts'
import type { GoogleCall, GoogleCalls } from './client/google-call.ts'
import { locateGoogleTab } from './google-location.ts'
import { createGoogleProvider } from './google-provider.ts'
import { createAnswerRooms } from './read/answer-room.ts'
import { compareReads } from './read/dates/compare-reads.ts'
import { googleComparing } from './read/google-comparing.ts'

const { location } = locateGoogleTab({ spreadsheetId: 'x'.repeat(20), tabId: 0 })
const wish = { values: 'typed', knownVersion: null } as const

/** So that its values are read alone. */
function largeTab(): Buffer<ArrayBuffer> {
  const gridProperties = { rowCount: 100_000, columnCount: 26 }
  const text = new TextEncoder().encode(JSON.stringify({ sheets: [{ properties: { gridProperties } }] }))
  return Buffer.from(text.buffer)
}

/** Google answers when the test lets it; two answers of an account have room at a time, and one more may wait. */
function start(rows: (render: 'serial' | 'texts') => unknown[][]) {
  const clock = createMovableClock(0)
  const answers: (() => void)[] = []
  const calls = {
    async callRead({ url, compose, body, onBody }: GoogleCall) {
      await compose?.()
      if (url.includes(':getByDataFilter')) return largeTab()
      await new Promise<void>((resolve) => answers.push(resolve))
      const isSerial = Object(body).dateTimeRenderOption === 'SERIAL_NUMBER'
      const valueRange = {
        range: 'A!A1:B9',
        majorDimension: 'ROWS',
        values: rows(isSerial ? 'serial' : 'texts'),
      }
      const text = new TextEncoder().encode(JSON.stringify({ valueRanges: [{ valueRange }] }))
      onBody?.()(text)
      return Buffer.from(text.buffer)
    },
  } as GoogleCalls
  const fetchTurns = createTurnstile({
    share: 'fetching_at_once',
    places: Number.POSITIVE_INFINITY,
    placesOfAccount: 2,
    waitingOfAccount: 1,
    clock,
    observe: () => {},
  })
  const provider = createGoogleProvider({
    calls,
    endpoints: { sheets: '' } as never,
    comparing: {
      ...googleComparing,
      compare: async (pair) => ({ ...compareReads(pair.serialBody, pair.shownBody), ...pair }),
    },
    tokens: { subjectOf: () => null },
    budget: { isTight: () => false },
    fetches: createAnswerRooms(fetchTurns, fetchTurns),
    clock,
    timers: { after: () => () => {} },
  })
  return {
    answers,
    fetch: (accountId: string, turn?: Parameters<typeof provider.fetch>[2]) =>
      provider.fetch({ accountId, location, credentialId: accountId }, wish, turn),
    async answerAll() {
      for (const answer of answers.splice(0)) answer()
      await new Promise(setImmediate)
    },
  }
}

test('few answers of one account are in memory at a time, and others do not wait for them', async () => {
  const { answers, fetch, answerAll } = start(() => [['name'], ['tea']])
  const fetches = Array.from({ length: 4 }, () => fetch('greedy'))
  const settled = Promise.allSettled(fetches)
  await assert.rejects(async () => fetches[3], TooManyAtOnce)
  assert.equal(answers.length, 2, 'nothing was asked for the one that waits')
  const other = fetch('other')
  await new Promise(setImmediate)
  assert.equal(answers.length, 3)
  await answerAll()
  assert.ok((await other) !== 'unchanged')
  assert.equal(answers.length, 1)
  await answerAll()
  assert.deepEqual(
    (await settled).map(({ status }) => status),
    ['fulfilled', 'fulfilled', 'fulfilled', 'rejected'],
  )
})

test('no turn at the threads is held while Google is waited for, and one is when its answers are compared', async () => {
  // What was read first does not fit what was read then, so it is read once more.
  let texts = 0
  const { fetch, answerAll } = start((render) => {
    if (render === 'serial') return [['n'], [46_000 + texts]]
    texts++
    return [['n'], ['2025-12-09'], ['moved']]
  })
  const seen: string[] = []
  let isDone = false
  const turn = {
    ...noTurn,
    async begin() {
      if (seen.at(-1) !== 'begin') seen.push('begin')
    },
    end() {
      seen.push('end')
    },
  }
  const fetching = fetch('acc', turn)
    .catch((error: unknown) => error)
    .finally(() => {
      isDone = true
    })
  while (!isDone) await answerAll()
  await fetching
  assert.deepEqual(seen.slice(0, 3), ['begin', 'end', 'begin'])
})
